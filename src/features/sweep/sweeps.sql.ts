/**
 * A sweep requests every title accepted since a date and compares each date with the ledger. It merges nothing: a date
 * that differs gets a pull.
 */

import { type Database, readClock, type Transaction } from '../../base/database/database.ts';
import {
  type ConciliationError,
  PlatformAuthError,
  ShutdownError,
  StagingUnavailableError,
  TokenUnusableError,
} from '../../base/runtime/errors.ts';
import { reachFaultPoint } from '../../base/runtime/fault-points.ts';
import {
  type CivilDate,
  dateIn,
  lastClosedDate,
  toCivilDate,
} from '../../base/values/business-day.ts';
import type { AlertEntry } from '../../console/alert-entry.ts';
import { contentOf } from '../../core/ledger/pull-ledger.sql.ts';
import { REPLAN_MINUTES, SPENT_ERROR_CODES } from '../../core/planner/planner.sql.ts';
import type { ConciliationResponse } from '../../core/platform/conciliation-client.ts';
import { cutTitles, type RawTitle, TitleCutter } from '../../core/reader/cutter.ts';
import { readExactTitle } from '../../core/reader/exact-title.ts';
import { FastReader } from '../../core/reader/fast-reader.ts';
import type { ContentVersion, PromotedField } from '../../core/title/promoted-fields.ts';
import { contentHash, TitleFolds, toDigest } from '../../core/title/title.ts';
import type { PullWindow } from '../../core/title/title-contract.ts';
import { type PullParts, toKnownError } from '../../core/work/run-pull.ts';
import { Prisma } from '../../generated/prisma/client.ts';

/** Minimum and maximum number of days before the date of its slot that a sweep covers. */
const SWEEP_DAYS = 45;
const SWEEP_MAX_DAYS = 400;

/** Of the wait after the first failure, and the longest: an answer may be the longest that the platform gives. */
const FIRST_RETRY_MINUTES = 5;
const MAX_RETRY_MINUTES = 24 * 60;

/** Limit for open pulls that sweeps have requested. The others wait, so that the queue stays short. */
export const MAX_OPEN_SWEEP_PULLS = 20;

export interface SweepOrder {
  readonly from: CivilDate;
  readonly slotAt: Date;
}

/**
 * Returns the sweep that the slot makes due; null: there is none, because a sweep of the slot is complete, no date
 * was answered yet, or none was over at the slot. After each failure the sweep waits twice as long. It covers the oldest
 * date with a title that is not due yet, because the platform may still restate such a title, and no date before the
 * ledger.
 * @returns with the milliseconds until the sweep is due: 0 for now
 */
export async function readDueSweep({ prisma }: Database, slotAt: Date, timeZone: string) {
  const slotDate = dateIn(timeZone, slotAt);
  const [due] = await prisma.$queryRaw<[{ from: CivilDate; delayMs: number }?]>`
    SELECT greatest(start_date, ${slotDate}::date - ${SWEEP_MAX_DAYS}::int, least(
             ${slotDate}::date - ${SWEEP_DAYS}::int,
             (SELECT min(date) FROM conciliation.day WHERE latest_due_date >= ${slotDate}::date)))::text AS "from",
           greatest(0, ceil(1000 * extract(epoch FROM failed.retry_at - clock_timestamp())))::float8 AS "delayMs"
    FROM conciliation.checkpoint, (
      SELECT max(finished_at) + interval '1 minute'
               * least(${FIRST_RETRY_MINUTES}::int * 2 ^ least(count(*) - 1, 30), ${MAX_RETRY_MINUTES}::int) AS retry_at
      FROM conciliation.sweep WHERE state = 'failed' AND slot_at >= ${slotAt}::timestamptz
    ) AS failed
    WHERE start_date < ${slotDate}::date
      AND EXISTS (SELECT FROM conciliation.day WHERE fold_count IS NOT NULL)
      AND NOT EXISTS (SELECT FROM conciliation.sweep
                      WHERE state = 'complete' AND slot_at >= ${slotAt}::timestamptz)`;
  return due === undefined ? null : { ...due, slotAt };
}

