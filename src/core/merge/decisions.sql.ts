import { type Decision, recordAudit } from '../../base/audit/audit.ts';
import type { Database, Transaction } from '../../base/database/database.ts';
import { InputError } from '../../base/runtime/errors.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { type LockedDay, lockDay, readDay, settleDay } from '../ledger/day-ledger.sql.ts';
import type { HoldDetail } from '../ledger/pull-ledger.sql.ts';
import { endMerge } from './end-merge.sql.ts';
import type { EngineFeature, EngineParts } from './engine-hooks.ts';
import { MERGE_TRANSACTION, type PullReport } from './merge.sql.ts';
import { configurePlanner, planChanges } from './merge-plan.sql.ts';

/** A pull that waits for a person. */
export interface HeldPull {
  readonly date: CivilDate;
  readonly fence: bigint;
  readonly dateWasClosed: boolean;
  readonly fetchedAt: Date | null;
  readonly holdReason: string | null;
  readonly holdDetail: HoldDetail | null;
  /** See `isRepair`. */
  readonly isRepair: boolean;
  readonly titles: number;
  readonly withdrawn: number;
}

/** Null: the pull does not exist, or it is not held. */
export async function readHeldPull(tx: Transaction, pullId: bigint): Promise<HeldPull | null> {
  const [pull] = await tx.$queryRaw<[HeldPull?]>`
    SELECT date::text AS date, fence, date_was_closed AS "dateWasClosed",
           fetch_started_at AS "fetchedAt", hold_reason AS "holdReason",
           hold_detail AS "holdDetail", titles, withdrawn, origin = 'repair' AS "isRepair"
    FROM conciliation.pull WHERE id = ${pullId} AND state = 'held'`;
  return pull ?? null;
}

/** Locks the date of a held pull, and plans its release anew. Null: the pull is not held. */
export async function planHeld(
  tx: Transaction,
  features: readonly EngineFeature[],
  pullId: bigint,
) {
  await configurePlanner(tx);
  const seen = await readHeldPull(tx, pullId);
  if (seen === null) return null;
  await lockDay(tx, seen.date);
  const day = await readDay(tx, seen.date, seen.fence);
  // Read again under the lock: a newer merge may have ended the hold meanwhile.
  const held = await readHeldPull(tx, pullId);
  if (held === null || day.heldPullId !== pullId) return null;
  const { date, fence, isRepair } = held;
  const staged = { pullId, fence, date, isRepair, drift: [] };
  for (const { engine } of features) await engine?.beforePlan?.(tx, staged);
  const plan = await planChanges(tx, features, fence, day, isRepair);
  return { held, day, plan, staged };
}

/**
 * Whether the staged rows of a held pull are gone, and `replaceLostHolds` has not run since. A crash of the database
 * empties all staging tables, which are unlogged.
 */
export function isHoldLost({ titles }: HeldPull, day: LockedDay): boolean {
  const { stagedTitles, stagedRejects, knownTitles } = day;
  return titles > 0 && stagedTitles + stagedRejects === 0 && knownTitles === null;
}

/**
 * Ends the held pulls whose staged rows are gone, see `isHoldLost`, and plans a pull of each of their dates. A date
 * whose row is locked is left to the next call.
 *
 * @returns the number of planned pulls
 */
export function replaceLostHolds(tx: Transaction): Promise<number> {
  return tx.$executeRaw`
    WITH lost AS MATERIALIZED (
      SELECT pull.id, pull.date, pull.origin
      FROM conciliation.pull JOIN conciliation.day ON day.held_pull_id = pull.id
      WHERE pull.state = 'held' AND pull.titles > 0
        AND NOT EXISTS (SELECT FROM conciliation.staged_title WHERE fence = pull.fence)
        AND NOT EXISTS (SELECT FROM conciliation.staged_reject WHERE fence = pull.fence)
        AND NOT EXISTS (SELECT FROM conciliation.staged_base WHERE fence = pull.fence)
      FOR UPDATE OF day SKIP LOCKED
    ), ended AS (
      UPDATE conciliation.pull
      SET state = 'superseded', finished_at = now(), inserted = 0, changed = 0, withdrawn = 0, restored = 0,
          unchanged = 0, withheld = 0
      FROM lost WHERE pull.id = lost.id
    ), freed AS (
      UPDATE conciliation.day SET state = 'pending', held_pull_id = NULL
      FROM lost WHERE day.held_pull_id = lost.id
    )
    INSERT INTO conciliation.pull (origin, date, requested_by)
    SELECT CASE origin WHEN 'repair' THEN origin ELSE 'daily' END, date, 'scheduler' FROM lost`;
}

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
    if (planned === null) {
      throw new InputError(
        `pull ${pullId} holds no date: see "conciliation status" for those that do`,
        { context: { fault: 'not_held', pull: String(pullId) } },
      );
    }
    const { held, day, plan, staged } = planned;
    const { date, dateWasClosed } = held;
    if (isHoldLost(held, day)) {
      throw new InputError(
        `the titles that pull ${pullId} held for ${date} were lost in a database crash; the date is pulled again`,
        { context: { fault: 'hold_lost', date, pull: String(pullId) } },
      );
    }
    await tx.$executeRaw`
      UPDATE conciliation.pull
      SET state = 'merged', finished_at = now(),
          decided_at = CASE WHEN ${decision !== null} THEN now() END,
          decided_by = ${decision?.by ?? null}, reason = ${decision?.reason ?? null}
      WHERE id = ${pullId}`;
    const merge = { ...staged, day, plan, state: 'merged', dateWasClosed, fold: null } as const;
    await endMerge(tx, features, merge);
    if (decision !== null) {
      const { by: actor, reason } = decision;
      await recordAudit(tx, { actor, action: 'pull.release', date, pullId, reason });
    }
    const titles = plan.titles + plan.rejected;
    return { ...plan, pullId, date, titles, state: 'merged', holdReason: null, holdDetail: null };
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
  { by, reason }: Decision,
): Promise<number> {
  return database.prisma.$transaction(async (tx) => {
    await lockDay(tx, date);
    // Otherwise the person who signed the day could decide about it afterwards, without a second person.
    const { signedOffAt } = await tx.day.findUniqueOrThrow({
      where: { date },
      select: { signedOffAt: true },
    });
    if (signedOffAt !== null) {
      throw new InputError(
        `${date} is signed off: reopen the day, then accept its rejects, then another person signs it off`,
        { context: { fault: 'rejects_sealed', date } },
      );
    }
    const accepted = await tx.$executeRaw`
        UPDATE conciliation.rejected_title
        SET status = 'accepted', decided_at = now(), decided_by = ${by}, reason = ${reason}
        WHERE date = ${date}::date AND status = 'open'`;
    if (accepted === 0) {
      throw new InputError(`${date} has no rejected titles that wait for a decision`, {
        context: { fault: 'no_rejects', date },
      });
    }
    const details = { rejects: accepted };
    await recordAudit(tx, {
      actor: by,
      action: 'rejects.accept',
      date,
      pullId: null,
      reason,
      details,
    });
    await settleDay(tx, date);
    return accepted;
  }, MERGE_TRANSACTION);
}
