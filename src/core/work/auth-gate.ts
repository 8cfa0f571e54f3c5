import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ShutdownError } from '../../base/runtime/errors.ts';
import { describeError, type Logger } from '../../base/runtime/logger.ts';
import type { TokenSource } from '../platform/token.ts';
import type { JobHandler } from './job-worker.ts';
import type { ProcessFault } from './process-fault.ts';

const POLL_INTERVAL_MS = 5_000;
/**
 * How long the source may lack a usable token before that is reported, for example while a file is replaced.
 */
const PATIENCE_MS = 60_000;

const REFUSED = 'pulls and pushes are paused: the platform refuses the token; replace it';

/** Identifies a token: equal for equal tokens. The token cannot be computed from it. */
type TokenFingerprint = string;

/** The right to one attempt, which begins after the right was given. */
interface GatePass {
  readonly token: TokenFingerprint;
  /** Number of refusals that had closed the gate before. */
  readonly refusals: number;
  /** On the clock of `performance.now()`. */
  readonly givenAtMs: number;
}

/** The platform refused the token, or the source has had no usable token for a minute. */
type TokenFault = Extract<ProcessFault, `token_${string}`>;

/** The state of this process's token, for other processes and for people. */
interface TokenReport {
  /** Why attempts are held back; null: they are not. */
  readonly fault: TokenFault | null;
  /** The platform refused a token, and has accepted none in a request that was sent afterwards. */
  readonly awaitsAcceptance: boolean;
  /**
   * Milliseconds since the newest accepted request was sent; null: the platform has accepted none
   * since the last refusal.
   */
  readonly acceptedAgoMs: number | null;
}

/**
 * Holds back every pull and push of this process while no attempt can succeed: from a refusal of
 * the token until its source holds another one, and while the source holds none.
 */
export interface AuthGate {
  /**
   * Waits for a usable token.
   * @returns the argument for `accept` or `refuse` after the attempt
   * @throws ShutdownError when `signal` aborts meanwhile
   */
  pass(signal: AbortSignal): Promise<GatePass>;
  /** The platform accepted the token. No effect if the gate was closed after the pass. */
  accept(pass: GatePass): void;
  /** The platform refused the token. Closes the gate, unless it was closed after the pass. */
  refuse(pass: GatePass): void;
  /** Reads the token's source and returns why attempts are held back, or null. */
  findFault(): Promise<TokenFault | null>;
  /** Reads the token's source. */
  report(): Promise<TokenReport>;
  /** The state at the last read of the source. */
  isOpen(): boolean;
}

export function createAuthGate(options: {
  readonly token: Pick<TokenSource, 'current'>;
  readonly logger: Logger;
  readonly pollIntervalMs?: number;
  readonly patienceMs?: number;
}): AuthGate {
  const { token, logger } = options;
  const { pollIntervalMs = POLL_INTERVAL_MS, patienceMs = PATIENCE_MS } = options;
  let refused: TokenFingerprint | null = null;
  let refusals = 0;
  let awaitsAcceptance = false;
  let acceptedAtMs: number | null = null;
  let unusableSinceMs: number | null = null;
  let isOpen = true;

  /** Returns a usable token; null: there is none. */
  async function look(): Promise<TokenFingerprint | null> {
    let current: TokenFingerprint;
    try {
      current = fingerprint(await token.current());
    } catch (error) {
      unusableSinceMs ??= performance.now();
      if (isOpen)
        logger.error({ err: describeError(error) }, 'pulls and pushes are paused: no usable token');
      isOpen = false;
      return null;
    }
    unusableSinceMs = null;
    if (current === refused) {
      if (isOpen) logger.error(REFUSED);
      awaitsAcceptance = true;
      isOpen = false;
      return null;
    }
    if (!isOpen) logger.info('pulls and pushes go on: there is another token');
    isOpen = true;
    return current;
  }

  async function findFault(): Promise<TokenFault | null> {
    if ((await look()) !== null) return null;
    if (unusableSinceMs === null) return 'token_refused';
    return performance.now() - unusableSinceMs >= patienceMs ? 'token_unusable' : null;
  }

  return {
    async pass(signal) {
      for (;;) {
        if (signal.aborted) throw stopped();
        const usable = await look();
        if (usable !== null) return { token: usable, refusals, givenAtMs: performance.now() };
        await sleep(pollIntervalMs, undefined, { signal }).catch(() => {
          throw stopped();
        });
      }
    },
    accept(pass) {
      if (pass.refusals !== refusals) return;
      awaitsAcceptance = false;
      acceptedAtMs = Math.max(acceptedAtMs ?? 0, pass.givenAtMs);
    },
    refuse(pass) {
      if (pass.refusals !== refusals) return;
      refused = pass.token;
      refusals += 1;
      awaitsAcceptance = true;
      acceptedAtMs = null;
      isOpen = false;
      logger.error(REFUSED);
    },
    findFault,
    async report() {
      const fault = await findFault();
      return {
        fault,
        awaitsAcceptance,
        acceptedAgoMs: acceptedAtMs === null ? null : performance.now() - acceptedAtMs,
      };
    },
    isOpen: () => isOpen,
  };
}

/** How an attempt ended, for its job. */
export interface Attempted {
  /** What the platform said about the token; null: nothing. */
  readonly token: 'accepted' | 'refused' | null;
  /** Null: the job is done. */
  readonly retryInMs: number | null;
}

/** The handler of jobs whose attempts send requests: each waits for a usable token. */
export function throughGate(
  gate: AuthGate,
  attempt: (...call: Parameters<JobHandler>) => Promise<Attempted>,
): JobHandler {
  return async (id, signal, stopping) => {
    const pass = await gate.pass(stopping);
    const { token, retryInMs } = await attempt(id, signal, stopping);
    if (token === 'accepted') gate.accept(pass);
    if (token === 'refused') gate.refuse(pass);
    return retryInMs === null ? undefined : { retryInMs };
  };
}

function fingerprint(token: string): TokenFingerprint {
  return createHash('sha256').update(token).digest('base64');
}

function stopped(): ShutdownError {
  return new ShutdownError('stopped while waiting for a token');
}
