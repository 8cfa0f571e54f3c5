/**
 * Decides when work is due. Once a minute it reads from the ledger which pulls are
 * due, creates the missing ones, and wakes a worker for each one without a job. Then it checks
 * whether a sweep is due or providers wait to be pushed, and wakes a worker for them. It keeps no state: after
 * the loss of a slot, a job or a process, the next tick finds the work again.
 */

import { schedule } from 'node-cron';
import { latestSlot } from '../../base/config/cron-schedule.ts';
import { type Database, requireSameClock, type Transaction } from '../../base/database/database.ts';
import { takeLock } from '../../base/database/program-lock.sql.ts';
import type { Logger } from '../../base/runtime/logger.ts';
import { type Loop, loop } from '../../base/runtime/timing.ts';
import { type CivilDate, lastClosedDate } from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { ensureCheckpoint, readCheckpoint } from '../ledger/pull-requests.sql.ts';
import type { PullState } from '../ledger/states.ts';
import { decideRuns } from '../merge/decide-runs.sql.ts';
import { replaceLostHolds } from '../merge/decisions.sql.ts';
import type { EngineParts } from '../merge/engine-hooks.ts';
import type { MergePolicy } from '../merge/holds.sql.ts';
import { type JobKind, ONLY_JOB } from '../work/job-queue.ts';

export interface PlannerConfig {
  readonly timeZone: string;
  /** Days before yesterday that are pulled again at every slot. */
  readonly lookbackDays: number;
  /** `cronFault` accepts it. It is evaluated on the wall clock of `timeZone`. */
  readonly pullCron: string;
  /** Null: yesterday, if the ledger is still empty. */
  readonly startDate: CivilDate | null;
  /** Most open pulls of all backfills together; fewer than the workers, so that one worker stays free. */
  readonly maxOpenBackfillPulls: number;
}

/** The planner's view of a queue. */
export interface WakeUpQueue {
  enqueue(id: bigint, delayMs?: number): Promise<void>;
  /** Returns those of `ids` that have a waiting, delayed or active job. */
  jobsOf(ids: readonly bigint[]): Promise<ReadonlySet<bigint>>;
}

/** Work of which there is one job at most. */
export interface OnlyJob {
  readonly kind: Exclude<JobKind, 'pull'>;
  /** Milliseconds until the work is due; null: there is none. */
  readonly readDelayMs: (now: Date) => Promise<number | null>;
}

export interface PlannerParts extends EngineParts {
  readonly onlyJobs: readonly OnlyJob[];
  readonly queues: Readonly<Record<JobKind, WakeUpQueue>>;
  readonly config: PlannerConfig;
  /** Whether this process plans backfills and nothing else. */
  readonly onlyBackfills?: boolean;
  /** The limits of a run; absent: this process decides about no run. */
  readonly limits?: MergePolicy;
  readonly logger: Logger;
  /** Replaced in tests. */
  readonly now?: () => Date;
  readonly grace?: WakeGrace;
  /** See `Planner.isFailing`, in milliseconds; replaced in tests. */
  readonly failingMs?: number;
}

type PlannerRun =
  | { readonly kind: 'done'; readonly created: number; readonly enqueued: number }
  | { readonly kind: 'failed'; readonly error: unknown };

export interface Planner {
  /**
   * Plans once, unless this process's clock differs from the database's. Never rejects: a failure is logged
   * once until planning works again, and the next run retries. A call during a run waits for that run.
   */
  runOnce(): Promise<PlannerRun>;
  /** Whether every run of the last three minutes has failed, such as with a queue that does not answer. */
  isFailing(): boolean;
  /** When a run last ended without a failure; null: not yet. For the readiness check of the service. */
  lastDoneAt(): Date | null;
}

/** Between two runs, in milliseconds. Later than a slot by less than a minute, because the ledger finds each slot. */
const TICK_MS = 60_000;

const FAILING_MS = 3 * 60_000;