/** The result of reading a complete answer. */
interface SweepRead {
  readonly folds: TitleFolds;
  readonly titles: number;
  /** Titles that belong to none of the requested dates; see the columns of `sweep`. */
  readonly undated: number;
  readonly future: number;
  readonly early: number;
}

interface SweepRequest extends SweepOrder {
  /** By the database's clock, before the request was sent. */
  readonly startedAt: Date;
  /** Null: the platform did not answer. */
  readonly httpStatus: number | null;
  readonly responseBytes: number;
}

/** Returns the promoted fields that are content of each date from `from` on. A date that is absent has none. */
export async function readPromotedOf(
  { prisma }: Database,
  from: CivilDate,
): Promise<ReadonlyMap<string, readonly PromotedField[]>> {
  const versions = await prisma.$queryRaw<{ dates: string[]; content: ContentVersion }[]>`
    SELECT array_agg(date::text) AS dates, ${contentOf(Prisma.sql`content_version`)} AS content
    FROM conciliation.day WHERE date >= ${from}::date AND content_version > 0 GROUP BY content_version`;
  return new Map(
    versions.flatMap(({ dates, content }) => dates.map((date) => [date, content.fields] as const)),
  );
}

type SweepReport = Awaited<ReturnType<typeof recordSweep>>;

/**
 * Compares the answer with the newest complete answer for each date, in one statement and therefore
 * in one snapshot, and records the sweep. Writes a row for each date that differs.
 * @param last the last date to compare; the first one is in the ledger
 */
function recordSweep(database: Database, request: SweepRequest, last: CivilDate, read: SweepRead) {
  return database.prisma.$transaction(async (tx) => {
    const compared = await tx.$queryRaw<
      { date: CivilDate; ledgerTitles: number | null; ledgerSum: string | null }[]
    >`
      SELECT wanted.date::date::text AS date, fold_count AS "ledgerTitles", fold_sum AS "ledgerSum"
      FROM generate_series(
        greatest(${request.from}::date, (SELECT start_date FROM conciliation.checkpoint)), ${last}::date, '1 day') AS wanted (date)
      LEFT JOIN conciliation.day ON day.date = wanted.date`;
    const differences = compared
      .map((ledger) => {
        const fold = read.folds.at(ledger.date);
        return { ...ledger, titles: fold.count, sum: fold.toText() };
      })
      .filter((one) => one.titles !== one.ledgerTitles || one.sum !== one.ledgerSum);
    const { id: sweepId } = await tx.sweep.create({
      data: {
        ...rowOf(request),
        state: 'complete',
        titles: read.titles,
        undatedTitles: read.undated,
        futureTitles: read.future,
        earlyTitles: read.early,
        datesCompared: compared.length,
        datesDiffering: differences.length,
      },
      select: { id: true },
    });
    if (differences.length > 0) {
      await tx.$executeRaw`
        INSERT INTO conciliation.sweep_difference
          (sweep_id, date, fold_count, fold_sum, ledger_fold_count, ledger_fold_sum)
        SELECT ${sweepId}, date, titles, sum, "ledgerTitles", "ledgerSum"
        FROM jsonb_to_recordset(${JSON.stringify(differences)}::jsonb) AS differing
          (date date, titles int, sum text, "ledgerTitles" int, "ledgerSum" text)`;
    }
    reachFaultPoint('before-commit');
    return { sweepId, datesCompared: compared.length, differences };
  });
}

function rowOf({ from, ...request }: SweepRequest) {
  return { fromDate: from, ...request };
}

/**
 * Creates a pull for each date that differs in its newest complete sweep, a few at a time and the oldest first. The
 * request of that pull has to be sent after the sweep. A waiting pull of the date is enough. A running one is not,
 * because its request may have been sent before the end of the sweep's answer. The caller serialises planners.
 * @returns the number of created pulls
 */
