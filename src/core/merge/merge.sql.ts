/**
 * The merge is one transaction. It turns a staged response into titles, revisions, ledger, checkpoint and
 * the outcome of the pull, so a reader sees all of these changes or none.
 *
 * Every transaction takes its locks in one order: the row of its own pull, the row of the day, the list of erased
 * parties, which an erasure locks to be extended, the row of a pull that is held there, the lock of the closing phase.
 */

import type { Database, Transaction } from '../../base/database/database.ts';
import { RowsLostError } from '../../base/runtime/errors.ts';
import { reachFaultPoint } from '../../base/runtime/fault-points.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { dayLock, type LockedDay, readDay } from '../ledger/day-ledger.sql.ts';
import { type Attempt, staleFence } from '../ledger/pull-ledger.sql.ts';
import type { MissingText } from '../reader/known-texts.ts';
import type { TitleFold } from '../title/title.ts';
import type { DriftItem } from '../title/title-contract.ts';
import { endMerge, type MergeState } from './end-merge.sql.ts';
import type { EngineParts, StagedResponse } from './engine-hooks.ts';
import { findHold, type Hold, type HoldReason, type MergePolicy } from './holds.ts';
import {
  type ChangeCounts,
  type MergePlan,
  NO_CHANGES,
  PLANNER_SETTINGS,
  planChanges,
} from './merge-plan.sql.ts';
import type { HoldDetail } from './plausibility.sql.ts';

/** A response that was read to its end and verified; its titles and rejects are staged. */
export interface ReadResponse {
  readonly httpStatus: number;
  readonly responseBytes: number;
  /** Whether the date was over when the request was sent. */
  readonly dateWasClosed: boolean;
  readonly known: KnownResponse;
  /** Titles copied. The other titles of the response were known or rejected. */
  readonly accepted: number;
  readonly rejected: number;
  /** Of all titles of the response that keep the contract. */
  readonly fold: TitleFold;
  readonly drift: readonly DriftItem[];
}

/** The difference between a response and the titles that were known before it was read. */
interface KnownResponse {
  /** See `KnownDay`. Null: no title was known. */
  readonly baseChangedAt: string | null;
  /** Titles of the response that were known. */
  readonly titles: number;
  /** The texts that were known and that the response lacks. To be iterated once. */
  readonly missing: Iterable<MissingText>;
}

/** The changes that a pull made in its date or, for a held pull, those that a release would make. */
export interface PullReport extends ChangeCounts {
  readonly pullId: bigint;
  readonly date: LockedDay['date'];
  readonly state: MergeState;
  readonly holdReason: HoldReason | null;
  /** Null unless the response is held for its plausibility. */
  readonly holdDetail: HoldDetail | null;
  /** Titles of the response, rejected ones included. */
  readonly titles: number;
  readonly rejected: number;
}

/**
 * Reads the report of the attempt's merge from the ledger, for an attempt that lost its connection while
 * COMMIT was on its way. Null: nothing was committed under the fence of the attempt.
 */
export async function readCommittedReport(
  database: Database,
  attempt: Attempt,
): Promise<PullReport | null> {
  const [pull] = await database.prisma.$queryRaw<[PullReport?]>`
    SELECT id AS "pullId", date::text AS date, state, hold_reason AS "holdReason", hold_detail AS "holdDetail", titles, rejected,
           inserted, changed, withdrawn, restored, unchanged, withheld
    FROM conciliation.pull
    WHERE id = ${attempt.pullId} AND fence = ${attempt.fence}
      AND state IN ('merged', 'unchanged', 'held', 'superseded')`;
  return pull ?? null;
}

/**
 * Merges a staged response into its date. The response is `superseded` where the date has a newer one,
 * `held` where a person has to decide first, and merged otherwise.
 *
 * @throws StaleFenceError when another attempt has taken the pull over; nothing was changed
 * @throws StagingUnavailableError if the database became unavailable; RowsLostError if the staged rows were lost
 */
export function mergeStaged(
  parts: EngineParts & MergePolicy,
  attempt: Attempt,
  response: ReadResponse,
): Promise<PullReport> {
  const { date, fence } = attempt;
  const { features } = parts;
  const staged = { ...attempt, isRepair: isRepair(attempt), drift: response.drift };
  return inMerge(parts.database, attempt, async (tx) => {
    reachFaultPoint('merge');
    await stageKnown(tx, fence, response.known);
    const day = await readDay(tx, date, fence);
    verifyStaged(day, response, attempt);
    for (const { engine } of features) await engine?.beforePlan?.(tx, staged);
    const end = (decision: MergeEnd) => endAttempt(tx, parts, staged, response, decision);
    if (!isNewest(day, fence)) return end(supersede(day, response));
    const plan = await planChanges(tx, features, fence, day, staged.isRepair);
    const { hold } = await findHold(tx, attempt, { day, plan }, parts);
    return end(decide(day, plan, hold));
  });
}

/**
 * Longer than any transaction that the database permits. If Prisma timed out while a COMMIT is on its way,
 * the outcome would be unknown. The database's statement_timeout limits every step.
 */
export const MERGE_TRANSACTION = { timeout: 86_400_000, maxWait: 30_000 } as const;

/**
 * Runs `work` in the transaction of a merge, which holds the rows of the attempt's pull and then of its date: the
 * condition of `dayLock` reads `own`.
 *
 * @throws StaleFenceError when another attempt has taken the pull over
 */
