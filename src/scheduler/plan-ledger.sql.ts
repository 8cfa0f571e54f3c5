import { planBackfills } from '../backfills/backfill-plans.sql.ts';
import type { Database, Transaction } from '../database/database.ts';
import { takeLock } from '../database/program-lock.sql.ts';
import { type CivilDate, lastClosedDate } from '../domain/business-day.ts';
import {
  type DuePull,
  type PlanLedger,
  type PlanPolicy,
  type PlanSlots,
  type PullOrigin,
  planDue,
} from '../domain/plan/pull-plan.ts';
import { replanAfterMinutes, SPENT_ERROR_CODES } from '../domain/plan/retry.ts';
import type { PullState } from '../domain/pull-state.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { ensureCheckpoint } from '../ledger/day-ledger.sql.ts';
import { replaceLostHolds } from '../pull/held-pull.sql.ts';
import { planSweeps } from '../sweep/plan-sweeps.sql.ts';

export interface PlanRequest {
  readonly slots: PlanSlots;
  readonly policy: PlanPolicy;
  /** The configured first date; null: yesterday, if the ledger is still empty. */
  readonly startDate: CivilDate | null;
  readonly now: Date;
  /** Most open pulls of all backfills together. */
  readonly maxOpenBackfillPulls: number;
}

/**
 * Creates every pull and sweep that is due by the schedules, by the newest sweep and by the backfills, replaces
 * held pulls that a crash has emptied, and cancels the waiting pulls of cancelled backfills. Any number of planners may
 * call this function at the same time and repeatedly.
 *
 * @returns the number of created pulls and sweeps
 */
export function planPulls(database: Database, request: PlanRequest): Promise<number> {
  return database.prisma.$transaction(async (tx) => {
    // The unique index on origin, date and slot alone would prevent duplicates. The lock also protects the
    // limits for open pulls.
    await takeLock(tx, 'planner');
    const created = (await replaceLostHolds(tx)) + (await planScheduled(tx, request));
    return created + (await planBackfills(tx, request.maxOpenBackfillPulls));
  });
}

async function planScheduled(tx: Transaction, { slots, ...request }: PlanRequest): Promise<number> {
  const ledger = await readPlanLedger(tx, slots.pullAt, request);
  const pulls = await createDuePulls(tx, planDue(slots.pullAt, ledger, request.policy));
  // Comes last: a pull that was just planned for a date also serves the sweep.
  return pulls + (await planSweeps(tx, slots.sweepAt, request));
}

async function readPlanLedger(
  tx: Transaction,
  slotAt: Date,
  { policy, startDate, now }: Omit<PlanRequest, 'slots'>,
): Promise<PlanLedger> {
  const firstDate = await ensureCheckpoint(tx, startDate ?? lastClosedDate(policy.timeZone, now));
  const { lastReconciledDate } = await tx.checkpoint.findFirstOrThrow({
    select: { lastReconciledDate: true },
  });
  const reconciled = await tx.$queryRaw<{ date: CivilDate }[]>`
    SELECT date::text AS date FROM conciliation.day
    WHERE state = 'reconciled' AND date > coalesce(${lastReconciledDate}::date, '-infinity')`;
  const isSpent = Prisma.sql`(state = 'failed' AND error_code = ANY(${[...SPENT_ERROR_CODES]}))`;
  const covered = await tx.$queryRaw<{ date: CivilDate }[]>`
    SELECT DISTINCT date::text AS date FROM conciliation.pull
    WHERE (slot_at = ${slotAt}::timestamptz AND NOT coalesce(${isSpent}, false))
       OR state IN ('queued', 'running')
       OR (state IN ('merged', 'unchanged', 'held', 'superseded')
           AND fetch_started_at >= ${slotAt}::timestamptz)`;
  const failed = await tx.$queryRaw<{ date: CivilDate; pulls: number; minutesAgo: number }[]>`
    SELECT date::text AS date, count(*)::int AS pulls,
           extract(epoch FROM clock_timestamp() - max(finished_at))::float8 / 60 AS "minutesAgo"
    FROM conciliation.pull WHERE slot_at = ${slotAt}::timestamptz AND ${isSpent}
    GROUP BY date`;
  const waiting = failed.filter(({ pulls, minutesAgo }) => minutesAgo < replanAfterMinutes(pulls));
  const openPulls = await tx.pull.count({
    where: { slotAt: { not: null }, state: { in: ['queued', 'running'] } },
  });
  return {
    startDate: firstDate,
    lastReconciledDate,
    reconciledDates: new Set(reconciled.map((row) => row.date)),
    coveredDates: new Set([...covered, ...waiting].map((row) => row.date)),
    failedPulls: new Map(failed.map(({ date, pulls }) => [date, pulls])),
    openPulls,
  };
}

