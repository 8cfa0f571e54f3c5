import { describe, expect, test } from 'vitest';
import { addDays, toCivilDate } from '../../../src/base/values/business-day.ts';
import { sweepStart } from '../../../src/features/sweep/sweep-plan.ts';

const SLOT_DATE = toCivilDate('2026-03-08');
const ago = (days: number) => addDays(SLOT_DATE, -days);
const start = (oldestOpenDate: number | null, startDate = 3000) =>
  sweepStart(SLOT_DATE, {
    startDate: ago(startDate),
    oldestOpenDate: oldestOpenDate === null ? null : ago(oldestOpenDate),
  });

describe('a sweep reaches back', () => {
  test('to the oldest date that has a title which is not due yet', () => {
    expect(start(120)).toBe(ago(120));
  });

  test('at least 45 days', () => {
    expect(start(3)).toBe(ago(45));
    expect(start(null)).toBe(ago(45));
  });

  test('at most 400 days', () => {
    expect(start(401)).toBe(ago(400));
  });

  test('never to a date before the ledger', () => {
    expect(start(120, 100)).toBe(ago(100));
    expect(start(null, 10)).toBe(ago(10));
  });
});
