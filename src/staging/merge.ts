/**
 * staging/ is everything that speaks SQL. This file is the one transaction that turns a staged
 * response into titles, revisions, ledger, checkpoint and pull outcome: a reader sees all of it or
 * nothing.
 *
 * Locks are taken in one order by everybody: the pulls' rows by id, the days' rows by date, the change-feed
 * lock, the checkpoint's row.
 */
import type { CivilDate } from '../domain/business-day.ts';
import { decideHold } from '../domain/day-state.ts';
import type { PullState } from '../domain/pull-state.ts';
import { StagingUnavailableError } from '../errors.ts';
import { reachFaultPoint } from '../fault-points.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Database, TransactionSession } from './database.ts';
import { datesOfWindow, type LockedDay, lockDays } from './day-ledger.ts';
import { discardStaged } from './discard-staged.ts';
import { inStaging } from './in-staging.ts';
import { type KnownResponse, stageKnown } from './known-dates.ts';
import { type DateMerge, mergeDates } from './merge-dates.ts';
import { countPlan, type DatePlan, planChanges } from './merge-plan.ts';
import { forbidNestedLoops } from './planner-settings.ts';
import { type Attempt, staleFence } from './pull-ledger.ts';
import {
  type DateOutcome,
  type DateReport,
  datesWith,
  finishPulls,
  pullStateOf,
} from './pull-outcome.ts';

/** What the reader knows of the response when the document has closed and the transfer has ended. */
export interface ReadResponse {
  readonly httpStatus: number;
  readonly responseBytes: number;
  readonly known: KnownResponse;
  /** Titles copied; the rest of the response's titles were known or rejected. */
  readonly accepted: number;
  readonly rejected: number;
  /** Rejects that name no usable date; only a sweep has them. */
  readonly undatedRejects: number;
  readonly drift: readonly DriftRecord[];
}

export interface DriftRecord {
  readonly path: string;
  readonly kind: string;
  readonly value: string;
}

export interface MergePolicy {
  readonly withdrawalLimitPercent: number;
  /** Dates up to this one are over and can be reconciled. */
  readonly lastClosedDate: CivilDate;
}

export interface PullReport {
  readonly pullId: bigint;
  readonly state: PullState;
  readonly titles: number;
  readonly rejected: number;
  readonly dates: readonly DateReport[];
}

/**
 * Longer than anything the database lets run: were Prisma to time out while a COMMIT is on its way,
 * nobody would know the outcome. The database's own statement_timeout bounds every step.
 */
export const MERGE_TRANSACTION = { timeout: 86_400_000, maxWait: 30_000 } as const;

/**
 * Merges a verified response. Each date is decided on its own: older than what the date already has
 * (`superseded`), to be seen by a person first (`held`), or merged.
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
  return inStaging(() =>
    database.prisma.$transaction(async (tx) => {
      if ((await lockRunningPulls(tx, [attempt])).length === 0) throw staleFence(attempt);
      const dates = await datesOfWindow(tx, attempt.window, attempt.fence, policy.lastClosedDate);
      const days = await lockDays(tx, dates);
      reachFaultPoint('merge');
      await forbidNestedLoops(tx);
      await verifyStaged(tx, attempt.fence, response);
      await stageKnown(tx, attempt.fence, response.known);

      const live = days.filter((day) => isNewest(day, attempt.fence));
      const liveDates = live.map((day) => day.date);
      const fresh = await planChanges(tx, attempt.fence, liveDates);
      const plans = await countPlan(tx, attempt.fence, dates, fresh);
      const reports = days.map((day, index) =>
        reportDate(day, plans[index], live.includes(day), response, policy),
      );

      const [report] = await endMerges(tx, [
        {
          source: attempt,
          days,
          reports,
          response,
          loaded: null,
          fresh,
          lastClosedDate: policy.lastClosedDate,
          undatedRejects: attempt.window.to === null,
        },
      ]);
      if (report === undefined) throw new Error('a merge has no report');
      return report;
    }, MERGE_TRANSACTION),
  );
}

/** What an attempt's response does; the attempt ends with it. */
export interface AttemptMerge extends DateMerge {
  readonly source: Attempt;
  readonly response: ReadResponse;
}

