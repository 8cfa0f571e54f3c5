import { recordAudit } from '../../base/audit/audit.ts';
import type { Database, Transaction } from '../../base/database/database.ts';
import { takeLock } from '../../base/database/program-lock.sql.ts';
import { StagingUnavailableError } from '../../base/runtime/errors.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { FieldFault } from '../../base/values/field-fault.ts';
import type { AlertEntry, AlertRow, Words } from '../../console/alert-entry.ts';
import { MAX_PROVIDERS_PER_REQUEST } from '../../core/platform/providers-client.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { describeFaults } from './provider.ts';

/**
 * SHA-256 of the ERP's columns in the row called `provider`, in hexadecimal. It is the value of
 * `synced_hash`, and detects a change during a request. `changed_at` is the start of the ERP's
 * transaction, and the row's version also changes without a change of content, so neither is
 * suitable.
 */
const contentHash = Prisma.sql`encode(sha256(convert_to(jsonb_build_array(
  provider.external_id, provider.type, provider.identification_number, provider.name,
  provider.can_anticipate, provider.phones, provider.email_addresses, provider.accounts
)::text, 'UTF8')), 'hex')`;

/** External ids of rows that may have the tax identifier of the row called `provider` at the platform. */
const rivals = Prisma.sql`
  ARRAY(SELECT other.external_id FROM conciliation.provider other
        WHERE other.sent_tax_ids @> ARRAY[provider.tax_id]
          AND other.external_id <> provider.external_id)`;

/**
 * Locks rows by their key and skips rows with a lock of another session. For a materialized CTE
 * called `provider`: with a direct join, PostgreSQL would look rows up by their state if the
 * statistics have no pending row yet, and every request would read all pending rows.
 */
function lockProviders(rows: readonly { readonly externalId: string }[]): Prisma.Sql {
  const externalIds = rows.map(({ externalId }) => externalId);
  return Prisma.sql`SELECT * FROM conciliation.provider
    WHERE external_id = ANY(${externalIds}::text[]) FOR UPDATE SKIP LOCKED`;
}

/** Whether a refused row of the one called `provider` may have its number now: see `contested_by`. */
const isRelieved = Prisma.sql`
  provider.sync_state = 'rejected' AND EXISTS (
    SELECT FROM unnest(provider.contested_by) AS rival (external_id)
    WHERE NOT EXISTS (
      SELECT FROM conciliation.provider other
      WHERE other.external_id = rival.external_id AND provider.tax_id = ANY(other.sent_tax_ids)))`;

