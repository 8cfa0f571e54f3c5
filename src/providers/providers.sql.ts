import type { Database } from '../database/database.ts';
import { MAX_PROVIDERS_PER_REQUEST } from '../domain/provider.ts';
import { Prisma } from '../generated/prisma/client.ts';

/**
 * SHA-256 of what the ERP wrote into the row called `provider`, in hexadecimal: `synced_hash`, and
 * how a row that changed while a request was under way is told. Neither `changed_at`, which is the
 * start of the ERP's transaction, nor the row's version, which every writing without a change
 * moves, would do.
 */
export const contentHash = Prisma.sql`encode(sha256(convert_to(jsonb_build_array(
  provider.external_id, provider.type, provider.identification_number, provider.name,
  provider.can_anticipate, provider.phones, provider.email_addresses, provider.accounts
)::text, 'UTF8')), 'hex')`;

/**
 * External ids of rows that have the tax identifier of the row called `provider`, or may have it at
 * the platform. Of those that have it a few are enough, because the row is looked at again when any
 * of them lets go; thousands may share a number. Those that may have it at the platform are few, and
 * a LIMIT would have PostgreSQL read the table instead of the index.
 */
export const rivals = Prisma.sql`
  ARRAY(SELECT other.external_id FROM conciliation.provider other
        WHERE other.tax_id = provider.tax_id AND other.external_id <> provider.external_id LIMIT 3)
  || ARRAY(SELECT other.external_id FROM conciliation.provider other
           WHERE other.sent_tax_ids @> ARRAY[provider.tax_id]
             AND other.external_id <> provider.external_id)`;

/**
 * Locks rows by their key, those that somebody else has locked left out. For a materialized CTE called
 * `provider`: joined as they stand, rows would be looked for by their state where the statistics know
 * no pending row yet, and every request would read all that is pending.
 */
export function lockProviders(rows: readonly { readonly externalId: string }[]): Prisma.Sql {
  const externalIds = rows.map(({ externalId }) => externalId);
  return Prisma.sql`SELECT * FROM conciliation.provider
    WHERE external_id = ANY(${externalIds}::text[]) FOR UPDATE SKIP LOCKED`;
}

/** Whether a row that stood against the one called `provider` has let go, see `contested_by`. */
export const isRelieved = Prisma.sql`
  provider.sync_state IN ('invalid', 'rejected') AND EXISTS (
    SELECT FROM unnest(provider.contested_by) AS rival (external_id)
    WHERE NOT EXISTS (
      SELECT FROM conciliation.provider other
      WHERE other.external_id = rival.external_id
        AND (other.tax_id = provider.tax_id OR provider.tax_id = ANY(other.sent_tax_ids))))`;

const MAX_AGE_SECONDS = 60;

/**
 * In how many milliseconds there is a batch to push: 0 when a hundred rows are pending, the oldest has
 * been for a minute, or a row waits for nothing any more; null when no row is pending. Not before the
 * time that the last request's failure has set. By the database's clock, which wrote what is compared.
 * Cheap enough to be asked every second.
 */
export async function readPushDelayMs(database: Database): Promise<number | null> {
  const [row] = await database.prisma.$queryRaw<[{ delayMs: number | null }]>`
    WITH batch AS (
      SELECT CASE
        WHEN EXISTS (SELECT FROM conciliation.provider provider WHERE ${isRelieved})
          OR (SELECT count(*) FROM (SELECT FROM conciliation.provider
                                    WHERE sync_state = 'pending'
                                    LIMIT ${MAX_PROVIDERS_PER_REQUEST}) AS pending)
             >= ${MAX_PROVIDERS_PER_REQUEST}
        THEN '-infinity'
        ELSE (SELECT min(changed_at) FROM conciliation.provider WHERE sync_state = 'pending')
             + make_interval(secs => ${MAX_AGE_SECONDS}::float8)
      END AS due_at
    ), last AS (
      SELECT next_attempt_at FROM conciliation.provider_batch ORDER BY id DESC LIMIT 1
    )
    SELECT CASE WHEN due_at IS NOT NULL THEN
             ceil(1000 * extract(epoch FROM greatest(due_at, next_attempt_at, clock_timestamp())
                                            - clock_timestamp()))::float8
           END AS "delayMs"
    FROM batch LEFT JOIN last ON true`;
  return row.delayMs;
}

/** The state of the push as gauges, a status page and alerts want it. Free of personal data. */
export interface ProviderSummary {
  readonly pending: number;
  readonly synced: number;
  readonly rejected: number;
  readonly invalid: number;
  /** When the row that has waited longest was changed. */
  readonly oldestPendingAt: Date | null;
  readonly lastRequestAt: Date | null;
  /** Of the last request, where it decided nothing: PLATFORM_AUTH, PLATFORM_UNAVAILABLE, … */
  readonly lastErrorCode: string | null;
  readonly nextAttemptAt: Date | null;
}

export async function readProviderSummary(database: Database): Promise<ProviderSummary> {
  const [row] = await database.prisma.$queryRaw<[ProviderSummary]>`
    SELECT count(*) FILTER (WHERE sync_state = 'pending')::int AS pending,
           count(*) FILTER (WHERE sync_state = 'synced')::int AS synced,
           count(*) FILTER (WHERE sync_state = 'rejected')::int AS rejected,
           count(*) FILTER (WHERE sync_state = 'invalid')::int AS invalid,
           min(changed_at) FILTER (WHERE sync_state = 'pending') AS "oldestPendingAt",
           min(last.created_at) AS "lastRequestAt", min(last.error_code) AS "lastErrorCode",
           min(last.next_attempt_at) AS "nextAttemptAt"
    FROM (SELECT created_at, error_code, next_attempt_at FROM conciliation.provider_batch
          ORDER BY id DESC LIMIT 1) AS last
    FULL JOIN conciliation.provider ON true`;
  return row;
}

/** A row that needs a person. */
export interface RefusedProvider {
  readonly externalId: string;
  readonly state: 'rejected' | 'invalid';
  /** Fields and what was expected of them. Null where it was the platform that refused the row. */
  readonly reason: string | null;
}

/** Rejected and invalid rows, the latest changes first. What the platform said stays in the table. */
export function readRefusedProviders(
  database: Database,
  limit: number,
): Promise<RefusedProvider[]> {
  return database.prisma.$queryRaw<RefusedProvider[]>`
    SELECT external_id AS "externalId", sync_state AS state,
           CASE WHEN sync_state = 'invalid' THEN last_error END AS reason
    FROM conciliation.provider WHERE sync_state IN ('rejected', 'invalid')
    ORDER BY changed_at DESC, external_id LIMIT ${limit}`;
}