function inMerge<T>(
  database: Database,
  attempt: Attempt,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return database.prisma.$transaction(async (tx) => {
    const locked = await tx.$queryRaw<unknown[]>`
      WITH own AS MATERIALIZED (
        SELECT FROM conciliation.pull
        WHERE id = ${attempt.pullId} AND fence = ${attempt.fence} AND state = 'running'
        FOR UPDATE
      ), ${dayLock(attempt.date, Prisma.sql`EXISTS (SELECT FROM own)`)}
      SELECT ${PLANNER_SETTINGS} FROM own`;
    if (locked.length === 0) throw staleFence(attempt);
    return work(tx);
  }, MERGE_TRANSACTION);
}

/** The end that a response comes to, and its changes. */
interface MergeEnd {
  readonly day: LockedDay;
  readonly plan: MergePlan;
  readonly state: MergeState;
  /** Null: the response is not held. */
  readonly hold: Hold | null;
}

/** Carries a decision out, and records the outcome of the attempt. */
async function endAttempt(
  tx: Transaction,
  { features }: EngineParts,
  staged: StagedResponse,
  response: ReadResponse,
  decision: MergeEnd,
): Promise<PullReport> {
  const { pullId } = staged;
  const { day, plan, state, hold } = decision;
  const titles = plan.titles + plan.rejected;
  const report = {
    ...plan,
    pullId,
    date: day.date,
    state,
    holdReason: hold?.reason ?? null,
    holdDetail: hold?.detail ?? null,
    titles,
  };
  await finishPull(tx, report, response);
  await endMerge(tx, features, { ...response, ...decision, ...staged });
  reachFaultPoint('before-commit');
  return report;
}

/** Whether the attempt believes nothing that is stored for its date: a check has asked for the pull. */
export function isRepair({ origin }: Pick<Attempt, 'origin'>): boolean {
  return origin === 'repair';
}

/** Records the outcome. A held pull waits for a release or for a newer response. */
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
        hold_detail = ${report.holdDetail === null ? null : JSON.stringify(report.holdDetail)}::jsonb,
        titles = ${report.titles}::int, inserted = ${report.inserted}::int,
        changed = ${report.changed}::int, withdrawn = ${report.withdrawn}::int,
        restored = ${report.restored}::int, unchanged = ${report.unchanged}::int,
        withheld = ${report.withheld}::int, rejected = ${report.rejected}::int,
        fold_count = ${response.fold.count}::int, fold_sum = ${response.fold.toText()}
    WHERE id = ${report.pullId}`;
}

/** Whether no newer fetch was merged into the day or is held there. An older fetch must not replace either. */
function isNewest(day: LockedDay, fence: bigint): boolean {
  return (day.mergedFence ?? 0n) < fence && (day.heldFence ?? 0n) < fence;
}

/**
 * The staging tables are unlogged, so a crash of the database after the COPY empties them. Without this check, the
 * response would look like one without titles. The row of the date may have been created after the attempt began, with
 * another version of the content.
 *
 * @throws RowsLostError when rows are missing, or have hashes of another version
 */
function verifyStaged(
  { stagedTitles, stagedRejects, contentVersion }: LockedDay,
  { accepted, rejected }: Pick<ReadResponse, 'accepted' | 'rejected'>,
  { content }: Attempt,
): void {
  if (contentVersion !== content.version) {
    throw new RowsLostError('a field was promoted after the attempt began', {
      context: { contentVersion, readVersion: content.version },
    });
  }
  if (stagedTitles !== accepted || stagedRejects !== rejected) {
    throw new RowsLostError('the staged rows are not the rows that were read', {
      context: { stagedTitles, readTitles: accepted, stagedRejects, readRejects: rejected },
    });
  }
}

const MISSING_PER_STATEMENT = 20_000;

/** Stages the difference from the known titles, for `planChanges`. */
async function stageKnown(tx: Transaction, fence: bigint, known: KnownResponse): Promise<void> {
  if (known.baseChangedAt === null) return;
  const flush = (batch: readonly MissingText[], isLast: boolean) => tx.$executeRaw`
    WITH base AS (
      INSERT INTO conciliation.staged_base (fence, known, base_changed_at)
      SELECT ${fence}::bigint, ${known.titles}::int, ${known.baseChangedAt}::timestamptz WHERE ${isLast}::boolean
    )
    INSERT INTO conciliation.staged_missing (fence, raw_hash, copies)
    SELECT ${fence}::bigint, hash, copies
    FROM unnest(${batch.map(({ rawHash }) => rawHash)}::uuid[],
                ${batch.map(({ copies }) => copies)}::int[]) AS missing (hash, copies)`;
  let batch: MissingText[] = [];
  for (const text of known.missing) {
    if (batch.push(text) < MISSING_PER_STATEMENT) continue;
    await flush(batch, false);
    batch = [];
  }
  await flush(batch, true);
}

function supersede(day: LockedDay, { known, accepted, rejected }: ReadResponse): MergeEnd {
  const plan = { ...NO_CHANGES, titles: known.titles + accepted, rejected };
  return { day, plan, state: 'superseded', hold: null };
}

function decide(day: LockedDay, plan: MergePlan, hold: Hold | null): MergeEnd {
  const changes = plan.inserted + plan.changed + plan.withdrawn + plan.restored;
  const merged = changes === 0 ? 'unchanged' : 'merged';
  const state = hold === null ? merged : 'held';
  return { day, plan, state, hold };
}
