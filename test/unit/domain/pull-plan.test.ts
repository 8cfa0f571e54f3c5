import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addDays, type CivilDate, toCivilDate } from '../../../src/base/values/business-day.ts';
import {
  type PlanLedger,
  planDue,
  replanAfterMinutes,
} from '../../../src/core/planner/pull-plan.ts';
import { backoffDelayMs } from '../../../src/core/work/run-pull.ts';
import { backfillRangeFault } from '../../../src/features/backfills/backfill-ledger.sql.ts';

const date = toCivilDate;
const policy = { timeZone: 'America/Sao_Paulo', lookbackDays: 3 };
/** 06:00 on Wednesday 2026-03-11. */
const slotAt = new Date('2026-03-11T09:00:00Z');
const yesterday = date('2026-03-10');

/** Everything up to `lastReconciledDate` was pulled. */
const LEDGER: PlanLedger = {
  startDate: date('2026-01-01'),
  lastReconciledDate: date('2026-03-09'),
  reconciledDates: new Set(),
  coveredDates: new Set(),
  failedPulls: new Map(),
  openPulls: 0,
};

test('yesterday is the day before the slot on the calendar of the time zone', () => {
  const evening = new Date('2026-03-12T01:30:00Z');
  expect(planDue(evening, LEDGER, policy)[0]?.date).toBe('2026-03-10');
  const tokyo = { ...policy, timeZone: 'Asia/Tokyo' };
  expect(planDue(evening, LEDGER, tokyo)[0]?.date).toBe('2026-03-11');
});

const retry = { attempts: 8, backoffSeconds: 30 };

test('the span doubles from the first delay to at most an hour, and the jitter is full', () => {
  const spans = [1, 2, 3, 4, 8, 50, 2000].map((spent) => backoffDelayMs(retry, spent, null, 1));
  expect(spans).toEqual([30_000, 60_000, 120_000, 240_000, 3_600_000, 3_600_000, 3_600_000]);
  expect(backoffDelayMs(retry, 2, null, 0)).toBe(0);
  expect(backoffDelayMs(retry, 2, null, 0.5)).toBe(30_000);
});

test('a delay that the platform named is never undercut', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 0, max: 86_400 }),
      fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      (spent, retryAfter, random) =>
        backoffDelayMs(retry, spent, retryAfter, random) >= retryAfter * 1000,
    ),
  );
});

test.each([
  [0, 0, null],
  [-4, 0, null],
  [-3659, 0, null],
  [0, -4, 'The range ends on 2026-03-07, before it begins on 2026-03-11.'],
  [-4, 1, 'The range ends on 2026-03-12, which is in the future: today is 2026-03-11.'],
  [-3660, 0, 'The range has 3661 dates. A backfill takes at most 3660 (ten years).'],
])('the fault of a backfill from day %i to day %i, today being day 0: %s', (from, to, fault) => {
  const today = date('2026-03-11');
  const range = { from: addDays(today, from), to: addDays(today, to) };
  expect(backfillRangeFault(range, today)?.message ?? null).toBe(fault);
});

interface Poisoned {
  failedPulls: number;
  /** Of the newest pull. */
  attempts: number;
  /** The minute of its next attempt; of the next pull, once its attempts are spent. */
  dueAt: number;
}

const DATES = 730;
const START = addDays(yesterday, 1 - DATES);

/** Minutes until every healthy date is done, while the oldest dates answer 500 without end. */
function minutesUntilHealthyAreDone(poisonedDates: number): number {
  const isPoisoned = (date: CivilDate) => date < addDays(START, poisonedDates);
  const isOpen = ({ attempts }: Poisoned) => attempts < retry.attempts;
  const poisoned = new Map<CivilDate, Poisoned>();
  const done = new Set<CivilDate>();
  for (let minute = 0; minute < 24 * 60; minute += 1) {
    const pulls = [...poisoned.values()];
    const covered = [...poisoned].filter(([, pull]) => isOpen(pull) || pull.dueAt > minute);
    const ledger = {
      startDate: START,
      lastReconciledDate: null,
      reconciledDates: done,
      coveredDates: new Set([...done, ...covered.map(([date]) => date)]),
      failedPulls: new Map([...poisoned].map(([date, { failedPulls }]) => [date, failedPulls])),
      openPulls: pulls.filter(isOpen).length,
    };
    for (const { date, round } of planDue(slotAt, ledger, policy)) {
      // A healthy date answers at once.
      if (!isPoisoned(date)) done.add(date);
      else poisoned.set(date, { failedPulls: round, attempts: 0, dueAt: minute });
    }
    if (done.size === DATES - poisonedDates) return minute;
    for (const pull of poisoned.values()) {
      if (!isOpen(pull) || pull.dueAt > minute) continue;
      pull.attempts += 1;
      if (!isOpen(pull)) pull.failedPulls += 1;
      // Between attempts the longest wait: the whole span.
      const wait = isOpen(pull)
        ? backoffDelayMs(retry, pull.attempts, null, 1) / 60_000
        : replanAfterMinutes(pull.failedPulls);
      pull.dueAt = minute + wait;
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
