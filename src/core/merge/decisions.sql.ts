import { type Decision, recordAudit } from '../../base/audit/audit.ts';
import type { Transaction } from '../../base/database/database.ts';
import { takeLock } from '../../base/database/program-lock.sql.ts';
import { InputError } from '../../base/runtime/errors.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import {
  checkpointAdvance,
  HAS_OPEN_FINDINGS,
  lockDay,
  readDay,
  stateAfterMerge,
} from '../ledger/day-ledger.sql.ts';
import type { DayState, HoldDetail, HoldReason } from '../ledger/states.ts';
import { endMerge } from './end-merge.sql.ts';
import type { EngineFeature, EngineParts, StagedResponse } from './engine-hooks.ts';
import { MERGE_TRANSACTION, type PullReport } from './merge.sql.ts';
import { configurePlanner, planChanges } from './merge-plan.sql.ts';

/**
 * Of a row `pull` that is held: its staged rows are gone. A crash of the database empties all staging tables, which are
 * unlogged.
 */
const isLost = Prisma.sql`
  pull.titles > 0
  AND NOT EXISTS (SELECT FROM conciliation.staged_title WHERE fence = pull.fence)
  AND NOT EXISTS (SELECT FROM conciliation.staged_reject WHERE fence = pull.fence)
  AND NOT EXISTS (SELECT FROM conciliation.staged_base WHERE fence = pull.fence)`;

/** A pull that waits for a person. */
export interface HeldPull extends StagedResponse {
  readonly dateWasClosed: boolean;
  readonly holdReason: HoldReason | null;
  readonly holdDetail: HoldDetail | null;
  /** `replaceLostHolds` has not run since. */
  readonly isLost: boolean;
}

/** Locks the date of a held pull, and plans its release anew. Null: the pull does not exist, or it is not held. */
export async function planHeld(
  tx: Transaction,
  features: readonly EngineFeature[],
  pullId: bigint,
) {
  await configurePlanner(tx);
  const [held] = await tx.$queryRaw<[HeldPull?]>`
    SELECT id AS "pullId", fence, date::text AS date, origin = 'repair' AS "isRepair", '[]'::jsonb AS drift,
           date_was_closed AS "dateWasClosed", hold_reason AS "holdReason", hold_detail AS "holdDetail",
           ${isLost} AS "isLost"
    FROM conciliation.pull WHERE id = ${pullId} AND state = 'held'`;
  if (held === undefined) return null;
  await lockDay(tx, held.date);
  const day = await readDay(tx, held.date, held.fence);
  // A newer merge may have ended the hold meanwhile.
  if (day.heldPullId !== pullId) return null;
  for (const { engine } of features) await engine?.beforePlan?.(tx, held);
  const plan = await planChanges(tx, day, held);
  return { held, day, plan };
}

/**
 * Ends the held pulls whose staged rows are gone, and plans a pull of each of their dates. A date whose row is locked is
 * left to the next call.
 *
 * @returns the number of planned pulls
 */
export function replaceLostHolds(tx: Transaction): Promise<number> {
  return tx.$executeRaw`
    WITH lost AS MATERIALIZED (
      SELECT pull.id, pull.date, pull.origin
      FROM conciliation.pull JOIN conciliation.day ON day.held_pull_id = pull.id
      WHERE pull.state = 'held' AND ${isLost}
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
    const { held, day, plan } = planned;
    const { date } = held;
    if (held.isLost) {
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
    await endMerge(tx, features, { ...held, day, plan, state: 'merged', fold: null });
    if (decision !== null) {
      const { by: actor, reason } = decision;
      await recordAudit(tx, { actor, action: 'pull.release', date, pullId, reason });
    }
    const titles = plan.titles + plan.rejected;
    return { ...plan, pullId, date, titles, state: 'merged', holdReason: null, holdDetail: null };
  }, MERGE_TRANSACTION);
}

/**
 * Gives a merged date the state that follows from its open rejects and findings, after a person or a check has
 * changed them, and advances the checkpoint where the date is reconciled now. The caller has locked the row of the
 * day. The state of a held or failed date stays.
 */
export async function settleDay(tx: Transaction, date: CivilDate): Promise<void> {
  type Row = Parameters<typeof stateAfterMerge>[0] & { state: DayState; pullId: bigint };
  const [day] = await tx.$queryRaw<[Row?]>`
    SELECT day.state, merged.id AS "pullId", coalesce(merged.date_was_closed, false) AS "wasClosed",
           (SELECT count(*) FROM conciliation.rejected_title AS reject
            WHERE reject.date = day.date AND reject.status = 'open')::int AS "openRejects",
           ${HAS_OPEN_FINDINGS} AS "hasOpenFindings"
    FROM conciliation.day AS day JOIN conciliation.pull AS merged ON merged.id = day.last_pull_id
    WHERE day.date = ${date}::date AND day.state IN ('pending', 'reconciled', 'attention')`;
  if (day === undefined) return;
  const state = stateAfterMerge(day);
  if (state === day.state) return;
  await tx.day.updateMany({ where: { date }, data: { state } });
  if (state !== 'reconciled') return;
  await takeLock(tx, 'closing');
  await tx.$executeRaw(checkpointAdvance(day.pullId));
}
