import type { Transaction } from '../database/database.ts';
import {
  addDays,
  type CivilDate,
  dateIn,
  daysBetween,
  lastClosedDate,
} from '../domain/business-day.ts';
import type { PlanPolicy } from '../domain/plan/pull-plan.ts';
import { replanAfterMinutes, SPENT_ERROR_CODES } from '../domain/plan/retry.ts';
import { MAX_OPEN_SWEEP_PULLS, REPULL_DAYS, sweepStart } from '../domain/plan/sweep-plan.ts';

const SPENT = [...SPENT_ERROR_CODES];

/**
 * Creates the sweep that the slot makes due, the pulls of differing dates, and the weekly pulls if
 * sweeps exceed the limits of an answer. The caller serialises planners.
 * @returns the number of created sweeps and pulls
 */
export async function planSweeps(
  tx: Transaction,
  slotAt: Date,
  { policy, now }: { readonly policy: PlanPolicy; readonly now: Date },
): Promise<number> {
  const reach = await readReach(tx, dateIn(policy.timeZone, slotAt));
  if (reach === null) return 0;
  let created = await createDueSweep(tx, slotAt, reach.from);
  created += await createDifferingPulls(tx);
  created += await createWeeklyPulls(tx, reach.from, lastClosedDate(policy.timeZone, now));
  return created;
}

/**
 * Returns null when there is nothing to compare: no date was answered yet, or none was over at the
 * slot.
 */
async function readReach(
  tx: Transaction,
  slotDate: CivilDate,
): Promise<{ readonly from: CivilDate } | null> {
  const [ledger] = await tx.$queryRaw<
    [{ startDate: CivilDate; oldestOpenDate: CivilDate | null }?]
  >`
    SELECT start_date::text AS "startDate",
           (SELECT min(date)::text FROM conciliation.day
            WHERE latest_due_date >= ${slotDate}::date) AS "oldestOpenDate"
    FROM conciliation.checkpoint
    WHERE start_date < ${slotDate}::date
      AND EXISTS (SELECT FROM conciliation.day WHERE fold_count IS NOT NULL)`;
  return ledger === undefined ? null : { from: sweepStart(slotDate, ledger) };
}

/**
 * There is at most one open sweep. An ended sweep of the slot counts, and so does a later requested
 * one that reaches as far back. A sweep whose attempts are spent counts only for a while, unless
 * its answer exceeded a limit, as the next one would.
 */
async function createDueSweep(tx: Transaction, slotAt: Date, from: CivilDate): Promise<number> {
  const [ledger] = await tx.$queryRaw<
    [{ isCovered: boolean; failures: number; minutesAgo: number | null }]
  >`
    WITH failed AS (
      SELECT id, finished_at FROM conciliation.sweep
      WHERE slot_at = ${slotAt}::timestamptz AND state = 'failed' AND NOT over_limit
        AND error_code = ANY(${SPENT})
    )
    SELECT EXISTS (
             SELECT FROM conciliation.sweep
             WHERE state IN ('queued', 'running')
               OR (slot_at = ${slotAt}::timestamptz AND id NOT IN (SELECT id FROM failed))
               OR (state = 'complete' AND fetch_started_at >= ${slotAt}::timestamptz
                   AND from_date <= ${from}::date)
           ) AS "isCovered",
           (SELECT count(*) FROM failed)::int AS failures,
           (SELECT extract(epoch FROM clock_timestamp() - max(finished_at))::float8 / 60
            FROM failed) AS "minutesAgo"`;
  const { isCovered, failures, minutesAgo } = ledger;
  if (isCovered) return 0;
  if (minutesAgo !== null && minutesAgo < replanAfterMinutes(failures)) return 0;
  const created = await tx.sweep.createMany({
    data: { fromDate: from, slotAt, round: failures, requestedBy: 'scheduler' },
    skipDuplicates: true,
  });
  return created.count;
}

interface OpenDifference {
  readonly sweepId: bigint;
  readonly date: CivilDate;
  /** Failed pulls of the date since the sweep. */
  readonly failures: number;
  /** A pull without a request so far; null: there is none. */
  readonly queuedPullId: bigint | null;
}

/**
 * Creates a pull for each date that differs in its newest complete sweep, a few at a time. The
 * request of that pull has to be sent after the sweep. A waiting pull of the date is enough. A
 * running one is not, because its request may have been sent before the end of the sweep's answer.
 */
async function createDifferingPulls(tx: Transaction): Promise<number> {
  const open = await readOpenDifferences(tx);
  for (const { sweepId, date, queuedPullId } of open) {
    if (queuedPullId === null) continue;
    await tx.sweepDifference.updateMany({
      where: { sweepId, date },
      data: { pullId: queuedPullId },
    });
  }
  const due = open.filter(({ queuedPullId }) => queuedPullId === null);
  let created = 0;
  for (const { sweepId, date, failures } of due.slice(0, await readRoom(tx))) {
    created += await tx.$executeRaw`
      WITH created AS (
        INSERT INTO conciliation.pull (origin, date, slot_at, round, requested_by)
        SELECT 'sweep', ${date}::date, response_ended_at, ${failures}::int, 'scheduler'
        FROM conciliation.sweep WHERE id = ${sweepId}
        ON CONFLICT (origin, date, slot_at, round) DO NOTHING
        RETURNING id
      )
      UPDATE conciliation.sweep_difference SET pull_id = created.id FROM created
      WHERE sweep_id = ${sweepId} AND date = ${date}::date`;
  }
  return created;
}

