import { once } from 'node:events';
import { expect } from 'vitest';
import { openQueues } from '../../../src/core/work/job-queue.ts';
import {
  type JobWorker,
  type JobWorkerOptions,
  startJobWorker,
} from '../../../src/core/work/job-worker.ts';
import { recordingLogger } from '../../support/logger.ts';
import { eventually } from '../../support/service-world.ts';
import type { QueueServerKind } from './queue-servers.ts';

/** Short, so that a test may wait for it to expire. */
const LOCK_MS = 1_000;

export async function aborted(signal: AbortSignal): Promise<undefined> {
  if (!signal.aborted) await once(signal, 'abort');
}

type Handle = JobWorkerOptions['handle'];

/** A queue on a separate server, and the workers that a test starts. */
export type QueueWorld = Awaited<ReturnType<typeof openQueueWorld>>;

export async function openQueueWorld(kind: QueueServerKind) {
  const server = await kind.start();
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
