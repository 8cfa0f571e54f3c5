/**
 * queue/ wakes workers. The tables hold the work: pulls in `conciliation.pull`, sweeps in
 * `conciliation.sweep`, rows to push in `conciliation.provider`. A job only says "look at pull 12 now". The
 * loss of a job costs a minute, because the planner enqueues due work without a job again. A job that runs
 * twice costs a request: the fence lets one of two pulls merge and one of two sweeps record its result, and a
 * lock lets one of two pushes begin. Pulls, sweeps and pushes each have their own queue and workers, so
 * that no kind waits for another. BullMQ keeps the jobs on Redis if REDIS_URL is set, otherwise in a schema of
 * its own in the staging database. Its retries are not used: one job is one attempt, and after a temporary
 * failure the same job is delayed until the next one.
 */
import { type Job, Queue } from 'bullmq';
import { StagingUnavailableError } from '../runtime/errors.ts';
import { reachFaultPoint } from '../runtime/fault-points.ts';
import type { Logger } from '../runtime/logger.ts';
import { within } from '../runtime/within.ts';
import {
  isRefusal,
  type JobKind,
  type JobPayload,
  PULL_JOBS,
  PUSH_JOBS,
  type PushSubject,
  SWEEP_JOBS,
} from './job-kind.ts';
import { openBackend } from './open-backend.ts';
import { type OutageWatch, watchOutages } from './outage-watch.ts';
import { type BackendOptions, cutConnections, type QueueBackend } from './queue-backend.ts';

interface JobQueue<Key> {
  /**
   * Makes a worker process `key` in `delayMs`, or now. A key has at most one job: a waiting job
   * stays unchanged, except that without `delayMs` its delay ends; an active job gets no successor.
   * @throws StagingUnavailableError when the queue is not available. No work is lost: the next tick
   * of the planner enqueues it.
   */
  enqueue(key: Key, delayMs?: number): Promise<void>;
  /**
   * Returns those of `keys` that have a waiting, delayed or active job.
   * @throws StagingUnavailableError when the queue is not available
   */
  jobsOf(keys: readonly Key[]): Promise<Set<Key>>;
  /** @throws StagingUnavailableError when the queue is not available */
  counts(): Promise<QueueCounts>;
  isReachable(): Promise<boolean>;
  /** Does not wait for a queue that is not available. May be called more than once. */
  close(): Promise<void>;
}

/** The additional parts for workers. */
export interface OpenJobQueue<Key> extends JobQueue<Key> {
  readonly kind: JobKind<Key>;
  readonly backend: QueueBackend;
  /** The watch of the server, shared by all queues on it. */
  readonly outages: OutageWatch;
  readonly bullQueue: Queue<JobPayload, void>;
}

export interface QueueCounts {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  /** Attempts that ended in a defect of the program within the last week. */
  readonly failed: number;
}

/** An outage must cause an error and not a waiting caller. */
const OPERATION_TIMEOUT_MS = 5_000;
/** A short limit for health checks, in milliseconds. */
const REACHABLE_TIMEOUT_MS = 2_000;
const OPENING_TIMEOUT_MS = 20_000;
const CLOSING_TIMEOUT_MS = 2_000;

/** Delay after a defect that cannot be recorded, so that the job is not retried every minute. */
const DEFECT_PAUSE_MS = 3_600_000;
const KEEP_FAILED = { age: 7 * 24 * 3600, count: 1000 };

/** BullMQ's event stream has no reader, so it is kept short. */
const EVENT_STREAM_LENGTH = 100;

/**
 * Opens the queue of pulls and the connection to its server.
 * @throws ConfigError when the server is not suitable: a Redis that is too old, a user without
 * the rights, a wrong password
 * @throws StagingUnavailableError when the server cannot be reached
 */
export async function openPullQueue(options: BackendOptions): Promise<OpenJobQueue<bigint>> {
  return openQueue(PULL_JOBS, await openBackend(options), options.logger);
}

/**
 * Opens the queue of pushes, on the server of the queue of pulls. To be closed before that queue.
 * @throws StagingUnavailableError when the server is no longer available
 */
