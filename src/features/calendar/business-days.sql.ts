/** The days on which the banks of Brazil pay nothing, and the business days on which payments are made instead. */
import type { Transaction } from '../../base/database/database.ts';
import {
  addDays,
  type CivilDate,
  datesBetween,
  isWeekend,
  toCivilDate,
} from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';

/** Whether a payment that is due on a day without service is made on the next or on the last business day. */
export type BusinessDayRule = 'following' | 'preceding';

/** The years that the calendar has. */
export const FIRST_YEAR = 2010;
export const LAST_YEAR = 2059;

/** The national holidays by month and day. Banks give no service to the public on 31 December. */
const FIXED = {
  new_year: '01-01',
  tiradentes: '04-21',
  labour_day: '05-01',
  independence: '09-07',
  aparecida: '10-12',
  all_souls: '11-02',
  republic: '11-15',
  black_awareness: '11-20',
  christmas: '12-25',
  year_end: '12-31',
} as const;

/** The days from Easter to the holidays that move with it. Banks are closed on both days of Carnival. */
const FROM_EASTER = {
  carnival_monday: -48,
  carnival_tuesday: -47,
  good_friday: -2,
  corpus_christi: 60,
} as const;

export type HolidayName = keyof typeof FIXED | keyof typeof FROM_EASTER;

/** Law 14.759/2023 made 20 November a national holiday. Until then it was one of some states and cities. */
const BLACK_AWARENESS_FROM = 2024;

/** Returns Easter Sunday of a year, by the algorithm of Oudin. */
export function easterOf(year: number): CivilDate {
  const century = Math.floor(year / 100);
  const golden = year % 19;
  const epact =
    (century - Math.floor(century / 4) - Math.floor((8 * century + 13) / 25) + 19 * golden + 15) %
    30;
  // Days from 21 March to the full moon.
  const moon = epact - (epact > 28 || (epact === 28 && golden > 10) ? 1 : 0);
  const weekday = (year + Math.floor(year / 4) + moon + 2 - century + Math.floor(century / 4)) % 7;
  return addDays(toCivilDate(`${year}-03-28`), moon - weekday);
}

export function nationalHolidays(
  year: number,
): readonly { readonly date: CivilDate; readonly name: HolidayName }[] {
  const easter = easterOf(year);
  const namesOf = <Names extends object>(names: Names) => Object.keys(names) as (keyof Names)[];
  return [
    ...namesOf(FIXED)
      .filter((name) => name !== 'black_awareness' || year >= BLACK_AWARENESS_FROM)
      .map((name) => ({ name, date: toCivilDate(`${year}-${FIXED[name]}`) })),
    ...namesOf(FROM_EASTER).map((name) => ({ name, date: addDays(easter, FROM_EASTER[name]) })),
  ].sort((a, b) => (a.date < b.date ? -1 : 1));
}

/** The most days between a due date and its business day. A date that is farther from one is paid on that date. */
export const MAX_MOVE_DAYS = 10;

/**
 * Returns the days without service of the years of the calendar, each with the business day on which a payment that
 * is due on it is made.
 * @param own holidays beside the national ones
 */
export function closedDays(
  own: readonly CivilDate[],
  rule: BusinessDayRule,
): ReadonlyMap<CivilDate, CivilDate> {
  const holidays = new Set(own);
  for (let year = FIRST_YEAR; year <= LAST_YEAR; year += 1) {
    for (const { date } of nationalHolidays(year)) holidays.add(date);
  }
  const dates = datesBetween(toCivilDate(`${FIRST_YEAR}-01-01`), toCivilDate(`${LAST_YEAR}-12-31`));
  const closed = new Set(dates.filter((date) => isWeekend(date) || holidays.has(date)));
  const moves = new Map<CivilDate, CivilDate>();
  for (const date of closed) {
    let day = date;
    for (let moved = 0; moved < MAX_MOVE_DAYS && closed.has(day); moved += 1) {
      day = addDays(day, rule === 'following' ? 1 : -1);
    }
    moves.set(date, closed.has(day) ? date : day);
  }
  return moves;
}

/** The business day on which a payment that is due on `date` is made: `date` itself, unless banks pay nothing then. */
export const businessDayOf = (date: Prisma.Sql): Prisma.Sql => Prisma.sql`
  coalesce((SELECT closed.business_day FROM conciliation.closed_day AS closed WHERE closed.date = ${date}), ${date})`;

/** `businessDayOf` for the rows of a relation that has `joinClosedDay(date)`: one join in place of a search for each row. */
export const joinedBusinessDay = (date: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`coalesce(closed.business_day, ${date})`;
export const joinClosedDay = (date: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`LEFT JOIN conciliation.closed_day AS closed ON closed.date = ${date}`;

/** Whether a payable is due on the due date of a title or on its business day. Null: one of the two dates is null. */
export const isSameDue = (ofPayable: Prisma.Sql, ofTitle: Prisma.Sql): Prisma.Sql => Prisma.sql`
  (${ofPayable} = ${ofTitle} OR ${ofPayable} = ${businessDayOf(ofTitle)})`;

/**
 * Writes the days without service, where they differ from those of the table.
 * @returns the number of rows that were written
 */
export async function writeCalendar(tx: Transaction, rule: BusinessDayRule): Promise<number> {
  const own = await tx.holiday.findMany({ where: { endedAt: null }, select: { date: true } });
  const days = closedDays(
    own.map(({ date }) => date),
    rule,
  );
  const [{ written }] = await tx.$queryRaw<[{ written: number }]>`
    WITH wanted AS MATERIALIZED (
      SELECT * FROM unnest(${[...days.keys()]}::date[], ${[...days.values()]}::date[]) AS stated (date, business_day)
    ), gone AS (
      DELETE FROM conciliation.closed_day WHERE date NOT IN (SELECT date FROM wanted) RETURNING date
    ), written AS (
      INSERT INTO conciliation.closed_day AS closed (date, business_day) SELECT * FROM wanted
      ON CONFLICT (date) DO UPDATE SET business_day = excluded.business_day
      WHERE closed.business_day <> excluded.business_day RETURNING date
    )
    SELECT (SELECT count(*)::int FROM gone) + (SELECT count(*)::int FROM written) AS written`;
  return written;
}

/** Writes the calendar of a database in which no service has started yet. */
export async function ensureCalendar(tx: Transaction): Promise<void> {
  const known = await tx.closedDay.findFirst({ select: { date: true } });
  if (known === null) await writeCalendar(tx, 'following');
}
