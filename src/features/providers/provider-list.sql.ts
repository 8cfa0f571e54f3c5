import { type Static, Type } from 'typebox';
import type { Database, Transaction } from '../../base/database/database.ts';
import { parseTaxId } from '../../base/values/tax-id.ts';
import { instantOrNull, orNull, words } from '../../console/api/schema-parts.ts';
import {
  anyOf,
  asTabs,
  type FilterOf,
  readFilter,
  searchField,
} from '../../console/list/filter.tsx';
import type { ListTotal, Place } from '../../console/list/list.tsx';
import type { ConsoleParts } from '../../console/shell/console-parts.ts';
import { folded, inEachCase } from '../../console/shell/search.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { countAccountChanges } from '../accounts/account-changes.sql.ts';
import { readTitleTotals, TITLE_FILTER } from '../titles/titles.sql.ts';
import { accountPartyKey, SYNC_STATES, type SyncState } from './provider.ts';

/** A supplier and the newest request that had it. */
export const Provider = Type.Object({
  externalId: Type.String(),
  name: orNull('string'),
  identification: orNull('string', { description: 'Masked.' }),
  state: words(SYNC_STATES),
  sentAt: instantOrNull,
  syncedAt: instantOrNull,
  batchId: orNull('integer', { description: 'The newest request that had the provider.' }),
  httpStatus: orNull('integer'),
  errorCode: orNull('string'),
  isUnderWay: Type.Boolean({ description: 'The newest request has no answer yet.' }),
  faults: orNull('string', { description: 'The violated rules of an invalid provider.' }),
});
export type Provider = Readonly<Static<typeof Provider>>;

const STATES = {
  pending: 'providers.states.pending',
  synced: 'providers.states.synced',
  rejected: 'providers.states.rejected',
  invalid: 'providers.states.invalid',
} as const;

export const PROVIDER_FILTER = {
  /**
   * The external id, or a part of one where no provider has it; a part of the name, whose case and accents do not
   * count; or a whole tax identifier.
   */
  q: searchField('providers.searchLabel'),
  state: asTabs(anyOf('titles.status', SYNC_STATES, (state) => STATES[state])),
};
type ProviderFilter = FilterOf<typeof PROVIDER_FILTER>;

export async function countProviders(db: Transaction, filter: ProviderFilter): Promise<ListTotal> {
  const [counts] = await db.$queryRaw<[Record<SyncState | 'all', number>]>`
    SELECT count(*)::float8 AS all, count(*) FILTER (WHERE sync_state = 'pending')::float8 AS pending,
           count(*) FILTER (WHERE sync_state = 'synced')::float8 AS synced,
           count(*) FILTER (WHERE sync_state = 'rejected')::float8 AS rejected,
           count(*) FILTER (WHERE sync_state = 'invalid')::float8 AS invalid
    FROM conciliation.provider provider WHERE ${await whereOf(db, { ...filter, state: null })}`;
  return { rows: counts[filter.state ?? 'all'], counts };
}

/** Returns a part of the selected providers, in the order of their external ids. */
export async function readProviders(
  db: Transaction,
  filter: ProviderFilter,
  { offset, limit }: Place,
): Promise<Provider[]> {
  return db.$queryRaw<Provider[]>`
    SELECT provider.*, ${lastRequestColumns}
    FROM (
      SELECT ${providerColumns}
      FROM conciliation.provider provider WHERE ${await whereOf(db, filter)}
      ORDER BY external_id OFFSET ${offset} LIMIT ${limit}
    ) AS provider
    LEFT JOIN LATERAL ${lastRequest(Prisma.sql`provider."externalId"`)} ON true
    ORDER BY provider."externalId"`;
}

const providerColumns = Prisma.sql`
  external_id AS "externalId", name, identification_number AS identification, sync_state AS state,
  synced_at AS "syncedAt", CASE WHEN sync_state = 'invalid' THEN last_error END AS faults`;

const lastRequestColumns = Prisma.sql`
  last.created_at AS "sentAt", last.id::float8 AS "batchId", last.http_status AS "httpStatus",
  last.error_code AS "errorCode", coalesce(last.finished_at IS NULL AND last.id IS NOT NULL, false) AS "isUnderWay"`;

/** The `+ 0` keeps PostgreSQL from reading the table backwards instead of using the index by provider. */
const lastRequest = (externalId: Prisma.Sql) => Prisma.sql`(
  SELECT * FROM conciliation.provider_batch
  WHERE external_ids @> ARRAY[${externalId}] ORDER BY id + 0 DESC LIMIT 1
) AS last`;

async function whereOf(db: Transaction, { q, state }: ProviderFilter): Promise<Prisma.Sql> {
  const parts = [
    ...(q === null ? [] : [await textCondition(db, q)]),
    ...(state === null ? [] : [Prisma.sql`sync_state = ${state}`]),
  ];
  return parts.length === 0 ? Prisma.sql`true` : Prisma.join(parts, ' AND ');
}

async function textCondition(db: Transaction, text: string): Promise<Prisma.Sql> {
  const whole = Prisma.sql`external_id = ANY (${inEachCase(text)}::text[])`;
  const [{ isKnown }] = await db.$queryRaw<[{ isKnown: boolean }]>`
    SELECT EXISTS (SELECT FROM conciliation.provider WHERE ${whole}) AS "isKnown"`;
  const id = isKnown ? whole : Prisma.sql`strpos(lower(external_id), lower(${text}::text)) > 0`;
  // Not LIKE, because the text may hold pattern characters.
  return Prisma.sql`(${id} OR tax_id = ${parseTaxId(text)?.digits ?? null}::text
    OR strpos(${folded(Prisma.sql`name`)}, ${folded(Prisma.sql`${text}::text`)}) > 0)`;
}

/** A provider as the ERP states it. Personal data, except for the states and times. */
export interface ProviderDetail extends Provider {
  readonly type: string | null;
  readonly canAnticipate: boolean | null;
  readonly changedAt: Date;
  readonly phones: unknown;
  readonly emailAddresses: unknown;
  readonly accounts: unknown;
  readonly refusal: string | null;
}

/** Returns null for a provider that the ERP has not written. */
async function readProviderDetail(database: Database, externalId: string) {
  const [provider = null] = await database.prisma.$queryRaw<[ProviderDetail?]>`
    SELECT ${providerColumns}, type, can_anticipate AS "canAnticipate", phones,
           email_addresses AS "emailAddresses", accounts, changed_at AS "changedAt",
           CASE WHEN sync_state = 'rejected' THEN last_error END AS refusal,
           ${lastRequestColumns}
    FROM conciliation.provider provider
    LEFT JOIN LATERAL ${lastRequest(Prisma.sql`provider.external_id`)} ON true
    WHERE external_id = ${externalId}`;
  return provider;
}

/**
 * Returns a supplier with the numbers of its titles and changed accounts; null when neither the ERP nor a title names it.
 */
export async function readSupplier({ database }: ConsoleParts, externalId: string) {
  const partyKey = accountPartyKey(externalId);
  const filter = { ...readFilter(TITLE_FILTER, {}), providerId: externalId };
  const [provider, titleCount, changes] = await Promise.all([
    readProviderDetail(database, externalId),
    readTitleTotals(database.prisma, filter),
    countAccountChanges(database.prisma, { state: 'all', providerKey: partyKey }),
  ]);
  const changeCount = changes.rows;
  return provider === null && titleCount.titles + changeCount === 0
    ? null
    : { provider, titleCount, changeCount };
}
