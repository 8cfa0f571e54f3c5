import type { Transaction } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';
import type { LockedDay } from '../ledger/day-ledger.ts';
import { discardStaged } from '../ledger/discard-staged.ts';
import type { MergePlan } from './merge/merge-plan.ts';

/** A newer fetch has decided the date, or is held there itself: what an older pull held is void. */
export async function supersedeHold(
  tx: Transaction,
  { heldPullId, heldFence }: LockedDay,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE conciliation.pull
    SET state = 'superseded', finished_at = now(), inserted = 0, changed = 0, withdrawn = 0,
        restored = 0, unchanged = 0, withheld = 0
    WHERE id = ${heldPullId} AND state = 'held'`;
  if (heldFence !== null) await discardStaged(tx, heldFence);
}

/** Ends a held pull that a person released; its changes are merged. */
export async function finishRelease(
  tx: Transaction,
  pullId: bigint,
  decision: { readonly by: string; readonly reason: string },
): Promise<void> {
  await tx.$executeRaw`
    UPDATE conciliation.pull
    SET state = 'merged', finished_at = now(), decided_at = now(), decided_by = ${decision.by},
        reason = ${decision.reason}
    WHERE id = ${pullId}`;
}

/** A pull that waits for a person. */
export interface HeldPull {
  readonly date: CivilDate;
  readonly fence: bigint;
  readonly dateWasClosed: boolean;
  readonly fetchedAt: Date | null;
  readonly holdReason: string | null;
  readonly titles: number;
  readonly inserted: number;
  readonly changed: number;
  readonly withdrawn: number;
  readonly restored: number;
  readonly withheld: number;
  readonly rejected: number;
}

/** Null: there is no such pull, or it holds nothing. */
export async function readHeldPull(tx: Transaction, pullId: bigint): Promise<HeldPull | null> {
  const [pull] = await tx.$queryRaw<[HeldPull?]>`
    SELECT date::text AS date, fence, date_was_closed AS "dateWasClosed",
           fetch_started_at AS "fetchedAt", hold_reason AS "holdReason", titles, inserted, changed,
           withdrawn, restored, withheld, rejected
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
 * Whether the staged rows of a held pull are gone: the staging tables are unlogged, so a crash of the
 * database has emptied them, and the plan is not the one that was held.
 */
export function isHoldLost(held: HeldPull, plan: MergePlan): boolean {
  return (
    held.titles !== plan.titles + plan.rejected ||
    PLAN_COUNTS.some((count) => held[count] !== plan[count])
  );
}
