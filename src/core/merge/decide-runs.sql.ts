/**
 * The limit of a run: of all pulls that one instant of the schedule, one sweep or one backfill asked for. A response
 * of a run that loses many titles is held until the other pulls of the run have ended. Then all of them are decided
 * together, so the result does not depend on the order of the responses:
 *
 * - A response that loses at most the share of a run (`runLimitPercent`) is merged at once. This depends on its date
 *   alone, see `findHold`.
 * - The losses of the run are those of its merged responses and of its held ones, with the same merged responses in
 *   the tables in any order. So the sum is the same, and either all held responses below their own limits are merged,
 *   or none is.
 */
import type { Decision } from '../../base/audit/audit.ts';
import type { Database, Transaction } from '../../base/database/database.ts';
import { InputError } from '../../base/runtime/errors.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { discardPlan } from '../ledger/pull-ledger.sql.ts';
import type { Hold, HoldReason } from '../ledger/states.ts';
import { planHeld, releasePull } from './decisions.sql.ts';
import type { EngineParts } from './engine-hooks.ts';
import {
  findHold,
  goneColumns,
  type MergePolicy,
  readLosses,
  runLimitPercent,
} from './holds.sql.ts';
import { MERGE_TRANSACTION, type PullReport } from './merge.sql.ts';
import { pairKey } from './merge-apply.sql.ts';
import { configurePlanner } from './merge-plan.sql.ts';

/** A run with fewer lost titles is not held. */
const MIN_RUN_TITLES = 20;

/**
 * Whether the responses of a run that withdraw titles must wait for a person. The limit of the date holds for one.
 * @param run.dates dates that lose titles
 * @param run.titles titles of all dates of the run before it
 */
export function isRunHeld(
  run: { readonly dates: number; readonly lost: number; readonly titles: number },
  withdrawalLimitPercent: number,
): boolean {
  const limit = runLimitPercent(withdrawalLimitPercent);
  if (limit === null || run.dates < 2 || run.lost < MIN_RUN_TITLES) return false;
  return run.lost * 100 > limit * run.titles;
}

/** Pulls with the same value of both belong to one run. */
interface Run {
  readonly slotAt: string | null;
  readonly backfillId: bigint | null;
}

interface RunPull {
  readonly id: bigint;
  readonly date: CivilDate;
  readonly isHeld: boolean;
  /** Titles of the date before the pull. */
  readonly titlesBefore: number;
  readonly withdrawn: number;
}

/**
 * The holds that the end of a run decides again. `run_withdrawals`: until then the response waits for
 * the other dates of its run, and afterwards the run as a whole has lost too much.
 */
const LOSS_REASONS = [
  'emptied',
  'withdrawal_limit',
  'run_withdrawals',
  'buyer_withdrawals',
] as const satisfies readonly HoldReason[];

/** Of rows `pull`: held because of lost titles, and not decided at the end of its run. */
const isUndecided = Prisma.sql`
  pull.state = 'held' AND pull.run_ended_at IS NULL AND pull.hold_reason = ANY(${[...LOSS_REASONS]}::text[])`;

/** Of rows `pull` and `other`. */
const isSameRun = Prisma.sql`
  (other.slot_at = pull.slot_at OR other.backfill_id = pull.backfill_id)`;

/**
 * Decides about the held pulls of each run that has ended: merges them, or leaves all of them to a person.
 * @param kind a run of the schedule has ended only after the planner has created all of its pulls
 * @returns how many pulls were merged
 */
export async function decideRuns(
  parts: EngineParts & MergePolicy,
  kind: 'schedule' | 'backfill',
): Promise<number> {
  const ofKind =
    kind === 'schedule'
      ? Prisma.sql`pull.slot_at IS NOT NULL`
      : Prisma.sql`EXISTS (
          SELECT FROM conciliation.backfill
          WHERE backfill.id = pull.backfill_id AND (backfill.state <> 'running' OR
            (SELECT count(DISTINCT date) FROM conciliation.pull AS own
             WHERE own.backfill_id = backfill.id AND own.state <> 'cancelled') = to_date - from_date + 1))`;
  const runs = await parts.database.prisma.$queryRaw<Run[]>`
    SELECT DISTINCT slot_at::text AS "slotAt", backfill_id AS "backfillId"
    FROM conciliation.pull
    WHERE ${isUndecided} AND ${ofKind} AND NOT EXISTS (
      SELECT FROM conciliation.pull AS other
      WHERE other.state IN ('queued', 'running') AND ${isSameRun})`;
  let merged = 0;
  for (const run of runs) merged += await decideRun(parts, run);
  return merged;
}

async function decideRun(parts: EngineParts & MergePolicy, run: Run): Promise<number> {
  const { database } = parts;
  const pulls = await readRun(database, run);
  const total = { dates: 0, lost: 0, titles: 0 };
  const waiting: Assessment[] = [];
  for (const pull of pulls) {
    const assessed = pull.isHeld ? await assessHeld(parts, pull) : null;
    if (assessed !== null) waiting.push(assessed);
    const lost = assessed?.lost ?? (await readMergedLost(database, pull));
    if (lost > 0) total.dates += 1;
    total.lost += lost;
    total.titles += pull.titlesBefore;
  }
  const isHeld = isRunHeld(total, parts.withdrawalLimitPercent);
  const runHold = {
    reason: 'run_withdrawals',
    detail: {
      buyer: null,
      found: total.lost,
      of: total.titles,
      limit: runLimitPercent(parts.withdrawalLimitPercent) ?? 0,
    },
  } as const;
  const kept = waiting.flatMap(({ id, lost, hold }) => {
    const reason = hold ?? (isHeld && lost > 0 ? runHold : null);
    return reason === null ? [] : [{ id, ...reason }];
  });
  await keepHolds(database, kept);
  const released = waiting.filter(({ id }) => !kept.some((hold) => hold.id === id));
  let merged = 0;
  for (const { id } of released) {
    try {
      await releasePull(parts, id, null);
      merged += 1;
    } catch (error) {
      // A person has decided about the pull meanwhile, or the planner is to replace it.
      if (!(error instanceof InputError)) throw error;
    }
  }
  return merged;
}

