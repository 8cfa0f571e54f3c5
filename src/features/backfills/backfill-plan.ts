import { type CivilDate, datesBetween, daysBetween } from '../../base/values/business-day.ts';
import type { PullState } from '../../core/ledger/pull-ledger.sql.ts';

/** The dates to pull, both ends included. */
export interface BackfillRange {
  readonly from: CivilDate;
  readonly to: CivilDate;
}

/** Why a range cannot be pulled: a sentence, and the code and the values for the console's sentence. */
export interface RangeFault {
  readonly message: string;
  readonly context: Readonly<Record<string, string | number>>;
}

/** Ten years, leap days included. */
export const MAX_BACKFILL_DAYS = 3660;
export const MAX_BACKFILL_CONCURRENCY = 16;

/** Returns the fault of a requested range, or null. */
export function backfillRangeFault(range: BackfillRange, today: CivilDate): RangeFault | null {
  const { from, to } = range;
  if (from > to) {
    return {
      message: `the range ends on ${to}, before it begins on ${from}`,
      context: { fault: 'range_order', from, to },
    };
  }
  if (to > today) {
    return {
      message: `the range ends on ${to}, which is in the future: today is ${today}`,
      context: { fault: 'range_future', to, today },
    };
  }
  const days = daysBetween(from, to) + 1;
  if (days <= MAX_BACKFILL_DAYS) return null;
  return {
    message: `the range has ${days} dates, and a backfill takes at most ${MAX_BACKFILL_DAYS} (ten years)`,
    context: { fault: 'range_long', days, max: MAX_BACKFILL_DAYS },
  };
}

export interface BackfillPlan {
  /** The dates for which pulls have to be created now. */
  readonly dates: readonly CivilDate[];
  /** Whether the pull of every date has ended, successfully or not. */
  readonly isDone: boolean;
}

/**
 * Returns the next step of a running backfill. Its pulls are created a few at a time, so that its
 * queue does not delay other pulls.
 * @param ownPulls the state of the backfill's newest pull for each date that has one. A cancelled
 * pull does not count, so that a resumed backfill continues where it stopped. A held pull counts as
 * ended, because a backfill does not wait for a decision.
 * @param room limit for new pulls, in addition to the backfill's concurrency
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
