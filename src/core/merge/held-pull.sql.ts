import type { Transaction } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { type LockedDay, lockDay, readDay } from '../ledger/day-ledger.sql.ts';
import type { EngineFeature } from './engine-hooks.ts';
import { configurePlanner, planChanges } from './merge-plan.sql.ts';
import type { HoldDetail } from './plausibility.sql.ts';

/**
 * Records that a held pull is released.
 * @param decision null: the program has released the pull at the end of its run
 */
export async function finishRelease(
  tx: Transaction,
  pullId: bigint,
  decision: { readonly by: string; readonly reason: string } | null,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE conciliation.pull
    SET state = 'merged', finished_at = now(),
        decided_at = CASE WHEN ${decision !== null} THEN now() END,
        decided_by = ${decision?.by ?? null}, reason = ${decision?.reason ?? null}
    WHERE id = ${pullId}`;
}

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