/** The newest pull of each date of the run. */
function readRun(database: Database, { slotAt, backfillId }: Run): Promise<RunPull[]> {
  return database.prisma.$queryRaw<RunPull[]>`
    SELECT DISTINCT ON (pull.date) id, date::text AS date, ${isUndecided} AS "isHeld", withdrawn,
           unchanged + changed + withdrawn + withheld AS "titlesBefore"
    FROM conciliation.pull
    WHERE (slot_at = ${slotAt}::timestamptz OR backfill_id = ${backfillId}::bigint)
      AND state IN ('merged', 'unchanged', 'held')
    ORDER BY pull.date, id DESC`;
}

interface Assessment {
  readonly id: bigint;
  readonly lost: number;
  /** Why the response waits for a person whatever the run loses; null: nothing. */
  readonly hold: Hold | null;
}

/** Plans the release of a held pull anew, because responses for other dates may have the titles that it lacks. */
function assessHeld(parts: EngineParts & MergePolicy, { id }: RunPull): Promise<Assessment | null> {
  return parts.database.prisma.$transaction(async (tx) => {
    const planned = await planHeld(tx, parts.features, id);
    if (planned === null) return null;
    const { held, day, plan } = planned;
    const found = await findHold(tx, { ...held, day, plan, isOfRun: false }, parts);
    await discardPlan(tx, held.fence);
    // The planner replaces a pull whose rows are lost.
    return held.isLost ? null : { id, ...found };
  }, MERGE_TRANSACTION);
}

/** The titles without a successor that a merged pull withdrew, and that are not restored since. */
async function readMergedLost(database: Database, { id, date, withdrawn }: RunPull) {
  if (withdrawn === 0) return 0;
  const gone = Prisma.sql`
    SELECT ${goneColumns}, last_change_pull_id AS pull_id FROM conciliation.title
    WHERE accepted_date = ${date}::date AND status = 'withdrawn' AND last_change_pull_id = ${id}`;
  const arrived = Prisma.sql`SELECT ${pairKey}, 0::bigint AS pull_id FROM conciliation.title WHERE false`;
  const query = { date, mergedFence: null, gone, arrived, scope: 'dates' } as const;
  return database.prisma.$transaction(async (tx: Transaction) => {
    await configurePlanner(tx);
    const losses = await readLosses(tx, query);
    return losses.reduce((sum, { lostBefore }) => sum + lostBefore, 0);
  }, MERGE_TRANSACTION);
}

/** One statement, so that a person sees all dates of the run or none. */
async function keepHolds(
  database: Database,
  holds: readonly (Hold & { readonly id: bigint })[],
): Promise<void> {
  if (holds.length === 0) return;
  const rows = holds.map((hold) => ({ ...hold, id: String(hold.id) }));
  await database.prisma.$executeRaw`
    UPDATE conciliation.pull
    SET hold_reason = kept.reason, hold_detail = nullif(kept.detail, 'null'::jsonb), run_ended_at = now()
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS kept (id bigint, reason text, detail jsonb)
    WHERE pull.id = kept.id AND pull.state = 'held'`;
}

/** Returns the held pulls of the run of a held pull, itself included, that one decision can release. */
export async function readHeldRun(database: Database, pullId: bigint): Promise<bigint[]> {
  const rows = await database.prisma.$queryRaw<{ id: bigint }[]>`
    SELECT other.id FROM conciliation.pull JOIN conciliation.pull AS other ON ${isSameRun} OR other.id = pull.id
    WHERE pull.id = ${pullId} AND pull.state = 'held' AND other.state = 'held'
      AND (other.id = pull.id OR other.hold_reason = ANY(${[...LOSS_REASONS]}::text[]))
    ORDER BY other.date`;
  return rows.map(({ id }) => id);
}

/**
 * Releases the held pulls of the run of a pull that withdraw titles, each in its own transaction.
 * @param decision.seen `readHeldRun` as the person saw it
 * @throws InputError when the pull is not held, the run holds other pulls by now, or the staged titles of one are gone
 */
export async function releaseRun(
  parts: EngineParts,
  pullId: bigint,
  decision: Decision & { readonly seen: readonly bigint[] },
): Promise<PullReport[]> {
  const run = await readHeldRun(parts.database, pullId);
  if (run.length > 0 && String(run) !== String(decision.seen)) {
    throw new InputError(`other dates of the run of pull ${pullId} are held by now`, {
      context: { fault: 'run_changed' },
    });
  }
  const others = run.filter((id) => id !== pullId);
  const reports = [await releasePull(parts, pullId, decision)];
  for (const id of others) reports.push(await releasePull(parts, id, decision));
  return reports;
}
