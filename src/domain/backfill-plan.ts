import { type CivilDate, datesBetween, daysBetween } from './business-day.ts';
import type { PullState } from './pull-state.ts';

/** Dates to be pulled day by day, both ends included. */
export interface BackfillRange {
  readonly from: CivilDate;
  readonly to: CivilDate;
}

/** Ten years, leap days included. */
const MAX_BACKFILL_DAYS = 3660;
export const MAX_BACKFILL_CONCURRENCY = 16;

/** What is wrong with a range that a person asked for, as a sentence for that person; or null. */
export function backfillRangeFault(range: BackfillRange, today: CivilDate): string | null {
  const { from, to } = range;
  if (from > to) return `the range ends on ${to}, before it begins on ${from}`;
  if (to > today) return `the range ends on ${to}, which is in the future: today is ${today}`;
  const days = daysBetween(from, to) + 1;
  return days > MAX_BACKFILL_DAYS
    ? `the range has ${days} dates, and a backfill takes at most ${MAX_BACKFILL_DAYS} (ten years)`
    : null;
}

export interface BackfillPlan {
  /** Dates to create pulls for now. */
  readonly dates: readonly CivilDate[];
  /** Every date has its pull behind it, well or badly. */
  readonly isDone: boolean;
}

/**
 * What a running backfill does next. Its pulls are created a few at a time, so that its queue never
 * stands before anybody else's.
 *
 * @param ownPulls the state of the backfill's newest pull of each date that has one. A cancelled one
 *   counts for nothing: that is how a resumed backfill goes on where it was stopped. A held one is
 *   over: it waits for a person, and the backfill does not wait for people.
 * @param room most pulls that may be created, whatever the backfill's own concurrency allows
 */
export function planBackfill(
  backfill: BackfillRange & { readonly concurrency: number },
  ownPulls: ReadonlyMap<CivilDate, PullState>,
  room: number,
): BackfillPlan {
  const open = [...ownPulls.values()].filter(isOpen).length;
  const missing = datesBetween(backfill.from, backfill.to).filter((date) => {
    const state = ownPulls.get(date);
    return state === undefined || state === 'cancelled';
  });
  const free = Math.max(0, Math.min(backfill.concurrency - open, room));
  return { dates: missing.slice(0, free), isDone: open === 0 && missing.length === 0 };
}

function isOpen(state: PullState): boolean {
  return state === 'queued' || state === 'running';
}