export function planDifferences(tx: Transaction): Promise<number> {
  const spent = [...SPENT_ERROR_CODES];
  return tx.$executeRaw`
    WITH newest AS (
      SELECT id, from_date, finished_at,
             -- From this date on, a newer sweep speaks.
             coalesce(min(from_date) OVER (
               ORDER BY started_at DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
             ), 'infinity') AS until_date
      FROM conciliation.sweep WHERE state = 'complete'
    ), open AS MATERIALIZED (
      SELECT differing.sweep_id, differing.date, newest.finished_at, failed.pulls AS failures,
             (SELECT min(id) FROM conciliation.pull
              WHERE pull.date = differing.date AND state = 'queued') AS queued_pull_id
      FROM newest
      JOIN conciliation.sweep_difference AS differing
        ON differing.sweep_id = newest.id AND differing.date < newest.until_date
      LEFT JOIN conciliation.pull AS planned ON planned.id = differing.pull_id
      CROSS JOIN LATERAL (
        SELECT count(*)::int AS pulls, max(finished_at) AS last_at
        FROM conciliation.pull
        WHERE pull.date = differing.date AND state = 'failed'
          AND fetch_started_at > newest.finished_at
      ) AS failed
      WHERE (failed.pulls = 0 OR last_at <= clock_timestamp()
               - interval '1 minute' * (${REPLAN_MINUTES}::int[])[least(failed.pulls, ${REPLAN_MINUTES.length}::int)])
        AND (differing.pull_id IS NULL
             OR (planned.state = 'cancelled'
                 OR (planned.state = 'failed' AND planned.error_code = ANY(${spent})))
                AND NOT EXISTS (
                  SELECT FROM conciliation.pull AS answered
                  WHERE answered.date = differing.date
                    AND answered.state IN ('merged', 'unchanged', 'held', 'superseded')
                    AND answered.fetch_started_at > newest.finished_at))
    ), waiting AS (
      UPDATE conciliation.sweep_difference AS differing SET pull_id = queued_pull_id
      FROM open WHERE (differing.sweep_id, differing.date) = (open.sweep_id, open.date) AND queued_pull_id IS NOT NULL
    ), created AS (
      INSERT INTO conciliation.pull (origin, date, slot_at, round, requested_by)
      SELECT 'sweep', date, finished_at, failures, 'scheduler' FROM open WHERE queued_pull_id IS NULL ORDER BY date
      LIMIT greatest(0, ${MAX_OPEN_SWEEP_PULLS}::int - (
        SELECT count(*) FROM conciliation.pull WHERE origin = 'sweep' AND state IN ('queued', 'running')))
      ON CONFLICT (origin, date, slot_at, round) DO NOTHING
      RETURNING id, date
    )
    UPDATE conciliation.sweep_difference AS differing SET pull_id = created.id
    FROM created JOIN open USING (date)
    WHERE (differing.sweep_id, differing.date) = (open.sweep_id, open.date)`;
}

/** Sweeps whose differences may still be an alert. */
const SWEEPS_LOOKED_AT = 10;

const NEWEST = Prisma.sql`(
  SELECT * FROM conciliation.sweep WHERE state = 'complete' ORDER BY started_at DESC LIMIT 1) AS newest`;

