import { setTimeout as sleep } from 'node:timers/promises';
import { describeError, type Logger } from '../runtime/logger.ts';

const PROBE_INTERVAL_MS = 1_000;

export interface OutageWatch {
  /** For whatever fails, such as BullMQ's `error` event, which comes with every try to connect. */
  readonly onError: (error: unknown) => void;
  /** @returns how to be told no more */
  follow(follower: OutageFollower): () => void;
  stop(): void;
}

interface OutageFollower {
  readonly onAway: () => void;
  readonly onBack: () => void;
}

/**
 * Turns a stream of errors into two lines: the queue went away, the queue is back. Which error means
 * an outage differs with the server, the driver and the operating system, so none is interpreted:
 * after any of them the queue is asked something, and either it answers or it does not.
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
      return;
    }
    if (stopped.signal.aborted) return;
    logger.error({ queue: name, err: describeError(error) }, 'the queue is away');
    for (const follower of followers) follower.onAway();
    const awaySinceMs = performance.now();
    do {
      await sleep(PROBE_INTERVAL_MS, undefined, { signal: stopped.signal, ref: false });
    } while (!(await answers(probe)));
    const awayMs = Math.round(performance.now() - awaySinceMs);
    logger.info({ queue: name, awayMs }, 'the queue is back');
    for (const follower of followers) follower.onBack();
  }

  return {
    onError(error) {
      if (isAsking || stopped.signal.aborted) return;
      isAsking = true;
      ask(error)
        // Only the sleep rejects, because the watch was stopped.
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
