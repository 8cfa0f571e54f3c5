/**
 * The worker role of the service: it takes jobs from the queues and acts on their outcomes. The
 * attempts themselves write the tables.
 */
import type { Config } from '../config/config.ts';
import type { Metrics } from '../console/watch/metrics.ts';
import type { Database } from '../database/database.ts';
import { readPushDelayMs } from '../providers/providers.sql.ts';
import { type PushParts, pushOnce } from '../providers/push-providers.ts';
import type { ObservedAttempt, PullParts } from '../pull/pull-parts.ts';
import { runPull } from '../pull/run-pull.ts';
import type { Logger } from '../runtime/logger.ts';
import { loop } from '../runtime/loop.ts';
import type { Planner } from '../scheduler/planner-loop.ts';
import { runSweep, type SweepParts } from '../sweep/run-sweep.ts';
import { createAttemptHandler } from '../work/attempt-handler.ts';
import type { AuthGate } from '../work/auth-gate.ts';
import type { PushSubject } from '../work/job-kind.ts';
import type { OpenJobQueue } from '../work/job-queue.ts';
import { type JobWorker, startJobWorker } from '../work/job-worker.ts';
import { createPushHandler } from '../work/push-handler.ts';

export interface WorkerParts {
  readonly config: Config;
  readonly logger: Logger;
  readonly database: Database;
  readonly queue: OpenJobQueue<bigint>;
  readonly sweepQueue: OpenJobQueue<bigint>;
  readonly pushQueue: OpenJobQueue<PushSubject>;
  readonly planner: Planner;
  readonly gate: AuthGate;
  readonly metrics: Metrics;
  readonly pulls: PullParts;
}

/** Times that are too long for tests. */
export interface WorkerOverrides {
  readonly worker?: { readonly lockMs: number };
  readonly handler?: { readonly stagingRetryMs: number };
}

/** The actor that the audit log records for pushes. */
const ACTOR = 'service';

/** More workers than concurrent requests would only wait. */
export function workerConcurrency(config: Config): number {
  return config.platform?.concurrency ?? 1;
}

/**
 * Starts a worker for each queue.
 * @returns a function that closes all workers at the same time, see `JobWorker.close`
 * @throws StagingUnavailableError when the queue is no longer available
 */
export async function startWorkers(
  parts: WorkerParts,
  overrides: WorkerOverrides,
): Promise<JobWorker> {
  const started: JobWorker[] = [];
  const close = async (graceMs: number) => {
    await Promise.all(started.map((worker) => worker.close(graceMs)));
  };
  try {
    started.push(await startPullWorker(parts, overrides));
    started.push(await startSweepWorker(parts, overrides));
    started.push(await startPushWorker(parts, overrides));
    return { close };
  } catch (error) {
    await close(0);
    throw error;
  }
}

async function startPullWorker(parts: WorkerParts, overrides: WorkerOverrides): Promise<JobWorker> {
  const { logger, queue, gate, metrics } = parts;
  // Plans after each ended pull. Otherwise a backfill would wait up to a minute for its next date.
  const planning = loop({ run: () => parts.planner.runOnce() });
  const pulls: PullParts = {
    ...parts.pulls,
    onOutcome: (observed) => {
      observePull(metrics, observed);
      if (observed.attempt.origin === 'backfill') planning.notify();
    },
  };
  const handle = createAttemptHandler({
    subject: 'pull',
    attempt: (pullId, signal) => runPull(pulls, pullId, signal),
    gate,
    logger,
    ...overrides.handler,
  });
  const worker = await startJobWorker({
    queue,
    // A stop aborts requests immediately. A merge does not listen to the signal and may use the grace period.
    handle: (pullId, _signal, stopping) => handle(pullId, stopping, stopping),
    logger,
    concurrency: workerConcurrency(parts.config),
    ...overrides.worker,
  });
  return {
    async close(graceMs) {
      await worker.close(graceMs);
      await planning.stop();
    },
  };
}

/** One sweep at a time. A stop aborts a sweep immediately: a sweep that starts again loses nothing. */
function startSweepWorker(parts: WorkerParts, overrides: WorkerOverrides): Promise<JobWorker> {
  const { logger, gate, metrics } = parts;
  const sweeps: SweepParts = {
    ...parts.pulls,
    onSweepOutcome: ({ outcome, httpStatus }) => {
      metrics.observeSweep(outcome.kind);
      metrics.observePlatformResponse(httpStatus);
    },
  };
  const handle = createAttemptHandler({
    subject: 'sweep',
    attempt: (sweepId, signal) => runSweep(sweeps, sweepId, signal),
    gate,
    logger,
    ...overrides.handler,
  });
  return startJobWorker({
    queue: parts.sweepQueue,
    handle: (sweepId, _signal, stopping) => handle(sweepId, stopping, stopping),
    logger,
    concurrency: 1,
    ...overrides.worker,
  });
}

/**
 * A request under way may finish within the grace period, because the platform might apply an
 * aborted request nevertheless.
 */
function startPushWorker(parts: WorkerParts, overrides: WorkerOverrides): Promise<JobWorker> {
  const { logger, database, gate, metrics } = parts;
  const push: PushParts = {
    database,
    logger,
    platform: parts.pulls.platform,
    retry: parts.pulls.retry,
    actor: ACTOR,
    onRequest: ({ outcome, httpStatus }) => {
      metrics.observeBatch(outcome);
      metrics.observePlatformResponse(httpStatus);
    },
  };
  return startJobWorker({
    queue: parts.pushQueue,
    handle: createPushHandler({
      readDelayMs: () => readPushDelayMs(database),
      pushOnce: (signal, stopping) => pushOnce(push, signal, stopping),
      gate,
      logger,
      ...overrides.handler,
    }),
    logger,
    concurrency: 1,
    ...overrides.worker,
  });
}

function observePull(
  metrics: Metrics,
  { attempt, outcome, durationMs, httpStatus }: ObservedAttempt,
): void {
  metrics.observePlatformResponse(httpStatus);
  if (outcome.kind !== 'done') {
    metrics.observePull(attempt.origin, outcome.kind, durationMs, null);
    return;
  }
  const { report } = outcome;
  const isMerged = report.state === 'merged' || report.state === 'unchanged';
  const count = (titles: number) => (isMerged ? titles : 0);
  metrics.observePull(attempt.origin, report.state, durationMs, {
    inserted: count(report.inserted),
    changed: count(report.changed),
    withdrawn: count(report.withdrawn),
    restored: count(report.restored),
    unchanged: count(report.unchanged),
    rejected: report.rejected,
  });
}
