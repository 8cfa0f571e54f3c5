import { recordAudit } from '../../base/audit/audit.ts';
import type { Database, Transaction } from '../../base/database/database.ts';
import { IS_DECIDED_BATCH } from '../../base/database/decided-batch.sql.ts';
import { takeLock } from '../../base/database/program-lock.sql.ts';
import { StagingUnavailableError } from '../../base/runtime/errors.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { contentHash, lockProviders, rivals } from './providers.sql.ts';

/** A row of a request, with its content at the check. */
export interface SentProvider {
  readonly externalId: string;
  readonly contentHash: string;
  /** The number as it is sent. */
  readonly taxId: string;
}

export interface ProviderBatch {
  readonly batchId: bigint;
  /** The rows that may be sent. The others have changed meanwhile, or the ERP has locked them. */
  readonly externalIds: readonly string[];
}

/** The answer as `provider_batch` stores it. */
export interface RecordedAnswer {
  readonly httpStatus: number | null;
  /** Storable by PostgreSQL. Null: there is none. */
  readonly text: string | null;
}

/** While a request is under way, no other begins. A request whose process has died delays the next one so long. */
const LEASE = Prisma.sql`clock_timestamp() + interval '60 seconds'`;
const RENEWAL_MS = 15_000;

/** The newest request of any process. */
export interface NewestBatch {
  /** Null: there is none. */
  readonly id: bigint | null;
  readonly isUnderWay: boolean;
}

export async function readNewestBatch(
  client: Pick<Transaction, '$queryRaw'>,
): Promise<NewestBatch> {
  const [newest = { id: null, isUnderWay: false }] = await client.$queryRaw<[NewestBatch?]>`
    SELECT id, finished_at IS NULL AND next_attempt_at > clock_timestamp() AS "isUnderWay"
    FROM conciliation.provider_batch ORDER BY id DESC LIMIT 1`;
  return newest;
}

/**
 * Records a request before it is sent. From here until an answer is recorded, the platform's
 * content of these rows is unknown. Otherwise, content that the ERP has restored meanwhile would
 * count as content that the platform still has.
 * @param after the newest request when the rows were read, or that of the caller
 * @returns null when none of the rows may be sent; busy when another process has begun a request since `after`
 */
export function openBatch(
  database: Database,
  after: bigint | null,
  rows: readonly SentProvider[],
): Promise<ProviderBatch | 'busy' | null> {
  return database.prisma.$transaction(async (tx) => {
    await takeLock(tx, 'push');
    if ((await readNewestBatch(tx)).id !== after) return 'busy';
    const [batch] = await tx.$queryRaw<[ProviderBatch?]>`
      WITH provider AS MATERIALIZED (${lockProviders(rows)}), claimed AS (
        SELECT provider.external_id, sent.tax_id, provider.sent_tax_ids
        FROM provider JOIN ${recordset(rows)} USING (external_id)
        WHERE provider.sync_state = 'pending' AND ${contentHash} = sent.content_hash
      ), marked AS (
        UPDATE conciliation.provider provider
        SET synced_hash = NULL,
            sent_tax_ids = array_append(array_remove(claimed.sent_tax_ids, claimed.tax_id), claimed.tax_id)
        FROM claimed
        WHERE provider.external_id = claimed.external_id
          AND (provider.synced_hash IS NOT NULL OR NOT claimed.tax_id = ANY(claimed.sent_tax_ids))
      )
      INSERT INTO conciliation.provider_batch (external_ids, next_attempt_at)
      SELECT array_agg(external_id), ${LEASE} FROM claimed HAVING count(*) > 0
      RETURNING id AS "batchId", external_ids AS "externalIds"`;
    return batch ?? null;
  });
}

/**
 * Keeps a request under way until `end`. `lost` aborts with a StagingUnavailableError when the database is not available,
 * or when the process was stopped for so long that another one may push.
 */
export function keepUnderWay(
  { prisma }: Database,
  batchId: bigint,
): { readonly lost: AbortSignal; readonly end: () => void } {
  const loss = new AbortController();
  const renew = async () => {
    const renewed = await prisma.$executeRaw`
      UPDATE conciliation.provider_batch SET next_attempt_at = ${LEASE}
      WHERE id = ${batchId} AND finished_at IS NULL AND next_attempt_at > clock_timestamp()`;
    if (renewed === 0) throw new StagingUnavailableError('another process may push now');
  };
  const timer = setInterval(() => renew().catch((error) => loss.abort(error)), RENEWAL_MS);
  return { lost: loss.signal, end: () => clearInterval(timer) };
}

/** A row of an answered request. */
export interface AnsweredProvider extends SentProvider {
  /** Null: the platform accepted the row. May hold personal data; stored only in `last_error`. */
  readonly refusal: string | null;
}

/**
 * Records the platform's decision: the answer together with its rows. A row that the ERP has
 * changed or locked meanwhile stays pending and is sent again.
 * @param rows empty when the answer decided nothing about any single row
 * @throws StagingUnavailableError when another process has begun a request since; nothing was recorded
 */
