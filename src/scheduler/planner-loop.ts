/**
 * scheduler/ decides when work is due. Once a minute it reads from the ledger which pulls and
 * sweeps are due, creates the missing ones, and wakes a worker for each one without a job. Then it
 * checks whether providers wait to be pushed, and wakes a worker for them. It keeps no state: after
 * the loss of a slot, a job or a process, the next tick finds the work again.
 */

import { requireSameClock } from '../database/clock.ts';
import type { Database } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { type PlanPolicy, type PlanSlots, pullUrgency } from '../domain/plan/pull-plan.ts';
import { readPushDelayMs } from '../providers/providers.sql.ts';
import { decideRuns } from '../pull/decide-runs.sql.ts';
import type { MergePolicy } from '../pull/merge/merge.sql.ts';
import { describeError, type Logger } from '../runtime/logger.ts';
import { latestSlot } from './cron-slot.ts';
import {
  planPulls,
  readWakeablePulls,
  readWakeableSweeps,
  WAKE_GRACE,
  type WakeGrace,
} from './plan-ledger.sql.ts';

export interface PlannerConfig extends PlanPolicy {
  /** `cronFault` accepts both. They are evaluated on the wall clock of `timeZone`. */
  readonly pullCron: string;
  readonly sweepCron: string;
  /** Null: yesterday, if the ledger is still empty. */
  readonly startDate: CivilDate | null;
  /** Most open pulls of all backfills together; fewer than the workers, so that one worker stays free. */
  readonly maxOpenBackfillPulls: number;
}

/** The planner's view of a queue of pulls or of sweeps. */
export interface WakeUpQueue {
  enqueue(id: bigint): Promise<void>;
  /** Returns those of `ids` that have a waiting or active job. */
  jobsOf(ids: readonly bigint[]): Promise<ReadonlySet<bigint>>;
}

/** The planner's view of the queue of pushes, which has at most one job. */
interface PushWakeUpQueue {
  enqueue(subject: 'providers', delayMs: number): Promise<void>;
}

export interface PlannerParts {
  readonly database: Database;
  readonly queue: WakeUpQueue;
  /** Absent: this process plans no sweeps. */
  readonly sweepQueue?: WakeUpQueue;
  /** Absent: this process plans no pushes. */
  readonly pushQueue?: PushWakeUpQueue;
  readonly config: PlannerConfig;
  /** The limits of a run; absent: this process decides about no run. */
  readonly limits?: MergePolicy;
  readonly logger: Logger;
  /** Replaced in tests. */
  readonly now?: () => Date;
  readonly grace?: WakeGrace;
  /** See `Planner.isFailing`, in milliseconds; replaced in tests. */
  readonly failingMs?: number;
}

export type PlannerRun =
  | { readonly kind: 'done'; readonly created: number; readonly enqueued: number }
  | { readonly kind: 'failed'; readonly error: unknown };

export interface Planner {
  /**
   * Plans once, unless this process's clock differs from the database's. Never rejects: a failure is logged
   * once until planning works again, and the next run retries. A call during a run waits for that run.
   */
  runOnce(): Promise<PlannerRun>;
  /** Whether every run of the last five minutes has failed, such as with a queue that does not answer. */
  isFailing(): boolean;
}

const FAILING_MS = 5 * 60_000;

