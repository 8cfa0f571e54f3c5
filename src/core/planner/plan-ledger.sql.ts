import type { Database, Transaction } from '../../base/database/database.ts';
import { takeLock } from '../../base/database/program-lock.sql.ts';
import { type CivilDate, lastClosedDate } from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { ensureCheckpoint } from '../ledger/day-ledger.sql.ts';
import type { PullState } from '../ledger/pull-ledger.sql.ts';
import { replaceLostHolds } from '../merge/decisions.sql.ts';
import type { EngineParts } from '../merge/engine-hooks.ts';
import {
  type DuePull,
  type PlanLedger,
  type PlanPolicy,
  type PullOrigin,
  planDue,
  replanAfterMinutes,
  SPENT_ERROR_CODES,
} from './pull-plan.ts';

/** What the schedule of pulls makes due. */
export interface ScheduleRequest {
  readonly slotAt: Date;
  readonly policy: PlanPolicy;
  /** The configured first date; null: yesterday, if the ledger is still empty. */
  readonly startDate: CivilDate | null;
  readonly now: Date;
}

/**
 * Creates every pull that is due by the schedule and by the features, and replaces held pulls that a crash has emptied.
 * Any number of planners may call this function at the same time and repeatedly.
 *
 * @param schedule null: only backfills are planned
 * @param maxOpenBackfillPulls most open pulls of all backfills together
 * @returns the number of created pulls
 */
export function planPulls(
  { database, features }: EngineParts,
  schedule: ScheduleRequest | null,
  maxOpenBackfillPulls: number,
): Promise<number> {
  return database.prisma.$transaction(async (tx) => {
    // The unique index on origin, date and slot alone would prevent duplicates. The lock also protects the
    // limits for open pulls.
    await takeLock(tx, 'planner');
    let created = 0;
    if (schedule !== null) {
      created += await replaceLostHolds(tx);
      const ledger = await readPlanLedger(tx, schedule);
      created += await createDuePulls(tx, planDue(schedule.slotAt, ledger, schedule.policy));
    }
    // Last: a pull that was just planned for a date also serves a sweep.
    const plan = { isScheduled: schedule !== null, maxOpenBackfillPulls };
    for (const { engine } of features) created += (await engine?.inPlanning?.(tx, plan)) ?? 0;
    return created;
  });
}

async function readPlanLedger(
  tx: Transaction,
  { slotAt, policy, startDate, now }: ScheduleRequest,
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
  const isRequested = Prisma.sql`origin = 'manual'`;
  const ago = (ms: number) =>
    Prisma.sql`clock_timestamp() - make_interval(secs => ${ms / 1000}::float8)`;
  return database.prisma.$queryRaw<WakeablePull[]>`
    SELECT id, origin, date::text AS "from", slot_at AS "slotAt", state
    FROM conciliation.pull
    WHERE (state = 'queued' AND coalesce(next_attempt_at, created_at) <=
             CASE WHEN ${isRequested} THEN ${ago(grace.requestedQueuedMs)} ELSE clock_timestamp() END)
       OR (state = 'running' AND fetch_started_at <=
             CASE WHEN ${isRequested} THEN ${ago(grace.requestedRunningMs)} ELSE ${ago(grace.runningMs)} END)
    ORDER BY id`;
}
