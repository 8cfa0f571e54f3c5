import { Prisma } from '../../generated/prisma/client.ts';
import { MAX_DECIMAL_DIGITS } from '../values/decimal.ts';

const LIMIT = Prisma.sql`${`1e${MAX_DECIMAL_DIGITS}`}::numeric`;

/**
 * The sum of the amounts of rows. An amount with more digits than the contract permits was altered by a user of the
 * database; the sum leaves it out, because PostgreSQL could not store the sum.
 */
export const amountSum = (amount: Prisma.Sql, where: Prisma.Sql = Prisma.sql`true`): Prisma.Sql =>
  Prisma.sql`sum(${amount}) FILTER (WHERE abs(${amount}) < ${LIMIT} AND ${where})`;

/** Whether columns of a row are not as they were computed again. In JSON too, 1.0 and 1.00 are equal. */
export const differs = (row: Prisma.Sql, computed: Prisma.Sql): Prisma.Sql => Prisma.sql`
  to_jsonb(${row}) || (${computed}) <> to_jsonb(${row})`;

// Expressions of SQL. The parameters are expressions of this program. No input reaches Prisma.raw.

/** The normal form of a tax identifier, equal for all writings of one: the comment of `conciliation.tax_id`. */
export const taxIdText = (value: string): string => `conciliation.tax_id(${value})`;

export const taxIdOf = (value: string): Prisma.Sql => Prisma.raw(taxIdText(value));

/**
 * Whether two texts may name the same party: they do, or leading zeros decide between a CPF and a CNPJ. Not for
 * blanks. The first comparison is quicker, and can be the condition of a hash join.
 */
export const mayBeSameTaxId = (first: string, second: string): Prisma.Sql =>
  Prisma.raw(`(ltrim(${taxIdText(first)}, '0') = ltrim(${taxIdText(second)}, '0')
    AND conciliation.tax_id_readings(${first}) && conciliation.tax_id_readings(${second}))`);
