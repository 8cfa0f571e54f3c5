import { type CivilDate, daysBetween } from '../../base/values/business-day.ts';

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
