import { Prisma } from '../generated/prisma/client.ts';

// Expressions of SQL. The parameters are expressions of this program. No input reaches Prisma.raw.

/** The longest form of `conciliation.tax_id` that is one CPF or CNPJ; all others are longer. */
export const TAX_ID_LENGTH = 14;

/** The normal form of a tax identifier, equal for all writings of one: the comment of `conciliation.tax_id`. */
export const taxIdText = (value: string): string => `conciliation.tax_id(${value})`;

export const taxIdOf = (value: string): Prisma.Sql => Prisma.raw(taxIdText(value));

/** The normal form of the tax identifier of a company, such as a buyer. */
export const companyIdText = (value: string): string => `conciliation.tax_id(${value}, true)`;

export const companyIdOf = (value: string): Prisma.Sql => Prisma.raw(companyIdText(value));

/** Whether two texts may name the same party. Several rows may fit, so this is no key for a join. */
export const mayBeSameTaxId = (first: string, second: string): Prisma.Sql =>
  Prisma.raw(`conciliation.tax_id_readings(${first}) && conciliation.tax_id_readings(${second})`);
