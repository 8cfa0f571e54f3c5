import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  addDays,
  daysBetween,
  isWeekend,
  toCivilDate,
} from '../../../src/base/values/business-day.ts';
import {
  closedDays,
  easterOf,
  MAX_MOVE_DAYS,
  nationalHolidays,
} from '../../../src/features/calendar/business-days.sql.ts';

/** The dates that almanacs state, with the earliest and the latest ones. */
const EASTERS =
  `1818-03-22 1943-04-25 1961-04-02 1981-04-19 2000-04-23 2008-03-23 2010-04-04 2011-04-24
  2012-04-08 2013-03-31 2014-04-20 2015-04-05 2016-03-27 2017-04-16 2018-04-01 2019-04-21 2020-04-12 2021-04-04
  2022-04-17 2023-04-09 2024-03-31 2025-04-20 2026-04-05 2027-03-28 2028-04-16 2029-04-01 2030-04-21 2035-03-25
  2038-04-25 2049-04-18 2076-04-19 2285-03-22`.split(/\s+/);
test.each(EASTERS)('Easter is on %s', (date) => {
  expect(easterOf(Number(date.slice(0, 4)))).toBe(date);
});

test('Easter is a Sunday from 22 March to 25 April', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1600, max: 4000 }), (year) => {
      const easter = easterOf(year);
      expect(isWeekend(easter) && isWeekend(addDays(easter, -1))).toBe(true);
      expect(easter >= `${year}-03-22` && easter <= `${year}-04-25`).toBe(true);
    }),
  );
});

const datesOf = (year: number) => nationalHolidays(year).map(({ date }) => date.slice(5));

test('the national holidays of 2026', () => {
  expect(datesOf(2026).join(' ')).toBe(
    '01-01 02-16 02-17 04-03 04-21 05-01 06-04 09-07 10-12 11-02 11-15 11-20 12-25 12-31',
  );
});

test('20 November is national from 2024', () => {
  expect(datesOf(2023)).not.toContain('11-20');
  expect(datesOf(2024)).toContain('11-20');
});

test.each([
  ['2026-02-14', '2026-02-18', '2026-02-13'],
  ['2026-11-20', '2026-11-23', '2026-11-19'],
  ['2026-12-31', '2027-01-04', '2026-12-30'],
  ['2026-04-03', '2026-04-06', '2026-04-02'],
  ['2026-12-25', '2026-12-28', '2026-12-24'],
])('a payment due on %s is made on %s, or before on %s', (date, following, preceding) => {
  const due = toCivilDate(date);
  expect(closedDays([], 'following').get(due)).toBe(following);
  expect(closedDays([], 'preceding').get(due)).toBe(preceding);
});

test('a date that is far from a business day is paid on that date', () => {
  const first = toCivilDate('2026-07-01');
  const own = Array.from({ length: 12 }, (_, days) => addDays(first, days));
  const days = closedDays(own, 'following');
  expect(days.get(first)).toBe(first);
  expect(days.get(toCivilDate('2026-07-03'))).toBe('2026-07-13');
  for (const [date, day] of days) expect(daysBetween(date, day)).toBeLessThanOrEqual(MAX_MOVE_DAYS);
});
