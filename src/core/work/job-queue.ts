/**
 * work/ wakes workers and lets them make attempts. The tables hold the work: pulls in `conciliation.pull`, sweeps in
 * `conciliation.sweep`, rows to push in `conciliation.provider`. A job only says "look at pull 12 now". The
 * loss of a job costs a minute, because the planner enqueues due work without a job again. A job that runs
 * twice costs a request at most: the fence lets one of two pulls merge, and a lock lets one of two pushes begin. Each kind
 * has its own queue and workers, so that no kind waits for another. BullMQ keeps the jobs on Redis if REDIS_URL is
 * set, otherwise in a schema of its own in the staging database. Its retries are not used: one job is one attempt,
 * and after a failure the same job is delayed until the next one.
 */

import { Queue, type RedisQueueBackend, type Worker } from 'bullmq';
import { StagingUnavailableError } from '../../base/runtime/errors.ts';
import { reachFaultPoint } from '../../base/runtime/fault-points.ts';
import type { Logger } from '../../base/runtime/logger.ts';
import { within } from '../../base/runtime/timing.ts';
import { openPostgresBackend } from './postgres-backend.ts';
import { openRedisBackend, type QueueBackend } from './redis-backend.ts';

export interface QueueOptions {
  /** `redis://` or `rediss://`, with user, password and database number; null: the queue is on PostgreSQL. */
  readonly redisUrl: string | null;
  readonly databaseUrl: string;
  readonly logger: Logger;
  /** Waiting time for a Redis that starts together with this process, in milliseconds; default: 15 s. */
  readonly patienceMs?: number | undefined;
}

/** The kinds of jobs, by the names of their queues. */
const QUEUE_NAMES = { pull: 'pulls', sweep: 'sweeps', push: 'pushes' } as const;
export type JobKind = keyof typeof QUEUE_NAMES;

/** The id of the only job of a kind whose work has no rows of its own. */
export const ONLY_JOB = 0n;

/** Only an id, because readers of the queue may not be allowed to read the tables. Text, because JSON has no bigint. */
export interface JobPayload {
  readonly id: string;
}

export interface JobQueue {
  readonly kind: JobKind;
  /**
   * Makes a worker process `id` in `delayMs`, or now. An id has at most one job: a waiting job
   * stays unchanged, except that without `delayMs` its delay ends; an active job gets no successor.
   * @throws StagingUnavailableError when the queue is not available. No work is lost: the next tick
   * of the planner enqueues it.
   */
  enqueue(id: bigint, delayMs?: number): Promise<void>;
  /**
   * Returns those of `ids` that have a waiting, delayed or active job.
   * @throws StagingUnavailableError when the queue is not available
   */
  jobsOf(ids: readonly bigint[]): Promise<Set<bigint>>;
  /** @throws StagingUnavailableError when the queue is not available */
  counts(): Promise<QueueCounts>;
  isReachable(): Promise<boolean>;
  /** For workers. */
  readonly backend: QueueBackend;
  /** Logs an error of the server. */
  readonly onError: (error: unknown) => void;
  readonly bullQueue: Queue<JobPayload, void>;
}

/** One queue of each kind, on the same server. */
export interface Queues extends Readonly<Record<JobKind, JobQueue>> {
  /** Does not wait for a server that is not available. May be called more than once. */
  close(): Promise<void>;
}

export interface QueueCounts {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
}

/** An outage must cause an error and not a waiting caller. */
const OPERATION_TIMEOUT_MS = 5_000;
/** A short limit for health checks, in milliseconds. */
const REACHABLE_TIMEOUT_MS = 2_000;
const OPENING_TIMEOUT_MS = 20_000;
const CLOSING_TIMEOUT_MS = 2_000;
/** Long enough for a promise that is already settled, in milliseconds. */
const SETTLED_MS = 100;

/** BullMQ's event stream has no reader, so it is kept short. */
const EVENT_STREAM_LENGTH = 100;

/**
 * Connects to the server and opens the queues.
 * @throws ConfigError when the server is not suitable: a Redis that is too old, a user without
 * the rights, a wrong password
 * @throws StagingUnavailableError when the server cannot be reached
 */
