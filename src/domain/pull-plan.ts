import type { CivilDate } from './business-day.ts';

/**
 * The accepted dates that one request asks for. `to === from` is a day (`conciliationDate`);
 * `to === null` is a sweep, everything accepted since `from` (`anticipationDate`). No other window
 * exists: the platform offers no bounded range.
 */
export interface PullWindow {
  readonly from: CivilDate;
  readonly to: CivilDate | null;
}

export const PULL_ORIGINS = ['daily', 'lookback', 'backfill', 'sweep', 'manual'] as const;
export type PullOrigin = (typeof PULL_ORIGINS)[number];

export function dayWindow(date: CivilDate): PullWindow {
  return { from: date, to: date };
}

export function sweepWindow(from: CivilDate): PullWindow {
  return { from, to: null };
}

export function isInWindow(window: PullWindow, date: CivilDate): boolean {
  return date >= window.from && (window.to === null || date <= window.to);
}
