import {
  addDays,
  type CivilDate,
  datesBetween,
  lastClosedDate,
} from '../../base/values/business-day.ts';
import type { PullOrigin } from '../ledger/states.ts';

export interface PlanPolicy {
  readonly timeZone: string;
  /** Days before yesterday that are pulled again at every slot. */
  readonly lookbackDays: number;
}

/** The state of the ledger for a slot. */
export interface PlanLedger {
  readonly startDate: CivilDate;
  readonly lastReconciledDate: CivilDate | null;
  /** Reconciled dates after `lastReconciledDate`. */
  readonly reconciledDates: ReadonlySet<CivilDate>;
  /**
   * Dates that need no pull for the slot now: dates with an open pull of any origin, dates that
   * were fetched since the slot, and dates with an ended pull of this slot. A pull that failed
   * counts only for a while; see `replanAfterMinutes`.
   */
  readonly coveredDates: ReadonlySet<CivilDate>;
  /** Number of failed pulls of the slot, for each date that has one. */
  readonly failedPulls: ReadonlyMap<CivilDate, number>;
  /** Planned pulls that have not ended. */
  readonly openPulls: number;
}

/** A pull to create. It is unique by origin, date, slot and round. */
interface DuePull {
  readonly origin: PullOrigin;
  readonly date: CivilDate;
  readonly slotAt: Date;
  /** Number of earlier failed pulls of the date and the slot. */
  readonly round: number;
}

/**
 * A long backlog is worked off in portions of this size, so that new pulls do not wait behind
 * thousands of old ones.
 */
export const MAX_OPEN_PULLS = 100;

/**
 * Returns the pulls that the latest slot makes due, most urgent first: yesterday, the lookback from
 * the newest date on, then the dates that were never reconciled: those with the fewest failed pulls for the slot
 * first, and of these the oldest. Missed slots
 * need no separate pulls, because their dates are reconciled or among these dates. Yesterday is
 * the day before the slot, not before now, so that a late slot means the same dates.
 */
export function planDue(slotAt: Date, ledger: PlanLedger, policy: PlanPolicy): DuePull[] {
  const yesterday = lastClosedDate(policy.timeZone, slotAt);
  const isDue = (date: CivilDate) => date >= ledger.startDate && !ledger.coveredDates.has(date);
  const duePull = (origin: PullOrigin, date: CivilDate): DuePull => ({
    origin,
    date,
    slotAt,
    round: ledger.failedPulls.get(date) ?? 0,
  });
  const lookback = Array.from({ length: policy.lookbackDays }, (_, days) =>
    addDays(yesterday, -days - 1),
  );
  const urgent = [
    ...[yesterday].filter(isDue).map((date) => duePull('daily', date)),
    ...lookback.filter(isDue).map((date) => duePull('lookback', date)),
  ];

  const gapFrom =
    ledger.lastReconciledDate === null ? ledger.startDate : addDays(ledger.lastReconciledDate, 1);
  const gap = datesBetween(gapFrom, addDays(yesterday, -policy.lookbackDays - 1)).filter(
    (date) => isDue(date) && !ledger.reconciledDates.has(date),
  );
  const missed = gap.map((date) => duePull('daily', date)).toSorted((a, b) => a.round - b.round);
  const room = Math.max(0, MAX_OPEN_PULLS - ledger.openPulls - urgent.length);
  return [...urgent, ...missed.slice(0, room)];
}

/** Codes of temporary failures. They become final when all attempts are spent. */
export const SPENT_ERROR_CODES = [
  'PLATFORM_UNAVAILABLE',
  'PLATFORM_RATE_LIMITED',
  'PLATFORM_CONTRACT',
  'STAGING_UNAVAILABLE',
  'DEFECT',
] as const;

const FIRST_REPLAN_MINUTES = 5;
const MAX_REPLAN_MINUTES = 60;

/**
 * Returns the minutes after which a failed pull that is still due is planned again: 5, 10,
 * 20, 40, then 60. A person need not act after an outage of the platform.
 * @param failures failed pulls of the date for the slot; at least 1
 */
export function replanAfterMinutes(failures: number): number {
  return Math.min(FIRST_REPLAN_MINUTES * 2 ** (failures - 1), MAX_REPLAN_MINUTES);
}
