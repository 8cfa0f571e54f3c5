/**
 * queue/ wakes workers up. What is to be done stands in the tables: pulls in `conciliation.pull`, sweeps in
 * `conciliation.sweep`, rows to be pushed in `conciliation.provider`. A job says no more than "look at pull
 * 12 now", so losing one costs a minute (the planner enqueues again whatever is due and has no job), and
 * running one twice costs a request (of two pulls the fence lets one merge, of two sweeps it lets one record
 * what differs, of two pushes the lock lets one begin).
 *
 * Pulls, sweeps and pushes have a queue each, and workers of their own, so that none waits for another.
 *
 * BullMQ keeps the jobs, on Redis where there is a REDIS_URL, else in a schema of its own in the
 * staging database. Its retries are not used: one job is one attempt, and after a failure that may
 * pass the same job is delayed until the next.
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
import { queueTelemetry } from './telemetry.ts';

interface JobQueue<Key> {
  /**
   * Has a worker look at what `key` names in `delayMs`, or now. A key has one job at most: one that
   * waits already stays as it is, but without `delayMs` its own delay ends; a key that a worker has
   * in hand gets no second one.
   *
   * @throws StagingUnavailableError when the queue is away. Nothing is lost: the tables stand, and the
   *   planner's next tick enqueues it.
   */
  enqueue(key: Key, delayMs?: number): Promise<void>;
  /**
   * Those of `keys` that have a job which waits, is delayed or is in a worker's hands.
   *
   * @throws StagingUnavailableError when the queue is away, for then nobody knows
   */
  jobsOf(keys: readonly Key[]): Promise<Set<Key>>;
  /** @throws StagingUnavailableError when the queue is away */
  counts(): Promise<QueueCounts>;
  isReachable(): Promise<boolean>;
  /** Does not wait for a queue that is away. May be called more than once. */
  close(): Promise<void>;
}

/** What a worker and Bull Board need besides. */
export interface OpenJobQueue<Key> extends JobQueue<Key> {
  readonly kind: JobKind<Key>;
  readonly backend: QueueBackend;
  /** Of the server: all queues on it share one. */
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

/** An outage is to show as an error, not as a caller that waits. */
const OPERATION_TIMEOUT_MS = 5_000;
/** For whoever asks for a health check and has no patience. */
const REACHABLE_TIMEOUT_MS = 2_000;
const OPENING_TIMEOUT_MS = 20_000;
const CLOSING_TIMEOUT_MS = 2_000;

/** A defect does not mend itself; one that cannot even be recorded must not be tried every minute. */
const DEFECT_PAUSE_MS = 3_600_000;
const KEEP_FAILED = { age: 7 * 24 * 3600, count: 1000 };

/** Nobody reads BullMQ's event stream; it is kept short. */
const EVENT_STREAM_LENGTH = 100;

/**
 * The queue of pulls, and with it the way to its server.
 *
 * @throws ConfigError when the server is there but will not do: a Redis that evicts keys or is too
 *   old, a user without the rights, a wrong password
 * @throws StagingUnavailableError when it cannot be reached
 */
export async function openPullQueue(options: BackendOptions): Promise<OpenJobQueue<bigint>> {
  return openQueue(PULL_JOBS, await openBackend(options), options.logger);
}

/**
 * The queue of pushes, on the server of the queue of pulls. To be closed before that one.
 *
 * @throws StagingUnavailableError when the server has gone since
 */
export function openPushQueue(
  pulls: OpenJobQueue<bigint>,
  logger: Logger,
): Promise<OpenJobQueue<PushSubject>> {
  return openQueue(PUSH_JOBS, pulls.backend, logger, pulls.outages);
}

/** As `openPushQueue`, of sweeps. */
export function openSweepQueue(
  pulls: OpenJobQueue<bigint>,
  logger: Logger,
): Promise<OpenJobQueue<bigint>> {
  return openQueue(SWEEP_JOBS, pulls.backend, logger, pulls.outages);
}

/** @param sharedOutages of a queue on the same server, which ends them */
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
      skipVersionCheck: backend.skipVersionCheck,
      streams: { events: { maxLen: EVENT_STREAM_LENGTH } },
      ...queueTelemetry(),
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
      // A server that takes connections but answers nothing shows here alone.
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
  // Without effect where there is a job by now, whoever added it.
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
  // It may come due, or be done with, at this very moment: then there is nothing to bring forward.
  await job.promote().catch((error: unknown) => {
    if (!isRefusal(error)) throw error;
  });
}
