import type { CivilDate } from '../domain/business-day.ts';
import { stateAfterMerge } from '../domain/day-state.ts';
import { InputError } from '../errors.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { type AuditRecord, recordAudit } from './audit.ts';
import type { Database } from './database.ts';
import { advanceCheckpoint, lockDays } from './day-ledger.ts';
import { discardStaged } from './discard-staged.ts';
import { inStaging } from './in-staging.ts';
import { MERGE_TRANSACTION, type MergePolicy } from './merge.ts';
import { mergeDates } from './merge-dates.ts';
import { countPlan, planChanges } from './merge-plan.ts';
import { forbidNestedLoops } from './planner-settings.ts';
import { type DateReport, findLostHold, settleHeldPull } from './pull-outcome.ts';

/** A person who decides, and why; both go into the audit log. */
export interface Decision {
  readonly by: string;
  readonly reason: string;
}

export interface ReleaseReport {
  readonly pullId: bigint;
  readonly dates: readonly DateReport[];
}

/**
 * Merges the dates that a pull holds, as its response said, whatever they lose.
 *
 * @throws InputError when the pull holds nothing, or its staged titles are gone
 */
export function releasePull(
  database: Database,
  pullId: bigint,
  decision: Decision,
  policy: Pick<MergePolicy, 'lastClosedDate'>,
): Promise<ReleaseReport> {
  return inStaging(() =>
    database.prisma.$transaction(async (tx) => {
      const dates = await heldDates(tx, pullId);
      const days = await lockDays(tx, dates);
      // The pull's row is locked after its days: a newer merge, which voids holds, does the same.
      const fence = await lockHeldPull(tx, pullId);
      const stillHeld = new Set(await heldDates(tx, pullId));
      const live = days.filter((day) => stillHeld.has(day.date));
      const liveDates = live.map((day) => day.date);
      if (live.length === 0) throw notHeld(pullId);
      await forbidNestedLoops(tx);

      const fresh = await planChanges(tx, fence, liveDates);
      const plans = await countPlan(tx, fence, liveDates, fresh);
      const lost = await findLostHold(tx, pullId, plans);
      if (lost !== null) {
        throw new InputError(
          `the titles that pull ${pullId} held for ${lost} were lost in a database crash; pull the date again`,
        );
      }
      const reports = plans.map(
        (plan): DateReport => ({
          ...plan,
          outcome: 'released',
          holdReason: null,
          unchanged: plan.titles - plan.inserted - plan.changed - plan.restored,
        }),
      );
      await mergeDates(tx, [
        {
          source: { pullId, fence },
          days: live,
          reports,
          loaded: null,
          fresh,
          lastClosedDate: policy.lastClosedDate,
          undatedRejects: false,
        },
      ]);
      await tx.$executeRaw`
        UPDATE conciliation.pull_date
        SET decided_at = now(), decided_by = ${decision.by}, reason = ${decision.reason}
        WHERE pull_id = ${pullId} AND date = ANY(${liveDates}::date[])`;
      await settleHeldPull(tx, pullId);
      await discardStaged(tx, fence);
      for (const date of liveDates) {
        await recordAudit(tx, auditRecord('pull.release', decision, { date, pullId }));
      }
      return { pullId, dates: reports };
    }, MERGE_TRANSACTION),
  );
}

/**
 * Accepts every open reject of a date: they stay out of the titles, and the day may be reconciled
 * without them. The same rejects in a later response stay accepted.
 *
 * @returns how many rejects were accepted
 * @throws InputError when the date has no open rejects
 */
export function acceptRejects(
  database: Database,
  date: CivilDate,
  decision: Decision,
  policy: Pick<MergePolicy, 'lastClosedDate'>,
): Promise<number> {
  return inStaging(() =>
    database.prisma.$transaction(async (tx) => {
      const [day] = await lockDays(tx, [date]);
      const accepted = await tx.$executeRaw`
        UPDATE conciliation.rejected_title
        SET status = 'accepted', decided_at = now(), decided_by = ${decision.by}, reason = ${decision.reason}
        WHERE date = ${date}::date AND status = 'open'`;
      if (day === undefined || accepted === 0) {
        throw new InputError(`${date} has no rejected titles that wait for a decision`);
      }
      await recordAudit(tx, auditRecord('rejects.accept', decision, { date, pullId: null }));
      if (day.state === 'attention') {
        const state = stateAfterMerge({ isClosed: date <= policy.lastClosedDate, openRejects: 0 });
        const [row] = await tx.$queryRaw<[{ last_pull_id: bigint }]>`
          UPDATE conciliation.day SET state = ${state} WHERE date = ${date}::date RETURNING last_pull_id`;
        await advanceCheckpoint(tx, [{ date, pullId: row.last_pull_id }]);
      }
      return accepted;
    }, MERGE_TRANSACTION),
  );
}

async function heldDates(tx: Prisma.TransactionClient, pullId: bigint): Promise<CivilDate[]> {
  const rows = await tx.$queryRaw<{ date: CivilDate }[]>`
    SELECT date::text AS date FROM conciliation.pull_date
    WHERE pull_id = ${pullId} AND outcome = 'held' ORDER BY date`;
  return rows.map((row) => row.date);
}

async function lockHeldPull(tx: Prisma.TransactionClient, pullId: bigint): Promise<bigint> {
  const [pull] = await tx.$queryRaw<[{ fence: bigint }?]>`
    SELECT fence FROM conciliation.pull WHERE id = ${pullId} AND state = 'held' FOR UPDATE`;
  if (pull === undefined) throw notHeld(pullId);
  return pull.fence;
}

function notHeld(pullId: bigint): InputError {
  return new InputError(
    `pull ${pullId} holds no date: see "conciliation status" for those that do`,
  );
}

function auditRecord(
  action: string,
  { by, reason }: Decision,
  about: { readonly date: CivilDate; readonly pullId: bigint | null },
): AuditRecord {
  return { actor: by, action, ...about, reason };
}
