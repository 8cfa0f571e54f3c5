/**
 * The merge: the one transaction that turns a staged response
 * into titles, revisions, ledger, checkpoint and pull outcome: a reader sees all of it or nothing.
 *
 * Every transaction takes its locks in one order: the row of its own pull, the row of the day, the row of
 * a pull that is held there, the lock of the closing phase.
 */

import type { Database, Transaction, TransactionSession } from '../../database/database.ts';
import { decideHold, type HoldReason } from '../../domain/day-state.ts';
import type { TitleFold } from '../../domain/title-fold.ts';
import { type LockedDay, lockDay } from '../../ledger/day-ledger.ts';
import { discardPlan, discardStaged } from '../../ledger/discard-staged.ts';
import { configurePlanner } from '../../ledger/planner-settings.ts';
import { type Attempt, staleFence } from '../../ledger/pull-ledger.ts';
import { eraseErased } from '../../privacy/erased-parties.ts';
import { StagingUnavailableError } from '../../runtime/errors.ts';
import { reachFaultPoint } from '../../runtime/fault-points.ts';
import { type KnownResponse, stageKnown } from '../known-day.ts';
import { type DriftRecord, endMerge, type MergeState } from './end-merge.ts';
import { type ChangeCounts, type MergePlan, planChanges } from './merge-plan.ts';

/** The reader's account of a response whose document has closed and whose transfer has ended. */
export interface ReadResponse {
  readonly httpStatus: number;
  readonly responseBytes: number;
  /** Whether the date was over when the request was sent. */
  readonly dateWasClosed: boolean;
  readonly known: KnownResponse;
  /** Titles copied; the rest of the response's titles were known or rejected. */
  readonly accepted: number;
  readonly rejected: number;
  /** Of all titles of the response that keep the contract. */
  readonly fold: TitleFold;
  readonly drift: readonly DriftRecord[];
}

export interface MergePolicy {
  readonly withdrawalLimitPercent: number;
}

/** What a pull did to its date, or, where it is held, what a release would do. */
export interface PullReport extends ChangeCounts {
  readonly pullId: bigint;
  readonly date: LockedDay['date'];
  readonly state: MergeState;
  readonly holdReason: HoldReason | null;
  /** Titles of the response, rejected ones included. */
  readonly titles: number;
  readonly rejected: number;
}

/**
 * Longer than anything the database lets run: were Prisma to time out while a COMMIT is on its way, the
 * outcome would be unknown. The database's own statement_timeout bounds every step.
 */
export const MERGE_TRANSACTION = { timeout: 86_400_000, maxWait: 30_000 } as const;

/**
 * Merges a verified response into its date: older than what the date already has (`superseded`), to be
 * seen by a person first (`held`), or merged.
 *
 * @throws StaleFenceError when another attempt has taken the pull over; nothing was changed
 * @throws StagingUnavailableError when the database went away, or lost the staged rows in a crash
 */
export function mergePull(
  database: Database,
  attempt: Attempt,
  response: ReadResponse,
  policy: MergePolicy,
): Promise<PullReport> {
  return database.prisma.$transaction(async (tx) => {
    await configurePlanner(tx);
    await lockRunningPull(tx, attempt);
    const day = await lockDay(tx, attempt.date);
    reachFaultPoint('merge');
    await verifyStaged(tx, attempt.fence, response);
    if (!isNewest(day, attempt.fence))
      return endAttempt(tx, attempt, response, supersede(day, response));
    await eraseErased(tx, attempt.fence);
    await stageKnown(tx, attempt.fence, response.known);
    const plan = await planChanges(tx, attempt.fence, day);
    return endAttempt(tx, attempt, response, decide(day, plan, policy));
  }, MERGE_TRANSACTION);
}

/** What becomes of a response. */
export interface MergeDecision {
  readonly day: LockedDay;
  readonly plan: MergePlan;
  readonly state: MergeState;
  readonly holdReason: HoldReason | null;
}

/**
 * Writes what was decided, and with it the outcome of the attempt.
 *
 * @param loaded see `endMerge`
 */
