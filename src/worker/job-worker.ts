import { setMaxListeners } from 'node:events';
import { type Job, UnrecoverableError, WaitingError, Worker } from 'bullmq';
import { isRefusal, type JobPayload } from '../queue/job-kind.ts';
import type { OpenJobQueue } from '../queue/job-queue.ts';
import { cutConnections } from '../queue/queue-backend.ts';
import { queueTelemetry } from '../queue/telemetry.ts';
import { ShutdownError } from '../runtime/errors.ts';
import { reachFaultPoint } from '../runtime/fault-points.ts';
import { describeError, type Logger } from '../runtime/logger.ts';
import { within } from '../runtime/within.ts';

/** What becomes of the job: nothing, it is done with; or its key is to be looked at again. */
export type Handled = undefined | { readonly retryInMs: number };

/**
 * Does what a job asks for: one attempt. Throws ShutdownError where the job is to be handed back;
 * whatever else it throws is a defect.
 *
 * @param signal aborts when the worker can wait no longer: whatever is under way is given up
 * @param stopping aborts as soon as the worker is told to stop: nothing new is begun
 */
export type JobHandler<Key> = (
  key: Key,
  signal: AbortSignal,
  stopping: AbortSignal,
) => Promise<Handled>;

export interface JobWorker {
  /**
   * Takes no further jobs and waits for those in hand; after `graceMs` they are interrupted and handed
   * back for whoever comes next. Does not wait for a queue that is away. May be called more than once.
   */
  close(graceMs: number): Promise<void>;
}

export interface JobWorkerOptions<Key> {
  readonly queue: OpenJobQueue<Key>;
  /** Most jobs at once. */
  readonly concurrency: number;
  readonly handle: JobHandler<Key>;
  readonly logger: Logger;
  /** How long a worker that went silent keeps a job; within thrice that time another has it. */
  readonly lockMs?: number;
}

const LOCK_MS = 30_000;

/**
 * BullMQ fails a job that stalled too often, whatever else it was told. A job of ours is a wake-up and
 * must outlive every worker that dies over it.
 */
const ANY_NUMBER_OF_STALLS = 2 ** 31 - 1;

const OPENING_TIMEOUT_MS = 20_000;
/** Once interrupted, an attempt has only its end to record. */
const INTERRUPTION_MS = 10_000;
/** What the queue is not told by then, it finds out by itself: the locks expire. */
const FAREWELL_MS = 2_000;
const RETRY_DELAY_MS = 1_000;

/** Kept in the queue, where it may be read by whoever may not read the log. */
const DEFECT = 'a defect of the program; its log tells where';

type Fate = Handled | 'hand back' | 'defect';

/**
 * Starts taking jobs. When the queue goes away later, the worker waits until it is back.
 *
 * @throws StagingUnavailableError when the queue has gone since it was opened
 */
export async function startJobWorker<Key>(options: JobWorkerOptions<Key>): Promise<JobWorker> {
  const { queue, handle, logger, lockMs = LOCK_MS } = options;
  const stopping = new AbortController();
  const interruption = new AbortController();
  // Every pull under way listens, several times over; Node would take more than ten for a leak.
  setMaxListeners(0, interruption.signal, stopping.signal);
  const inHand = new Set<Promise<Fate>>();

  async function attempt(job: Job<JobPayload, void>): Promise<Fate> {
    // It was on its way already when the worker was told to stop.
    if (stopping.signal.aborted) return 'hand back';
    try {
      return await handle(queue.kind.toKey(job.data), interruption.signal, stopping.signal);
    } catch (error) {
      if (error instanceof ShutdownError) return 'hand back';
      const fields = { queue: queue.kind.queueName, ...job.data, err: describeError(error) };
      logger.error(fields, 'defect in a job; it is left alone for an hour');
      return 'defect';
    }
  }

  async function processJob(job: Job<JobPayload, void>, token: string | undefined): Promise<void> {
    const attempted = attempt(job);
    inHand.add(attempted);
    try {
      const fate = await attempted;
      reachFaultPoint('before-acknowledge');
      await settle(job, token, fate, logger);
    } finally {
      inHand.delete(attempted);
    }
  }

  const worker = new Worker<JobPayload, void>(
    queue.kind.queueName,
    processJob,
    {
      connection: queue.backend.connectionFor('worker'),
      skipVersionCheck: queue.backend.skipVersionCheck,
      concurrency: options.concurrency,
      lockDuration: lockMs,
      stalledInterval: lockMs,
      maxStalledCount: ANY_NUMBER_OF_STALLS,
      runRetryDelay: RETRY_DELAY_MS,
      autorun: false,
      ...queueTelemetry(),
    },
    queue.backend.factory,
  );
  worker.on('error', (error) => {
    if (!isRefusal(error) && !LOCK_LOST.test(error.message)) queue.outages.onError(error);
  });
  worker.on('lockRenewalFailed', (jobIds) => {
    logger.debug({ jobIds }, 'another worker may have these jobs by now');
  });
  worker.on('stalled', (jobId) => {
    logger.warn({ jobId }, 'a worker went silent; its job is handed out again');
  });
  // While the server refuses every connection at once, BullMQ would ask it again without a pause.
  const unfollow = queue.outages.follow({
    onAway: () => void worker.pause(true),
    onBack: () => void worker.resume(),
  });

  async function end(graceMs: number): Promise<void> {
    unfollow();
    stopping.abort();
    const farewell = worker.close();
    farewell.catch(() => {});
    if (!(await endInTime(inHand, graceMs))) {
      const fields = { queue: queue.kind.queueName, jobs: inHand.size };
      logger.info(fields, 'interrupting jobs in order to stop');
      interruption.abort(new ShutdownError('the worker stops'));
      await endInTime(inHand, INTERRUPTION_MS);
    }
    await within(FAREWELL_MS, farewell).catch(() => {});
    await cutConnections(worker);
  }
  let closing: Promise<void> | undefined;
  const close = (graceMs: number) => {
    closing ??= end(graceMs);
    return closing;
  };

  try {
    await within(OPENING_TIMEOUT_MS, worker.waitUntilReady());
  } catch (error) {
    await close(0);
    throw queue.backend.toOpeningError(error);
  }
  worker.run().catch((error: unknown) => {
    logger.error({ err: describeError(error) }, 'the worker has stopped');
  });
  return { close };
}

const LOCK_LOST = /^could not renew lock/;

/** Tells the queue what is to become of the job; returning tells BullMQ that it is done with. */
async function settle(
  job: Job<JobPayload, void>,
  token: string | undefined,
  fate: Fate,
  logger: Logger,
): Promise<void> {
  if (fate === undefined) return;
  if (fate === 'defect') throw new UnrecoverableError(DEFECT);
  try {
    if (fate === 'hand back') await job.moveToWait(token);
    else await job.moveToDelayed(Date.now() + fate.retryInMs, token);
  } catch (error) {
    // Either the job is another worker's by now, or its lock will expire: it is handed out again.
    const fields = { ...job.data, err: describeError(error) };
    if (!isRefusal(error)) logger.warn(fields, 'the job could not be put back');
  }
  // BullMQ's way of saying that the job was seen to.
  throw new WaitingError();
}

async function endInTime(inHand: ReadonlySet<Promise<unknown>>, timeoutMs: number) {
  return within(timeoutMs, Promise.allSettled(inHand)).then(
    () => true,
    () => false,
  );
}
