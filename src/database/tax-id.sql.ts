import { Prisma } from '../generated/prisma/client.ts';

/**
 * An expression of SQL: the tax identifier in `value` as a CPF or CNPJ is written without mask, so letters and digits
 * alone, in upper case and with leading zeros. Null: it has none. Other texts remain texts that can be compared.
 * Most values are written in that form already, and the rest of the expression takes several times as long.
 * @param value an expression of this program
 */
export const taxIdText = (value: string): string => `
  (CASE WHEN ${value} ~ '^([0-9]{11}|[0-9]{14})$' THEN ${value} ELSE
    (SELECT CASE WHEN plain ~ '^[0-9]{1,14}$'
                 THEN lpad(plain, CASE WHEN length(plain) > 11 THEN 14 ELSE 11 END, '0')
                 ELSE plain END
     FROM nullif(translate(regexp_replace(${value}, '[^0-9A-Za-z]', '', 'g'),
                           'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'), '') AS plain) END)`;

export const taxIdOf = (value: string): Prisma.Sql => Prisma.raw(taxIdText(value));
