import { Prisma } from '../../generated/prisma/client.ts';

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