export function createPlanner(parts: PlannerParts): Planner {
  const { logger, failingMs = FAILING_MS } = parts;
  let underWay: Promise<PlannerRun> | undefined;
  let failingSinceMs: number | null = null;
  let lastDoneAt: Date | null = null;

  async function runAndTell(): Promise<PlannerRun> {
    try {
      const done = await run(parts);
      if (failingSinceMs !== null) logger.info('planning works again');
      failingSinceMs = null;
      lastDoneAt = new Date();
      return done;
    } catch (error) {
      // An outage lasts for many ticks. Only the first failure is logged as an error.
      const level = failingSinceMs === null ? 'error' : 'debug';
      logger[level]({ err: error }, 'planning failed; every tick tries again');
      failingSinceMs ??= performance.now();
      return { kind: 'failed', error };
    }
  }
  return {
    runOnce() {
      underWay ??= runAndTell().finally(() => {
        underWay = undefined;
      });
      return underWay;
    },
    isFailing: () => failingSinceMs !== null && performance.now() - failingSinceMs >= failingMs,
    lastDoneAt: () => lastDoneAt,
  };
}

async function run(parts: PlannerParts): Promise<PlannerRun> {
  const { database, config, logger } = parts;
  await requireSameClock(database);
  const now = parts.now?.() ?? new Date();
  // Before a backfill is done, so that its command sees the decision; after the plan, which completes a run of the
  // schedule.
  await decide(parts, 'backfill');
  const isPaused = Boolean((await readCheckpoint(database))?.pause);
  const schedule =
    parts.onlyBackfills === true || isPaused
      ? null
      : {
          slotAt: latestSlot(config.pullCron, config.timeZone, now),
          policy: config,
          now,
        };
  const created = await planPulls(parts, schedule, config.maxOpenBackfillPulls);
  if (schedule !== null) await decide(parts, 'schedule');
  const enqueued = await wakePullers(parts);
  if (created > 0 || enqueued > 0) logger.info({ created, enqueued }, 'pulls planned');
  if (schedule !== null) await wakeOthers(parts, now);
  return { kind: 'done', created, enqueued };
}

/** A failure must not keep pulls from being planned. */
async function decide(
  { database, features, limits, logger }: PlannerParts,
  kind: 'schedule' | 'backfill',
): Promise<void> {
  if (limits === undefined) return;
  try {
    const merged = await decideRuns({ database, features, ...limits }, kind);
    if (merged > 0) logger.info({ merged }, 'held pulls merged at the end of their run');
  } catch (error) {
    logger.error({ err: error }, 'the end of a run failed; every tick tries again');
  }
}

async function wakePullers(parts: PlannerParts): Promise<number> {
  const { database, queues, logger } = parts;
  const pulls = await readWakeablePulls(database, parts.grace ?? WAKE_GRACE);
  if (pulls.length === 0) return 0;
  // A job that ends between the two reads is enqueued again, and finds its pull ended.
  const withJob = await queues.pull.jobsOf(pulls.map((pull) => pull.id));
  const waiting = pulls.filter((pull) => !withJob.has(pull.id));
  for (const { id, state } of waiting) {
    if (state === 'running') {
      logger.warn({ pullId: String(id) }, 'a running pull has no job; it is taken over');
    }
    await queues.pull.enqueue(id);
  }
  return waiting.length;
}

/**
 * Work that comes due before the next run is enqueued now, with a delay. Comes last, so that a failure with sweeps or
 * providers cannot keep a pull from being planned.
 */
async function wakeOthers({ queues, onlyJobs }: PlannerParts, now: Date): Promise<void> {
  for (const { kind, readDelayMs } of onlyJobs) {
    const delayMs = await readDelayMs(now);
    if (delayMs === null || delayMs > TICK_MS) continue;
    // A delay that the job of a sweep has is of a failure that could not be recorded.
    if (kind === 'sweep' && (await queues.sweep.jobsOf([ONLY_JOB])).size > 0) continue;
    await queues[kind].enqueue(ONLY_JOB, delayMs);
  }
}