export function openPushQueue(
  pulls: OpenJobQueue<bigint>,
  logger: Logger,
): Promise<OpenJobQueue<PushSubject>> {
  return openQueue(PUSH_JOBS, pulls.backend, logger, pulls.outages);
}

/** Opens the queue of sweeps, as `openPushQueue` does. */
export function openSweepQueue(
  pulls: OpenJobQueue<bigint>,
  logger: Logger,
): Promise<OpenJobQueue<bigint>> {
  return openQueue(SWEEP_JOBS, pulls.backend, logger, pulls.outages);
}

/** @param sharedOutages the watch of another queue on the same server, which ends it */
async function openQueue<Key>(
  kind: JobKind<Key>,
  backend: QueueBackend,
  logger: Logger,
  sharedOutages?: OutageWatch,
): Promise<OpenJobQueue<Key>> {
  const queue = new Queue<JobPayload, void>(
    kind.queueName,
    {
      connection: backend.connectionFor('queue'),
      streams: { events: { maxLen: EVENT_STREAM_LENGTH } },
    },
    backend.factory,
  );
  const probe = () => within(OPERATION_TIMEOUT_MS, queue.isPaused());
  const outages = sharedOutages ?? watchOutages({ name: backend.name, probe, logger });
  queue.on('error', outages.onError);

  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= (async () => {
      if (sharedOutages === undefined) outages.stop();
      await within(CLOSING_TIMEOUT_MS, queue.close()).catch(() => {});
      await cutConnections(queue);
    })();
    return closing;
  };
  try {
    await within(OPENING_TIMEOUT_MS, queue.waitUntilReady());
  } catch (error) {
    await close();
    throw backend.toOpeningError(error);
  }

  async function run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await within(OPERATION_TIMEOUT_MS, work());
    } catch (error) {
      // This error is the only sign of a server that accepts connections and does not answer.
      outages.onError(error);
      throw new StagingUnavailableError(`the queue on ${backend.name} is not available`, {
        cause: error,
      });
    }
  }
  return {
    kind,
    backend,
    outages,
    bullQueue: queue,
    enqueue: (key, delayMs = 0) => run(() => enqueue(queue, kind, key, delayMs, logger)),
    jobsOf: (keys) =>
      run(async () => {
        const ids = new Set(await queue.getRanges(['waiting', 'delayed', 'active'], 0, -1));
        return new Set(keys.filter((key) => ids.has(kind.toJobId(key))));
      }),
    counts: () =>
      run(async () => {
        const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'failed');
        const count = (state: string) => counts[state] ?? 0;
        return {
          waiting: count('waiting'),
          active: count('active'),
          delayed: count('delayed'),
          failed: count('failed'),
        };
      }),
    isReachable: () =>
      within(REACHABLE_TIMEOUT_MS, queue.isPaused()).then(
        () => true,
        () => false,
      ),
    close,
  };
}

async function enqueue<Key>(
  queue: Queue<JobPayload, void>,
  kind: JobKind<Key>,
  key: Key,
  delayMs: number,
  logger: Logger,
): Promise<void> {
  const jobId = kind.toJobId(key);
  const existing: Job<JobPayload, void> | undefined = await queue.getJob(jobId);
  if (existing?.finishedOn !== undefined) {
    if (Date.now() - existing.finishedOn < DEFECT_PAUSE_MS) {
      logger.debug({ jobId }, 'not enqueued: the last attempt was a defect');
      return;
    }
    await existing.remove();
  } else if (existing !== undefined && delayMs === 0) {
    await bringForward(existing);
  }
  reachFaultPoint('enqueue');
  // No effect if the job exists already.
  await queue.add(kind.jobName, kind.toPayload(key), {
    jobId,
    delay: delayMs,
    removeOnComplete: true,
    removeOnFail: KEEP_FAILED,
    stackTraceLimit: 0,
  });
}

async function bringForward(job: Job<JobPayload, void>): Promise<void> {
  if (!(await job.isDelayed())) return;
  // The job may become due or end at this moment. Its delay then needs no change.
  await job.promote().catch((error: unknown) => {
    if (!isRefusal(error)) throw error;
  });
}
