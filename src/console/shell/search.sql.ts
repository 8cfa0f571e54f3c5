import { Prisma } from '../../generated/prisma/client.ts';

/** The spellings under which an identifier is looked up in an index. */
export function inEachCase(text: string): string[] {
  return [...new Set([text, text.toLowerCase(), text.toUpperCase()])];
}

/** In lower case and without the accents of Portuguese and Spanish. */
export function folded(text: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`translate(lower(${text}), 'áàâãäéèêëíìîïóòôõöúùûüçñ', 'aaaaaeeeeiiiiooooouuuucn')`;
}

/** Whether text has the form of a CPF or CNPJ, whose check digits may be wrong, and leading zeros missing. */
export function isLikeTaxId(text: string): boolean {
  return /^(?:\d{9,14}|[\dA-Z]{12}\d{2})$/i.test(text.replace(/[./\-\s]/g, ''));
}

/** The characters of a tax identifier without mask, blanks and leading zeros. */
export function bareTaxId(column: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`ltrim(upper(translate(${column}, './- ', '')), '0')`;
}
