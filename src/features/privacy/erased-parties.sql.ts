import type { Database, Transaction } from '../../base/database/database.ts';
import { mayBeSameTaxId, taxIdOf, taxIdText } from '../../base/database/expressions.sql.ts';
import { InputError } from '../../base/runtime/errors.ts';
import type { StagedResponse } from '../../core/merge/engine-hooks.ts';
import type { DriftItem } from '../../core/title/title-contract.ts';
import { MORE_CONTENT } from '../../core/title/title-hashes.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';

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

/** Rows (external_id, tax_id): the ERP's numbers of suppliers, beside the tax identifiers that one row states with them. */
const STATED_NUMBERS = Prisma.sql`
  SELECT btrim(code) AS external_id, ${taxIdOf('written')} AS tax_id
  FROM (SELECT DISTINCT provider_external_id AS code, provider_identification AS written
        FROM conciliation.title) AS stated
  UNION SELECT external_id, tax_id FROM conciliation.provider`;

/** For queries of all titles: without a time limit. */
async function readAll<Row>({ prisma }: Database, query: Prisma.Sql): Promise<Row[]> {
  const [, rows] = await prisma.$transaction([
    prisma.$executeRaw`SET LOCAL statement_timeout = 0`,
    prisma.$queryRaw<Row[]>(query),
  ]);
  return rows;
}

/**
 * Returns the given name, and the tax identifier of a given external id.
 * @throws InputError when the external id belongs to several tax identifiers
 */
export async function toNames(database: Database, party: NamedParty): Promise<PartyNames> {
  if (party.taxId !== null) return { taxIds: [party.taxId], externalIds: [] };
  const { externalId } = party;
  const rows = await readAll<{ taxId: string }>(
    database,
    Prisma.sql`SELECT tax_id AS "taxId" FROM (${STATED_NUMBERS}) AS stated
               WHERE external_id = ${externalId} AND tax_id IS NOT NULL`,
  );
  if (rows.length > 1) {
    throw new InputError(
      `the external id belongs to ${rows.length} tax identifiers; name the party with --tax-id-file`,
    );
  }
  return { taxIds: rows.map(({ taxId }) => taxId), externalIds: [externalId] };
}

/** Adds the external ids that only these tax identifiers have. */
export async function addExternalIds(database: Database, names: PartyNames): Promise<PartyNames> {
  const { taxIds, externalIds } = names;
  const rows = await readAll<{ externalId: string }>(
    database,
    Prisma.sql`SELECT external_id AS "externalId" FROM (${STATED_NUMBERS}) AS stated WHERE external_id <> ''
               GROUP BY external_id HAVING bool_and(tax_id = ANY(${taxIds}::text[]))`,
  );
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
  database: Database,
  { taxIds }: PartyNames,
): Promise<string[]> {
  const rows = await readAll<{ taxId: string }>(
    database,
    Prisma.sql`
      SELECT DISTINCT ${taxIdOf('written')} AS "taxId"
      FROM (
        SELECT provider_identification AS written FROM conciliation.title
        UNION SELECT financial_agent_identification FROM conciliation.title
      ) AS stated
      JOIN unnest(${taxIds}::text[]) AS party (tax_id) ON ${mayBeSameTaxId('written', 'party.tax_id')}
      WHERE ${taxIdOf('written')} <> ALL(${taxIds}::text[])`,
  );
  return rows.map(({ taxId }) => taxId);
}

/*
 * A party is a provider or a financial agent. The list erased_party knows an erased party by hashes of its
 * keys: 'tax_id:' and a tax identifier, or 'external_id:' and the ERP's number of a provider.
 */

/** Personal columns of a title, by the party that they are about. */
export const PARTY_COLUMNS = {
  provider: {
    /** Replaced by the party's pseudonym, so that its titles still belong together. */
    names: ['provider_external_id', 'provider_identification'],
    /** Replaced by null. */
    details: [
      'provider_bank',
      'provider_agency',
      'provider_agency_digit',
      'provider_account',
      'provider_account_digit',
    ],
  },
  financial_agent: {
    names: ['financial_agent_identification', 'financial_agent_name'],
    details: [
      'payment_bank',
      'payment_agency',
      'payment_agency_digit',
      'payment_account',
      'payment_account_digit',
    ],
  },
} as const;

// Column names and expressions of this file. No input reaches Prisma.raw.

/**
 * The key of a party that a row with the columns of a title names; null: none. The ERP's number of a provider
 * counts only where the title states no tax identifier: the ERP may give the number to another supplier.
 */
export const PARTY_KEYS = {
  provider: Prisma.raw(
    `coalesce('tax_id:' || ${taxIdText('provider_identification')},
              'external_id:' || nullif(btrim(provider_external_id), ''))`,
  ),
  financial_agent: Prisma.raw(`'tax_id:' || ${taxIdText('financial_agent_identification')}`),
} as const;

