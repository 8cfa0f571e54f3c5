import fc from 'fast-check';
import { expect, test } from 'vitest';
import { replanAfterMinutes } from '../../../src/core/planner/pull-plan.ts';
import { backoffDelayMs } from '../../../src/core/work/run-pull.ts';

const policy = { attempts: 8, backoffSeconds: 30 };

test('the span doubles from the first delay to at most an hour', () => {
  const spans = [1, 2, 3, 4, 8, 50, 2000].map((spent) => backoffDelayMs(policy, spent, null, 1));
  expect(spans).toEqual([30_000, 60_000, 120_000, 240_000, 3_600_000, 3_600_000, 3_600_000]);
});

test('the jitter is full: anywhere between nothing and the span', () => {
  expect(backoffDelayMs(policy, 2, null, 0)).toBe(0);
  expect(backoffDelayMs(policy, 2, null, 0.5)).toBe(30_000);
});

test('a delay that the platform named is never undercut', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 0, max: 86_400 }),
      fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      (spent, retryAfter, random) =>
        backoffDelayMs(policy, spent, retryAfter, random) >= retryAfter * 1000,
    ),
  );
});

test('spent pulls are planned again at intervals that grow to an hour', () => {
  expect([1, 2, 3, 4, 5, 6, 50].map(replanAfterMinutes)).toEqual([5, 10, 20, 40, 60, 60, 60]);
});
