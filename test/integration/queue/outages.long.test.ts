import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ShutdownError, StagingUnavailableError } from '../../../src/base/runtime/errors.ts';
import { ONLY_JOB } from '../../../src/core/work/job-queue.ts';
import { describeOnEachServer } from './queue-servers.ts';
import { eventually, openQueueWorld, type QueueWorld } from './queue-world.ts';
import { killWorkerProcesses } from './worker-process.ts';

/** BullMQ has given no job up. */
async function expectNoFailure({ queue }: QueueWorld): Promise<void> {
  expect(await queue.bullQueue.getJobCounts('failed')).toEqual({ failed: 0 });
}

describeOnEachServer('a queue that loses its workers or its server', (kind) => {
  let world: QueueWorld;
  beforeEach(async () => {
    world = await openQueueWorld(kind);
  });
  afterEach(async () => {
    await killWorkerProcesses();
    await world.close();
  });

  describe('workers that vanish', () => {
    test('a pull survives any number of processes that are killed over it', async () => {
      await world.queue.enqueue(7n);
      for (let round = 0; round < 3; round += 1) {
        const victim = await world.startProcess({ handling: 'wait', handlingMs: 60_000 });
        await eventually(() => expect(victim.answers).toContainEqual({ handling: '7' }));
        await victim.kill();
      }
      const handled: bigint[] = [];
      await world.startWorker(async (pullId) => void handled.push(pullId));
      await eventually(() => expect(handled).toEqual([7n]));
      await world.idle();
      await expectNoFailure(world);
    });

    test('a process that is stopped beyond its lock loses the pull, and continues without harm', async () => {
      const sleeper = await world.startProcess({ handling: 'stop', handlingMs: 0 });
      await world.queue.enqueue(7n);
      await eventually(() => expect(sleeper.answers).toContainEqual({ handling: '7' }));
      const handled: bigint[] = [];
      const other = await world.startWorker(async (pullId) => void handled.push(pullId));
      await eventually(() => expect(handled).toEqual([7n]));
      await world.idle();
      await other.close(1_000);

      sleeper.signal('SIGCONT');
      await eventually(() => expect(sleeper.answers).toContainEqual({ handled: '7' }));
      await world.queue.enqueue(8n);
      await eventually(() => expect(sleeper.answers).toContainEqual({ handled: '8' }));
      await world.idle();
      await expectNoFailure(world);
      expect(await sleeper.close()).toBe(0);
    });
  });

  const whereItCanGoDown = kind.canGoDown ? describe : describe.skip;
  whereItCanGoDown('a server that goes away (skipped where it is not ours to stop)', () => {
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
      await eventually(() => expect(world.logged('the queue is not available')).toHaveLength(1));
      await world.server.goUp();
      await eventually(() => expect(world.logged('the queue is available again')).toHaveLength(1));
      expect(await world.queue.isReachable()).toBe(true);
      await world.queue.enqueue(3n);
      await eventually(() => expect(handled).toEqual([1n, 3n]));
      await world.pushQueue.enqueue(ONLY_JOB);
      await eventually(() => expect(pushes).toBe(1));
      expect(world.logged('the queue is not available')).toHaveLength(1);
    });

    test('a worker whose pull ends meanwhile does not flood it with requests, and continues afterwards', async () => {
      const begun: bigint[] = [];
      await world.startWorker(
        async (pullId) => {
          begun.push(pullId);
          if (pullId === 1n) await sleep(500);
        },
        { lockMs: 30_000 },
      );
      await world.queue.enqueue(1n);
      await world.queue.enqueue(2n);
      await eventually(() => expect(begun).toEqual([1n]));
      await world.server.goDown();
      await sleep(1_000);
      const cpuBefore = process.cpuUsage();
      await sleep(2_000);
      const cpu = process.cpuUsage(cpuBefore);
      // Asking again and again without a pause would keep a core busy all the time.
      expect((cpu.user + cpu.system) / 1_000).toBeLessThan(500);

      await world.server.goUp();
      await eventually(() => world.queue.enqueue(2n));
      await eventually(() => expect(begun).toContain(2n));
      await eventually(() => expect(world.logged('the queue is available again')).toHaveLength(1));
      expect(world.logged('the queue is not available')).toHaveLength(1);
    });

    test('closing does not wait for it', async () => {
      let begun = false;
      const worker = await world.startWorker(async (_pullId, signal) => {
        begun = true;
        await sleep(60_000, undefined, { signal }).catch((cause: unknown) => {
          throw new ShutdownError('interrupted', { cause });
        });
      });
      await world.queue.enqueue(7n);
      await eventually(() => expect(begun).toBe(true));
      await world.server.goDown();
      await sleep(300);
      // Either would have to wait for the server, which comes back only then.
      await worker.close(100);
      await world.closeQueues();
      await world.server.goUp();
    });
  });
});