const EVERY_MINUTE = '* * * * *';
/** In UTC every minute occurs exactly once. */
const TIME_ZONE = 'Etc/UTC';
/** node-cron runs a tick of a busy process up to this much late, in milliseconds. */
const LATE_MS = 50_000;
/** The planner also runs after this time without a tick: node-cron waits while the clock repeats an hour. */
const OVERDUE_MS = 70_000;

/**
 * Runs the planner at once and then every minute, until it is stopped. node-cron supplies only the minutes: for a
 * schedule it would drop late slots and slots within a change of the clocks. The ledger finds all of them.
 * @param overdueMs replaced in tests
 */
export function startTicker(
  planner: Pick<Planner, 'runOnce'>,
  overdueMs = OVERDUE_MS,
): Pick<Loop, 'stop'> {
  const ticks = loop({ everyMs: overdueMs, run: () => planner.runOnce() });
  const minutes = schedule(EVERY_MINUTE, ticks.notify, {
    timezone: TIME_ZONE,
    missedExecutionTolerance: LATE_MS,
    suppressMissedWarning: true,
  });
  return {
    async stop() {
      await minutes.destroy();
      await ticks.stop();
    },
  };
}

/** What the schedule of pulls makes due. */
export interface ScheduleRequest {
  readonly slotAt: Date;
  readonly policy: Pick<PlannerConfig, 'timeZone' | 'lookbackDays' | 'startDate'>;
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
      created += await createDuePulls(tx, schedule);
    }
    // Last: a pull that was just planned for a date also serves a sweep.
    const plan = { isScheduled: schedule !== null, maxOpenBackfillPulls };
    for (const { engine } of features) created += (await engine?.inPlanning?.(tx, plan)) ?? 0;
    return created;
  });
}

/**
 * A long backlog is worked off in portions of this size, so that new pulls do not wait behind
 * thousands of old ones.
 */
export const MAX_OPEN_PULLS = 100;

/** Codes of temporary failures. They become final when all attempts are spent. */
export const SPENT_ERROR_CODES = [
  'PLATFORM_UNAVAILABLE',
  'PLATFORM_RATE_LIMITED',
  'PLATFORM_CONTRACT',
  'STAGING_UNAVAILABLE',
  'DEFECT',
] as const;

/**
 * The minutes after which a date that is still due is planned again, by the number of its failed pulls. The last wait is
 * the longest. A person need not act after an outage of the platform.
 */
export const REPLAN_MINUTES = [5, 10, 20, 40, 60];

/**
 * Creates the pulls that the latest slot makes due, most urgent first: yesterday, the lookback from the newest date on,
 * then the dates that were never reconciled: those with the fewest failed pulls for the slot first, and of these the
 * oldest. Missed slots need no separate pulls, because their dates are reconciled or among these dates. Yesterday is
 * the day before the slot, not before now, so that a late slot means the same dates. No pull is due for a date that has
 * an open pull of any origin, was fetched since the slot, or has an ended pull of this slot. A pull that failed counts
 * only for a while.
 */