export const sweepAlerts = {
  /**
   * The newest complete sweep is older than two slots, and the ledger is older than that too; or the newest sweep failed
   * with an error that the program does not know.
   */
  sweep_stale: {
    severity: 'warning',
    isDaily: true,
    causes({ now, timeZone, sweepSlotBefore }) {
      if (sweepSlotBefore === undefined) return [];
      const slotAt = sweepSlotBefore(now);
      return [
        Prisma.sql`
          SELECT coalesce((complete_at AT TIME ZONE 'UTC')::date::text, 'none') AS since,
                 coalesce(error_code, 'none') AS "errorCode"
          FROM (SELECT (SELECT max(started_at) FROM conciliation.sweep WHERE state = 'complete') AS complete_at,
                       (SELECT error_code FROM conciliation.sweep ORDER BY started_at DESC, id DESC LIMIT 1)) AS known
          WHERE error_code = 'DEFECT'
             OR coalesce(complete_at < ${slotAt}::timestamptz, true)
                AND EXISTS (SELECT FROM conciliation.checkpoint WHERE start_date < ${dateIn(timeZone, slotAt)}::date)
                AND (SELECT created_at < ${slotAt}::timestamptz FROM conciliation.pull ORDER BY id LIMIT 1)`,
      ];
    },
  },
  /**
   * Of the newest complete sweep: more than a fifth of the dates differ, which points to the platform or to this program
   * and not to single dates; and titles that belong to no requested date. And the dates that differ in both of the two
   * newest sweeps over them from the ledger, which the following pulls confirmed. A pull with another answer than the
   * ledger had found a restatement. A sweep whose pull of the date has no answer yet does not count.
   */
  sweep_differs: {
    severity: 'warning',
    causes: () => [
      Prisma.sql`
        SELECT 'dates' AS cause, from_date AS "from", differing, dates_compared AS compared
        FROM ${NEWEST}
        CROSS JOIN LATERAL (SELECT count(*) AS differing FROM conciliation.sweep_difference
                            WHERE sweep_id = newest.id AND ledger_fold_count IS NOT NULL) AS answered
        WHERE differing * 5 > dates_compared`,
      Prisma.sql`
        SELECT 'unplaced' AS cause, from_date AS "from", undated_titles AS undated, future_titles AS future,
               early_titles AS early
        FROM ${NEWEST} WHERE undated_titles + future_titles + early_titles > 0`,
      Prisma.sql`
        WITH recent AS (
          SELECT id, started_at, from_date FROM conciliation.sweep WHERE state = 'complete'
          ORDER BY started_at DESC LIMIT ${SWEEPS_LOOKED_AT}::int
        ), verdict AS (
          SELECT candidate.date, pull.id AS pull_id, differing.fold_count AS sweep_titles,
                 pull.fold_count AS pull_titles,
                 coalesce((pull.fold_count, pull.fold_sum)
                          = (differing.ledger_fold_count, differing.ledger_fold_sum), false) AS contradicts,
                 row_number() OVER (PARTITION BY candidate.date ORDER BY recent.started_at DESC) AS place
          FROM (SELECT DISTINCT date FROM conciliation.sweep_difference
                WHERE sweep_id IN (SELECT id FROM recent)) AS candidate
          JOIN recent ON recent.from_date <= candidate.date
          LEFT JOIN conciliation.sweep_difference AS differing
            ON differing.sweep_id = recent.id AND differing.date = candidate.date
          LEFT JOIN conciliation.pull ON pull.id = differing.pull_id
          WHERE differing.date IS NULL OR pull.fold_count IS NOT NULL
        )
        SELECT 'filters' AS cause, newest.date, newest.pull_id AS "pullId", newest.sweep_titles AS "sweepTitles",
               newest.pull_titles AS "pullTitles"
        FROM verdict AS newest
        JOIN verdict AS before ON before.date = newest.date AND before.place = 2 AND before.contradicts
        WHERE newest.place = 1 AND newest.contradicts`,
    ],
  },
} satisfies Record<string, AlertEntry>;

export type SweepParts = Pick<PullParts, 'database' | 'platform' | 'logger' | 'timeZone' | 'now'>;

/** `unauthorized`: nothing was recorded, and no attempt can succeed until there is another token. */
export type SweepOutcome =
  | { readonly kind: 'done'; readonly report: SweepReport & SweepRead }
  | { readonly kind: 'unauthorized'; readonly error: PlatformAuthError | TokenUnusableError }
  | { readonly kind: 'failed'; readonly error: ConciliationError };

/** The request while it is under way. */
type Progress = { -readonly [Key in keyof SweepRequest]: SweepRequest[Key] };

/**
 * Makes one attempt at a sweep and records its outcome in a row.
 * @returns the outcome, and the status of the answer; null: there was none
 * @throws ShutdownError when `signal` aborted: nothing was recorded
 * @throws StagingUnavailableError when the outcome could not be recorded
 */