/**
 * Erases the parties of a row with the columns of a title. A row `erased` has the pseudonyms of those that are erased, by
 * kind of party; null: the party stays.
 */
export const ASSIGNMENTS = Prisma.raw(
  Object.entries(PARTY_COLUMNS)
    .flatMap(([kind, { names, details }]) => [
      ...names.map((name) => `${name} = coalesce(erased.${kind}, ${name})`),
      ...details.map((name) => `${name} = CASE WHEN erased.${kind} IS NULL THEN ${name} END`),
    ])
    .join(', '),
);

/** A tax identifier with some of the signs of its mask; and with all or none, where such signs may be beside it. */
const WRITINGS = [
  '[0-9A-Za-z][0-9A-Za-z./-]{8,}',
  '[0-9]{3}[.][0-9]{3}[.][0-9]{3}-[0-9]{2}|[0-9A-Za-z]{2}(?:[.][0-9A-Za-z]{3}){2}/[0-9A-Za-z]{4}-[0-9]{2}|[0-9A-Za-z]{9,}',
];

/**
 * Returns the rows (key) of the parties that a text may name: everything of the form of a tax identifier. Numbers of
 * the ERP are not looked for: a short one is part of many values.
 */
const taxIdsInText = (text: Prisma.Sql): Prisma.Sql => Prisma.sql`
  SELECT DISTINCT 'tax_id:' || tax_id AS key
  FROM unnest(${WRITINGS}::text[]) AS writing CROSS JOIN LATERAL regexp_matches(${text}, writing, 'g') AS token
  CROSS JOIN LATERAL (SELECT ${taxIdOf('token[1]')} AS tax_id) AS plain
  -- Also a text of up to 14 characters with wrong check digits: no-cpf-or-cnpj: has 15.
  WHERE length(tax_id) <= 29`;

/** JSON text without the escapes beside values. An escaped slash is that of a CNPJ. */
const withoutEscapes = (json: Prisma.Sql): Prisma.Sql => Prisma.sql`
  regexp_replace(replace(${json}, '\\/', '/'), '\\\\+(u[0-9A-Fa-f]{4}|.)', ' ', 'g')`;

/**
 * Returns the rows (key) of the parties that the text of an answer may name: its JSON strings and numbers, and what has
 * the form of a tax identifier in a sentence.
 */
const keysInText = (text: Prisma.Sql): Prisma.Sql => Prisma.sql`(
  SELECT named.key
  FROM regexp_matches(${text}, '"((?:[^"\\\\]|\\\\.)*)"|([0-9]+)', 'g') AS token
  CROSS JOIN LATERAL (SELECT coalesce(token[1], token[2]) AS value) AS found
  CROSS JOIN LATERAL (VALUES ('tax_id:' || ${taxIdOf('value')}),
                             ('external_id:' || nullif(btrim(value), ''))) AS named (key)
  WHERE named.key IS NOT NULL
  UNION ${taxIdsInText(withoutEscapes(text))})`;

/** Whether the text of an answer may name a party with one of the keys. */
export const isAnyIn = (text: Prisma.Sql, keys: readonly string[]): Prisma.Sql => Prisma.sql`
  EXISTS (SELECT FROM ${keysInText(text)} AS named WHERE named.key = ANY(${keys}::text[]))`;

/**
 * Whether a text that is not the platform's names the party. Only in a row that is about the party (`isOwn`) is a
 * part of the text that equals its number in the ERP taken for that number.
 */
export const isNamedIn = (text: Prisma.Sql, names: PartyNames, isOwn: Prisma.Sql): Prisma.Sql => {
  const keys = keysOf({ ...names, externalIds: [] });
  return Prisma.sql`(
    EXISTS (SELECT FROM (${taxIdsInText(text)}) AS named WHERE key = ANY(${keys}::text[]))
    OR (${isOwn} AND EXISTS (SELECT FROM unnest(${names.externalIds}::text[]) AS number
                             WHERE strpos(${text}, number) > 0)))`;
};

/**
 * Returns the rows (fence, ordinal, member, key) of the parties that the members of `extra` of staged titles may name:
 * every text of the form of a tax identifier, and the provider's second number. Escapes are left out first, because a
 * field that is kept as JSON text has them beside the values.
 */
const keysOfExtra = (isStaged: Prisma.Sql): Prisma.Sql => Prisma.sql`
  SELECT fence, ordinal, member, named.key
  FROM conciliation.staged_title AS staged CROSS JOIN LATERAL jsonb_each(staged.extra) AS stated (member, value)
  CROSS JOIN LATERAL (
    ${taxIdsInText(withoutEscapes(Prisma.sql`jsonb_build_object(member, value)::text`))}
    UNION ALL
    SELECT 'external_id:' || nullif(btrim(value ->> 'externalId'), '') WHERE member = 'provider'
  ) AS named
  WHERE ${isStaged} AND named.key IS NOT NULL`;