async function createDuePulls(
  tx: Transaction,
  { slotAt, policy, now }: ScheduleRequest,
): Promise<number> {
  const { timeZone, lookbackDays, startDate } = policy;
  await ensureCheckpoint(tx, startDate ?? lastClosedDate(timeZone, now));
  const slot = Prisma.sql`${slotAt}::timestamptz`;
  const yesterday = Prisma.sql`${lastClosedDate(timeZone, slotAt)}::date`;
  const isSpent = Prisma.sql`(state = 'failed' AND error_code = ANY(${[...SPENT_ERROR_CODES]}))`;
  return tx.$executeRaw`
    WITH spent AS (
      SELECT date, count(*)::int AS pulls, max(finished_at) AS last_at
      FROM conciliation.pull WHERE slot_at = ${slot} AND ${isSpent}
      GROUP BY date
    ), covered AS (
      SELECT date FROM conciliation.pull
      WHERE (slot_at = ${slot} AND NOT coalesce(${isSpent}, false))
         OR state IN ('queued', 'running')
         OR (state IN ('merged', 'unchanged', 'held', 'superseded') AND fetch_started_at >= ${slot})
      UNION ALL
      SELECT date FROM spent
      WHERE last_at > clock_timestamp()
              - interval '1 minute' * (${REPLAN_MINUTES}::int[])[least(pulls, ${REPLAN_MINUTES.length}::int)]
    ), candidate AS (
      SELECT day::date AS date, day < ${yesterday} - ${lookbackDays}::int AS is_missed
      FROM conciliation.checkpoint, generate_series(start_date, ${yesterday}, '1 day') AS day
    ), due AS (
      SELECT date, is_missed, coalesce(pulls, 0) AS round,
             row_number() OVER (
               ORDER BY is_missed, CASE WHEN is_missed THEN pulls END NULLS FIRST,
                        CASE WHEN is_missed THEN date - ${yesterday} ELSE ${yesterday} - date END
             ) AS place
      FROM conciliation.checkpoint, candidate LEFT JOIN spent USING (date)
      WHERE date NOT IN (SELECT date FROM covered)
        AND (NOT is_missed
             OR date > coalesce(last_reconciled_date, '-infinity')
                AND date NOT IN (SELECT date FROM conciliation.day WHERE state = 'reconciled'))
    )
    INSERT INTO conciliation.pull (origin, date, slot_at, round, requested_by)
    SELECT CASE WHEN is_missed OR date = ${yesterday} THEN 'daily' ELSE 'lookback' END,
           date, ${slot}, round, 'scheduler'
    FROM due
    WHERE NOT is_missed OR place <= ${MAX_OPEN_PULLS}::int - (
      SELECT count(*) FROM conciliation.pull WHERE slot_at IS NOT NULL AND state IN ('queued', 'running'))
    ORDER BY place
    ON CONFLICT (origin, date, slot_at, round) DO NOTHING`;
}

/** The planner's view of a due pull. */
interface WakeablePull {
  readonly id: bigint;
  readonly state: Extract<PullState, 'queued' | 'running'>;
}

/**
 * How long a pull without a job must be unchanged before it counts as abandoned. The terminal that
 * requested a pull may run it without a job.
 */
interface WakeGrace {
  readonly runningMs: number;
  readonly requestedQueuedMs: number;
  readonly requestedRunningMs: number;
}

const WAKE_GRACE: WakeGrace = {
  runningMs: 2 * 60_000,
  requestedQueuedMs: 2 * 60_000,
  requestedRunningMs: 15 * 60_000,
};

/**
 * Returns the pulls that should have a job, the most urgent first: queued and due ones,
 * and running ones. A running pull with a live worker has a job, which the caller checks; without a
 * job its worker has died. If the worker is alive after all, the cost is one request: the fence
 * lets one of the two merge. Uses the database's clock, which also wrote the compared instants.
 */
function readWakeablePulls(
  database: Database,
  grace: WakeGrace = WAKE_GRACE,
): Promise<WakeablePull[]> {
  const isRequested = Prisma.sql`origin = 'manual'`;
  const ago = (ms: number) =>
    Prisma.sql`clock_timestamp() - make_interval(secs => ${ms / 1000}::float8)`;
  return database.prisma.$queryRaw<WakeablePull[]>`
    SELECT id, state FROM conciliation.pull
    WHERE (state = 'queued' AND coalesce(next_attempt_at, created_at) <=
             CASE WHEN ${isRequested} THEN ${ago(grace.requestedQueuedMs)} ELSE clock_timestamp() END)
       OR (state = 'running' AND fetch_started_at <=
             CASE WHEN ${isRequested} THEN ${ago(grace.requestedRunningMs)} ELSE ${ago(grace.runningMs)} END)
    ORDER BY ${isRequested} DESC, slot_at DESC NULLS LAST, id`;
}
