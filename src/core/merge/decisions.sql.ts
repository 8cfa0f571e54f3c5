import {
  type AuditAction,
  type AuditRecord,
  type Decision,
  recordAudit,
} from '../../base/audit/audit.ts';
import type { Database } from '../../base/database/database.ts';
import { InputError } from '../../base/runtime/errors.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { lockDay, settleDay } from '../ledger/day-ledger.sql.ts';
import { endMerge } from './end-merge.sql.ts';
import type { EngineParts } from './engine-hooks.ts';
import { finishRelease, isHoldLost, planHeld } from './held-pull.sql.ts';
import { MERGE_TRANSACTION, type PullReport } from './merge.sql.ts';

/**
 * Merges the response that a pull holds, without a limit on the withdrawn titles.
 *
 * @param decision null: the program decides, at the end of the run of the pull
 * @throws InputError when the pull is not held, or its staged titles are gone
 */
export function releasePull(
  { database, features }: EngineParts,
  pullId: bigint,
  decision: Decision | null,
): Promise<PullReport> {
  return database.prisma.$transaction(async (tx) => {
    const planned = await planHeld(tx, features, pullId);
    if (planned === null) throw notHeld(pullId);
    const { held, day, plan, staged } = planned;
    const { date, dateWasClosed } = held;
    if (isHoldLost(held, day)) {
      throw new InputError(
        `the titles that pull ${pullId} held for ${date} were lost in a database crash; the date is pulled again`,
        { context: { fault: 'hold_lost', date, pull: String(pullId) } },
      );
    }
    await finishRelease(tx, pullId, decision);
    const merge = { ...staged, day, plan, state: 'merged', dateWasClosed, fold: null } as const;
    await endMerge(tx, features, merge);
    if (decision !== null) {
      await recordAudit(tx, auditRecord('pull.release', decision, { date, pullId }));
    }
    const titles = plan.titles + plan.rejected;
    return {
      ...plan,
      pullId,
      date,
      state: 'merged' as const,
      holdReason: null,
      holdDetail: null,
      titles,
    };
  }, MERGE_TRANSACTION);
}

/**
 * Accepts every open reject of a date: they stay out of the titles, and the day may be reconciled
 * without them. The same rejects in a later response stay accepted; `mergeRejects` has the exception.
 *
 * @returns how many rejects were accepted
 * @throws InputError when the date has no open rejects, or when it is signed off
 */
export function acceptRejects(
  database: Database,
  date: CivilDate,
  decision: Decision,
): Promise<number> {
  return database.prisma.$transaction(async (tx) => {
    await lockDay(tx, date);
    // Otherwise the person who signed the day could decide about it afterwards, without a second person.
    const { signedOffAt, restatedAfterSignOff } = await tx.day.findUniqueOrThrow({
      where: { date },
      select: { signedOffAt: true, restatedAfterSignOff: true },
    });
    if (signedOffAt !== null && !restatedAfterSignOff) {
      throw new InputError(
        `${date} is signed off: reopen the day, then accept its rejects, then another person signs it off`,
        { context: { fault: 'rejects_sealed', date } },
      );
    }
    const accepted = await tx.$executeRaw`
        UPDATE conciliation.rejected_title
        SET status = 'accepted', decided_at = now(), decided_by = ${decision.by}, reason = ${decision.reason}
        WHERE date = ${date}::date AND status = 'open'`;
    if (accepted === 0) {
      throw new InputError(`${date} has no rejected titles that wait for a decision`, {
        context: { fault: 'no_rejects', date },
      });
    }
    const details = { rejects: accepted };
    await recordAudit(tx, {
      ...auditRecord('rejects.accept', decision, { date, pullId: null }),
      details,
    });
    await settleDay(tx, date);
    return accepted;
  }, MERGE_TRANSACTION);
}

function notHeld(pullId: bigint): InputError {
  return new InputError(
    `pull ${pullId} holds no date: see "conciliation status" for those that do`,
    { context: { fault: 'not_held', pull: String(pullId) } },
  );
}

function auditRecord(
  action: AuditAction,
  decision: Decision,
  about: { readonly date: CivilDate; readonly pullId: bigint | null },
): AuditRecord {
  const { by, reason } = decision;
  return { actor: by, action, ...about, reason };
}
