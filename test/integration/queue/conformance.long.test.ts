import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, test } from 'vitest';
import {
  InputError,
  ShutdownError,
  StagingUnavailableError,
  StaleFenceError,
} from '../../../src/base/runtime/errors.ts';
import { ONLY_JOB, openQueues } from '../../../src/core/work/job-queue.ts';
import {
  type JobWorker,
  type JobWorkerOptions,
  startJobWorker,
  UnrecordedJobs,
} from '../../../src/core/work/job-worker.ts';
import { withClient } from '../../support/client.ts';
import { createTestDatabase } from '../../support/database.ts';
import { forTest } from '../../support/for-tests.ts';
import { recordingLogger } from '../../support/logger.ts';
import { findRedisServer, startRedisServer } from '../../support/redis.ts';
import { eventually } from '../../support/service-world.ts';

/** A grace that no test lives to see the end of. */
const FOR_EVER_MS = 3_600_000;
/** Short, so that a test may wait for it to expire. */
const LOCK_MS = 1_000;

async function startOnPostgres() {
  const database = await createTestDatabase();
  const name = new URL(database.url).pathname.slice(1);
  const run = async (statement: string) => {
    await withClient(inject('serverUrl'), (client) => client.query(statement));
  };
  return {
    redisUrl: null,
    databaseUrl: database.url,
    /** Cuts every connection and takes no further one, until `goUp`. The jobs may be lost with it. */
    async goDown() {
      await run(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      await run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    },
    goUp: () => run(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`),
    stop: () => database.close(),
  };
}

/** Not looked at where the queue is on Redis. */
const NO_DATABASE = 'postgresql://127.0.0.1:1/none';

async function startOnRedis() {
  const server = await startRedisServer();
  return {
    redisUrl: server.url,
    databaseUrl: NO_DATABASE,
    goDown: () => server.kill(),
    goUp: () => server.restart(),
    stop: () => server.stop(),
  };
}

async function aborted(signal: AbortSignal): Promise<undefined> {
  if (!signal.aborted) await once(signal, 'abort');
}

type Handle = JobWorkerOptions['handle'];

/** A queue on a separate server, which is empty at first, and the workers that a test starts. */
async function openQueueWorld(startServer: typeof startOnPostgres | typeof startOnRedis) {
  const server = await startServer();
  const { redisUrl, databaseUrl } = server;
  const { log, logger } = recordingLogger('debug');
  const queues = await openQueues({ redisUrl, databaseUrl, logger });
  const { pull: queue, push: pushQueue } = queues;
  const workers: JobWorker[] = [];
  const start = async (
    options: Pick<JobWorkerOptions, 'queue' | 'handle'> & Partial<JobWorkerOptions>,
  ) => {
    const worker = await startJobWorker({ concurrency: 1, lockMs: LOCK_MS, logger, ...options });
    workers.push(worker);
    return worker;
  };
  return {
    server,
    queue,
    /** Beside it, on the same server. */
    pushQueue,
    closeQueues: () => queues.close(),
    /** Every line logged so far. */
    log,
    logged: (message: string) => log.filter((line) => line['msg'] === message),
    /** Until no job of either queue waits, is delayed, or is in a worker's hands. */
    idle: () =>
      eventually(async () => {
        for (const { counts } of [queue, pushQueue]) {
          expect(await counts()).toMatchObject({ waiting: 0, active: 0, delayed: 0 });
        }
      }),
    startWorker: (handle: Handle, options: Partial<JobWorkerOptions> = {}) =>
      start({ queue, handle, ...options }),
    startPushWorker: (handle: Handle, options: Partial<JobWorkerOptions> = {}) =>
      start({ queue: pushQueue, handle, ...options }),
    async close() {
      await Promise.all(workers.map((worker) => worker.close(0)));
      await queues.close();
      await server.stop();
    },
  };
}

const withRedis = findRedisServer() === null ? describe.skip : describe;
describe('a queue on PostgreSQL', () => testQueue(startOnPostgres));
withRedis('a queue on Redis (skipped without a redis-server)', () => testQueue(startOnRedis));

function testQueue(startServer: Parameters<typeof openQueueWorld>[0]) {
  const world = forTest(() => openQueueWorld(startServer));

  /** A worker that has a pull in its hands until it is interrupted. */
  const holdPull = async (options?: Partial<JobWorkerOptions>) => {
    let begun = false;
    const worker = await world.startWorker(async (_pullId, signal) => {
      begun = true;
      await aborted(signal);
      throw new ShutdownError('interrupted');
    }, options);
    await world.queue.enqueue(7n);
    await eventually(() => expect(begun).toBe(true));
    return worker;
  };

  describe('handing out', () => {
    test('a delayed pull is brought forward by enqueueing it without a delay', async () => {
      const handled: bigint[] = [];
      await world.startWorker(async (pullId) => void handled.push(pullId));
      await world.queue.enqueue(7n, 3_600_000);
      await world.queue.enqueue(7n);
      await eventually(() => expect(handled).toEqual([7n]));
    });

    test('a pull that is enqueued again while it waits or is handled has one job, and another one afterwards', async () => {
      await Promise.all([world.queue.enqueue(7n), world.queue.enqueue(7n)]);
      await world.queue.enqueue(7n);
      expect((await world.queue.counts()).waiting).toBe(1);

      const handled: bigint[] = [];
      const finish = new AbortController();
      await world.startWorker(
        async (pullId) => {
          handled.push(pullId);
          await aborted(finish.signal);
        },
        { concurrency: 4 },
      );
      await eventually(() => expect(handled).toEqual([7n]));
      await world.queue.enqueue(7n);
      expect(await world.queue.counts()).toMatchObject({ waiting: 0, active: 1 });
      finish.abort();
      await world.idle();
      expect(handled).toEqual([7n]);
      await world.queue.enqueue(7n);
      await eventually(() => expect(handled).toEqual([7n, 7n]));
    });

    test('a pull whose handler requests another attempt is handled again after that time', async () => {
      const handledAtMs: number[] = [];
      await world.startWorker(async () => {
        handledAtMs.push(performance.now());
        return handledAtMs.length < 3 ? { retryInMs: (handledAtMs.length - 1) * 500 } : undefined;
      });
      await world.queue.enqueue(7n);
      await eventually(() => expect(handledAtMs).toHaveLength(3));
      await world.idle();
      const [, second = 0, third = 0] = handledAtMs;
      expect(third - second).toBeGreaterThan(490);
    });
  });

  describe('its reports', () => {
    test('which pulls have a job: waiting, delayed or in hand, and how many of each', async () => {
      const finish = new AbortController();
      await world.startWorker(() => aborted(finish.signal));
      await world.queue.enqueue(1n);
      await eventually(async () => expect((await world.queue.counts()).active).toBe(1));
      await world.queue.enqueue(2n);
      await world.queue.enqueue(3n, 3_600_000);
      expect(await world.queue.jobsOf([1n, 2n, 3n, 4n, 11n])).toEqual(new Set([1n, 2n, 3n]));
      expect(await world.queue.jobsOf([])).toEqual(new Set());
      expect(await world.queue.counts()).toEqual({ waiting: 1, active: 1, delayed: 1 });
      finish.abort();
      await eventually(async () =>
        expect(await world.queue.jobsOf([1n, 2n, 3n])).toEqual(new Set([3n])),
      );
    });

    test('a job says nothing but the id of its pull', async () => {
      await world.queue.enqueue(7n);
      const job = await world.queue.bullQueue.getJob('pull-7');
      expect(job?.data).toEqual({ id: '7' });
    });
  });

  describe('an outcome that cannot be recorded', () => {
    test('is logged without the text of the error, and tried again after growing delays', async () => {
      const handledAtMs: number[] = [];
      const unrecorded = new UnrecordedJobs();
      await world.startWorker(
        async () => {
          handledAtMs.push(performance.now());
          if (handledAtMs.length === 1) throw new StagingUnavailableError('away');
          if (handledAtMs.length < 4) throw new TypeError('cannot read 12.345.678/0001-95');
          expect(unrecorded.areOlderThan(600)).toBe(true);
        },
        { stagingRetryMs: 200, unrecorded },
      );
      await world.queue.enqueue(7n);
      await eventually(() => expect(handledAtMs).toHaveLength(4));
      await world.idle();
      const waits = handledAtMs.slice(1).map((at, index) => at - (handledAtMs[index] ?? 0));
      for (const [index, wait] of waits.entries())
        expect(wait).toBeGreaterThan(200 * 2 ** index - 10);
      expect(world.logged('the outcome could not be recorded')).toMatchObject([
        { level: 40, pullId: '7', retryInMs: 200 },
      ]);
      expect(world.logged('defect in a job; it is tried again')).toMatchObject([
        { level: 50, pullId: '7', retryInMs: 400, err: { type: 'TypeError' } },
        { level: 50, retryInMs: 800 },
      ]);
      expect(JSON.stringify(world.log)).not.toContain('12.345');
      expect(unrecorded.areOlderThan(0)).toBe(false);
    });

    test('ends the job where another worker has taken the pull over, or nothing is left to do', async () => {
      const errors = [new StaleFenceError('taken over'), new InputError('already finished')];
      await world.startWorker(() => Promise.reject(errors.shift()));
      await world.queue.enqueue(7n);
      await eventually(() => expect(errors).toHaveLength(1));
      await world.idle();
      await world.queue.enqueue(8n);
      await eventually(() => expect(errors).toEqual([]));
      await world.idle();
      expect(world.logged('another worker has taken the pull over')).toMatchObject([{ level: 30 }]);
      expect(world.logged('nothing left to do for a job')).toMatchObject([{ level: 20 }]);
    });
  });

  test('a push that does not end keeps no pull waiting', async () => {
    const finish = new AbortController();
    let isPushing = false;
    await world.startPushWorker(async () => {
      isPushing = true;
      await aborted(finish.signal);
    });
    await world.pushQueue.enqueue(ONLY_JOB);
    await eventually(() => expect(isPushing).toBe(true));
    const handled: bigint[] = [];
    await world.startWorker(async (pullId) => void handled.push(pullId));
    await world.queue.enqueue(7n);
    await eventually(() => expect(handled).toEqual([7n]));
    expect(await world.pushQueue.counts()).toMatchObject({ active: 1 });
    finish.abort();
  });

  describe('stopping', () => {
    test('a pull that outlasts the grace is interrupted, and another worker has it at once', async () => {
      const worker = await holdPull({ lockMs: 30_000 });
      await worker.close(50);

      const handled: bigint[] = [];
      await world.startWorker(async (pullId) => void handled.push(pullId), { lockMs: 30_000 });
      await eventually(() => expect(handled).toEqual([7n]));
    });

    test('a handler is told to begin nothing new when the worker starts to close', async () => {
      let begun = false;
      const worker = await world.startWorker(async (_pullId, _signal, stopping) => {
        begun = true;
        await aborted(stopping);
        throw new ShutdownError('nothing was begun');
      });
      await world.queue.enqueue(7n);
      await eventually(() => expect(begun).toBe(true));
      await worker.close(FOR_EVER_MS);
      expect(await world.queue.counts()).toMatchObject({ waiting: 1, active: 0 });
    });
  });

  // test/faults kills and stops workers in each step of a pull, on either queue.
  describe('a server that goes away', () => {
    test('no process hangs or ends, the outage is logged once, and the queue works afterwards', async () => {
      const handled: bigint[] = [];
      await world.startWorker(async (pullId) => void handled.push(pullId), { concurrency: 2 });
      let pushes = 0;
      await world.startPushWorker(async () => {
        pushes += 1;
      });
      await world.queue.enqueue(1n);
      await eventually(() => expect(handled).toEqual([1n]));
      expect(await world.queue.isReachable()).toBe(true);

      await world.server.goDown();
      await eventually(async () => expect(await world.queue.isReachable()).toBe(false));
      await expect(world.queue.enqueue(2n)).rejects.toThrow(StagingUnavailableError);
      await expect(world.queue.jobsOf([2n])).rejects.toThrow(StagingUnavailableError);
      await expect(world.pushQueue.enqueue(ONLY_JOB)).rejects.toThrow(StagingUnavailableError);
      await expect(world.queue.counts()).rejects.toThrow(StagingUnavailableError);
      await eventually(() => expect(world.logged('the queue does not work')).toHaveLength(1));
      await world.server.goUp();
      await eventually(async () => expect(await world.queue.isReachable()).toBe(true));
      await world.queue.enqueue(3n);
      await eventually(() => expect(handled).toEqual([1n, 3n]));
      await world.pushQueue.enqueue(ONLY_JOB);
      await eventually(() => expect(pushes).toBe(1));
      expect(world.logged('the queue does not work')).toHaveLength(1);
    });

    test('closing does not wait for it', async () => {
      const worker = await holdPull();
      await world.server.goDown();
      await sleep(300);
      // Either would have to wait for the server, which comes back only then.
      await worker.close(100);
      await world.closeQueues();
      await world.server.goUp();
    });
  });
}