export function recordAnswer(
  database: Database,
  batchId: bigint,
  answer: RecordedAnswer,
  rows: readonly AnsweredProvider[],
  actor: string,
): Promise<{ synced: number; rejected: number }> {
  return database.prisma.$transaction(async (tx) => {
    await takeLock(tx, 'push');
    if ((await readNewestBatch(tx)).id !== batchId) {
      throw new StagingUnavailableError('another process has pushed since the request');
    }
    await endBatch(tx, batchId, answer, null, null);
    const answered = await tx.$queryRaw<{ isCurrent: boolean; isRefused: boolean }[]>`
      WITH provider AS MATERIALIZED (${lockProviders(rows)}), answered AS (
        SELECT sent.*, provider.sync_state = 'pending' AND ${contentHash} = sent.content_hash AS is_current,
               CASE WHEN sent.refusal IS NULL THEN '{}' ELSE ${rivals} END AS rivals
        FROM provider JOIN ${recordset(rows)} USING (external_id)
      )
      -- The platform now has this content, even if the row has changed since.
      UPDATE conciliation.provider provider
      SET synced_hash = CASE WHEN refusal IS NULL THEN answered.content_hash ELSE synced_hash END,
          synced_at = CASE WHEN refusal IS NULL THEN now() ELSE synced_at END,
          sent_tax_ids = CASE WHEN refusal IS NULL THEN ARRAY[answered.tax_id] ELSE sent_tax_ids END,
          sync_state = CASE WHEN NOT is_current THEN sync_state
                            WHEN refusal IS NULL THEN 'synced' ELSE 'rejected' END,
          last_error = CASE WHEN is_current THEN refusal ELSE last_error END,
          contested_by = CASE WHEN is_current THEN rivals ELSE contested_by END
      FROM answered WHERE provider.external_id = answered.external_id
      RETURNING is_current AS "isCurrent", refusal IS NOT NULL AS "isRefused"`;
    const decided = answered.filter(({ isCurrent }) => isCurrent);
    const rejected = decided.filter(({ isRefused }) => isRefused).length;
    const counts = { synced: decided.length - rejected, rejected };
    if (decided.length > 0) await auditPush(tx, actor, batchId, counts);
    return counts;
  });
}

/**
 * Records that a request decided nothing. Its rows stay pending.
 * @param delayMs nothing is pushed before then; null: no delay
 */
export function recordBatchFailure(
  database: Database,
  batchId: bigint,
  answer: RecordedAnswer,
  failure: { readonly errorCode: string; readonly delayMs: number | null },
): Promise<void> {
  return endBatch(database.prisma, batchId, answer, failure.errorCode, failure.delayMs);
}

/**
 * Counts the failed requests with counted codes since the platform's last decision about a row; the refusal of
 * several rows is none. A refused token (401) does not count, because it is not a failure of the platform.
 */
export async function countFailuresInARow(
  database: Database,
  countedCodes: readonly string[],
): Promise<number> {
  const [row] = await database.prisma.$queryRaw<[{ failures: number }]>`
    SELECT count(*)::int AS failures FROM conciliation.provider_batch
    WHERE error_code = ANY(${countedCodes}::text[]) AND http_status IS DISTINCT FROM 401
      AND id > coalesce((SELECT id FROM conciliation.provider_batch
                         WHERE ${IS_DECIDED_BATCH}
                         ORDER BY id DESC LIMIT 1), 0)`;
  return row.failures;
}

async function endBatch(
  client: Pick<Transaction, '$executeRaw'>,
  batchId: bigint,
  answer: RecordedAnswer,
  errorCode: string | null,
  delayMs: number | null,
): Promise<void> {
  await client.$executeRaw`
    UPDATE conciliation.provider_batch
    SET http_status = ${answer.httpStatus}::int, answer = ${answer.text}, error_code = ${errorCode},
        finished_at = clock_timestamp(),
        next_attempt_at = clock_timestamp()
          + make_interval(secs => ${delayMs === null ? null : delayMs / 1000}::float8)
    WHERE id = ${batchId}`;
}

async function auditPush(
  tx: Transaction,
  actor: string,
  batchId: bigint,
  counts: { readonly synced: number; readonly rejected: number },
): Promise<void> {
  const details = { batchId: Number(batchId), ...counts };
  await recordAudit(tx, { actor, action: 'providers.push', details });
}

function recordset(rows: readonly (SentProvider & { readonly refusal?: string | null })[]) {
  const records = rows.map((row) => ({
    external_id: row.externalId,
    content_hash: row.contentHash,
    tax_id: row.taxId,
    refusal: row.refusal ?? null,
  }));
  return Prisma.sql`jsonb_to_recordset(${JSON.stringify(records)}::jsonb)
    AS sent (external_id text, content_hash text, tax_id text, refusal text)`;
}
