import { addDays, type CivilDate } from './business-day.ts';
import type { PlanPolicy } from './pull-plan.ts';

/** Ten years: the hard bound of how far a sweep reaches back. The fold of each date is kept in memory. */
export const MAX_SWEEP_DAYS = 3652;

/** Pulls that sweeps have asked for, open at once. The others wait, so that the queue stays short. */
export const MAX_OPEN_SWEEP_PULLS = 20;

/** Where sweeps exceed the limits of an answer, each date in reach is pulled this often instead. */
export const REPULL_DAYS = 7;

/**
 * The first date that a sweep asks for. It reaches back to the oldest date that has a title which is not
 * due yet, because such a title may still be restated; at least `sweepDays`, at most `sweepMaxDays`, and
 * never to a date before the ledger.
 *
 * @param slotDate of the slot that makes the sweep due
 * @param oldestOpenDate of the accepted dates that have a current title due on `slotDate` or later; null:
 *   there is none
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
