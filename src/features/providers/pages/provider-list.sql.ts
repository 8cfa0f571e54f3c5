import { type Static, Type } from 'typebox';
import type { Transaction } from '../../../base/database/database.ts';
import { parseTaxId } from '../../../base/values/tax-id.ts';
import { instantOrNull, orNull, words } from '../../../console/api/schema-parts.ts';
import type { ListTotal, Place } from '../../../console/list/list.tsx';
import { folded, inEachCase } from '../../../console/shell/search.sql.ts';
import { Prisma } from '../../../generated/prisma/client.ts';
import { SYNC_STATES, type SyncState } from '../provider.ts';

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

/** All conditions must hold; null: no condition. */
interface ProviderFilter {
  /**
   * The external id, or a part of one where no provider has it; a part of the name, whose case and accents do not
   * count; or a whole tax identifier.
   */
  readonly q: string | null;
  readonly state: SyncState | null;
}

export async function countProviders(db: Transaction, filter: ProviderFilter): Promise<ListTotal> {
  const [row] = await db.$queryRaw<[ListTotal]>`
    SELECT count(*)::float8 AS rows FROM conciliation.provider provider WHERE ${await whereOf(db, filter)}`;
  return row;
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

export const providerColumns = Prisma.sql`
  external_id AS "externalId", name, identification_number AS identification, sync_state AS state,
  synced_at AS "syncedAt", CASE WHEN sync_state = 'invalid' THEN last_error END AS faults`;

export const lastRequestColumns = Prisma.sql`
  last.created_at AS "sentAt", last.id::float8 AS "batchId", last.http_status AS "httpStatus",
  last.error_code AS "errorCode", coalesce(last.finished_at IS NULL AND last.id IS NOT NULL, false) AS "isUnderWay"`;

/** The `+ 0` keeps PostgreSQL from reading the table backwards instead of using the index by provider. */
export const lastRequest = (externalId: Prisma.Sql) => Prisma.sql`(
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
