import { addDays, type CivilDate, datesBetween, lastClosedDate } from './business-day.ts';

/**
 * The accepted dates that one request asks for. `to === from` is a day (`conciliationDate`), which a pull
 * asks for; `to === null` is everything accepted since `from` (`anticipationDate`), which a sweep asks for.
 * The platform offers no bounded range.
 */
export interface PullWindow {
  readonly from: CivilDate;
  readonly to: CivilDate | null;
}

export const PULL_ORIGINS = ['daily', 'lookback', 'backfill', 'sweep', 'manual', 'repair'] as const;
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

/** The latest instants at which the two schedules came due. */
export interface PlanSlots {
  readonly pullAt: Date;
  readonly sweepAt: Date;
}

export interface PlanPolicy {
  readonly timeZone: string;
  /** Days before yesterday that every slot pulls again. */
  readonly lookbackDays: number;
  /** Days before the date of its slot that a sweep reaches back, at least and at most. */
  readonly sweepDays: number;
  readonly sweepMaxDays: number;
}

/** What the ledger says about a pair of slots. */
export interface PlanLedger {
  readonly startDate: CivilDate;
  readonly lastReconciledDate: CivilDate | null;
  /** Dates beyond `lastReconciledDate` that are reconciled already. */
  readonly reconciledDates: ReadonlySet<CivilDate>;
  /**
   * Dates that need no pull for the slot now: they have one of any origin that has not ended, or were
   * fetched since the slot, or have a pull of this slot that has ended. A pull whose attempts are spent
   * counts for a while only; see `replanAfterMinutes`.
   */
  readonly coveredDates: ReadonlySet<CivilDate>;
  /** How many pulls of the slot have failed, of the dates that have such. */
  readonly failedPulls: ReadonlyMap<CivilDate, number>;
  /** Planned pulls that have not ended. */
  readonly openPulls: number;
}

/** A pull that is to be created. Slot and round make it the only one of its origin for its date. */
export interface DuePull {
  readonly origin: PullOrigin;
  readonly date: CivilDate;
  readonly slotAt: Date;
  /** Pulls of the date and the slot that have failed before. */
  readonly round: number;
}

/**
 * A ledger that is years behind is caught up with in portions of this size, so that tomorrow's pulls
 * never stand behind thousands of old ones.
 */
export const MAX_OPEN_PULLS = 100;

/**
 * The pulls that the latest slot makes due, the most urgent first: yesterday, the lookback from the newest
 * date on, then the dates that were never reconciled, from the oldest on. Slots that were missed need no
 * pulls of their own: whatever they would have pulled is reconciled or among those dates.
 *
 * Yesterday is the day before the slot, not before now: a slot speaks about the same dates whenever
 * it is caught up.
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
  const room = Math.max(0, MAX_OPEN_PULLS - ledger.openPulls - urgent.length);
  return [...urgent, ...gap.slice(0, room).map((date) => duePull('daily', date))];
}

/**
 * Where a pull stands among those that wait, 0 first: what a person waits for, the newest closed
 * date, the lookback, dates of which a sweep found that they differ, dates that were missed, backfills.
 */
export function pullUrgency(
  pull: {
    readonly origin: PullOrigin;
    readonly from: CivilDate;
    readonly slotAt: Date | null;
  },
  timeZone: string,
): number {
  if (pull.origin === 'sweep') return 3;
  if (pull.slotAt === null) return pull.origin === 'backfill' ? 5 : 0;
  if (pull.origin === 'lookback') return 2;
  return pull.from === lastClosedDate(timeZone, pull.slotAt) ? 1 : 4;
}
