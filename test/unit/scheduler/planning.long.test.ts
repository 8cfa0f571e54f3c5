import fc from 'fast-check';
import { expect, test } from 'vitest';
import { latestSlot } from '../../../src/base/config/cron-schedule.ts';
import {
  addDays,
  type CivilDate,
  dateIn,
  datesBetween,
  lastClosedDate,
} from '../../../src/base/values/business-day.ts';
import { type DuePull, MAX_OPEN_PULLS, planDue } from '../../../src/core/planner/pull-plan.ts';
import { LedgerInMemory } from './ledger-in-memory.ts';
import { TIME_ZONES } from './wall-clocks.ts';

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

/** A service that ticks, sleeps, crashes and comes back. */
interface Life {
  readonly beginMs: number;
  readonly years: number;
  readonly timeZone: string;
  readonly pullCron: string;
  readonly lookbackDays: number;
  readonly seed: number;
}

function live({ beginMs, years, timeZone, pullCron, lookbackDays, seed }: Life): void {
  const random = seededRandom(seed);
  const policy = { timeZone, lookbackDays };
  const slotOf = (now: Date) => latestSlot(pullCron, timeZone, now);
  const startDate = lastClosedDate(timeZone, new Date(beginMs));
  const ledger = new LedgerInMemory(startDate, timeZone);
  let stale = ledger.read(slotOf(new Date(beginMs)));

  let nowMs = beginMs;
  while (nowMs < beginMs + years * YEAR_MS) {
    const now = new Date(nowMs);
    const slotAt = slotOf(now);
    // Two planners at once: one of them has read the ledger a tick ago.
    const byLaggard = planDue(slotAt, stale, policy);
    stale = ledger.read(slotAt);
    const due = planDue(slotAt, stale, policy);
    ledger.insert(due, now);
    ledger.insert(byLaggard, now);

    const after = ledger.read(slotAt);
    const yesterday = lastClosedDate(timeZone, slotAt);
    const isMissing = (date: CivilDate) => {
      const isDone = after.lastReconciledDate !== null && date <= after.lastReconciledDate;
      const isNear = date >= addDays(yesterday, -lookbackDays);
      const isNeeded = isNear || !(isDone || after.reconciledDates.has(date));
      return date >= startDate && isNeeded && !after.coveredDates.has(date);
    };
    const missing = datesBetween(addDays(yesterday, -60), yesterday).filter(isMissing);
    if (missing.length > 0) {
      expect(after.openPulls, `${missing.join()} at ${now.toISOString()}`).toBeGreaterThanOrEqual(
        MAX_OPEN_PULLS,
      );
    }
    expect(planDue(slotAt, after, policy)).toEqual([]);

    ledger.settle(now, () => (random() < 0.1 ? 'open' : random() < 0.1 ? 'failed' : 'merged'));
    nowMs += nextStepMs(random);
  }
  expectNothingDoubled(ledger.pulls);

  // Two days without faults are enough for the remaining work.
  for (const end = nowMs + 50 * HOUR_MS; nowMs < end; nowMs += HOUR_MS) {
    const now = new Date(nowMs);
    ledger.insert(planDue(slotOf(now), ledger.read(slotOf(now)), policy), now);
    ledger.settle(now, () => 'merged');
  }
  const lastSlot = slotOf(new Date(nowMs - HOUR_MS));
  expect(ledger.lastReconciledDate).toBe(addDays(dateIn(timeZone, lastSlot), -1));
}

/** Mostly an hour or a day; now and then weeks, and now and then the clock is set back. */
function nextStepMs(random: () => number): number {
  const kind = random();
  if (kind < 0.01) return random() * 24 * 21 * HOUR_MS;
  if (kind < 0.03) return -random() * 30 * HOUR_MS;
  return random() * 26 * HOUR_MS;
}

/** A date gets at most one pull a slot, over all origins. */
function expectNothingDoubled(pulls: readonly DuePull[]): void {
  const keys = pulls.map(({ date, slotAt }) => `${date} ${slotAt.toISOString()}`);
  expect(new Set(keys).size).toBe(keys.length);
}

function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

// cron-slot.test.ts tries the slots of every zone at every change of its clock.
test('any year in any zone: nothing skipped, nothing doubled', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...TIME_ZONES),
      fc.integer({ min: Date.UTC(2010, 0, 1), max: Date.UTC(2020, 0, 1) }),
      fc.constantFrom(
        '0 6 * * *',
        '0 0 * * *',
        '30 0 * * *',
        '30 1 * * *',
        '30 2 * * *',
        '59 23 * * *',
      ),
      fc.integer({ min: 0, max: 7 }),
      fc.nat(),
      (timeZone, beginMs, pullCron, lookbackDays, seed) =>
        live({ beginMs, years: 1, timeZone, pullCron, lookbackDays, seed }),
    ),
    { numRuns: 3, endOnFailure: true },
  );
});
