import type { Transaction } from '../../base/database/database.ts';
import type { BackfillRange } from './backfill-plan.ts';

/**
 * Creates the next pulls of every running backfill, the oldest backfill and the oldest date first, ends those that are
 * done, and cancels what still waits of those that were cancelled. The pulls are created a few at a time, so that the
 * queue of a backfill does not delay other pulls. A cancelled pull does not count, so that a resumed backfill continues
 * where it stopped. A held pull counts as ended, because a backfill does not wait for a decision. The caller serialises
 * planners.
 * @returns how many pulls were created
 */
export async function planBackfills(tx: Transaction, maxOpenPulls: number): Promise<number> {
  await cancelQueuedPulls(tx, null);
  // Locked, so that one which is being cancelled now gets no pull that would never be cancelled.
  const backfills = await tx.$queryRaw<(BackfillRange & { id: bigint; concurrency: number })[]>`
    SELECT id, from_date::text AS "from", to_date::text AS "to", concurrency
    FROM conciliation.backfill WHERE state = 'running' ORDER BY id FOR UPDATE`;
  if (backfills.length === 0) return 0;
  const openPulls = await tx.pull.count({
    where: { backfillId: { not: null }, state: { in: ['queued', 'running'] } },
  });
  let created = 0;
  for (const { id, from, to, concurrency } of backfills) {
    created += await tx.$executeRaw`
      WITH newest AS MATERIALIZED (
        SELECT DISTINCT ON (date) date, state FROM conciliation.pull WHERE backfill_id = ${id} ORDER BY date, id DESC
      ), open AS MATERIALIZED (
        SELECT count(*) AS pulls FROM newest WHERE state IN ('queued', 'running')
      ), missing AS MATERIALIZED (
        SELECT wanted.at::date AS date FROM generate_series(${from}::timestamp, ${to}::timestamp, '1 day') AS wanted (at)
        WHERE NOT EXISTS (SELECT FROM newest WHERE newest.date = wanted.at::date AND state <> 'cancelled')
      ), ended AS (
        UPDATE conciliation.backfill SET state = 'done', finished_at = clock_timestamp()
        WHERE id = ${id} AND (SELECT pulls FROM open) = 0 AND NOT EXISTS (SELECT FROM missing)
      )
      INSERT INTO conciliation.pull (origin, date, backfill_id, requested_by)
      SELECT 'backfill', date, ${id}, 'scheduler' FROM missing ORDER BY date
      LIMIT greatest(0, least(${concurrency}::int - (SELECT pulls FROM open), ${maxOpenPulls - openPulls - created}::int))`;
  }
  return created;
}

/**
 * Cancels what waits of one cancelled backfill, or of all: also pulls that were running when the
 * backfill was cancelled and came back for another attempt.
 */
export async function cancelQueuedPulls(tx: Transaction, backfillId: bigint | null): Promise<void> {
  await tx.$executeRaw`
    UPDATE conciliation.pull pull
    SET state = 'cancelled', finished_at = clock_timestamp(), next_attempt_at = NULL
    FROM conciliation.backfill backfill
    WHERE backfill.id = pull.backfill_id AND backfill.state = 'cancelled' AND pull.state = 'queued'
      AND (${backfillId}::bigint IS NULL OR backfill.id = ${backfillId}::bigint)`;
}
