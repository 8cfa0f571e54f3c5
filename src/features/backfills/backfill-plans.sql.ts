import type { Transaction } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { PullState } from '../../core/ledger/pull-ledger.sql.ts';
import { planBackfill } from './backfill-plan.ts';

interface RunningBackfill {
  readonly id: bigint;
  readonly from: CivilDate;
  readonly to: CivilDate;
  readonly concurrency: number;
}

/**
 * Creates the next pulls of every running backfill, the oldest backfill first, ends those that are
 * done, and cancels what still waits of those that were cancelled. The caller serialises planners.
 *
 * @returns how many pulls were created
 */
export async function planBackfills(tx: Transaction, maxOpenPulls: number): Promise<number> {
  await cancelQueuedPulls(tx, null);
  // Locked, so that one which is being cancelled now gets no pull that would never be cancelled.
  const backfills = await tx.$queryRaw<RunningBackfill[]>`
    SELECT id, from_date::text AS "from", to_date::text AS "to", concurrency
    FROM conciliation.backfill WHERE state = 'running' ORDER BY id FOR UPDATE`;
  if (backfills.length === 0) return 0;
  const openPulls = await tx.pull.count({
    where: { backfillId: { not: null }, state: { in: ['queued', 'running'] } },
  });
  let created = 0;
  for (const backfill of backfills) {
    const ownPulls = await readOwnPulls(tx, backfill.id);
    const plan = planBackfill(backfill, ownPulls, maxOpenPulls - openPulls - created);
    await createPulls(tx, backfill.id, plan.dates);
    created += plan.dates.length;
    if (plan.isDone) {
      await tx.$executeRaw`
        UPDATE conciliation.backfill SET state = 'done', finished_at = clock_timestamp()
        WHERE id = ${backfill.id}`;
    }
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

async function readOwnPulls(
  tx: Transaction,
  backfillId: bigint,
): Promise<Map<CivilDate, PullState>> {
  const rows = await tx.$queryRaw<{ date: CivilDate; state: PullState }[]>`
    SELECT DISTINCT ON (pull.date) date::text AS date, state
    FROM conciliation.pull WHERE backfill_id = ${backfillId} ORDER BY pull.date, id DESC`;
  return new Map(rows.map((row) => [row.date, row.state]));
}

async function createPulls(
  tx: Transaction,
  backfillId: bigint,
  dates: readonly CivilDate[],
): Promise<void> {
  if (dates.length === 0) return;
  await tx.pull.createMany({
    data: dates.map((date) => ({ origin: 'backfill', date, backfillId, requestedBy: 'scheduler' })),
  });
}
