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
} from '../domain/pull-plan.ts';
import type { PullState } from '../domain/pull-state.ts';
import { replanAfterMinutes, SPENT_ERROR_CODES } from '../domain/retry.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { ensureCheckpoint } from '../ledger/day-ledger.sql.ts';
import { planSweeps } from '../sweep/plan-sweeps.sql.ts';

export interface PlanRequest {
  /** Null: backfills only, the schedules are somebody else's. */
  readonly slots: PlanSlots | null;
  readonly policy: PlanPolicy;
  /** The configured first date; null: yesterday, if the ledger has not begun yet. */
  readonly startDate: CivilDate | null;
  readonly now: Date;
  /** Most open pulls of all backfills together. */
  readonly maxOpenBackfillPulls: number;
}

/**
 * Creates every pull and sweep that is due by the schedules, by the newest sweep and by the backfills, and
 * cancels what waits of cancelled backfills. Any number of planners may do this at once, and any number of
 * times.
 *
 * @returns how many pulls and sweeps were created
 */
export function planPulls(database: Database, request: PlanRequest): Promise<number> {
  return database.prisma.$transaction(async (tx) => {
    // The unique index on origin, date and slot keeps two planners apart, the lock also keeps the bounds on
    // open pulls.
    await takeLock(tx, 'planner');
    const created = await planScheduled(tx, request);
    return created + (await planBackfills(tx, request.maxOpenBackfillPulls));
  });
}

async function planScheduled(tx: Transaction, { slots, ...request }: PlanRequest): Promise<number> {
  if (slots === null) return 0;
  const ledger = await readPlanLedger(tx, slots.pullAt, request);
  const pulls = await createDuePulls(tx, planDue(slots.pullAt, ledger, request.policy));
  // Afterwards: a pull that was just planned for a date serves the sweep, too.
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

/** A pull whose time has come, as the planner needs to know it. */
export interface WakeablePull {
  readonly id: bigint;
  readonly origin: PullOrigin;
  readonly from: CivilDate;
  readonly slotAt: Date | null;
  readonly state: Extract<PullState, 'queued' | 'running'>;
}

/**
 * How long nothing may have happened to a pull before one without a job is taken for abandoned. What
 * a person asked for may be under way in that person's terminal, which needs no job.
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
 * The pulls that ought to have a job, in the order of their creation: those that are queued and due,
 * and those that run. A running pull whose worker lives has a job, which is what the caller has to
 * find out; without one its worker died and the job with it. Should a worker be alive after all, it
 * costs a request: the fence lets one of the two merge.
 *
 * By the database's clock, which also wrote the instants that are compared.
 */
export function readWakeablePulls(
  database: Database,
  grace: WakeGrace = WAKE_GRACE,
): Promise<WakeablePull[]> {
  const isRequested = Prisma.sql`(slot_at IS NULL AND backfill_id IS NULL)`;
  return database.prisma.$queryRaw<WakeablePull[]>`
    SELECT id, origin, date::text AS "from", slot_at AS "slotAt", state
    FROM conciliation.pull WHERE ${isWakeable(isRequested, grace)} ORDER BY id`;
}

/** As `readWakeablePulls`, the sweeps. */
export function readWakeableSweeps(
  database: Database,
  grace: WakeGrace = WAKE_GRACE,
): Promise<Pick<WakeablePull, 'id' | 'state'>[]> {
  const isRequested = Prisma.sql`(slot_at IS NULL)`;
  return database.prisma.$queryRaw<Pick<WakeablePull, 'id' | 'state'>[]>`
    SELECT id, state FROM conciliation.sweep WHERE ${isWakeable(isRequested, grace)} ORDER BY id`;
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
