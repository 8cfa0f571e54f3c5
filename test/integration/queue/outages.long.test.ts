import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ShutdownError, StagingUnavailableError } from '../../../src/base/runtime/errors.ts';
import { ONLY_JOB } from '../../../src/core/work/job-queue.ts';
import { forTest } from '../../support/for-tests.ts';
import { eventually } from '../../support/service-world.ts';
import { describeOnEachServer } from './queue-servers.ts';
import { openQueueWorld } from './queue-world.ts';

// test/faults kills and stops workers in each step of a pull, on either queue.
describeOnEachServer('a queue that loses its server', (kind) => {
  const world = forTest(() => openQueueWorld(kind));

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
