import { recordAudit } from '../../base/audit/audit.ts';
import { InputError } from '../../base/runtime/errors.ts';
import { describeError } from '../../base/runtime/logger.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { type ConsoleParts, todayOf } from '../../console/shell/console-parts.ts';
import { createPull } from '../../core/ledger/pull-ledger.sql.ts';

/**
 * Records a request to pull a date, with its entry of the audit log, and wakes a worker. If the queue is not available,
 * the planner wakes the worker later.
 * @throws InputError for a date that has not begun
 */
export async function requestPull(
  parts: ConsoleParts,
  date: CivilDate,
  by: string,
): Promise<bigint> {
  const { database, logger, wake } = parts;
  if (date > todayOf(parts)) {
    throw new InputError(`${date} is in the future`, { context: { fault: 'date_future', date } });
  }
  const pullId = await database.prisma.$transaction(async (tx) => {
    const id = await createPull({ prisma: tx }, { origin: 'manual', date, requestedBy: by });
    await recordAudit(tx, { actor: by, action: 'pull.request', date, pullId: id });
    return id;
  });
  await wake(pullId).catch((error: unknown) => {
    logger.warn({ pullId: String(pullId), err: describeError(error) }, 'no worker was woken');
  });
  return pullId;
}
