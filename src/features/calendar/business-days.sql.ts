import type { Transaction } from '../../base/database/database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { type BusinessDayRule, closedDays } from './holidays.ts';

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
