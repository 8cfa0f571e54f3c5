import { type Decision, recordAudit } from '../../base/audit/audit.ts';
import type { Database } from '../../base/database/database.ts';
import { InputError } from '../../base/runtime/errors.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { advanceCheckpoint, lockClosing } from './day-ledger.sql.ts';

export interface CorrectedStartDate {
  readonly from: CivilDate;
  readonly to: CivilDate;
  /** The recomputed checkpoint; null: not even the start date is reconciled. */
  readonly lastReconciledDate: CivilDate | null;
}

/**
 * Corrects the first date of the ledger and recomputes the checkpoint, which may move it back. No
 * day is changed. The same date again changes nothing.
 *
 * @throws InputError when the ledger has not begun
 */
export function correctStartDate(
  database: Database,
  startDate: CivilDate,
  { by, reason }: Decision,
): Promise<CorrectedStartDate> {
  return database.prisma.$transaction(async (tx) => {
    // A running merge waits here and then advances the corrected checkpoint.
    await lockClosing(tx);
    const before = await tx.checkpoint.findFirst({ select: { startDate: true } });
    if (before === null) {
      throw new InputError('the ledger has not begun: set START_DATE before the first start');
    }
    if (before.startDate !== startDate) {
      await tx.$executeRaw`
        UPDATE conciliation.checkpoint
        SET start_date = ${startDate}::date, last_reconciled_date = NULL, pull_id = NULL,
            updated_at = now()`;
      await advanceCheckpoint(tx, null);
      await recordAudit(tx, {
        actor: by,
        action: 'start_date.set',
        date: startDate,
        reason,
        details: { from: before.startDate, to: startDate },
      });
    }
    const { lastReconciledDate } = await tx.checkpoint.findFirstOrThrow({
      select: { lastReconciledDate: true },
    });
    return { from: before.startDate, to: startDate, lastReconciledDate };
  });
}
