import { setTimeout as sleep } from 'node:timers/promises';
import { describeError, type Logger } from '../../base/runtime/logger.ts';

const PROBE_INTERVAL_MS = 1_000;
/** A server that answers may refuse every command, such as a Redis without memory. Its errors are one line in this time. */
const QUIET_MS = 10_000;

export interface OutageWatch {
  /** Receives every failure, such as BullMQ's `error` event, which comes with each attempt to connect. */
  readonly onError: (error: unknown) => void;
  /** @returns a function that removes the follower */
  follow(follower: OutageFollower): () => void;
  stop(): void;
}

interface OutageFollower {
  readonly onAway: () => void;
  readonly onBack: () => void;
}

/**
 * Turns a stream of errors into two reports: the queue is not available, the queue is available
 * again. The errors of an outage depend on the server, the driver and the operating system, so they
 * are not interpreted: after any error, a request to the queue decides.
 */
export function watchOutages(options: {
  readonly name: string;
  readonly probe: () => Promise<unknown>;
  readonly logger: Logger;
}): OutageWatch {
  const { name, probe, logger } = options;
  const stopped = new AbortController();
  const followers = new Set<OutageFollower>();
  let isAsking = false;

  async function ask(error: unknown): Promise<void> {
    if (await answers(probe)) {
      logger.warn({ queue: name, err: describeError(error) }, 'queue error');
      await sleep(QUIET_MS, undefined, { signal: stopped.signal, ref: false });
      return;
    }
    if (stopped.signal.aborted) return;
    logger.error({ queue: name, err: describeError(error) }, 'the queue is not available');
    for (const follower of followers) follower.onAway();
    const awaySinceMs = performance.now();
    do {
      await sleep(PROBE_INTERVAL_MS, undefined, { signal: stopped.signal, ref: false });
    } while (!(await answers(probe)));
    const awayMs = Math.round(performance.now() - awaySinceMs);
    logger.info({ queue: name, awayMs }, 'the queue is available again');
    for (const follower of followers) follower.onBack();
  }

  return {
    onError(error) {
      if (isAsking || stopped.signal.aborted) return;
      isAsking = true;
      ask(error)
        // Only the sleep rejects, when the watch is stopped.
        .catch(() => {})
        .finally(() => {
          isAsking = false;
        });
    },
    follow(follower) {
      followers.add(follower);
      return () => followers.delete(follower);
    },
    stop: () => stopped.abort(),
  };
}

async function answers(probe: () => Promise<unknown>): Promise<boolean> {
  try {
    await probe();
    return true;
  } catch {
    return false;
  }
}