export async function openQueues(options: QueueOptions): Promise<Queues> {
  const { redisUrl, databaseUrl, logger, patienceMs } = options;
  const backend = await (redisUrl === null
    ? openPostgresBackend(databaseUrl, logger)
    : openRedisBackend(redisUrl, patienceMs));
  const bullQueueOf = (kind: JobKind) =>
    new Queue<JobPayload, void>(
      QUEUE_NAMES[kind],
      {
        connection: backend.connectionFor('queue'),
        streams: { events: { maxLen: EVENT_STREAM_LENGTH } },
      },
      backend.factory,
    );
  const bullQueues = {
    pull: bullQueueOf('pull'),
    sweep: bullQueueOf('sweep'),
    push: bullQueueOf('push'),
  };
  const all = Object.values(bullQueues);
  let closing: Promise<unknown> | undefined;
  const log = logErrors(backend.name, logger);
  const onError = (error: unknown) => {
    if (closing === undefined) log(error);
  };
  for (const queue of all) queue.on('error', onError);
  const closeOne = async (queue: Queue) => {
    await within(CLOSING_TIMEOUT_MS, queue.close()).catch(() => {});
    await cutConnections(queue);
  };
  const close = async () => {
    closing ??= Promise.all(all.map(closeOne));
    await closing;
  };
  try {
    await within(OPENING_TIMEOUT_MS, Promise.all(all.map((queue) => queue.waitUntilReady())));
  } catch (error) {
    await close();
    throw backend.toOpeningError(error);
  }
  const open = (kind: JobKind) => jobQueue(kind, bullQueues[kind], backend, onError);
  return { pull: open('pull'), sweep: open('sweep'), push: open('push'), close };
}

function jobQueue(
  kind: JobKind,
  queue: Queue<JobPayload, void>,
  backend: QueueBackend,
  onError: JobQueue['onError'],
): JobQueue {
  const toJobId = (id: bigint) => `${kind}-${id}`;

  async function run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await within(OPERATION_TIMEOUT_MS, work());
    } catch (error) {
      // This error is the only sign of a server that accepts connections and does not answer.
      onError(error);
      throw new StagingUnavailableError(`the queue on ${backend.name} is not available`, {
        cause: error,
      });
    }
  }

  async function enqueue(id: bigint, delayMs: number): Promise<void> {
    const jobId = toJobId(id);
    if (delayMs === 0) {
      const existing = await queue.getJob(jobId);
      // The job may become due or end at this moment. Its delay then needs no change.
      if (await existing?.isDelayed()) {
        await existing?.promote().catch((error: unknown) => {
          if (!isRefusal(error)) throw error;
        });
      }
    }
    reachFaultPoint('enqueue');
    // No effect if the job exists already.
    await queue.add(kind, { id: String(id) } satisfies JobPayload, {
      jobId,
      delay: delayMs,
      removeOnComplete: true,
      removeOnFail: true,
      stackTraceLimit: 0,
    });
  }

  return {
    kind,
    backend,
    onError,
    bullQueue: queue,
    enqueue: (id, delayMs = 0) => run(() => enqueue(id, delayMs)),
    jobsOf: (ids) =>
      run(async () => {
        const found = new Set(await queue.getRanges(['waiting', 'delayed', 'active'], 0, -1));
        return new Set(ids.filter((id) => found.has(toJobId(id))));
      }),
    counts: () =>
      run(async () => {
        const {
          waiting = 0,
          active = 0,
          delayed = 0,
        } = await queue.getJobCounts('waiting', 'active', 'delayed');
        return { waiting, active, delayed };
      }),
    isReachable: () =>
      within(REACHABLE_TIMEOUT_MS, queue.isPaused()).then(
        () => true,
        () => false,
      ),
  };
}

/** BullMQ's codes: the job does not exist, its lock is lost, or it is in another state. */
const REFUSAL_CODES: ReadonlySet<unknown> = new Set([-1, -2, -3, -6]);

/** Whether the queue answered that this worker no longer owns the job. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && REFUSAL_CODES.has(error.code);
}

/**
 * Ends the Redis connections of a queue or worker that was ready once, after a `close` that
 * succeeded or hung: BullMQ's close waits for an answer of the server.
 */
export async function cutConnections(owner: Queue | Worker): Promise<void> {
  const backend: Partial<RedisQueueBackend> = owner.getBackend();
  for (const client of [backend.client, backend.blockingClient]) {
    // If the client never became ready, `close` has disconnected it, and this promise stays pending.
    const ready = await within(SETTLED_MS, Promise.resolve(client)).catch(() => undefined);
    ready?.disconnect();
  }
}

/** BullMQ reports an error with each attempt to connect. One of them in this time is logged. */
const QUIET_MS = 60_000;

/** The texts of the errors depend on the server, the driver and the operating system, so they are not interpreted. */
function logErrors(name: string, logger: Logger): (error: unknown) => void {
  let quietUntilMs = 0;
  return (error) => {
    if (performance.now() < quietUntilMs) return;
    quietUntilMs = performance.now() + QUIET_MS;
    logger.warn({ queue: name, err: error }, 'the queue does not work');
  };
}
