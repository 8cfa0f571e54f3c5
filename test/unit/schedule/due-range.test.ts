import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addDays, daysBetween, toCivilDate } from '../../../src/base/values/business-day.ts';
import {
  DUE_VIEWS,
  dueRangeOf,
  neighbour,
} from '../../../src/features/schedule/read-schedule.sql.ts';

test.each([
  ['month', '2026-02-10', '2026-02-01', '2026-02-28'],
  ['month', '2028-02-10', '2028-02-01', '2028-02-29'],
  ['month', '2026-12-31', '2026-12-01', '2026-12-31'],
  ['day', '2026-11-23', '2026-11-23', '2026-11-23'],
] as const)('the %s of %s', (view, date, from, to) => {
  expect(dueRangeOf(view, toCivilDate(date))).toEqual({ from, to });
});

test('spans follow each other without a gap and have every date', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...DUE_VIEWS),
      fc.integer({ min: -40_000, max: 40_000 }),
      (view, days) => {
        const date = addDays(toCivilDate('2026-01-01'), days);
        const range = dueRangeOf(view, date);
        expect(date >= range.from && date <= range.to).toBe(true);
        const next = dueRangeOf(view, neighbour(range, 'next'));
        expect(daysBetween(range.to, next.from)).toBe(1);
        expect(dueRangeOf(view, neighbour(next, 'previous'))).toEqual(range);
      },
    ),
  );
});
