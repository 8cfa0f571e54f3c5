import type { Database } from '../../base/database/database.ts';
import { MAX_PROVIDERS_PER_REQUEST } from '../../core/platform/providers-client.ts';
import { Prisma } from '../../generated/prisma/client.ts';

/**
 * SHA-256 of the ERP's columns in the row called `provider`, in hexadecimal. It is the value of
 * `synced_hash`, and detects a change during a request. `changed_at` is the start of the ERP's
 * transaction, and the row's version also changes without a change of content, so neither is
 * suitable.
 */
export const contentHash = Prisma.sql`encode(sha256(convert_to(jsonb_build_array(
  provider.external_id, provider.type, provider.identification_number, provider.name,
  provider.can_anticipate, provider.phones, provider.email_addresses, provider.accounts
)::text, 'UTF8')), 'hex')`;

/**
 * External ids of rows that have the tax identifier of the row called `provider`. A few are enough,
 * because the row is checked again when any of them changes; thousands may share a number.
 */
export const duplicates = Prisma.sql`
  ARRAY(SELECT other.external_id FROM conciliation.provider other
        WHERE other.tax_id = provider.tax_id AND other.external_id <> provider.external_id LIMIT 3)`;

/**
 * External ids of rows that have the tax identifier of the row called `provider`, or may have it at
 * the platform. The latter are few, and with a LIMIT PostgreSQL would read the table instead of the
 * index.
 */
export const rivals = Prisma.sql`
  ${duplicates}
  || ARRAY(SELECT other.external_id FROM conciliation.provider other
           WHERE other.sent_tax_ids @> ARRAY[provider.tax_id]
             AND other.external_id <> provider.external_id)`;

/**
 * Locks rows by their key and skips rows with a lock of another session. For a materialized CTE
 * called `provider`: with a direct join, PostgreSQL would look rows up by their state if the
 * statistics have no pending row yet, and every request would read all pending rows.
 */
export function lockProviders(rows: readonly { readonly externalId: string }[]): Prisma.Sql {
  const externalIds = rows.map(({ externalId }) => externalId);
  return Prisma.sql`SELECT * FROM conciliation.provider
    WHERE external_id = ANY(${externalIds}::text[]) FOR UPDATE SKIP LOCKED`;
}

/**
 * Whether a conflicting row of the one called `provider` has changed, see `contested_by`. An invalid
 * row waits for the number at the platform only while the other row is pending: another row that is
 * invalid or rejected is not sent again, and only a request shows whether the platform has the number.
 */
export const isRelieved = Prisma.sql`
  provider.sync_state IN ('invalid', 'rejected') AND EXISTS (
    SELECT FROM unnest(provider.contested_by) AS rival (external_id)
    WHERE NOT EXISTS (
      SELECT FROM conciliation.provider other
      WHERE other.external_id = rival.external_id
        AND (other.tax_id = provider.tax_id
             OR (provider.tax_id = ANY(other.sent_tax_ids)
                 AND (provider.sync_state = 'rejected' OR other.sync_state = 'pending')))))`;

const MAX_AGE_SECONDS = 60;

/**
 * Returns the milliseconds until a batch is due: 0 when a hundred rows are pending, when the oldest
 * has been pending for a minute, or when a row no longer waits for others; null when no row is
 * pending. Not before the delay after the last failed request. Uses the database's clock, which
 * wrote the compared instants. Fast enough to be called every second.
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