/** In the order of the dates. */
async function readOpenDifferences(tx: Transaction): Promise<OpenDifference[]> {
  const rows = await tx.$queryRaw<(OpenDifference & { minutesAgo: number | null })[]>`
    WITH newest AS (
      SELECT id, from_date, response_ended_at,
             -- From this date on, a newer sweep speaks.
             coalesce(min(from_date) OVER (
               ORDER BY fence DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
             ), 'infinity') AS until_date
      FROM conciliation.sweep WHERE state = 'complete'
    )
    SELECT differing.sweep_id AS "sweepId", differing.date::text AS date,
           coalesce(failed.pulls, 0)::int AS failures, failed.minutes_ago::float8 AS "minutesAgo",
           (SELECT id FROM conciliation.pull
            WHERE pull.date = differing.date AND state = 'queued'
            ORDER BY id LIMIT 1) AS "queuedPullId"
    FROM newest
    JOIN conciliation.sweep_difference AS differing
      ON differing.sweep_id = newest.id AND differing.date < newest.until_date
    LEFT JOIN conciliation.pull AS planned ON planned.id = differing.pull_id
    CROSS JOIN LATERAL (
      SELECT count(*) AS pulls,
             extract(epoch FROM clock_timestamp() - max(finished_at)) / 60 AS minutes_ago
      FROM conciliation.pull
      WHERE pull.date = differing.date AND state = 'failed'
        AND fetch_started_at > newest.response_ended_at
    ) AS failed
    WHERE newest.from_date < newest.until_date
      AND (differing.pull_id IS NULL
           OR ((planned.state = 'cancelled'
                OR (planned.state = 'failed' AND planned.error_code = ANY(${SPENT})))
               AND NOT EXISTS (
                 SELECT FROM conciliation.pull AS answered
                 WHERE answered.date = differing.date
                   AND answered.state IN ('merged', 'unchanged', 'held', 'superseded')
                   AND answered.fetch_started_at > newest.response_ended_at)))
    ORDER BY differing.date`;
  return rows.filter(
    ({ failures, minutesAgo }) =>
      failures === 0 || minutesAgo === null || minutesAgo >= replanAfterMinutes(failures),
  );
}

async function readRoom(tx: Transaction): Promise<number> {
  const open = await tx.pull.count({
    where: { origin: 'sweep', state: { in: ['queued', 'running'] } },
  });
  return Math.max(0, MAX_OPEN_SWEEP_PULLS - open);
}

/**
 * If the newest ended sweep of the schedule exceeded a limit of an answer, each date in its reach
 * is pulled once a week, counting pulls of any origin. The pulls are spread over the week.
 */
async function createWeeklyPulls(
  tx: Transaction,
  from: CivilDate,
  lastDate: CivilDate,
): Promise<number> {
  const newest = await tx.sweep.findFirst({
    where: { slotAt: { not: null }, state: { in: ['complete', 'failed'] } },
    orderBy: { fence: 'desc' },
    select: { overLimit: true },
  });
  if (newest?.overLimit !== true || lastDate < from) return 0;
  const [today] = await tx.$queryRaw<[{ pulls: number }]>`
    SELECT count(*)::int AS pulls FROM conciliation.pull
    WHERE origin = 'sweep' AND created_at > clock_timestamp() - interval '1 day'`;
  const dates = daysBetween(from, addDays(lastDate, 1));
  const portion = Math.ceil(dates / REPULL_DAYS) - today.pulls;
  const room = Math.min(await readRoom(tx), Math.max(0, portion));
  return tx.$executeRaw`
    INSERT INTO conciliation.pull (origin, date, slot_at, requested_by)
    SELECT 'sweep', wanted.date, now(), 'scheduler'
    FROM (
      SELECT reached.date::date AS date, max(fetch_started_at) AS fetched_at
      FROM generate_series(${from}::date, ${lastDate}::date, '1 day') AS reached (date)
      LEFT JOIN conciliation.pull
        ON pull.date = reached.date AND state IN ('merged', 'unchanged', 'held', 'superseded')
      GROUP BY reached.date
    ) AS wanted
    WHERE coalesce(fetched_at, '-infinity') < clock_timestamp() - make_interval(days => ${REPULL_DAYS}::int)
      AND NOT EXISTS (
        SELECT FROM conciliation.pull AS recent
        WHERE recent.date = wanted.date
          AND (recent.state IN ('queued', 'running')
               OR recent.created_at > clock_timestamp() - interval '1 day'))
    ORDER BY fetched_at NULLS FIRST, wanted.date
    LIMIT ${room}::int`;
}
