import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addDays, toCivilDate } from '../../../src/base/values/business-day.ts';
import { backoffDelayMs } from '../../../src/core/work/run-pull.ts';
import { backfillRangeFault } from '../../../src/features/backfills/backfill-ledger.sql.ts';

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
  const today = toCivilDate('2026-03-11');
  const range = { from: addDays(today, from), to: addDays(today, to) };
  expect(backfillRangeFault(range, today)?.message ?? null).toBe(fault);
});