/** Returns the rows (key, pseudonym) of the keys of erased parties. `keys` has a column `key`. */
const erasedAmong = (keys: Prisma.Sql): Prisma.Sql => Prisma.sql`
  SELECT named.key, 'erased-' || party.id AS pseudonym
  FROM ${keys} AS named
  JOIN conciliation.erased_party AS party
    ON party.ended_at IS NULL
   AND sha256(party.salt || convert_to(named.key, 'UTF8')) = ANY(party.key_hashes)`;

/** The pseudonym of the erased party that a text names; null: none. */
const pseudonymIn = (text: Prisma.Sql): Prisma.Sql => Prisma.sql`
  (SELECT min(pseudonym) FROM (${erasedAmong(Prisma.sql`(${taxIdsInText(text)})`)}) AS erased)`;

const CONTENT = Prisma.raw(MORE_CONTENT);

/**
 * Removes the personal data of the parties of the list from staged rows. A title of another party loses those members
 * of `extra` that name one of them. The hashes stay those of the answer, so that an erased title compares equal, and the
 * revision of a restated one has no personal data.
 * @param isStaged a condition for a row `staged`
 */
export async function eraseStaged(tx: Transaction, isStaged: Prisma.Sql): Promise<void> {
  const keysOfTitles = Prisma.sql`
    (SELECT DISTINCT key FROM conciliation.staged_title AS staged
     CROSS JOIN LATERAL (VALUES (${PARTY_KEYS.provider}), (${PARTY_KEYS.financial_agent})) AS party (key)
     WHERE ${isStaged})`;
  await tx.$executeRaw`
    WITH known AS MATERIALIZED (${erasedAmong(keysOfTitles)})
    UPDATE conciliation.staged_title AS staged SET ${ASSIGNMENTS}, extra = NULL, erased_at = now()
    FROM (
      SELECT fence, ordinal, provider.pseudonym AS provider, agent.pseudonym AS financial_agent
      FROM conciliation.staged_title AS staged
      LEFT JOIN known AS provider ON provider.key = ${PARTY_KEYS.provider}
      LEFT JOIN known AS agent ON agent.key = ${PARTY_KEYS.financial_agent}
      WHERE ${isStaged} AND coalesce(provider.key, agent.key) IS NOT NULL
    ) AS erased
    WHERE staged.fence = erased.fence AND staged.ordinal = erased.ordinal`;
  await tx.$executeRaw`
    WITH named AS MATERIALIZED (${keysOfExtra(isStaged)}),
         erased AS MATERIALIZED (${erasedAmong(Prisma.sql`(SELECT DISTINCT key FROM named)`)})
    UPDATE conciliation.staged_title staged SET extra = kept.extra,
        -- The content hash covers a destination or a promoted field that the row has no longer.
        erased_at = CASE WHEN kept.is_content_lost THEN coalesce(erased_at, now()) ELSE erased_at END
    FROM (
      SELECT fence, ordinal, extra, content IS DISTINCT FROM ${CONTENT} AS is_content_lost
      FROM (
        SELECT fence, ordinal, accepted_date, ${CONTENT} AS content, nullif(extra - members, '{}') AS extra
        FROM (SELECT fence, ordinal, array_agg(member) AS members
              FROM named JOIN erased USING (key) GROUP BY fence, ordinal) AS found
        JOIN conciliation.staged_title USING (fence, ordinal)
      ) AS rest
    ) AS kept
    WHERE staged.fence = kept.fence AND staged.ordinal = kept.ordinal`;
  await tx.$executeRaw`
    UPDATE conciliation.staged_reject AS staged SET raw = ''
    WHERE ${isStaged} AND EXISTS (${erasedAmong(keysInText(Prisma.sql`staged.raw`))})`;
}

/**
 * Erases the staged rows of an attempt, and the undocumented values of its response. The list of erased parties
 * stays locked against `eraseParty` until the end of the transaction: a merge that saw an empty list has ended, and its
 * titles are visible, before a party is erased from all titles.
 */
export async function eraseErased(tx: Transaction, staged: StagedResponse): Promise<void> {
  const [{ hasErased }] = await tx.$queryRaw<[{ hasErased: boolean }]>`
    SELECT EXISTS (SELECT FROM conciliation.erased_party WHERE ended_at IS NULL) AS "hasErased"`;
  if (!hasErased) return;
  await eraseStaged(tx, Prisma.sql`staged.fence = ${staged.fence}`);
  if (staged.drift.length === 0) return;
  staged.drift = await tx.$queryRaw<DriftItem[]>`
    SELECT place, path, kind, coalesce(${pseudonymIn(Prisma.sql`value`)}, value) AS value
    FROM jsonb_to_recordset(${JSON.stringify(staged.drift)}::jsonb)
      AS seen (place text, path text, kind text, value text)`;
}
