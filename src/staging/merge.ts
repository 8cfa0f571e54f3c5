/**
 * staging/ is everything that speaks SQL. This file is the one transaction that turns a staged
 * response into titles, revisions, ledger, checkpoint and pull outcome: a reader sees all of it or
 * nothing.
 *
 * Locks are taken in one order by everybody: the pull's row, the days' rows by date, the change-feed
 * lock, the checkpoint's row.
 */
import type { CivilDate } from '../domain/business-day.ts';
import { decideHold, stateAfterMerge } from '../domain/day-state.ts';
import type { NamedAccounts } from '../domain/named-accounts.ts';
import type { PullState } from '../domain/pull-state.ts';
import { StagingUnavailableError } from '../errors.ts';
import { reachFaultPoint } from '../fault-points.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { watchAccounts } from './account-watch.ts';
import type { Database, TransactionSession } from './database.ts';
import {
  advanceCheckpoint,
  datesOfWindow,
  type LockedDay,
  lockDays,
  refreshTotals,
  setHeldDay,
  setMergedDays,
} from './day-ledger.ts';
import { discardStaged } from './discard-staged.ts';
import { inStaging } from './in-staging.ts';
import { type KnownResponse, stageKnown } from './known-dates.ts';
import { applyChanges } from './merge-apply.ts';
import { countPlan, type DatePlan, planChanges } from './merge-plan.ts';
import { forbidNestedLoops } from './nested-loops.ts';
import { type Attempt, staleFence } from './pull-ledger.ts';
import {
  type DateOutcome,
  type DateReport,
  datesWith,
  finishPull,
  recordDates,
  supersedeHolds,
} from './pull-outcome.ts';
import { mergeRejects } from './rejects.ts';

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
      await lockRunningPull(tx, attempt);
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

      return endMerge(tx, attempt, days, reports, response, {
        loaded: null,
        fresh,
        lastClosedDate: policy.lastClosedDate,
        undatedRejects: attempt.window.to === null,
      });
    }, MERGE_TRANSACTION),
  );
}

/** Writes what was decided of each date, and the outcome of the attempt. */
export async function endMerge(
  tx: Prisma.TransactionClient,
  attempt: Attempt,
  days: readonly LockedDay[],
  reports: readonly DateReport[],
  response: ReadResponse,
  options: MergeDatesOptions,
): Promise<PullReport> {
  await mergeDates(tx, attempt, days, reports, options);
  await recordDrift(tx, attempt.pullId, response.drift);
  const titles = response.known.titles.total + response.accepted + response.rejected;
  const state = await finishPull(tx, attempt, { ...response, titles }, reports);
  const hasStaged = options.loaded === null || response.rejected > 0;
  if (hasStaged) await discardStaged(tx, attempt.fence, datesWith(reports, 'held'));
  reachFaultPoint('before-commit');
  return {
    pullId: attempt.pullId,
    state,
    titles,
    rejected: response.rejected,
    dates: reports,
  };
}

/** Returns the session that has the lock. */
export async function lockRunningPull(
  tx: Prisma.TransactionClient,
  attempt: Attempt,
): Promise<TransactionSession> {
  const [session] = await tx.$queryRaw<[TransactionSession?]>`
    SELECT pg_backend_pid() AS "serverPid", pg_current_xact_id()::text AS "transactionId"
    FROM conciliation.pull
    WHERE id = ${attempt.pullId} AND fence = ${attempt.fence} AND state = 'running' FOR UPDATE`;
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

export interface MergeDatesOptions {
  /** The titles are in their table already: what they name. See `loadDay`. */
  readonly loaded: NamedAccounts | null;
  /** Dates that had no titles: see `planChanges`. */
  readonly fresh: readonly CivilDate[];
  readonly lastClosedDate: CivilDate;
  /** Whether rejects without a date belong to the pull. */
  readonly undatedRejects: boolean;
}

/** Writes the dates that are merged and marks those that are held; also used by a release. */
export async function mergeDates(
  tx: Prisma.TransactionClient,
  source: Pick<Attempt, 'pullId' | 'fence'>,
  days: readonly LockedDay[],
  reports: readonly DateReport[],
  options: MergeDatesOptions,
): Promise<void> {
  const changed = datesWith(reports, 'merged', 'released');
  if (changed.length > 0) {
    if (options.loaded === null) await applyChanges(tx, source, changed, options.fresh);
    await watchAccounts(tx, source, changed, options.loaded?.list() ?? null);
  }
  const unchanged = datesWith(reports, 'unchanged');
  await refreshTotals(tx, [...changed, ...(await datesWithoutDigest(tx, unchanged))]);

  const settled = datesWith(reports, 'merged', 'released', 'unchanged');
  const mayHaveRejects =
    options.undatedRejects || [...days, ...reports].some((date) => date.rejected > 0);
  if (mayHaveRejects) await mergeRejects(tx, source, settled, { undated: options.undatedRejects });
  const openRejects = mayHaveRejects ? await countOpenRejects(tx, settled) : new Map();
  const states = settled.map((date) => ({
    date,
    state: stateAfterMerge({
      isClosed: date <= options.lastClosedDate,
      openRejects: openRejects.get(date) ?? 0,
    }),
  }));
  await setMergedDays(tx, source.pullId, states);
  for (const date of datesWith(reports, 'held')) {
    await setHeldDay(tx, { date, pullId: source.pullId });
  }
  await recordDates(tx, source.pullId, reports);
  await supersedeHolds(tx, source.pullId, days, [...settled, ...datesWith(reports, 'held')]);
  if (settled.length > 0) await advanceCheckpoint(tx, source.pullId);
}

async function datesWithoutDigest(
  tx: Prisma.TransactionClient,
  dates: readonly CivilDate[],
): Promise<CivilDate[]> {
  if (dates.length === 0) return [];
  const rows = await tx.$queryRaw<{ date: CivilDate }[]>`
    SELECT date::text AS date FROM conciliation.day
    WHERE date = ANY(${dates}::date[]) AND content_digest IS NULL`;
  return rows.map((row) => row.date);
}

async function countOpenRejects(
  tx: Prisma.TransactionClient,
  dates: readonly CivilDate[],
): Promise<Map<CivilDate, number>> {
  const rows = await tx.$queryRaw<{ date: CivilDate; open: number }[]>`
    SELECT date::text AS date, count(*)::int AS open FROM conciliation.rejected_title
    WHERE date = ANY(${dates}::date[]) AND status = 'open' GROUP BY date`;
  return new Map(rows.map((row) => [row.date, row.open]));
}

async function recordDrift(
  tx: Prisma.TransactionClient,
  pullId: bigint,
  drift: readonly DriftRecord[],
): Promise<void> {
  if (drift.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO conciliation.drift (path, kind, value, first_pull_id)
    SELECT path, kind, value, ${pullId}::bigint
    FROM jsonb_to_recordset(${JSON.stringify(drift)}::jsonb) AS seen (path text, kind text, value text)
    ORDER BY path, kind, value
    ON CONFLICT DO NOTHING`;
}
