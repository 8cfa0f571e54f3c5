import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ShutdownError } from '../../base/runtime/errors.ts';
import type { Logger } from '../../base/runtime/logger.ts';
import type { TokenSource } from '../platform/token.ts';
import type { JobHandler } from './job-worker.ts';

const POLL_INTERVAL_MS = 5_000;
/**
 * How long the source may lack a usable token before that is reported, for example while a file is replaced.
 */
const PATIENCE_MS = 60_000;

/** The wait before one attempt with a refused token: the platform may have refused by mistake. */
const TRIED_AGAIN_MS = 300_000;

const REFUSED = 'pulls and pushes are paused: the platform refuses the token; replace it';

/** Identifies a token: equal for equal tokens. The token cannot be computed from it. */
type TokenFingerprint = string;

/** The platform refused the present token, or the source has had no usable token for a minute. */
type TokenFault = 'token_refused' | 'token_unusable';

/**
 * Holds back every pull and push of this process while no attempt can succeed: from a refusal of
 * the token until its source holds another one or the platform takes the token again, which one attempt tries every
 * five minutes, and while the source holds none.
 */
export interface AuthGate {
  /**
   * Waits for a usable token, and returns its fingerprint.
   * @throws ShutdownError when `signal` aborts meanwhile
   */
  pass(signal: AbortSignal): Promise<TokenFingerprint>;
  /** The platform refused the token of a pass. Closes the gate while the source holds that token. */
  refuse(token: TokenFingerprint): void;
  /** The platform took the token of a pass. */
  accept(token: TokenFingerprint): void;
  /** Reads the token's source and returns why attempts are held back, or null. */
  findFault(): Promise<TokenFault | null>;
  /** The state at the last read of the source. */
  isOpen(): boolean;
}

export function createAuthGate(options: {
  readonly token: Pick<TokenSource, 'current'>;
  readonly logger: Logger;
  readonly pollIntervalMs?: number;
  readonly patienceMs?: number;
  readonly triedAgainMs?: number;
}): AuthGate {
  const { token, logger } = options;
  const { pollIntervalMs = POLL_INTERVAL_MS, patienceMs = PATIENCE_MS } = options;
  const { triedAgainMs = TRIED_AGAIN_MS } = options;
  /** With the time from which one attempt may try the token again. */
  const refused = new Map<TokenFingerprint, number>();
  let present: TokenFingerprint | null = null;
  let unusableSinceMs: number | null = null;
  let isOpen = true;

  /** Returns a usable token; null: there is none. */
  async function look(): Promise<TokenFingerprint | null> {
    let current: TokenFingerprint;
    try {
      current = fingerprint(await token.current());
    } catch (error) {
      present = null;
      unusableSinceMs ??= performance.now();
      if (isOpen) logger.error({ err: error }, 'pulls and pushes are paused: no usable token');
      isOpen = false;
      return null;
    }
    unusableSinceMs = null;
    present = current;
    if (refused.has(current)) {
      if (isOpen) logger.error(REFUSED);
      isOpen = false;
      return null;
    }
    if (!isOpen) logger.info('pulls and pushes go on: there is a usable token');
    isOpen = true;
    return current;
  }

  /** Returns the refused token for one attempt; null: it is not time. */
  function tryAgain(): TokenFingerprint | null {
    if (present === null || performance.now() < (refused.get(present) ?? 0)) return null;
    refused.set(present, performance.now() + triedAgainMs);
    return present;
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
        const usable = (await look()) ?? tryAgain();
        if (usable !== null) return usable;
        await sleep(pollIntervalMs, undefined, { signal }).catch(() => {
          throw stopped();
        });
      }
    },
    refuse(token) {
      if (!refused.has(token)) {
        isOpen = false;
        logger.error(REFUSED);
      }
      refused.set(token, performance.now() + triedAgainMs);
    },
    accept: (token) => refused.delete(token),
    findFault,
    isOpen: () => isOpen,
  };
}

/** How an attempt ended, for its job. */
export interface Attempted {
  /** Whether the platform refused the token. */
  readonly isRefused: boolean;
  /** Null: the job is done. */
  readonly retryInMs: number | null;
}

/** The handler of jobs whose attempts send requests: each waits for a usable token. */
export function throughGate(
  gate: AuthGate,
  attempt: (...call: Parameters<JobHandler>) => Promise<Attempted>,
): JobHandler {
  return async (id, signal, stopping) => {
    const token = await gate.pass(stopping);
    // An attempt that began before the refusal says nothing about the platform now.
    const isTriedAgain = !gate.isOpen();
    const { isRefused, retryInMs } = await attempt(id, signal, stopping);
    if (isRefused) gate.refuse(token);
    else if (isTriedAgain && retryInMs === null) gate.accept(token);
    return retryInMs === null ? undefined : { retryInMs };
  };
}

function fingerprint(token: string): TokenFingerprint {
  return createHash('sha256').update(token).digest('base64');
}

function stopped(): ShutdownError {
  return new ShutdownError('stopped while waiting for a token');
}
