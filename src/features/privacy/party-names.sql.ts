import type { Database } from '../../base/database/database.ts';
import { mayBeSameTaxId, taxIdOf } from '../../base/database/expressions.sql.ts';
import { InputError } from '../../base/runtime/errors.ts';

/** The identification of the party: exactly one of the two. */
export type NamedParty =
  | { readonly taxId: string; readonly externalId: null }
  | { readonly taxId: null; readonly externalId: string };

/** The names of the party in the tables. Personal data. */
export interface PartyNames {
  readonly taxIds: readonly string[];
  readonly externalIds: readonly string[];
}

/** The names as texts whose hashes are in `erased_party.key_hashes`. */
export function keysOf({ taxIds, externalIds }: PartyNames): string[] {
  return [
    ...taxIds.map((taxId) => `tax_id:${taxId}`),
    ...externalIds.map((externalId) => `external_id:${externalId}`),
  ];
}

/**
 * Returns the given name, and the tax identifier of a given external id.
 * @throws InputError when the external id belongs to several tax identifiers
 */
export async function toNames({ prisma }: Database, party: NamedParty): Promise<PartyNames> {
  if (party.taxId !== null) return { taxIds: [party.taxId], externalIds: [] };
  const { externalId } = party;
  const rows = await prisma.$queryRaw<{ taxId: string }[]>`
    SELECT DISTINCT ${taxIdOf('provider_identification')} AS "taxId" FROM conciliation.title
    WHERE provider_external_id = ${externalId}
      AND ${taxIdOf('provider_identification')} IS NOT NULL
    UNION
    SELECT tax_id FROM conciliation.provider WHERE external_id = ${externalId} AND tax_id IS NOT NULL`;
  if (rows.length > 1) {
    throw new InputError(
      `the external id belongs to ${rows.length} tax identifiers; name the party with --tax-id-file`,
    );
  }
  return { taxIds: rows.map(({ taxId }) => taxId), externalIds: [externalId] };
}

/** Adds the external ids that only these tax identifiers have. */
export async function addExternalIds({ prisma }: Database, names: PartyNames): Promise<PartyNames> {
  const { taxIds, externalIds } = names;
  // Reads all titles, without a time limit.
  const [, rows] = await prisma.$transaction([
    prisma.$executeRaw`SET LOCAL statement_timeout = 0`,
    prisma.$queryRaw<{ externalId: string }[]>`
      WITH used AS (
        SELECT DISTINCT btrim(provider_external_id) AS external_id FROM conciliation.title
        WHERE ${taxIdOf('provider_identification')} = ANY(${taxIds}::text[])
        UNION
        SELECT external_id FROM conciliation.provider WHERE tax_id = ANY(${taxIds}::text[])
      )
      SELECT external_id AS "externalId" FROM used
      WHERE external_id <> ''
        AND NOT EXISTS (SELECT FROM conciliation.title
                        WHERE provider_external_id = used.external_id
                          AND ${taxIdOf('provider_identification')} <> ALL(${taxIds}::text[]))
        AND NOT EXISTS (SELECT FROM conciliation.provider other
                        WHERE other.external_id = used.external_id AND other.tax_id <> ALL(${taxIds}::text[]))`,
  ]);
  return {
    taxIds,
    externalIds: [...new Set([...externalIds, ...rows.map((row) => row.externalId)])],
  };
}

/**
 * Returns the names that titles give a party that may be one with these tax identifiers, because leading zeros are
 * missing or a number of 11 digits is a CPF and, with zeros, a CNPJ: `conciliation.tax_id_readings`.
 */
export async function undecidedTaxIds(
  { prisma }: Database,
  { taxIds }: PartyNames,
): Promise<string[]> {
  // Reads all titles, without a time limit.
  const [, rows] = await prisma.$transaction([
    prisma.$executeRaw`SET LOCAL statement_timeout = 0`,
    prisma.$queryRaw<{ taxId: string }[]>`
      SELECT DISTINCT ${taxIdOf('written')} AS "taxId"
      FROM (
        SELECT provider_identification AS written FROM conciliation.title
        UNION SELECT financial_agent_identification FROM conciliation.title
      ) AS stated
      JOIN unnest(${taxIds}::text[]) AS party (tax_id) ON ${mayBeSameTaxId('written', 'party.tax_id')}
      WHERE ${taxIdOf('written')} <> ALL(${taxIds}::text[])`,
  ]);
  return rows.map(({ taxId }) => taxId);
}
