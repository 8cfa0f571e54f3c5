import { addDays, type CivilDate } from '../business-day.ts';
import type { PlanPolicy } from './pull-plan.ts';

/** Limit for open pulls that sweeps have requested. The others wait, so that the queue stays short. */
export const MAX_OPEN_SWEEP_PULLS = 20;

/**
 * If sweeps exceed the limits of a response, each date in their span is pulled again after this many days.
 */
export const REPULL_DAYS = 7;

/**
 * Returns the first date of a sweep. A sweep covers the oldest date with a title that is not due
 * yet, because the platform may still restate such a title; at least `sweepDays`, at most
 * `sweepMaxDays`, and no date before the ledger.
 * @param slotDate the date of the slot that makes the sweep due
 * @param oldestOpenDate the oldest accepted date with a current title due on `slotDate` or later;
 * null: there is none
 */
export function sweepStart(
  slotDate: CivilDate,
  ledger: { readonly startDate: CivilDate; readonly oldestOpenDate: CivilDate | null },
  policy: Pick<PlanPolicy, 'sweepDays' | 'sweepMaxDays'>,
): CivilDate {
  const wanted = [
    addDays(slotDate, -policy.sweepDays),
    ledger.oldestOpenDate ?? slotDate,
  ].sort()[0];
  const bounds = [wanted, addDays(slotDate, -policy.sweepMaxDays), ledger.startDate];
  return bounds.sort().at(-1) as CivilDate;
}
