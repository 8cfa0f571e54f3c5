import { expect, test } from 'vitest';
import { addDays, type CivilDate, toCivilDate } from '../../../src/base/values/business-day.ts';
import { planDue, replanAfterMinutes } from '../../../src/core/planner/pull-plan.ts';
import { backoffDelayMs } from '../../../src/core/work/run-pull.ts';

const POLICY = { timeZone: 'America/Sao_Paulo', lookbackDays: 2 };
const RETRY = { attempts: 8, backoffSeconds: 30 };
const START = toCivilDate('2024-03-11');
const DATES = 730;
/** 06:00 of the day after the last date. */
const SLOT = new Date('2026-03-11T09:00:00Z');

interface Poisoned {
  pulls: number;
  attempts: number;
  /** Minutes; null: no pull is open. */
  nextAttemptAt: number | null;
  replanAt: number;
}

/** Minutes until every healthy date is done, while the oldest dates answer 500 without end. */
function minutesUntilHealthyAreDone(poisonedDates: number): number {
  const isPoisoned = (date: CivilDate) => date < addDays(START, poisonedDates);
  const poisoned = new Map<CivilDate, Poisoned>();
  const done = new Set<CivilDate>();
  for (let minute = 0; minute < 24 * 60; minute += 1) {
    const open = [...poisoned.values()].filter(({ nextAttemptAt }) => nextAttemptAt !== null);
    const waiting = [...poisoned].filter(
      ([, { nextAttemptAt, replanAt }]) => nextAttemptAt !== null || replanAt > minute,
    );
    const due = planDue(
      SLOT,
      {
        startDate: START,
        lastReconciledDate: null,
        reconciledDates: done,
        coveredDates: new Set([...done, ...waiting.map(([date]) => date)]),
        failedPulls: new Map([...poisoned].map(([date, { pulls }]) => [date, pulls])),
        openPulls: open.length,
      },
      POLICY,
    );
    for (const { date } of due) {
      // A healthy date answers at once.
      if (!isPoisoned(date)) done.add(date);
      else {
        const pulls = poisoned.get(date)?.pulls ?? 0;
        poisoned.set(date, { pulls, attempts: 0, nextAttemptAt: minute, replanAt: 0 });
      }
    }
    if (done.size === DATES - poisonedDates) return minute;
    for (const pull of poisoned.values()) {
      if (pull.nextAttemptAt === null || pull.nextAttemptAt > minute) continue;
      pull.attempts += 1;
      if (pull.attempts < RETRY.attempts) {
        // The longest wait: the whole span.
        pull.nextAttemptAt = minute + backoffDelayMs(RETRY, pull.attempts, null, 1) / 60_000;
      } else {
        pull.nextAttemptAt = null;
        pull.pulls += 1;
        pull.replanAt = minute + replanAfterMinutes(pull.pulls);
      }
    }
  }
  return Number.POSITIVE_INFINITY;
}

test.each([
  [0, 0.2],
  [100, 2],
  [300, 6],
])(
  '%i of 730 dates that fail without end delay the others by hours at most',
  (poisonedDates, hours) => {
    expect(minutesUntilHealthyAreDone(poisonedDates)).toBeLessThanOrEqual(hours * 60);
  },
);
