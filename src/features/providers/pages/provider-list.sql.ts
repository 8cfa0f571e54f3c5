import type { Database } from '../../../base/database/database.ts';
import { folded, inEachCase } from '../../../console/shell/search.sql.ts';
import { Prisma } from '../../../generated/prisma/client.ts';
import type { SyncState } from '../provider.ts';

/** Selects providers. All conditions must hold; null: no condition. */
export interface ProviderFilter {
  /**
   * The external id, or a part of one where no provider has it; or a part of the name. Case and
   * accents do not count.
   */
  readonly text: string | null;
  /** A whole tax identifier as `provider.tax_id`, instead of the text. */
  readonly taxId: string | null;
  readonly state: SyncState | null;
}

/** The last request that had a provider, and the platform's answer. */
export interface LastRequest {
  /** Null: no request had the provider. */
  readonly sentAt: Date | null;
  readonly batchId: number | null;
  /** Null: no answer, or none yet. */
  readonly httpStatus: number | null;
  /** The code of a request that decided nothing. */
  readonly errorCode: string | null;
  readonly isUnderWay: boolean;
}

export interface ProviderRow extends LastRequest {
  readonly externalId: string;
  readonly name: string | null;
  readonly identification: string | null;
  readonly state: SyncState;
  /** When the platform took the provider last. */
  readonly syncedAt: Date | null;
  /** The violated rules of an invalid provider. The platform's refusal may be personal data. */
  readonly faults: string | null;
}

export async function countProviders(database: Database, filter: ProviderFilter): Promise<number> {
  const [{ count }] = await database.prisma.$queryRaw<[{ count: number }]>`
    SELECT count(*)::float8 AS count FROM conciliation.provider provider
    WHERE ${await whereOf(database, filter)}`;
  return count;
}

/** Returns a part of the selected providers, in the order of their external ids. */
export async function readProviders(
  database: Database,
  filter: ProviderFilter,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<ProviderRow[]> {
  return database.prisma.$queryRaw<ProviderRow[]>`
    SELECT provider.*, ${lastRequestColumns}
    FROM (
      SELECT external_id AS "externalId", name, identification_number AS identification,
             sync_state AS state, synced_at AS "syncedAt",
             CASE WHEN sync_state = 'invalid' THEN last_error END AS faults
      FROM conciliation.provider provider WHERE ${await whereOf(database, filter)}
      ORDER BY external_id OFFSET ${offset} LIMIT ${limit}
    ) AS provider
    LEFT JOIN LATERAL ${lastRequest(Prisma.sql`provider."externalId"`)} ON true
    ORDER BY provider."externalId"`;
}

export const lastRequestColumns = Prisma.sql`
  last.created_at AS "sentAt", last.id::float8 AS "batchId", last.http_status AS "httpStatus",
  last.error_code AS "errorCode", coalesce(last.finished_at IS NULL AND last.id IS NOT NULL, false) AS "isUnderWay"`;

/** The `+ 0` keeps PostgreSQL from reading the table backwards instead of using the index by provider. */
export const lastRequest = (externalId: Prisma.Sql) => Prisma.sql`(
  SELECT * FROM conciliation.provider_batch
  WHERE external_ids @> ARRAY[${externalId}] ORDER BY id + 0 DESC LIMIT 1
) AS last`;

async function whereOf(database: Database, filter: ProviderFilter): Promise<Prisma.Sql> {
  const { text, taxId, state } = filter;
  const parts = [
    text === null ? null : await textCondition(database, text, taxId),
    state === null ? null : Prisma.sql`sync_state = ${state}`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? Prisma.sql`true` : Prisma.join(parts, ' AND ');
}

async function textCondition(
  database: Database,
  text: string,
  taxId: string | null,
): Promise<Prisma.Sql> {
  const whole = Prisma.sql`external_id = ANY (${inEachCase(text)}::text[])`;
  const [{ isKnown }] = await database.prisma.$queryRaw<[{ isKnown: boolean }]>`
    SELECT EXISTS (SELECT FROM conciliation.provider WHERE ${whole}) AS "isKnown"`;
  const id = isKnown ? whole : Prisma.sql`strpos(lower(external_id), lower(${text}::text)) > 0`;
  // Not LIKE, because the text may hold pattern characters.
  return Prisma.sql`(${id} OR tax_id = ${taxId}::text
    OR strpos(${folded(Prisma.sql`name`)}, ${folded(Prisma.sql`${text}::text`)}) > 0)`;
}
