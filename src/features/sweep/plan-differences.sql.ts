import type { Transaction } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { replanAfterMinutes, SPENT_ERROR_CODES } from '../../core/planner/retry.ts';
import { MAX_OPEN_SWEEP_PULLS } from './sweep-plan.ts';

interface OpenDifference {
  readonly sweepId: bigint;
  readonly date: CivilDate;
  /** Failed pulls of the date since the sweep. */
  readonly failures: number;
  readonly minutesAgo: number | null;
  /** A pull without a request so far; null: there is none. */
  readonly queuedPullId: bigint | null;
}

/**
 * Creates a pull for each date that differs in its newest complete sweep, a few at a time. The
 * request of that pull has to be sent after the sweep. A waiting pull of the date is enough. A
 * running one is not, because its request may have been sent before the end of the sweep's answer.
 * The caller serialises planners.
 * @returns the number of created pulls
 */
export async function planDifferences(tx: Transaction): Promise<number> {
  const open = (await readOpenDifferences(tx)).filter(
    ({ failures, minutesAgo }) => minutesAgo === null || minutesAgo >= replanAfterMinutes(failures),
  );
  for (const { sweepId, date, queuedPullId } of open) {
    if (queuedPullId === null) continue;
    await tx.sweepDifference.updateMany({
      where: { sweepId, date },
      data: { pullId: queuedPullId },
    });
  }
  const openPulls = await tx.pull.count({
    where: { origin: 'sweep', state: { in: ['queued', 'running'] } },
  });
  const due = open.filter(({ queuedPullId }) => queuedPullId === null);
  let created = 0;
  for (const { sweepId, date, failures } of due.slice(
    0,
    Math.max(0, MAX_OPEN_SWEEP_PULLS - openPulls),
  )) {
    created += await tx.$executeRaw`
      WITH created AS (
        INSERT INTO conciliation.pull (origin, date, slot_at, round, requested_by)
        SELECT 'sweep', ${date}::date, finished_at, ${failures}::int, 'scheduler'
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
function readOpenDifferences(tx: Transaction): Promise<OpenDifference[]> {
  const spent = [...SPENT_ERROR_CODES];
  return tx.$queryRaw<OpenDifference[]>`
    WITH newest AS (
      SELECT id, from_date, finished_at,
             -- From this date on, a newer sweep speaks.
             coalesce(min(from_date) OVER (
               ORDER BY started_at DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
             ), 'infinity') AS until_date
      FROM conciliation.sweep WHERE state = 'complete'
    )
    SELECT differing.sweep_id AS "sweepId", differing.date::text AS date,
           failed.pulls::int AS failures, failed.minutes_ago::float8 AS "minutesAgo",
           (SELECT min(id) FROM conciliation.pull
            WHERE pull.date = differing.date AND state = 'queued') AS "queuedPullId"
    FROM newest
    JOIN conciliation.sweep_difference AS differing
      ON differing.sweep_id = newest.id AND differing.date < newest.until_date
    LEFT JOIN conciliation.pull AS planned ON planned.id = differing.pull_id
    CROSS JOIN LATERAL (
      SELECT count(*) AS pulls,
             extract(epoch FROM clock_timestamp() - max(finished_at)) / 60 AS minutes_ago
      FROM conciliation.pull
      WHERE pull.date = differing.date AND state = 'failed'
        AND fetch_started_at > newest.finished_at
    ) AS failed
    WHERE differing.pull_id IS NULL
       OR ((planned.state = 'cancelled'
            OR (planned.state = 'failed' AND planned.error_code = ANY(${spent})))
           AND NOT EXISTS (
             SELECT FROM conciliation.pull AS answered
             WHERE answered.date = differing.date
               AND answered.state IN ('merged', 'unchanged', 'held', 'superseded')
               AND answered.fetch_started_at > newest.finished_at))
    ORDER BY differing.date`;
}
