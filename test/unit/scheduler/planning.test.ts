import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addDays, dateIn, datesBetween, lastClosedDate } from '../../../src/domain/business-day.ts';
import { type DuePull, MAX_OPEN_PULLS, planDue } from '../../../src/domain/pull-plan.ts';
import { latestSlot } from '../../../src/scheduler/cron-slot.ts';
import { LedgerInMemory } from './ledger-in-memory.ts';
import { TIME_ZONES } from './wall-clocks.ts';

const HOUR_MS = 3_600_000;
const BEGIN_MS = Date.UTC(2011, 0, 3, 12);
const END_MS = Date.UTC(2021, 0, 3);

/** A service that ticks, sleeps, crashes and comes back over ten years. */
interface Life {
  readonly timeZone: string;
  readonly pullCron: string;
  readonly lookbackDays: number;
  readonly seed: number;
}

function live({ timeZone, pullCron, lookbackDays, seed }: Life): void {
  const random = seededRandom(seed);
  const policy = { timeZone, lookbackDays, sweepDays: 45 };
  const slotsAt = (now: Date) => ({
    pullAt: latestSlot(pullCron, timeZone, now),
    sweepAt: latestSlot('0 3 * * 0', timeZone, now),
  });
  const startDate = lastClosedDate(timeZone, new Date(BEGIN_MS));
  const ledger = new LedgerInMemory(startDate, timeZone);
  let stale = ledger.read(slotsAt(new Date(BEGIN_MS)));

  let nowMs = BEGIN_MS;
  while (nowMs < END_MS) {
    const now = new Date(nowMs);
    const slots = slotsAt(now);
    // Two planners at once: one of them has read the ledger a tick ago.
    const byLaggard = planDue(slots, stale, policy);
    stale = ledger.read(slots);
    const due = planDue(slots, stale, policy);
    ledger.insert(due, now);
    ledger.insert(byLaggard, now);

    const after = ledger.read(slots);
    const yesterday = lastClosedDate(timeZone, slots.pullAt);
    const missing = datesBetween(startDate, yesterday)
      .slice(-400)
      .filter((date) => {
        const isDone = after.lastReconciledDate !== null && date <= after.lastReconciledDate;
        const isNear = date >= addDays(yesterday, -lookbackDays);
        const isNeeded = isNear || !(isDone || after.reconciledDates.has(date));
        return isNeeded && !after.coveredDates.has(date);
      });
    if (missing.length > 0) {
      expect(after.openPulls, `${missing.join()} at ${now.toISOString()}`).toBeGreaterThanOrEqual(
        MAX_OPEN_PULLS,
      );
    }
    expect(planDue(slots, after, policy)).toEqual([]);

    ledger.settle(now, () => (random() < 0.1 ? 'open' : random() < 0.1 ? 'failed' : 'merged'));
    nowMs += nextStepMs(random);
  }
  expectNothingDoubled(ledger.pulls);

  // Two quiet days are enough to catch up with whatever is left.
  for (const end = nowMs + 50 * HOUR_MS; nowMs < end; nowMs += HOUR_MS) {
    const now = new Date(nowMs);
    ledger.insert(planDue(slotsAt(now), ledger.read(slotsAt(now)), policy), now);
    ledger.settle(now, () => 'merged');
  }
  const lastSlot = slotsAt(new Date(nowMs - HOUR_MS)).pullAt;
  expect(ledger.lastReconciledDate).toBe(addDays(dateIn(timeZone, lastSlot), -1));
}

/** Mostly an hour or a day; now and then weeks, and now and then the clock is set back. */
function nextStepMs(random: () => number): number {
  const kind = random();
  if (kind < 0.01) return random() * 24 * 21 * HOUR_MS;
  if (kind < 0.03) return -random() * 30 * HOUR_MS;
  return random() * 26 * HOUR_MS;
}

/** A date gets at most one pull a slot, whatever its origin; so does a sweep. */
function expectNothingDoubled(pulls: readonly DuePull[]): void {
  const keys = pulls.map(
    ({ window, slotAt }) => `${window.from} ${window.to} ${slotAt.toISOString()}`,
  );
  expect(new Set(keys).size).toBe(keys.length);
  const sweeps = pulls.filter(({ window }) => window.to === null).map(({ slotAt }) => +slotAt);
  expect(new Set(sweeps).size).toBe(sweeps.length);
}

function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test.each(TIME_ZONES)(
  'ten years in %s: nothing skipped, nothing doubled',
  (timeZone) => {
    fc.assert(
      fc.property(
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
        (pullCron, lookbackDays, seed) => live({ timeZone, pullCron, lookbackDays, seed }),
      ),
      { numRuns: 1, endOnFailure: true },
    );
  },
  60_000,
);

test.each(TIME_ZONES)(
  'in %s every day has its slot, and the slots follow each other',
  (timeZone) => {
    // A date that the calendar of Apia left out has none.
    const skipped = timeZone === 'Pacific/Apia' ? ['2011-12-30'] : [];
    for (const cron of ['0 0 * * *', '30 1 * * *', '0 6 * * *']) {
      const slotDates = new Set<string>();
      let previousMs = 0;
      for (let nowMs = BEGIN_MS; nowMs < Date.UTC(2013, 0, 3); nowMs += 7 * HOUR_MS) {
        const slotMs = latestSlot(cron, timeZone, new Date(nowMs)).getTime();
        expect(slotMs).toBeGreaterThanOrEqual(previousMs);
        previousMs = slotMs;
        slotDates.add(dateIn(timeZone, new Date(slotMs)));
      }
      const sorted = [...slotDates].sort();
      const [first, last] = [sorted[0], sorted.at(-1)];
      expect([...sorted, ...skipped].sort()).toEqual(
        datesBetween(addDays(first as never, 0), addDays(last as never, 0)),
      );
    }
  },
  60_000,
);
