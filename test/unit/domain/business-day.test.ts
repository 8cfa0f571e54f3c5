import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  addDays,
  dateIn,
  datesBetween,
  daysBetween,
  isWeekend,
  lastClosedDate,
  parseCivilDate,
  toCivilDate,
} from '../../../src/base/values/business-day.ts';
import {
  closedDays,
  easterOf,
  MAX_MOVE_DAYS,
  nationalHolidays,
} from '../../../src/features/calendar/business-days.sql.ts';

const civilDate = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => toCivilDate(date.toISOString().slice(0, 10)));

describe('parseCivilDate', () => {
  it.each(['2026-07-01', '0001-01-01', '9999-12-31', '2024-02-29', '2000-02-29', '2026-04-30'])(
    'takes %s',
    (text) => {
      expect(parseCivilDate(text)).toBe(text);
      expect(toCivilDate(text)).toBe(text);
    },
  );

  it.each([
    ...['2026-02-29', '1900-02-29', '2100-02-29', '2026-02-30', '2026-04-31', '2026-13-01'],
    ...['2026-00-10', '2026-01-00', '2026-01-32', '0000-01-01', '2026-1-1', '26-01-01', '20260101'],
    ...['2026-07-01T00:00:00Z', '2026-07-01 ', ' 2026-07-01', '2026-07-01\n', '01/07/2026', ''],
    ...['+002026-07-01', '-001-01-01', '２０２６-07-01', '2026‐07‐01', '2026-07-0１'],
  ])('refuses %j', (text) => {
    expect(parseCivilDate(text)).toBeNull();
    expect(() => toCivilDate(text)).toThrow(RangeError);
  });
});

describe('counting days', () => {
  it.each([
    ['2026-02-28', 1, '2026-03-01'],
    ['2024-01-01', 366, '2025-01-01'],
    ['0001-01-02', -1, '0001-01-01'],
    ['0099-12-31', 1, '0100-01-01'],
    ['9999-12-30', 1, '9999-12-31'],
  ])('%s and %i days is %s', (from, days, to) => {
    expect(addDays(toCivilDate(from), days)).toBe(to);
    expect(daysBetween(toCivilDate(from), toCivilDate(to))).toBe(days);
  });

  it('ends with the years of four digits', () => {
    expect(() => addDays(toCivilDate('9999-12-31'), 1)).toThrow(RangeError);
    expect(() => addDays(toCivilDate('0001-01-01'), -1)).toThrow(RangeError);
  });

  it('there and back is where it began, and text order is date order', () => {
    fc.assert(
      fc.property(civilDate, civilDate, (from, to) => {
        const days = daysBetween(from, to);
        expect(addDays(from, days)).toBe(to);
        expect(daysBetween(to, from)).toBe(days === 0 ? 0 : -days);
        expect(Math.sign(days)).toBe(from === to ? 0 : from < to ? 1 : -1);
      }),
    );
  });

  it('lists both ends and every date between them', () => {
    expect(datesBetween(toCivilDate('2024-02-27'), toCivilDate('2024-03-02'))).toEqual([
      '2024-02-27',
      '2024-02-28',
      '2024-02-29',
      '2024-03-01',
      '2024-03-02',
    ]);
    const day = toCivilDate('2026-07-01');
    expect(datesBetween(day, day)).toEqual([day]);
    expect(datesBetween(day, toCivilDate('2026-06-30'))).toEqual([]);
    expect(datesBetween(day, toCivilDate('2020-01-01'))).toEqual([]);
  });

  it.each([
    ['2026-07-04', true],
    ['2026-07-06', false],
    ['0001-01-06', true],
    ['0001-01-08', false],
  ])('%s is on a weekend: %s', (date, expected) => {
    expect(isWeekend(toCivilDate(date))).toBe(expected);
  });
});

describe('the date in a time zone', () => {
  it.each([
    ['America/Sao_Paulo', '2026-07-01T02:59:59.999Z', '2026-06-30'],
    ['America/Sao_Paulo', '2026-07-01T03:00:00.000Z', '2026-07-01'],
    // Summer time, and the night in which midnight did not exist.
    ['America/Sao_Paulo', '2018-11-04T02:59:59.999Z', '2018-11-03'],
    ['America/Sao_Paulo', '2018-11-04T03:00:00.000Z', '2018-11-04'],
    // The evening that was lived twice.
    ['America/Sao_Paulo', '2019-02-17T02:30:00.000Z', '2019-02-16'],
    ['America/Sao_Paulo', '2019-02-17T03:00:00.000Z', '2019-02-17'],
    ['Pacific/Kiritimati', '2026-06-30T10:00:00.000Z', '2026-07-01'],
    // Samoa went from the 29th to the 31st.
    ['Pacific/Apia', '2011-12-30T09:59:59.999Z', '2011-12-29'],
    ['Pacific/Apia', '2011-12-30T10:00:00.000Z', '2011-12-31'],
  ])('%s at %s is %s', (timeZone, at, date) => {
    expect(dateIn(timeZone, new Date(at))).toBe(date);
  });

  it('closes when it is over there', () => {
    const timeZone = 'America/Sao_Paulo';
    expect(lastClosedDate(timeZone, new Date('2026-07-01T02:59:59.999Z'))).toBe('2026-06-29');
    expect(lastClosedDate(timeZone, new Date('2026-07-01T03:00:00.000Z'))).toBe('2026-06-30');
  });
});

/** The dates that almanacs state, with the earliest and the latest ones. */
const EASTERS =
  `1818-03-22 1943-04-25 1961-04-02 1981-04-19 2000-04-23 2008-03-23 2010-04-04 2011-04-24
  2012-04-08 2013-03-31 2014-04-20 2015-04-05 2016-03-27 2017-04-16 2018-04-01 2019-04-21 2020-04-12 2021-04-04
  2022-04-17 2023-04-09 2024-03-31 2025-04-20 2026-04-05 2027-03-28 2028-04-16 2029-04-01 2030-04-21 2035-03-25
  2038-04-25 2049-04-18 2076-04-19 2285-03-22`.split(/\s+/);
test.each(EASTERS)('Easter is on %s', (date) => {
  expect(easterOf(Number(date.slice(0, 4)))).toBe(date);
});

// 20 November is national from 2024.
test.each([
  [2023, '01-01 02-20 02-21 04-07 04-21 05-01 06-08 09-07 10-12 11-02 11-15 12-25 12-31'],
  [2024, '01-01 02-12 02-13 03-29 04-21 05-01 05-30 09-07 10-12 11-02 11-15 11-20 12-25 12-31'],
])('the national holidays of %i', (year, dates) => {
  expect(nationalHolidays(year).map(({ date }) => date)).toEqual(
    dates.split(' ').map((date) => `${year}-${date}`),
  );
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