/**
 * Writes what was decided of each date, and the outcome of the attempts.
 *
 * @param merges see `mergeDates`
 * @returns a report of each, in their order
 */
export async function endMerges(
  tx: Prisma.TransactionClient,
  merges: readonly AttemptMerge[],
): Promise<PullReport[]> {
  await mergeDates(tx, merges);
  await recordDrift(tx, merges);
  const ended = merges.map(({ source, response, reports }) => ({
    pullId: source.pullId,
    state: pullStateOf(reports),
    titles: response.known.titles.total + response.accepted + response.rejected,
    rejected: response.rejected,
    dates: reports,
    response,
  }));
  await finishPulls(tx, ended);
  for (const { source, response, reports, loaded } of merges) {
    const hasStaged = loaded === null || response.rejected > 0;
    if (hasStaged) await discardStaged(tx, source.fence, datesWith(reports, 'held'));
  }
  reachFaultPoint('before-commit');
  return ended.map(({ response, ...report }) => report);
}

/**
 * Locks the rows of those attempts that still have their pulls, and returns them, with the session that
 * has the locks.
 */
export function lockRunningPulls(
  tx: Prisma.TransactionClient,
  attempts: readonly Attempt[],
): Promise<readonly (TransactionSession & { readonly pullId: bigint })[]> {
  // No two attempts have the same fence.
  return tx.$queryRaw`
    SELECT id AS "pullId", pg_backend_pid() AS "serverPid",
           pg_current_xact_id()::text AS "transactionId"
    FROM conciliation.pull
    WHERE id = ANY(${attempts.map(({ pullId }) => pullId)}::bigint[])
      AND fence = ANY(${attempts.map(({ fence }) => fence)}::bigint[]) AND state = 'running'
    ORDER BY id FOR UPDATE`;
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
  tx: Prisma.TransactionClient,
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

function reportDate(
  day: LockedDay,
  plan: DatePlan | undefined,
  isLive: boolean,
  response: ReadResponse,
  policy: MergePolicy,
): DateReport {
  if (plan === undefined || plan.date !== day.date) throw new Error('a day has no plan');
  const holdReason = isLive
    ? decideHold({
        currentTitles: day.titleCount,
        responseTitles: plan.titles,
        withdrawals: plan.withdrawn,
        undatedRejects: response.undatedRejects,
        withdrawalLimitPercent: policy.withdrawalLimitPercent,
      })
    : null;
  const changes = plan.inserted + plan.changed + plan.withdrawn + plan.restored;
  const unchanged = plan.titles - plan.inserted - plan.changed - plan.restored;
  const merged: DateOutcome = changes === 0 ? 'unchanged' : 'merged';
  const outcome: DateOutcome = !isLive ? 'superseded' : holdReason === null ? merged : 'held';
  return { ...plan, outcome, holdReason, unchanged: isLive ? unchanged : 0 };
}

async function recordDrift(
  tx: Prisma.TransactionClient,
  merges: readonly AttemptMerge[],
): Promise<void> {
  const drift = merges.flatMap(({ source, response }) =>
    response.drift.map((record) => ({ ...record, pullId: String(source.pullId) })),
  );
  if (drift.length === 0) return;
  // In one order for everybody, so that two merges cannot wait for each other.
  await tx.$executeRaw`
    INSERT INTO conciliation.drift (path, kind, value, first_pull_id)
    SELECT path, kind, value, "pullId"
    FROM jsonb_to_recordset(${JSON.stringify(drift)}::jsonb)
      AS seen (path text, kind text, value text, "pullId" bigint)
    ORDER BY path, kind, value, "pullId"
    ON CONFLICT DO NOTHING`;
}
