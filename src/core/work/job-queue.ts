/**
 * work/ wakes workers and lets them make attempts. The tables hold the work: pulls in `conciliation.pull`, sweeps in
 * `conciliation.sweep`, rows to push in `conciliation.provider`. A job only says "look at pull 12 now". The
 * loss of a job costs a minute, because the planner enqueues due work without a job again. A job that runs
 * twice costs a request: the fence lets one of two pulls merge, and a lock lets one of two pushes begin. Each kind
 * has its own queue and workers, so that no kind waits for another. BullMQ keeps the jobs on Redis if REDIS_URL is
 * set, otherwise in a schema of its own in the staging database. Its retries are not used: one job is one attempt,
 * and after a failure the same job is delayed until the next one.
 */

import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRedisBackend, Queue, type RedisQueueBackend, type Worker } from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import { ConfigError, StagingUnavailableError } from '../../base/runtime/errors.ts';
import { reachFaultPoint } from '../../base/runtime/fault-points.ts';
import type { Logger } from '../../base/runtime/logger.ts';
import { within } from '../../base/runtime/within.ts';
import { type OutageWatch, watchOutages } from './outage-watch.ts';
import { openPostgresBackend } from './postgres-backend.ts';
import type { QueueBackend } from './queue-backend.ts';

/** BullMQ accepts older versions with warnings. */
const OLDEST_VERSION = { major: 6, minor: 2 };

/** Waiting time for a Redis that starts together with this process, in milliseconds. */
const PATIENCE_MS = 15_000;
const RETRY_INTERVAL_MS = 500;
const ANSWER_TIMEOUT_MS = 5_000;

/**
 * Refuses a Redis that BullMQ cannot use, before BullMQ connects.
 * @param address the name of the server in messages
 * @throws ConfigError naming REDIS_URL
 * @throws StagingUnavailableError when there is no answer
 */
export async function checkRedis(
  redisUrl: string,
  address: string,
  tls: Pick<RedisOptions, 'tls'> = {},
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    try {
      const info = await askForInfo(redisUrl, tls);
      const [, major, minor] = /^redis_version:(\d+)\.(\d+)/m.exec(info)?.map(Number) ?? [];
      const { major: least, minor: leastMinor } = OLDEST_VERSION;
      if (major === undefined || minor === undefined || major > least) return;
      if (major === least && minor >= leastMinor) return;
      throw new ConfigError([
        `REDIS_URL: the server at ${address} is Redis ${major}.${minor}; it takes ${least}.${leastMinor} or newer`,
      ]);
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      const { code } = error as NodeJS.ErrnoException;
      const problem = problemOf(error as Error, code);
      if (problem !== null) {
        throw new ConfigError([`REDIS_URL: the server at ${address} ${problem}`]);
      }
      if (performance.now() > deadlineMs) {
        throw new StagingUnavailableError(
          `the queue's Redis at ${address} cannot be reached (${code ?? 'no answer'})`,
          { cause: error },
        );
      }
      await sleep(RETRY_INTERVAL_MS);
    }
  }
}

async function askForInfo(redisUrl: string, tls: Pick<RedisOptions, 'tls'>): Promise<string> {
  const client = new Redis(redisUrl, {
    ...tls,
    lazyConnect: true,
    enableReadyCheck: false,
    connectTimeout: ANSWER_TIMEOUT_MS,
    commandTimeout: ANSWER_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: null,
  });
  // The error of `connect` says only that the connection was closed.
  let reason: Error | undefined;
  client.on('error', (error) => {
    reason ??= error;
  });
  try {
    await within(ANSWER_TIMEOUT_MS, client.connect());
    // Selected explicitly, because ioredis would silently use database 0 after a refusal.
    await client.select(client.options.db ?? 0);
    return await client.info();
  } catch (error) {
    throw error instanceof Error && error.name === 'ReplyError' ? error : (reason ?? error);
  } finally {
    client.disconnect();
  }
}

/** Describes a problem that only a person can solve; null: a later try may succeed. */
function problemOf({ name, message }: Error, code = ''): string | null {
  if (name !== 'ReplyError') {
    return /CERT|SIGNATURE|TLS|SSL/.test(code) ? `cannot be spoken to (${code})` : null;
  }
  if (/^(LOADING|BUSY|MASTERDOWN)/.test(message)) return null;
  if (/^(WRONGPASS|NOAUTH)/.test(message)) return 'refuses its user or password';
  if (/DB index/i.test(message)) return 'has no database of that number';
  return `refuses the connection (${/^[A-Z]*/.exec(message)})`;
}

