import { Prisma } from '../../generated/prisma/client.ts';

/** The spellings under which an identifier is looked up in an index. */
export function inEachCase(text: string): string[] {
  return [...new Set([text, text.toLowerCase(), text.toUpperCase()])];
}

/** In lower case and without the accents of Portuguese and Spanish. */
export function folded(text: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`translate(lower(${text}), 'áàâãäéèêëíìîïóòôõöúùûüçñ', 'aaaaaeeeeiiiiooooouuuucn')`;
}
