import type { Transaction } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';
import type { HoldDetail } from '../domain/checks/plausibility.ts';
import type { MergePlan } from './merge/merge-plan.sql.ts';

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
  readonly inserted: number;
  readonly changed: number;
  readonly withdrawn: number;
  readonly restored: number;
  readonly withheld: number;
  readonly rejected: number;
}

/** Null: the pull does not exist, or it is not held. */
export async function readHeldPull(tx: Transaction, pullId: bigint): Promise<HeldPull | null> {
  const [pull] = await tx.$queryRaw<[HeldPull?]>`
    SELECT date::text AS date, fence, date_was_closed AS "dateWasClosed",
           fetch_started_at AS "fetchedAt", hold_reason AS "holdReason",
           hold_detail AS "holdDetail", titles, inserted, changed,
           withdrawn, restored, withheld, rejected, origin = 'repair' AS "isRepair"
    FROM conciliation.pull WHERE id = ${pullId} AND state = 'held'`;
  return pull ?? null;
}

const PLAN_COUNTS = [
  'inserted',
  'changed',
  'withdrawn',
  'restored',
  'withheld',
  'rejected',
] as const satisfies readonly (keyof MergePlan & keyof HeldPull)[];

/**
 * Whether the staged rows of a held pull are gone. The staging tables are unlogged, so a crash of the
 * database empties them. Then the plan differs from the one that was held.
 */
export function isHoldLost(held: HeldPull, plan: MergePlan): boolean {
  return (
    held.titles !== plan.titles + plan.rejected ||
    PLAN_COUNTS.some((count) => held[count] !== plan[count])
  );
}
