/**
 * A process that lives but gets nothing done is worse than one that died, because nobody restarts it.
 * This ends it.
 */
import type { Logger } from '../runtime/logger.ts';

export interface WatchdogState {
  /** How long the oldest pull that is due has been waiting, in milliseconds; 0 when none is. */
  readonly oldestDueAgeMs: number;
  /** Since an attempt of this process last began, read a byte or ended, in milliseconds. */
  readonly sinceProgressMs: number;
  /** The work waits for somebody else: no usable token, no queue. A restart would not help. */
  readonly isBlocked: boolean;
}

/** Due work and no progress, for `limitMs` each, and nobody else to blame. */
export function isStuck(state: WatchdogState, limitMs: number): boolean {
  return !state.isBlocked && state.oldestDueAgeMs > limitMs && state.sinceProgressMs > limitMs;
}

export interface Watchdog {
  /** To be called whenever anything moves. */
  progress(): void;
  stop(): void;
}

/** Longer than any statement of a merge, and than the platform's silence may last. */
const LIMIT_MS = 30 * 60_000;
const CHECK_INTERVAL_MS = 60_000;

/**
 * @param read the rest of the state; a rejection means that the database is away, which counts as
 *   blocked
 * @param onStuck called once
 */
export function startWatchdog(options: {
  readonly read: () => Promise<Omit<WatchdogState, 'sinceProgressMs'>>;
  readonly onStuck: () => void;
  readonly logger: Logger;
  readonly limitMs?: number;
  readonly checkIntervalMs?: number;
}): Watchdog {
  const { read, onStuck, logger, limitMs = LIMIT_MS } = options;
  let progressAtMs = performance.now();
  let previousCheckMs = performance.now();
  const check = async () => {
    const nowMs = performance.now();
    // A process that was stopped, or a machine that slept, has not been idle: its clock starts anew.
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