export async function endAttempt(
  tx: Transaction,
  { pullId, fence }: Attempt,
  response: ReadResponse,
  decision: MergeDecision,
  loaded: Parameters<typeof endMerge>[1]['loaded'] = null,
): Promise<PullReport> {
  const { plan, state, holdReason, day } = decision;
  const { isFresh: _, ...counts } = plan;
  const report = {
    ...counts,
    pullId,
    date: day.date,
    state,
    holdReason,
    titles: plan.titles + plan.rejected,
  };
  await finishPull(tx, report, response);
  await endMerge(tx, { ...decision, ...response, pullId, fence, loaded });
  if (state === 'held') await discardPlan(tx, fence);
  else if (loaded === null || plan.rejected > 0) await discardStaged(tx, fence);
  reachFaultPoint('before-commit');
  return report;
}

/** Ends an attempt. A held pull waits for a release or for a newer response. */
async function finishPull(
  tx: Transaction,
  report: PullReport,
  response: ReadResponse,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE conciliation.pull
    SET state = ${report.state}, attempts = attempts + 1,
        finished_at = CASE WHEN ${report.state} <> 'held' THEN clock_timestamp() END,
        http_status = ${response.httpStatus}::int, response_bytes = ${response.responseBytes}::bigint,
        date_was_closed = ${response.dateWasClosed}::boolean, hold_reason = ${report.holdReason},
        titles = ${report.titles}::int, inserted = ${report.inserted}::int,
        changed = ${report.changed}::int, withdrawn = ${report.withdrawn}::int,
        restored = ${report.restored}::int, unchanged = ${report.unchanged}::int,
        withheld = ${report.withheld}::int, rejected = ${report.rejected}::int,
        fold_count = ${response.fold.count}::int, fold_sum = ${response.fold.toText()}
    WHERE id = ${report.pullId}`;
}

/**
 * Locks the row of the attempt's pull.
 *
 * @returns the session that has the lock
 * @throws StaleFenceError when the pull is not the attempt's any more
 */
export async function lockRunningPull(
  tx: Transaction,
  attempt: Attempt,
): Promise<TransactionSession> {
  const [session] = await tx.$queryRaw<[TransactionSession?]>`
    SELECT pg_backend_pid() AS "serverPid", pg_current_xact_id()::text AS "transactionId"
    FROM conciliation.pull
    WHERE id = ${attempt.pullId} AND fence = ${attempt.fence} AND state = 'running'
    FOR UPDATE`;
  if (session === undefined) throw staleFence(attempt);
  return session;
}

/** A fetch that waits for a person counts too: what an older one said must not do away with it. */
export function isNewest(day: LockedDay, fence: bigint): boolean {
  return (day.mergedFence ?? 0n) < fence && (day.heldFence ?? 0n) < fence;
}

/**
 * The staging tables are unlogged: a database that crashed after the COPY has emptied them. Without
 * this count such a pull would look like an emptied day.
 */
async function verifyStaged(
  tx: Transaction,
  fence: bigint,
  response: Pick<ReadResponse, 'accepted' | 'rejected'>,
): Promise<void> {
  const [staged] = await tx.$queryRaw<[{ accepted: number; rejected: number }]>`
    SELECT (SELECT count(*) FROM conciliation.staged_title WHERE fence = ${fence})::int AS accepted,
           (SELECT count(*) FROM conciliation.staged_reject WHERE fence = ${fence})::int AS rejected`;
  if (staged.accepted !== response.accepted || staged.rejected !== response.rejected) {
    throw new StagingUnavailableError('the staged rows are not the rows that were read', {
      context: {
        stagedTitles: staged.accepted,
        readTitles: response.accepted,
        stagedRejects: staged.rejected,
        readRejects: response.rejected,
      },
    });
  }
}

function supersede(day: LockedDay, response: ReadResponse): MergeDecision {
  const plan: MergePlan = {
    titles: response.known.titles + response.accepted,
    rejected: response.rejected,
    inserted: 0,
    changed: 0,
    withdrawn: 0,
    restored: 0,
    unchanged: 0,
    withheld: 0,
    isFresh: false,
  };
  return { day, plan, state: 'superseded', holdReason: null };
}

function decide(day: LockedDay, plan: MergePlan, policy: MergePolicy): MergeDecision {
  const holdReason = decideHold({
    currentTitles: day.titleCount,
    responseTitles: plan.titles,
    rejected: plan.rejected,
    withdrawals: plan.withdrawn,
    withdrawalLimitPercent: policy.withdrawalLimitPercent,
  });
  const changes = plan.inserted + plan.changed + plan.withdrawn + plan.restored;
  const merged = changes === 0 ? 'unchanged' : 'merged';
  return { day, plan, state: holdReason === null ? merged : 'held', holdReason };
}
