import { Prisma } from '../../generated/prisma/client.ts';
import { MAX_DECIMAL_DIGITS } from '../values/decimal.ts';

const LIMIT = Prisma.sql`${`1e${MAX_DECIMAL_DIGITS}`}::numeric`;

/**
 * The sum of the amounts of rows. An amount with more digits than the contract permits was altered by a user of the
 * database; the sum leaves it out, because PostgreSQL could not store the sum.
 */
export const amountSum = (amount: Prisma.Sql, where: Prisma.Sql = Prisma.sql`true`): Prisma.Sql =>
  Prisma.sql`sum(${amount}) FILTER (WHERE abs(${amount}) < ${LIMIT} AND ${where})`;