async function createDuePulls(tx: Transaction, pulls: readonly DuePull[]): Promise<number> {
  const created = await tx.pull.createMany({
    data: pulls.map((pull) => ({ ...pull, requestedBy: 'scheduler' })),
    skipDuplicates: true,
  });
  return created.count;
}

/** The planner's view of a due pull. */
export interface WakeablePull {
  readonly id: bigint;
  readonly origin: PullOrigin;
  readonly from: CivilDate;
  readonly slotAt: Date | null;
  readonly state: Extract<PullState, 'queued' | 'running'>;
}

/**
 * How long a pull without a job must be unchanged before it counts as abandoned. The terminal that
 * requested a pull may run it without a job.
 */
export interface WakeGrace {
  readonly runningMs: number;
  readonly requestedQueuedMs: number;
  readonly requestedRunningMs: number;
}

export const WAKE_GRACE: WakeGrace = {
  runningMs: 2 * 60_000,
  requestedQueuedMs: 2 * 60_000,
  requestedRunningMs: 15 * 60_000,
};

/**
 * Returns the pulls that should have a job, in the order of their creation: queued and due ones,
 * and running ones. A running pull with a live worker has a job, which the caller checks; without a
 * job its worker has died. If the worker is alive after all, the cost is one request: the fence
 * lets one of the two merge. Uses the database's clock, which also wrote the compared instants.
 */
export function readWakeablePulls(
  database: Database,
  grace: WakeGrace = WAKE_GRACE,
): Promise<WakeablePull[]> {
  const isRequested = Prisma.sql`(slot_at IS NULL AND backfill_id IS NULL AND origin <> 'repair')`;
  return database.prisma.$queryRaw<WakeablePull[]>`
    SELECT id, origin, date::text AS "from", slot_at AS "slotAt", state
    FROM conciliation.pull WHERE ${isWakeable(isRequested, grace)} ORDER BY id`;
}

/** Like `readWakeablePulls`, for sweeps. */
export function readWakeableSweeps(
  database: Database,
  grace: WakeGrace = WAKE_GRACE,
): Promise<Pick<WakeablePull, 'id' | 'state'>[]> {
  return database.prisma.$queryRaw<Pick<WakeablePull, 'id' | 'state'>[]>`
    SELECT id, state FROM conciliation.sweep WHERE ${isWakeable(Prisma.sql`false`, grace)} ORDER BY id`;
}

function isWakeable(isRequested: Prisma.Sql, grace: WakeGrace): Prisma.Sql {
  const ago = (ms: number) =>
    Prisma.sql`clock_timestamp() - make_interval(secs => ${ms / 1000}::float8)`;
  return Prisma.sql`(
    (state = 'queued' AND coalesce(next_attempt_at, created_at) <=
       CASE WHEN ${isRequested} THEN ${ago(grace.requestedQueuedMs)} ELSE clock_timestamp() END)
    OR (state = 'running' AND fetch_started_at <=
       CASE WHEN ${isRequested} THEN ${ago(grace.requestedRunningMs)} ELSE ${ago(grace.runningMs)} END))`;
}
