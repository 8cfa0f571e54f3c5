import { addDays, type CivilDate } from '../../base/values/business-day.ts';

/** Minimum and maximum number of days before the date of its slot that a sweep covers. */
const SWEEP_DAYS = 45;
const SWEEP_MAX_DAYS = 400;

/** Limit for open pulls that sweeps have requested. The others wait, so that the queue stays short. */
export const MAX_OPEN_SWEEP_PULLS = 20;

const FIRST_RETRY_MINUTES = 5;
const MAX_RETRY_MINUTES = 24 * 60;

/**
 * Returns the minutes after which a failed sweep is tried again: 5, 10, 20 and so on, up to a day, because an answer
 * may be the longest that the platform gives.
 * @param failures failed sweeps since the slot, at least 1
 */
export function sweepRetryMinutes(failures: number): number {
  return Math.min(FIRST_RETRY_MINUTES * 2 ** (failures - 1), MAX_RETRY_MINUTES);
}

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
