import { addDays, type CivilDate, dateIn } from '../../../src/base/values/business-day.ts';
import type { DuePull, PlanLedger } from '../../../src/core/planner/pull-plan.ts';

interface Pull extends DuePull {
  readonly fetchedAt: Date;
  state: 'open' | 'merged' | 'failed';
}

/** Older pulls cannot cover anything that a slot of these weeks asks for. */
const RECENT_PULLS = 400;

/** The data of the planner in memory, with the same rules as the tables. */
export class LedgerInMemory {
  readonly pulls: Pull[] = [];
  readonly reconciled = new Set<CivilDate>();
  lastReconciledDate: CivilDate | null = null;
  readonly #byKey = new Map<string, Pull>();
  readonly startDate: CivilDate;
  readonly timeZone: string;

  constructor(startDate: CivilDate, timeZone: string) {
    this.startDate = startDate;
    this.timeZone = timeZone;
  }

  read(slotAt: Date): PlanLedger {
    const recent = this.pulls.slice(-RECENT_PULLS);
    const covering = recent.filter(
      (pull) =>
        pull.slotAt.getTime() === slotAt.getTime() ||
        pull.state === 'open' ||
        (pull.state === 'merged' && pull.fetchedAt >= slotAt),
    );
    return {
      startDate: this.startDate,
      lastReconciledDate: this.lastReconciledDate,
      reconciledDates: new Set(this.reconciled),
      coveredDates: new Set(covering.map(({ date }) => date)),
      // Here a pull that failed has ended for good.
      failedPulls: new Map(),
      openPulls: recent.filter(({ state }) => state === 'open').length,
    };
  }

  /** As the unique index does: what is there already is left alone. */
  insert(due: readonly DuePull[], now: Date): number {
    let inserted = 0;
    for (const pull of due) {
      const key = `${pull.origin} ${pull.date} ${pull.slotAt.toISOString()}`;
      if (this.#byKey.has(key)) continue;
      const row: Pull = { ...pull, fetchedAt: now, state: 'open' };
      this.#byKey.set(key, row);
      this.pulls.push(row);
      inserted += 1;
    }
    return inserted;
  }

  /** Ends the open pulls for which `outcomeOf` says how. */
  settle(now: Date, outcomeOf: (pull: Pull) => 'open' | 'merged' | 'failed'): void {
    const today = dateIn(this.timeZone, now);
    for (const pull of this.pulls.slice(-RECENT_PULLS)) {
      if (pull.state !== 'open') continue;
      pull.state = outcomeOf(pull);
      if (pull.state === 'merged' && pull.date < today) this.reconciled.add(pull.date);
    }
    let next = this.#nextDate();
    while (this.reconciled.delete(next)) {
      this.lastReconciledDate = next;
      next = this.#nextDate();
    }
  }

  #nextDate(): CivilDate {
    return this.lastReconciledDate === null ? this.startDate : addDays(this.lastReconciledDate, 1);
  }
}