export async function runSweep(
  parts: SweepParts,
  { from, slotAt }: SweepOrder,
  signal: AbortSignal,
): Promise<SweepOutcome & { readonly httpStatus: number | null }> {
  const { database, logger } = parts;
  const startedAt = await readClock(database);
  const request: Progress = { from, slotAt, startedAt, httpStatus: null, responseBytes: 0 };
  reachFaultPoint('claim');
  try {
    const report = await compare(parts, request, signal);
    const { folds: _, differences, sweepId, ...counts } = report;
    logger.info(
      { sweepId: String(sweepId), ...request, ...counts, datesDiffering: differences.length },
      'sweep ended',
    );
    return { kind: 'done', report, httpStatus: request.httpStatus };
  } catch (cause) {
    if (signal.aborted) throw new ShutdownError('the sweep was interrupted', { cause });
    const error = toKnownError(cause);
    const statusOfError = error.context['httpStatus'];
    if (typeof statusOfError === 'number') request.httpStatus = statusOfError;
    if (error instanceof PlatformAuthError || error instanceof TokenUnusableError) {
      return { kind: 'unauthorized', error, httpStatus: request.httpStatus };
    }
    if (error instanceof StagingUnavailableError) throw error;
    // The message of an error of this program is free of personal data.
    const failure = { state: 'failed', errorCode: error.code, errorMessage: error.message };
    await database.prisma.sweep.create({ data: { ...rowOf(request), ...failure } });
    logger.error({ ...request, err: cause }, 'sweep failed');
    return { kind: 'failed', error, httpStatus: request.httpStatus };
  }
}

async function compare(
  { database, platform, timeZone, now = () => new Date() }: SweepParts,
  request: Progress,
  signal: AbortSignal,
): Promise<SweepReport & SweepRead> {
  const { from } = request;
  const promoted = await readPromotedOf(database, from);
  reachFaultPoint('before-request');
  // The time of the request, not the end of the answer, decides which dates are closed.
  const last = lastClosedDate(timeZone, now());
  const response = await platform.fetchTitles({ from, to: null }, signal);
  reachFaultPoint('headers');
  request.httpStatus = response.httpStatus;
  const today = () => dateIn(timeZone, now());
  const read = await readFolds(response, from, promoted, today).finally(() => {
    request.responseBytes = response.bytesReceived();
  });
  reachFaultPoint('verify');
  const report = await recordSweep(database, request, last, read);
  return { ...read, ...report };
}

/** Also reads the dates of titles outside the requested window. */
const ANY_DATE: PullWindow = { from: toCivilDate('0001-01-01'), to: null };

/**
 * Adds up the titles of a response by accepted date, with the reader of the pulls. Memory does not
 * grow with the response: there is one fold for each date from `from` to today.
 * @param today is called again for a title that is later than the date of the last call
 * @throws PlatformContractError when the response is not the documented document
 * @throws PlatformUnavailableError when the transfer broke off
 */
async function readFolds(
  response: ConciliationResponse,
  from: CivilDate,
  promoted: Awaited<ReturnType<typeof readPromotedOf>>,
  today: () => CivilDate,
): Promise<SweepRead> {
  const folds = new TitleFolds();
  let lastDate = today();
  const fastReader = new FastReader(null, { from, to: lastDate }, folds);
  const cutter = new TitleCutter(fastReader);
  const outside = { undated: 0, future: 0, early: 0 };

  const isFuture = (date: CivilDate) => {
    if (date > lastDate) lastDate = today();
    return date > lastDate;
  };
  const addTitle = (raw: RawTitle) => {
    if (raw.truncated) {
      outside.undated += 1;
      return;
    }
    const check = readExactTitle(raw.bytes, ANY_DATE, raw.offset);
    const date = check.ok ? check.title.accepted_date : check.acceptedDate;
    if (date === null) outside.undated += 1;
    else if (date < from) outside.early += 1;
    else if (isFuture(date)) outside.future += 1;
    else if (check.ok) {
      const hash = contentHash(check.title, promoted.get(date));
      folds.at(date).add(toDigest(hash));
    }
  };

  for await (const titles of cutTitles(response, cutter)) {
    for (const raw of titles) addTitle(raw);
  }
  return { folds, titles: cutter.titlesRead, ...outside };
}
