import { requireKnownVersion } from '../database/content-versions.ts';
import type { Database } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { newestContentVersion } from '../domain/title.ts';
import type { TitleFolds } from '../domain/title-fold.ts';
import type { AttemptFailure } from '../ledger/pull-ledger.sql.ts';
import { InputError, StaleFenceError } from '../runtime/errors.ts';
import { reachFaultPoint } from '../runtime/fault-points.ts';

/**
 * One attempt at a sweep. Its records are refused once another attempt has drawn a higher fence.
 */
export interface SweepAttempt {
  readonly sweepId: bigint;
  readonly fence: bigint;
  readonly from: CivilDate;
  /** Attempts counted before this one. */
  readonly attemptsSpent: number;
}

/** The state of the ledger before the request. */
export interface SweepBasis {
  /** The first date to compare. */
  readonly firstDate: CivilDate;
  /** The versions of the content hashes, for dates with another than the newest. */
  readonly versions: ReadonlyMap<CivilDate, number>;
}

/** The result of reading a complete answer. */
export interface SweepRead {
  readonly folds: TitleFolds;
  readonly titles: number;
  /** Titles that belong to none of the requested dates; see the columns of `sweep`. */
  readonly undated: number;
  readonly future: number;
  readonly early: number;
}

export interface SweepReport {
  readonly sweepId: bigint;
  readonly from: CivilDate;
  readonly titles: number;
  readonly datesCompared: number;
  readonly undated: number;
  readonly future: number;
  readonly early: number;
  readonly differences: readonly SweepDifference[];
}

interface SweepDifference {
  readonly date: CivilDate;
  /** Titles in the answer of the sweep that keep the contract. */
  readonly titles: number;
  /** Titles in the newest complete answer for the date; null: there was none. */
  readonly ledgerTitles: number | null;
  /** Null: no pull is planned yet. */
  readonly pullId: bigint | null;
}

/**
 * Claims the sweep, also from a worker that runs it. The fence is drawn before the request is sent,
 * so a higher fence also means a newer answer.
 * @throws InputError when the sweep does not exist or has ended
 */
export async function startSweepAttempt(
  database: Database,
  sweepId: bigint,
): Promise<SweepAttempt> {
  const [row] = await database.prisma.$queryRaw<
    [{ fence: bigint; from: CivilDate; attempts: number }?]
  >`
    UPDATE conciliation.sweep
    SET state = 'running', fence = nextval('conciliation.pull_fence_seq'),
        fetch_started_at = clock_timestamp(), next_attempt_at = NULL, over_limit = false,
        error_code = NULL, error_message = NULL, http_status = NULL, response_bytes = NULL
    WHERE id = ${sweepId} AND state IN ('queued', 'running')
    RETURNING fence, from_date::text AS "from", attempts`;
  if (row === undefined) {
    throw new InputError(`sweep ${sweepId} does not exist or is already finished`, {
      context: { sweepId: String(sweepId) },
    });
  }
  return { sweepId, fence: row.fence, from: row.from, attemptsSpent: row.attempts };
}

/** @throws ConfigError when a newer version of this program has written one of the dates */
export async function readSweepBasis(database: Database, from: CivilDate): Promise<SweepBasis> {
  const checkpoint = await database.prisma.checkpoint.findFirst({ select: { startDate: true } });
  const firstDate = checkpoint && checkpoint.startDate > from ? checkpoint.startDate : from;
  const days = await database.prisma.day.findMany({
    where: { date: { gte: firstDate }, contentVersion: { not: newestContentVersion() } },
    select: { date: true, contentVersion: true },
  });
  const versions = new Map(
    days.map(({ date, contentVersion }) => [date, requireKnownVersion(date, contentVersion)]),
  );
  return { firstDate, versions };
}

/**
 * Compares the answer with the newest complete answer for each date, in one statement and therefore
 * in one snapshot, and completes the sweep. Writes a row for each date that differs.
 * @param dates the first and the last date to compare; none if the last is before the first
 * @throws StaleFenceError when another attempt has taken the sweep over; nothing was written
 */
