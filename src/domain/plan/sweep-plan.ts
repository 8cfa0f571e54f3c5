import { addDays, type CivilDate } from '../business-day.ts';

/** Minimum and maximum number of days before the date of its slot that a sweep covers. */
const SWEEP_DAYS = 45;
const SWEEP_MAX_DAYS = 400;

/** Limit for open pulls that sweeps have requested. The others wait, so that the queue stays short. */
export const MAX_OPEN_SWEEP_PULLS = 20;

/**
 * If sweeps exceed the limits of a response, each date in their span is pulled again after this many days.
 */
export const REPULL_DAYS = 7;

/**
 * Returns the first date of a sweep. A sweep covers the oldest date with a title that is not due
 * yet, because the platform may still restate such a title; at least `SWEEP_DAYS`, at most
 * `SWEEP_MAX_DAYS`, and no date before the ledger.
 * @param slotDate the date of the slot that makes the sweep due
 * @param oldestOpenDate the oldest accepted date with a current title due on `slotDate` or later;
 * null: there is none
 */
export function sweepStart(
  slotDate: CivilDate,
  ledger: { readonly startDate: CivilDate; readonly oldestOpenDate: CivilDate | null },
): CivilDate {
  const wanted = [addDays(slotDate, -SWEEP_DAYS), ledger.oldestOpenDate ?? slotDate].sort()[0];
  const bounds = [wanted, addDays(slotDate, -SWEEP_MAX_DAYS), ledger.startDate];
  return bounds.sort().at(-1) as CivilDate;
}
