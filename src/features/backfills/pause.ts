import { type AuditAction, type Decision, recordAudit } from '../../base/audit/audit.ts';
import type { Database } from '../../base/database/database.ts';

/**
 * Pauses the schedule: until it is resumed, no pull, sweep or request with providers starts by itself. Backfills and
 * requested pulls run. A schedule that is paused stays as it is, and so does one that has not begun.
 */
export function pauseSchedule(database: Database, decision: Decision): Promise<void> {
  const pause = { pausedAt: new Date(), pausedBy: decision.by, pauseReason: decision.reason };
  return change(database, 'schedule.pause', decision, null, pause);
}

/** Resumes a paused schedule. The next tick of the planner finds every date that came due meanwhile. */
export function resumeSchedule(database: Database, decision: Decision): Promise<void> {
  const noPause = { pausedAt: null, pausedBy: null, pauseReason: null };
  return change(database, 'schedule.resume', decision, { not: null }, noPause);
}

function change(
  { prisma }: Database,
  action: AuditAction,
  { by, reason }: Decision,
  pausedAt: null | { not: null },
  data: { pausedAt: Date | null; pausedBy: string | null; pauseReason: string | null },
): Promise<void> {
  return prisma.$transaction(async (tx) => {
    const { count } = await tx.checkpoint.updateMany({ where: { pausedAt }, data });
    if (count > 0) await recordAudit(tx, { actor: by, action, reason });
  });
}
