/** Ends a process that runs but makes no progress, so that it is restarted. */
import type { Logger } from '../runtime/logger.ts';

export interface WatchdogState {
  /** Waiting time of the oldest due pull, in milliseconds; 0: no pull is due. */
  readonly oldestDueAgeMs: number;
  /** Milliseconds since an attempt of this process last began, read a byte or ended. */
  readonly sinceProgressMs: number;
  /** Whether the work waits for a token or a queue. A restart would not help. */
  readonly isBlocked: boolean;
}

/** Whether work has been due for `limitMs`, without progress in that time and without an external reason. */
export function isStuck(state: WatchdogState, limitMs: number): boolean {
  return !state.isBlocked && state.oldestDueAgeMs > limitMs && state.sinceProgressMs > limitMs;
}

export interface Watchdog {
  /** To be called at each progress. */
  progress(): void;
  stop(): void;
}

const CHECK_INTERVAL_MS = 60_000;

/**
 * @param read the rest of the state; a rejection means that the database is not available, which
 * counts as blocked
 * @param onStuck called once
 * @param limitMs longer than any statement of a merge, and than the platform may be silent
 */
export function startWatchdog(options: {
  readonly read: () => Promise<Omit<WatchdogState, 'sinceProgressMs'>>;
  readonly onStuck: () => void;
  readonly logger: Logger;
  readonly limitMs: number;
  readonly checkIntervalMs?: number;
}): Watchdog {
  const { read, onStuck, logger, limitMs } = options;
  let progressAtMs = performance.now();
  let previousCheckMs = performance.now();
  const check = async () => {
    const nowMs = performance.now();
    // After a suspension of the process or the machine, the time without progress is counted from now on.
    const slept = nowMs - previousCheckMs > 3 * (options.checkIntervalMs ?? CHECK_INTERVAL_MS);
    previousCheckMs = nowMs;
    if (slept) progressAtMs = nowMs;
    const rest = await read().catch(() => ({ oldestDueAgeMs: 0, isBlocked: true }));
    const state = { ...rest, sinceProgressMs: performance.now() - progressAtMs };
    if (!isStuck(state, limitMs)) return;
    clearInterval(timer);
    logger.fatal(state, 'pulls are due and none makes progress: ending so that this is restarted');
    onStuck();
  };
  const timer = setInterval(() => void check(), options.checkIntervalMs ?? CHECK_INTERVAL_MS);
  timer.unref();
  return {
    progress() {
      progressAtMs = performance.now();
    },
    stop: () => clearInterval(timer),
  };
}
