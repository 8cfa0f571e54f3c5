import { Prisma } from '../../generated/prisma/client.ts';

/** The business day on which a payment that is due on `date` is made: `date` itself, unless banks pay nothing then. */
export const businessDayOf = (date: Prisma.Sql): Prisma.Sql => Prisma.sql`
  coalesce((SELECT closed.business_day FROM conciliation.closed_day AS closed WHERE closed.date = ${date}), ${date})`;

/** Whether two due dates are the same one, because both are paid on one business day. Null: one of the two is null. */
export const isSameDue = (one: Prisma.Sql, other: Prisma.Sql): Prisma.Sql => Prisma.sql`
  (${one} = ${other} OR ${businessDayOf(one)} = ${businessDayOf(other)})`;
