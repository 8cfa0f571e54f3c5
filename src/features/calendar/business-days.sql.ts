import { Prisma } from '../../generated/prisma/client.ts';

/** The business day on which a payment that is due on `date` is made: `date` itself, unless banks pay nothing then. */
export const businessDayOf = (date: Prisma.Sql): Prisma.Sql => Prisma.sql`
  coalesce((SELECT closed.business_day FROM conciliation.closed_day AS closed WHERE closed.date = ${date}), ${date})`;

/** Whether a payable is due on the due date of a title or on its business day. Null: one of the two dates is null. */
export const isSameDue = (ofPayable: Prisma.Sql, ofTitle: Prisma.Sql): Prisma.Sql => Prisma.sql`
  (${ofPayable} = ${ofTitle} OR ${ofPayable} = ${businessDayOf(ofTitle)})`;