/** A row of a request, with its content at the check. */
export interface SentProvider {
  readonly externalId: string;
  readonly contentHash: string;
  /** The number as it is sent. */
  readonly taxId: string;
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

/** Returns the newest request of any process; its id is null if there is none. */
export async function readNewestBatch(client: Pick<Transaction, '$queryRaw'>) {
  const [newest = { id: null, isUnderWay: false }] = await client.$queryRaw<
    [{ id: bigint; isUnderWay: boolean }?]
  >`
    SELECT id, finished_at IS NULL AND next_attempt_at > clock_timestamp() AS "isUnderWay"
    FROM conciliation.provider_batch ORDER BY id DESC LIMIT 1`;
  return newest;
}

/**
 * Records a request before it is sent. From here until an answer is recorded, the platform's
 * content of these rows is unknown. Otherwise, content that the ERP has restored meanwhile would
 * count as content that the platform still has.
 * @param after the newest request when the rows were read, or that of the caller
 * @returns the rows that may be sent: the others have changed meanwhile, or the ERP has locked them; null when none may be
 *   sent; busy when another process has begun a request since `after`
 */
export function openBatch(database: Database, after: bigint | null, rows: readonly SentProvider[]) {
  return database.prisma.$transaction(async (tx) => {
    await takeLock(tx, 'push');
    if ((await readNewestBatch(tx)).id !== after) return 'busy' as const;
    const [batch = null] = await tx.$queryRaw<[{ batchId: bigint; externalIds: string[] }?]>`
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
    return batch;
  });
}

/**
 * Keeps a request under way until `end`. `lost` aborts with a StagingUnavailableError when the database is not available,
 * or when the process was stopped for so long that another one may push.
 */
export function keepUnderWay({ prisma }: Database, batchId: bigint) {
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
): Promise<{ synced: number; rejected: number }> {
  return database.prisma.$transaction(async (tx) => {
    await takeLock(tx, 'push');
    if ((await readNewestBatch(tx)).id !== batchId) {
      throw new StagingUnavailableError('another process has pushed since the request');
    }
    await endBatch(tx, batchId, answer, null);
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
    if (decided.length > 0) {
      const details = { batchId: Number(batchId), ...counts };
      await recordAudit(tx, { actor: 'service', action: 'providers.push', details });
    }
    return counts;
  });
}

/**
 * Records the end of a request.
 * @param failure why it decided nothing, and how long nothing is pushed; null: it was decided, or there is no delay
 */
export async function endBatch(
  client: Pick<Transaction, '$executeRaw'>,
  batchId: bigint,
  answer: RecordedAnswer,
  failure: { readonly errorCode: string; readonly delayMs: number | null } | null,
): Promise<void> {
  const delaySeconds = failure?.delayMs == null ? null : failure.delayMs / 1000;
  await client.$executeRaw`
    UPDATE conciliation.provider_batch
    SET http_status = ${answer.httpStatus}::int, answer = ${answer.text}, error_code = ${failure?.errorCode ?? null},
        finished_at = clock_timestamp(),
        next_attempt_at = clock_timestamp() + make_interval(secs => ${delaySeconds}::float8)
    WHERE id = ${batchId}`;
}

export async function countFailuresInARow({ prisma }: Database): Promise<number> {
  const [row] = await prisma.$queryRaw<[{ failures: number }]>`
    SELECT count(*)::int AS failures FROM (${FAILURES}) AS failure`;
  return row.failures;
}

/** The rows with the names that the statements use. */
const recordset = (rows: readonly Partial<AnsweredProvider>[]) => Prisma.sql`(
    SELECT "externalId" AS external_id, "contentHash" AS content_hash, "taxId" AS tax_id, refusal
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      AS stated ("externalId" text, "contentHash" text, "taxId" text, refusal text)
  ) AS sent`;

/**
 * The newest request in which the platform decided about a provider. The refusal of several providers decides none,
 * because the platform does not name the refused ones.
 */
const LAST_DECIDED = Prisma.sql`
  SELECT id, finished_at FROM conciliation.provider_batch
  WHERE finished_at IS NOT NULL AND error_code IS NULL AND (http_status < 300 OR cardinality(external_ids) = 1)
  ORDER BY id DESC LIMIT 1`;

/**
 * The failed requests since then. An interrupted request, a refused token (401) and an unusable one (CONFIG_INVALID) are
 * no failures of the platform; tokens have separate alerts.
 */
const FAILURES = Prisma.sql`
  SELECT id, created_at, error_code FROM conciliation.provider_batch
  WHERE error_code NOT IN ('SHUTDOWN', 'CONFIG_INVALID') AND http_status IS DISTINCT FROM 401
    AND id > coalesce((SELECT id FROM (${LAST_DECIDED}) AS decided), 0)`;

/** A pending row as it was read. */
export interface PendingProvider {
  readonly externalId: string;
  readonly contentHash: string;
  /** Null: the number does not have the form of a CPF or CNPJ. */
  readonly taxId: string | null;
  /** In the interface's shape, unchecked; null columns are null. */
  readonly candidate: unknown;
  /** Whether the platform already has this content. */
  readonly isUnchanged: boolean;
  /** `changed_at` with its microseconds, which a JavaScript Date lacks. */
  readonly changedAt: string;
}

/** Sets refused rows to pending whose number another row has let go of. Returns their number. */
export function relieveProviders(database: Database): Promise<number> {
  return database.prisma.$executeRaw`
    UPDATE conciliation.provider
    SET sync_state = 'pending', last_error = NULL, contested_by = '{}'
    WHERE external_id IN (SELECT external_id FROM conciliation.provider provider
                          WHERE ${isRelieved} FOR UPDATE SKIP LOCKED)`;
}

/**
 * Returns a page of pending rows in the order of their changes, after the row `after`. The reading
 * continues after a row without a result, so that a row with a lock of the ERP does not delay the
 * others.
 */
export function readPendingProviders(
  database: Database,
  after: PendingProvider | null,
  limit: number,
): Promise<PendingProvider[]> {
  return database.prisma.$queryRaw<PendingProvider[]>`
    SELECT external_id AS "externalId", ${contentHash} AS "contentHash", tax_id AS "taxId",
           changed_at::text AS "changedAt",
           coalesce(synced_hash = ${contentHash}, false) AS "isUnchanged",
           jsonb_build_object(
             'externalId', external_id, 'type', type,
             'identificationNumber', identification_number, 'name', name,
             'canAnticipate', can_anticipate, 'phones', phones,
             'emailAddresses', email_addresses, 'accounts', accounts) AS candidate
    FROM conciliation.provider provider
    WHERE sync_state = 'pending'
      AND (changed_at, external_id)
          > (coalesce(${after?.changedAt ?? null}::timestamptz, '-infinity'), ${after?.externalId ?? ''})
    ORDER BY changed_at, external_id
    LIMIT ${limit}`;
}

/** The outcome for a pending row that is not sent. `faults` are null for a row that the platform has already. */
export interface CheckOutcome {
  readonly row: PendingProvider;
  readonly faults: readonly FieldFault[] | null;
}

/**
 * Records the results of the check for rows whose content has not changed since.
 * @returns the number of rows that became invalid, and of those that are synced without a request
 */
export function recordChecks(
  { prisma }: Database,
  outcomes: readonly CheckOutcome[],
): Promise<{ invalid: number; synced: number }> {
  const checks = outcomes.map(({ row, faults }) => ({
    external_id: row.externalId,
    content_hash: row.contentHash,
    state: faults === null ? 'synced' : 'invalid',
    last_error: faults === null ? null : describeFaults(faults),
  }));
  return prisma.$transaction(async (tx) => {
    const rows = await tx.$queryRaw<{ state: string }[]>`
      WITH provider AS MATERIALIZED (${lockProviders(outcomes.map(({ row }) => row))})
      UPDATE conciliation.provider AS present SET sync_state = checked.state, last_error = checked.last_error
      FROM provider JOIN jsonb_to_recordset(${JSON.stringify(checks)}::jsonb)
        AS checked (external_id text, content_hash text, state text, last_error text) USING (external_id)
      WHERE present.external_id = provider.external_id
        AND provider.sync_state = 'pending' AND ${contentHash} = checked.content_hash
      RETURNING checked.state`;
    const invalid = rows.filter(({ state }) => state === 'invalid').length;
    if (invalid > 0) {
      const details = { invalid };
      await recordAudit(tx, { actor: 'service', action: 'providers.invalid', details });
    }
    return { invalid, synced: rows.length - invalid };
  });
}

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

/** How long pushing may fail before an alert is raised. */
const PUSH_FAILING_MINUTES = 60;

/** The time that providers may wait while none is accepted or refused, for any cause. */
const PUSH_OVERDUE_HOURS = 2;

export const providerAlerts = {
  /**
   * By the date on which the ERP wrote the rows, because the time of the refusal is not stored. It is no accepted date:
   * the alert concerns no day of the ledger.
   */
  provider_rejected: {
    severity: 'warning',
    page: '/providers',
    readsProviders: true,
    causes: ({ timeZone }) => [
      Prisma.sql`
        SELECT (changed_at AT TIME ZONE ${timeZone})::date AS written,
               sum(count(*) FILTER (WHERE sync_state = 'rejected')) OVER () AS rejected,
               sum(count(*) FILTER (WHERE sync_state = 'invalid')) OVER () AS invalid
        FROM conciliation.provider WHERE sync_state IN ('rejected', 'invalid') GROUP BY 1`,
    ],
    values: (rows: readonly (AlertRow & { written: CivilDate })[], { list }: Words) => ({
      listed: list(rows.map(({ written }) => written).toSorted()),
    }),
  },
  /**
   * The failures since the platform last decided about a row, if the first one is old enough, or pending rows of which
   * none was decided for too long, for any cause.
   */
  push_failing: {
    severity: 'warning',
    page: '/providers',
    isDaily: true,
    readsProviders: true,
    causes: () => [
      Prisma.sql`
        WITH failure AS (${FAILURES}), waiting AS (
          SELECT count(*) AS pending,
                 greatest(min(changed_at), (SELECT finished_at FROM (${LAST_DECIDED}) AS decided)) AS since
          FROM conciliation.provider WHERE sync_state = 'pending'
        )
        SELECT pending, ${PUSH_OVERDUE_HOURS}::int AS hours,
               coalesce((SELECT error_code FROM failure ORDER BY id DESC LIMIT 1), 'none') AS "errorCode"
        FROM waiting
        WHERE pending > 0
          AND ((SELECT min(created_at) FROM failure)
                 < clock_timestamp() - make_interval(mins => ${PUSH_FAILING_MINUTES}::int)
               OR since < clock_timestamp() - make_interval(hours => ${PUSH_OVERDUE_HOURS}::int))`,
    ],
  },
} satisfies Record<string, AlertEntry>;
