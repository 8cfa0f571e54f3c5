import { type AuditAction, type Decision, recordAudit } from '../../base/audit/audit.ts';
import type { Database } from '../../base/database/database.ts';

/**
 * Pauses the schedule: until it is resumed, no pull, sweep or request with providers starts by itself. Backfills and
 * requested pulls run. A schedule that is paused stays as it is, and so does one that has not begun.
 */
export function pauseSchedule(database: Database, decision: Decision): Promise<void> {
  return change(database, 'schedule.pause', decision, new Date());
}

/** Resumes a paused schedule. The next tick of the planner finds every date that came due meanwhile. */
export function resumeSchedule(database: Database, decision: Decision): Promise<void> {
  return change(database, 'schedule.resume', decision, null);
}

/** @param pausedAt null: resumes */
function change(
  { prisma }: Database,
  action: AuditAction,
  { by, reason }: Decision,
  pausedAt: Date | null,
): Promise<void> {
  return prisma.$transaction(async (tx) => {
    const { count } = await tx.checkpoint.updateMany({
      where: { pausedAt: pausedAt === null ? { not: null } : null },
      data: {
        pausedAt,
        pausedBy: pausedAt && by,
        pauseReason: pausedAt && reason,
      },
    });
    if (count > 0) await recordAudit(tx, { actor: by, action, reason });
  });
}