export function createPlanner(parts: PlannerParts): Planner {
  const { logger, failingMs = FAILING_MS } = parts;
  let underWay: Promise<PlannerRun> | undefined;
  let failingSinceMs: number | null = null;

  async function runAndTell(): Promise<PlannerRun> {
    try {
      const done = await run(parts);
      if (failingSinceMs !== null) logger.info('planning works again');
      failingSinceMs = null;
      return done;
    } catch (error) {
      // An outage lasts for many ticks. Only the first failure is logged as an error.
      const level = failingSinceMs === null ? 'error' : 'debug';
      logger[level]({ err: describeError(error) }, 'planning failed; every tick tries again');
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
  };
}

async function run(parts: PlannerParts): Promise<PlannerRun> {
  await requireSameClock(parts.database);
  // Before a backfill is done, so that its command sees the decision; after the plan, which completes a run of the
  // schedule.
  await decide(parts, 'backfill');
  const created = await plan(parts);
  await decide(parts, 'schedule');
  const enqueued = (await wakeWorkers(parts)) + (await wakeSweepers(parts));
  if (created > 0 || enqueued > 0) parts.logger.info({ created, enqueued }, 'pulls planned');
  // Last, so that a failure with providers cannot keep a pull from being planned.
  await wakePusher(parts);
  return { kind: 'done', created, enqueued };
}

/** A failure must not keep pulls from being planned. */
async function decide(
  { database, limits, logger }: PlannerParts,
  kind: 'schedule' | 'backfill',
): Promise<void> {
  if (limits === undefined) return;
  try {
    const merged = await decideRuns(database, limits, kind);
    if (merged > 0) logger.info({ merged }, 'held pulls merged at the end of their run');
  } catch (error) {
    logger.error({ err: describeError(error) }, 'the end of a run failed; every tick tries again');
  }
}

function plan({ database, config, now }: PlannerParts): Promise<number> {
  const at = now?.() ?? new Date();
  return planPulls(database, {
    slots: slotsAt(config, at),
    policy: config,
    startDate: config.startDate,
    now: at,
    maxOpenBackfillPulls: config.maxOpenBackfillPulls,
  });
}

function slotsAt({ pullCron, sweepCron, timeZone }: PlannerConfig, at: Date): PlanSlots {
  return {
    pullAt: latestSlot(pullCron, timeZone, at),
    sweepAt: latestSlot(sweepCron, timeZone, at),
  };
}

async function wakeWorkers(parts: PlannerParts): Promise<number> {
  const { database, queue, config, logger } = parts;
  const pulls = await readWakeablePulls(database, parts.grace ?? WAKE_GRACE);
  if (pulls.length === 0) return 0;
  // A job that ends between the two reads is enqueued again, and finds its pull ended.
  const withJob = await queue.jobsOf(pulls.map((pull) => pull.id));
  const urgency = new Map(pulls.map((pull) => [pull.id, pullUrgency(pull, config.timeZone)]));
  const waiting = pulls
    .filter((pull) => !withJob.has(pull.id))
    .sort((a, b) => (urgency.get(a.id) ?? 0) - (urgency.get(b.id) ?? 0));
  for (const pull of waiting) {
    if (pull.state === 'running') {
      logger.warn({ pullId: String(pull.id) }, 'a running pull has no job; it is taken over');
    }
    await queue.enqueue(pull.id);
  }
  return waiting.length;
}

async function wakeSweepers({
  database,
  sweepQueue,
  logger,
  grace = WAKE_GRACE,
}: PlannerParts): Promise<number> {
  if (sweepQueue === undefined) return 0;
  const sweeps = await readWakeableSweeps(database, grace);
  if (sweeps.length === 0) return 0;
  const withJob = await sweepQueue.jobsOf(sweeps.map((sweep) => sweep.id));
  const waiting = sweeps.filter((sweep) => !withJob.has(sweep.id));
  for (const { id, state } of waiting) {
    if (state === 'running') {
      logger.warn({ sweepId: String(id) }, 'a running sweep has no job; it is taken over');
    }
    await sweepQueue.enqueue(id);
  }
  return waiting.length;
}

/** The time until the next tick. Work that comes due before then is enqueued now, with a delay. */
const LOOK_AHEAD_MS = 60_000;

async function wakePusher({ database, pushQueue }: PlannerParts): Promise<void> {
  if (pushQueue === undefined) return;
  const delayMs = await readPushDelayMs(database);
  if (delayMs !== null && delayMs <= LOOK_AHEAD_MS) await pushQueue.enqueue('providers', delayMs);
}
