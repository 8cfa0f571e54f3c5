/** What is known before a pull is made: the dates that are due, and the pulls that are asked for. */
import type { Database, Transaction } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { PullOrigin } from './states.ts';

/**
 * Returns null when this database never had a pull. `lastReconciledDate` is null until the first date is reconciled,
 * and `pause` while the schedule is not paused.
 */
export async function readCheckpoint({ prisma }: Database) {
  const row = await prisma.checkpoint.findFirst();
  if (row === null) return null;
  const { startDate, lastReconciledDate, pausedAt, pausedBy, pauseReason } = row;
  const pause = pausedAt && { at: pausedAt, by: String(pausedBy), reason: String(pauseReason) };
  return { startDate, lastReconciledDate, pause };
}

/** The first call stores the start of the ledger; later calls only read it. */
export async function ensureCheckpoint(tx: Transaction, startDate: CivilDate): Promise<CivilDate> {
  await tx.checkpoint.createMany({ data: { startDate }, skipDuplicates: true });
  const checkpoint = await tx.checkpoint.findFirstOrThrow({ select: { startDate: true } });
  return checkpoint.startDate;
}

/** Records a request to pull a date. The row, not the job, decides that the work is due. */
export async function createPull(
  { prisma }: { readonly prisma: Pick<Transaction, 'pull'> },
  pull: {
    readonly origin: PullOrigin;
    readonly date: CivilDate;
    readonly requestedBy: string;
    readonly backfillId?: bigint;
  },
): Promise<bigint> {
  const { origin, date, requestedBy, backfillId = null } = pull;
  const { id } = await prisma.pull.create({
    data: { origin, date, requestedBy, backfillId },
    select: { id: true },
  });
  return id;
}

/** Cancels a pull that has not ended. Nothing of it was merged or will be. */
export async function cancelPull(database: Database, pullId: bigint): Promise<void> {
  await database.prisma.$executeRaw`
    UPDATE conciliation.pull
    SET state = 'cancelled', finished_at = clock_timestamp(), next_attempt_at = NULL
    WHERE id = ${pullId} AND state IN ('queued', 'running')`;
}