const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 10_000;
const MAX_RECONNECT_DELAY_MS = 2_000;
const COMMAND_TIMEOUT_MS = 5_000;
/**
 * A server that does not answer within this time is disconnected. BullMQ's longest blocking call takes 10 s.
 */
const SOCKET_TIMEOUT_MS = 30_000;

async function openRedisBackend(address: string): Promise<QueueBackend> {
  const url = parse(address);
  // As the parser of the configuration writes it. The driver would take REDISS:// for a plain connection.
  const redisUrl = url.href;
  const server = `${url.hostname}:${url.port === '' ? '6379' : url.port}`;
  const tls = url.protocol === 'rediss:' ? { tls: tlsOptions(url) } : {};
  await checkRedis(redisUrl, server, tls);
  const common = {
    url: redisUrl,
    ...tls,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    keepAlive: KEEP_ALIVE_MS,
    retryStrategy: (times: number) => Math.min(times * 100, MAX_RECONNECT_DELAY_MS),
    // After a failover, the connection may lead to a server that is a replica now.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  };
  return {
    name: 'Redis',
    factory: createRedisBackend,
    connectionFor: (role) =>
      role === 'worker'
        ? { ...common, maxRetriesPerRequest: null }
        : {
            ...common,
            commandTimeout: COMMAND_TIMEOUT_MS,
            enableOfflineQueue: false,
            maxRetriesPerRequest: 0,
          },
    toOpeningError: (error) =>
      new StagingUnavailableError(`the connection to the queue's Redis at ${server} was lost`, {
        cause: error,
      }),
  };
}

function tlsOptions({ hostname }: URL) {
  return {
    // SNI accepts names only. The certificate is checked against the host in both cases.
    ...(isIP(hostname.replace(/^\[|\]$/g, '')) === 0 && { servername: hostname }),
  };
}

function parse(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || (url.protocol !== 'redis:' && url.protocol !== 'rediss:')) {
    throw new ConfigError(['REDIS_URL: expected redis://user:password@host:port/database']);
  }
  return url;
}

export interface QueueOptions {
  /** `redis://` or `rediss://`, with user, password and database number; null: the queue is on PostgreSQL. */
  readonly redisUrl: string | null;
  readonly databaseUrl: string;
  readonly logger: Logger;
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
  /** The watch of the server, shared by all queues. */
  readonly outages: OutageWatch;
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
  const { redisUrl, databaseUrl, logger } = options;
  const backend = await (redisUrl === null
    ? openPostgresBackend(databaseUrl, logger)
    : openRedisBackend(redisUrl));
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
  const probe = () => within(OPERATION_TIMEOUT_MS, bullQueues.pull.isPaused());
  const outages = watchOutages({ name: backend.name, probe, logger });
  for (const queue of all) queue.on('error', outages.onError);

  let closing: Promise<unknown> | undefined;
  const closeOne = async (queue: Queue) => {
    await within(CLOSING_TIMEOUT_MS, queue.close()).catch(() => {});
    await cutConnections(queue);
  };
  const close = async () => {
    outages.stop();
    closing ??= Promise.all(all.map(closeOne));
    await closing;
  };
  try {
    await within(OPENING_TIMEOUT_MS, Promise.all(all.map((queue) => queue.waitUntilReady())));
  } catch (error) {
    await close();
    throw backend.toOpeningError(error);
  }
  const open = (kind: JobKind) => jobQueue(kind, bullQueues[kind], backend, outages);
  return { pull: open('pull'), sweep: open('sweep'), push: open('push'), close };
}

function jobQueue(
  kind: JobKind,
  queue: Queue<JobPayload, void>,
  backend: QueueBackend,
  outages: OutageWatch,
): JobQueue {
  const toJobId = (id: bigint) => `${kind}-${id}`;

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

  async function enqueue(id: bigint, delayMs: number): Promise<void> {
    const jobId = toJobId(id);
    if (delayMs === 0) {
      const existing = await queue.getJob(jobId);
      // The job may become due or end at this moment. Its delay then needs no change.
      if (await existing?.isDelayed()) await existing?.promote().catch(throwUnlessRefused);
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
    outages,
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

function throwUnlessRefused(error: unknown): void {
  if (!isRefusal(error)) throw error;
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