export function completeSweep(
  database: Database,
  attempt: SweepAttempt,
  dates: { readonly first: CivilDate; readonly last: CivilDate },
  response: {
    readonly httpStatus: number;
    readonly responseBytes: number;
    readonly read: SweepRead;
  },
): Promise<void> {
  const { read, httpStatus, responseBytes } = response;
  return database.prisma.$transaction(async (tx) => {
    const [ended] = await tx.$queryRaw<[{ id: bigint }?]>`
      UPDATE conciliation.sweep
      SET state = 'complete', attempts = attempts + 1, response_ended_at = clock_timestamp(),
          finished_at = clock_timestamp(), http_status = ${httpStatus}::int,
          response_bytes = ${responseBytes}::bigint, titles = ${read.titles}::int,
          undated_titles = ${read.undated}::int, future_titles = ${read.future}::int,
          early_titles = ${read.early}::int
      WHERE id = ${attempt.sweepId} AND fence = ${attempt.fence} AND state = 'running'
      RETURNING id`;
    if (ended === undefined) throw staleSweep(attempt);
    const compared = await tx.$queryRaw<
      { date: CivilDate; ledgerCount: number | null; ledgerSum: string | null }[]
    >`
      SELECT wanted.date::date::text AS date, fold_count AS "ledgerCount", fold_sum AS "ledgerSum"
      FROM generate_series(${dates.first}::date, ${dates.last}::date, '1 day') AS wanted (date)
      LEFT JOIN conciliation.day ON day.date = wanted.date`;
    const differences = compared
      .map((ledger) => {
        const fold = read.folds.at(ledger.date);
        return { ...ledger, count: fold.count, sum: fold.toText() };
      })
      .filter((one) => one.count !== one.ledgerCount || one.sum !== one.ledgerSum);
    if (differences.length > 0) {
      await tx.$executeRaw`
        INSERT INTO conciliation.sweep_difference
          (sweep_id, date, fold_count, fold_sum, ledger_fold_count, ledger_fold_sum)
        SELECT ${attempt.sweepId}, date, count, sum, "ledgerCount", "ledgerSum"
        FROM jsonb_to_recordset(${JSON.stringify(differences)}::jsonb) AS differing
          (date date, count int, sum text, "ledgerCount" int, "ledgerSum" text)`;
    }
    await tx.sweep.updateMany({
      where: { id: attempt.sweepId },
      data: { datesCompared: compared.length, datesDiffering: differences.length },
    });
    reachFaultPoint('before-commit');
  });
}

/** Returns the report of the attempt; null: nothing was recorded under its fence. */
export async function readSweepReport(
  database: Database,
  attempt: Pick<SweepAttempt, 'sweepId' | 'fence'>,
): Promise<SweepReport | null> {
  const [sweep] = await database.prisma.$queryRaw<[Omit<SweepReport, 'differences'>?]>`
    SELECT id AS "sweepId", from_date::text AS "from", titles, dates_compared AS "datesCompared",
           undated_titles AS undated, future_titles AS future, early_titles AS early
    FROM conciliation.sweep
    WHERE id = ${attempt.sweepId} AND fence = ${attempt.fence} AND state = 'complete'`;
  if (sweep === undefined) return null;
  const differences = await database.prisma.$queryRaw<SweepDifference[]>`
    SELECT date::text AS date, fold_count AS titles, ledger_fold_count AS "ledgerTitles",
           pull_id AS "pullId"
    FROM conciliation.sweep_difference WHERE sweep_id = ${attempt.sweepId} ORDER BY date`;
  return { ...sweep, differences };
}

/**
 * Ends an attempt without a comparison.
 * @param isOverLimit whether the answer exceeded a limit
 * @throws StaleFenceError when another attempt has taken over; nothing was written
 */
export async function recordSweepFailure(
  database: Database,
  attempt: SweepAttempt,
  failure: AttemptFailure,
  isOverLimit: boolean,
): Promise<'queued' | 'failed'> {
  const state = failure.retryDelayMs === null ? 'failed' : 'queued';

  const rows = await database.prisma.$queryRaw<{ id: bigint }[]>`
    UPDATE conciliation.sweep
    SET state = ${state}, attempts = attempts + ${failure.countsAsAttempt ? 1 : 0},
        next_attempt_at = CASE WHEN ${state} = 'queued' THEN
          clock_timestamp() + make_interval(secs => ${(failure.retryDelayMs ?? 0) / 1000}::float8) END,
        finished_at = CASE WHEN ${state} = 'failed' THEN clock_timestamp() END,
        http_status = ${failure.httpStatus}::int, response_bytes = ${failure.responseBytes}::bigint,
        over_limit = ${isOverLimit},
        error_code = ${failure.errorCode}, error_message = ${failure.errorMessage}
    WHERE id = ${attempt.sweepId} AND fence = ${attempt.fence} AND state = 'running'
    RETURNING id`;
  if (rows.length === 0) throw staleSweep(attempt);
  return state;
}

function staleSweep({ sweepId, fence }: SweepAttempt): StaleFenceError {
  return new StaleFenceError(`sweep ${sweepId} was taken over by another attempt`, {
    context: { sweepId: String(sweepId), fence: String(fence) },
  });
}
