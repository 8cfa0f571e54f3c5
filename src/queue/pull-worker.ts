import { setMaxListeners } from 'node:events';
import { type Job, UnrecoverableError, WaitingError, Worker } from 'bullmq';
import { ShutdownError } from '../errors.ts';
import { describeError, type Logger } from '../logger.ts';
import type { Handled, PullHandler } from './pull-handler.ts';
import { isRefusal, type PullJob, QUEUE_NAME } from './pull-job.ts';
import type { OpenPullQueue } from './pull-queue.ts';
import { cutConnections } from './queue-backend.ts';
import { queueTelemetry } from './telemetry.ts';
import { within } from './within.ts';

export interface PullWorker {
  /**
   * Takes no further jobs and waits for those in hand; after `graceMs` they are interrupted and handed
   * back for whoever comes next. Does not wait for a queue that is away. May be called more than once.
   */
  close(graceMs: number): Promise<void>;
}

export interface PullWorkerOptions {
  readonly queue: OpenPullQueue;
  /** Most pulls at once. */
  readonly concurrency: number;
  readonly handle: PullHandler;
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
export async function startPullWorker(options: PullWorkerOptions): Promise<PullWorker> {
  const { queue, handle, logger, lockMs = LOCK_MS } = options;
  const stopping = new AbortController();
  const interruption = new AbortController();
  // Every pull under way listens, several times over; Node would take more than ten for a leak.
  setMaxListeners(0, interruption.signal);
  const inHand = new Set<Promise<Fate>>();

  async function attempt(job: Job<PullJob, void>): Promise<Fate> {
    // It was on its way already when the worker was told to stop.
    if (stopping.signal.aborted) return 'hand back';
    try {
      return await handle(BigInt(job.data.pullId), interruption.signal, stopping.signal);
    } catch (error) {
      if (error instanceof ShutdownError) return 'hand back';
      const fields = { pullId: job.data.pullId, err: describeError(error) };
      logger.error(fields, 'defect while pulling; the pull is left alone for now');
      return 'defect';
    }
  }

  async function processJob(job: Job<PullJob, void>, token: string | undefined): Promise<void> {
    const attempted = attempt(job);
    inHand.add(attempted);
    try {
      await settle(job, token, await attempted, logger);
    } finally {
      inHand.delete(attempted);
    }
  }

  const worker = new Worker<PullJob, void>(
    QUEUE_NAME,
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
      logger.info({ pulls: inHand.size }, 'interrupting pulls in order to stop');
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
  job: Job<PullJob, void>,
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
    const fields = { pullId: job.data.pullId, err: describeError(error) };
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
