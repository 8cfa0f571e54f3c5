import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ShutdownError } from '../errors.ts';
import { describeError, type Logger } from '../logger.ts';
import type { TokenSource } from '../platform/token.ts';

const POLL_INTERVAL_MS = 5_000;

/** Stands for a token where the token itself must not: two tokens are the same or they are not. */
export type TokenFingerprint = string & { readonly __brand: 'TokenFingerprint' };

/**
 * Holds every pull and push of this process back while no attempt can succeed: after the platform
 * refused the token, until its source holds another one, and while the source holds none.
 */
export interface AuthGate {
  /**
   * Waits until there is a token worth a request.
   *
   * @returns what to call the token by, should it be refused
   * @throws ShutdownError when `signal` aborts meanwhile
   */
  pass(signal: AbortSignal): Promise<TokenFingerprint>;
  /**
   * Closes the gate, unless the token was replaced since it was used.
   *
   * @returns whether this closed it, which is true for one caller only
   */
  refuse(token: TokenFingerprint): boolean;
  /** As of the last look: while nobody waits, nobody looks. */
  isOpen(): boolean;
}

export function createAuthGate(options: {
  readonly token: Pick<TokenSource, 'current'>;
  readonly logger: Logger;
  readonly pollIntervalMs?: number;
}): AuthGate {
  const { token, logger, pollIntervalMs = POLL_INTERVAL_MS } = options;
  let refused: TokenFingerprint | null = null;
  let isOpen = true;

  async function usableToken(): Promise<TokenFingerprint | null> {
    try {
      const current = fingerprint(await token.current());
      if (current !== refused) return current;
    } catch (error) {
      // A file that is just being replaced may be missing or empty for a moment.
      if (isOpen)
        logger.error({ err: describeError(error) }, 'pulls and pushes are paused: no usable token');
      isOpen = false;
    }
    return null;
  }

  return {
    async pass(signal) {
      for (;;) {
        if (signal.aborted) throw stopped();
        const usable = await usableToken();
        if (usable !== null) {
          if (!isOpen) logger.info('pulls and pushes go on: there is another token');
          isOpen = true;
          return usable;
        }
        await sleep(pollIntervalMs, undefined, { signal }).catch(() => {
          throw stopped();
        });
      }
    },
    refuse(fingerprint) {
      if (refused === fingerprint) return false;
      refused = fingerprint;
      isOpen = false;
      logger.error('pulls and pushes are paused: the platform refuses the token; replace it');
      return true;
    },
    isOpen: () => isOpen,
  };
}

function fingerprint(token: string): TokenFingerprint {
  return createHash('sha256').update(token).digest('base64') as TokenFingerprint;
}

function stopped(): ShutdownError {
  return new ShutdownError('stopped while waiting for a token');
}
