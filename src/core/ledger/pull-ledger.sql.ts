import type { Database, Transaction } from '../../base/database/database.ts';
import { InputError, StaleFenceError } from '../../base/runtime/errors.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { ContentVersion } from '../title/promoted-fields.ts';
import type { PullOrigin, PullState } from './states.ts';

/**
 * One attempt at a pull. All its writes are refused once another attempt has drawn a higher fence.
 */
export interface Attempt {
  readonly pullId: bigint;
  readonly fence: bigint;
  readonly origin: PullOrigin;
  readonly date: CivilDate;
  /** Whether the schedule, a sweep or a backfill asked for the pull, with others. */
  readonly isOfRun: boolean;
  /** Whether the attempt believes nothing that is stored for its date: a check has asked for the pull. */
  readonly isRepair: boolean;
  /** By the clock of the database, before the request is sent. */
  readonly startedAt: Date;
  /** How many attempts at the pull are counted, with this one. */
  readonly number: number;
  /** That of the date or, while the date has no row, the newest one. */
  readonly content: ContentVersion;
}

/** `ContentVersion` as JSON. */
export const contentOf = (version: Prisma.Sql): Prisma.Sql => Prisma.sql`
  (SELECT jsonb_build_object('version', own.version, 'fields', (
            SELECT coalesce(jsonb_agg(to_jsonb(field) ORDER BY name COLLATE "C"), '[]')
            FROM conciliation.promoted_fields(own.version) AS field))
   FROM (SELECT ${version} AS version) AS own)`;

export interface AttemptFailure {
  readonly errorCode: string;
  /** Free of personal data: the message of an error of this program, or a fixed text. */
  readonly errorMessage: string;
  readonly httpStatus: number | null;
  readonly responseBytes: number;
  readonly countsAsAttempt: boolean;
  /** Null: no further attempt, the pull has failed. */
  readonly retryDelayMs: number | null;
}

/**
 * Claims the pull, also from a worker that runs it. The fence is drawn before the request is sent,
 * so a higher fence also means a newer fetch. Waits for a merge that holds the row of the pull, which then has ended.
 * @throws InputError when the pull does not exist or has ended
 */
export async function startAttempt(database: Database, pullId: bigint): Promise<Attempt> {
  const [attempt] = await database.prisma.$queryRaw<[Attempt?]>`
    UPDATE conciliation.pull
    SET state = 'running', fence = nextval('conciliation.pull_fence_seq'),
        fetch_started_at = clock_timestamp(), next_attempt_at = NULL,
        -- Counted here, so that an attempt that ends its process or the server is counted, too.
        attempts = attempts + 1,
        error_code = CASE state WHEN 'running' THEN 'ATTEMPT_ABANDONED' ELSE error_code END,
        error_message = NULL, http_status = NULL, response_bytes = NULL
    WHERE id = ${pullId} AND state IN ('queued', 'running')
    RETURNING id AS "pullId", fence, origin, date::text AS date,
              (slot_at IS NOT NULL OR backfill_id IS NOT NULL) AS "isOfRun", origin = 'repair' AS "isRepair",
              fetch_started_at AS "startedAt",
              attempts AS number,
              ${contentOf(Prisma.sql`coalesce(
                (SELECT content_version FROM conciliation.day WHERE day.date = pull.date),
                conciliation.content_version())`)} AS content`;
  if (attempt === undefined) {
    throw new InputError(`pull ${pullId} does not exist or is already finished`, {
      context: { pullId: String(pullId) },
    });
  }
  return attempt;
}

/**
 * Ends an attempt without a merge and removes its staged rows. Without a further attempt the pull
 * has failed, and so has its date, unless an earlier pull reconciled it.
 * @throws StaleFenceError when another attempt has taken over: nothing was written
 */
export function recordFailure(
  database: Database,
  attempt: Attempt,
  failure: AttemptFailure,
): Promise<PullState> {
  const state: PullState = failure.retryDelayMs === null ? 'failed' : 'queued';
  return database.prisma.$transaction(async (tx) => {
    const rows = await tx.$queryRaw<{ id: bigint }[]>`
      UPDATE conciliation.pull
      SET state = ${state}, attempts = attempts - ${failure.countsAsAttempt ? 0 : 1},
          next_attempt_at = CASE WHEN ${state} = 'queued' THEN
            clock_timestamp() + make_interval(secs => ${(failure.retryDelayMs ?? 0) / 1000}::float8) END,
          finished_at = CASE WHEN ${state} = 'failed' THEN clock_timestamp() END,
          http_status = ${failure.httpStatus}::int, response_bytes = ${failure.responseBytes}::bigint,
          error_code = ${failure.errorCode}, error_message = ${failure.errorMessage}
      WHERE id = ${attempt.pullId} AND fence = ${attempt.fence} AND state = 'running'
      RETURNING id`;
    if (rows.length === 0) throw staleFence(attempt);
    if (state === 'failed') {
      // A date that has had an outcome keeps its state.
      const { date } = attempt;
      await tx.day.createMany({ data: { date, state }, skipDuplicates: true });
      await tx.day.updateMany({ where: { date, state: 'pending' }, data: { state } });
    }
    await discardStaged(tx, attempt.fence);
    return state;
  });
}

/** Either another attempt has the pull, or this one had committed before it lost its connection. */
export function staleFence(attempt: Pick<Attempt, 'pullId' | 'fence'>): StaleFenceError {
  return new StaleFenceError(
    `pull ${attempt.pullId} has ended or was taken over by another attempt`,
    {
      context: { pullId: String(attempt.pullId), fence: String(attempt.fence) },
    },
  );
}

// Constants of this program. No input reaches Prisma.raw.
const OTHER_TABLES = ['staged_reject', 'staged_base', 'staged_missing', 'staged_change'].map(
  (table) => Prisma.raw(table),
);

/** Removes the staged rows of an attempt. Those of `staged_account` do not outlast the transaction of a merge. */
export async function discardStaged(tx: Transaction, fence: bigint): Promise<void> {
  await deleteStaged(tx, Prisma.sql`fence = ${fence}`);
}

/** Removes the plan of a merge. The release of a held pull makes a new plan. */
export async function discardPlan(tx: Transaction, fence: bigint): Promise<void> {
  await tx.$executeRaw`DELETE FROM conciliation.staged_change WHERE fence = ${fence}`;
}

/**
 * Removes the rows that killed processes and attempts that were taken over have left: their fence belongs neither
 * to a running attempt nor to a held pull.
 * @returns the number of removed titles
 */
export function discardStrayRows({ prisma }: Pick<Database, 'prisma'>): Promise<number> {
  return deleteStaged(
    prisma,
    Prisma.sql`
      fence NOT IN (SELECT fence FROM conciliation.pull
                    WHERE state IN ('running', 'held') AND fence IS NOT NULL)`,
  );
}

function deleteStaged(
  tx: Pick<Transaction, '$executeRaw'>,
  condition: Prisma.Sql,
): Promise<number> {
  const others = OTHER_TABLES.map(
    (table) => Prisma.sql`${table} AS (DELETE FROM conciliation.${table} WHERE ${condition})`,
  );
  return tx.$executeRaw`
    WITH ${Prisma.join(others)}
    DELETE FROM conciliation.staged_title WHERE ${condition}`;
}
