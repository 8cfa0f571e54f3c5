/**
 * The merge is one transaction. It turns a staged response into titles, revisions, ledger, checkpoint and
 * the outcome of the pull, so a reader sees all of these changes or none.
 *
 * Every transaction takes its locks in one order: the row of its own pull, the row of the day, the list of erased
 * parties, which an erasure locks to be extended, the row of a pull that is held there, the lock of the closing phase.
 */

import type { Transaction } from '../../base/database/database.ts';
import { StagingUnavailableError } from '../../base/runtime/errors.ts';
import { reachFaultPoint } from '../../base/runtime/fault-points.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { dayLock, type LockedDay, readDay } from '../ledger/day-ledger.sql.ts';
import { type Attempt, staleFence } from '../ledger/pull-ledger.sql.ts';
import type { HoldDetail, HoldReason } from '../ledger/states.ts';
import type { ReadResult } from '../reader/response-reader.ts';
import { endMerge, type MergeState } from './end-merge.sql.ts';
import type { ChangeCounts, EngineParts } from './engine-hooks.ts';
import { findHold, type MergePolicy } from './holds.sql.ts';
import { NO_CHANGES, PLANNER_SETTINGS, planChanges } from './merge-plan.sql.ts';

/** A response that was read to its end and verified; its titles and rejects are staged. */
export interface ReadResponse extends ReadResult {
  readonly httpStatus: number;
  readonly responseBytes: number;
  /** Whether the date was over when the request was sent. */
  readonly dateWasClosed: boolean;
  /** See `KnownDay`. */
  readonly baseChangedAt: string | null;
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
 * Merges a staged response into its date. The response is `superseded` where the date has a newer one,
 * `held` where a person has to decide first, and merged otherwise.
 *
 * @throws StaleFenceError when another attempt has taken the pull over; nothing was changed
 * @throws StagingUnavailableError if the database became unavailable, or the staged rows were lost
 */
export function mergeStaged(
  parts: EngineParts & MergePolicy,
  attempt: Attempt,
  response: ReadResponse,
): Promise<PullReport> {
  const { pullId, date, fence } = attempt;
  const { features } = parts;
  const staged = { ...attempt, drift: response.drift };
  return parts.database.prisma.$transaction(async (tx) => {
    await lockAttempt(tx, attempt);
    reachFaultPoint('merge');
    await stageKnown(tx, fence, response);
    const day = await readDay(tx, date, fence);
    verifyStaged(day, response, attempt);
    for (const { engine } of features) await engine?.beforePlan?.(tx, staged);
    const isSuperseded = !isNewest(day, fence);
    const plan = isSuperseded
      ? {
          ...NO_CHANGES,
          titles: response.knownTitles + response.accepted,
          rejected: response.rejected,
        }
      : await planChanges(tx, day, attempt);
    const { hold } = isSuperseded
      ? { hold: null }
      : await findHold(tx, { ...staged, day, plan }, parts);
    const changes = plan.inserted + plan.changed + plan.withdrawn + plan.restored;
    const merged = changes === 0 ? 'unchanged' : 'merged';
    const ended = hold === null ? merged : 'held';
    const state: MergeState = isSuperseded ? 'superseded' : ended;
    const report = {
      ...{ ...plan, pullId, date, state, titles: plan.titles + plan.rejected },
      ...{ holdReason: hold?.reason ?? null, holdDetail: hold?.detail ?? null },
    };
    await finishPull(tx, report, response);
    await endMerge(tx, features, { ...response, ...staged, day, plan, state });
    reachFaultPoint('before-commit');
    return report;
  }, MERGE_TRANSACTION);
}

/**
 * Longer than any transaction that the database permits. If Prisma timed out while a COMMIT is on its way,
 * the outcome would be unknown. The database's statement_timeout limits every step.
 */
export const MERGE_TRANSACTION = { timeout: 86_400_000, maxWait: 30_000 } as const;

/**
 * Locks the rows of the attempt's pull and then of its date: the condition of `dayLock` reads `own`.
 *
 * @throws StaleFenceError when another attempt has taken the pull over
 */
async function lockAttempt(tx: Transaction, attempt: Attempt): Promise<void> {
  const locked = await tx.$queryRaw<unknown[]>`
    WITH own AS MATERIALIZED (
      SELECT FROM conciliation.pull
      WHERE id = ${attempt.pullId} AND fence = ${attempt.fence} AND state = 'running'
      FOR UPDATE
    ), ${dayLock(attempt.date, Prisma.sql`EXISTS (SELECT FROM own)`)}
    SELECT ${PLANNER_SETTINGS} FROM own`;
  if (locked.length === 0) throw staleFence(attempt);
}

/** Records the outcome. A held pull waits for a release or for a newer response. */
async function finishPull(
  tx: Transaction,
  report: PullReport,
  response: ReadResponse,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE conciliation.pull
    SET state = ${report.state}, error_code = NULL,
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
 * @throws StagingUnavailableError when rows are missing, or have hashes of another version
 */
function verifyStaged(
  { stagedTitles, stagedRejects, contentVersion }: LockedDay,
  { accepted, rejected }: Pick<ReadResponse, 'accepted' | 'rejected'>,
  { content }: Attempt,
): void {
  if (contentVersion !== content.version) {
    throw new StagingUnavailableError('a field was promoted after the attempt began', {
      context: { contentVersion, readVersion: content.version },
    });
  }
  if (stagedTitles !== accepted || stagedRejects !== rejected) {
    throw new StagingUnavailableError('the staged rows are not the rows that were read', {
      context: { stagedTitles, readTitles: accepted, stagedRejects, readRejects: rejected },
    });
  }
}

/** Stages the difference from the known titles, for `planChanges`. */
async function stageKnown(
  tx: Transaction,
  fence: bigint,
  { baseChangedAt, knownTitles, missing }: ReadResponse,
): Promise<void> {
  if (baseChangedAt === null) return;
  await tx.$executeRaw`
    WITH base AS (
      INSERT INTO conciliation.staged_base (fence, known, base_changed_at)
      VALUES (${fence}::bigint, ${knownTitles}::int, ${baseChangedAt}::timestamptz)
    )
    INSERT INTO conciliation.staged_missing (fence, raw_hash, copies)
    SELECT ${fence}::bigint, hash, copies
    FROM unnest(${missing.map(({ rawHash }) => rawHash)}::uuid[],
                ${missing.map(({ copies }) => copies)}::int[]) AS missing (hash, copies)`;
}
