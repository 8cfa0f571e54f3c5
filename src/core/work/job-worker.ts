import { setMaxListeners } from 'node:events';
import { type Job, WaitingError, Worker } from 'bullmq';
import {
  ConciliationError,
  InputError,
  ShutdownError,
  StaleFenceError,
} from '../../base/runtime/errors.ts';
import { reachFaultPoint } from '../../base/runtime/fault-points.ts';
import type { Logger } from '../../base/runtime/logger.ts';
import { within } from '../../base/runtime/timing.ts';
import { cutConnections, isRefusal, type JobPayload, type JobQueue } from './job-queue.ts';

/** The outcome of a job: done, or to be run again after a delay. */
type Handled = undefined | { readonly retryInMs: number };

/**
 * Does the work of a job: one attempt. Throws ShutdownError when the job has to be returned to the
 * queue. After any other error that leaves work to do, the outcome is not recorded, and the job is retried.
 * @param signal aborts when the worker can wait no longer: the attempt stops immediately
 * @param stopping aborts when the worker begins to stop: the attempt starts nothing new
 */
export type JobHandler = (
  id: bigint,
  signal: AbortSignal,
  stopping: AbortSignal,
) => Promise<Handled>;

export interface JobWorker {
  /**
   * Takes no further jobs and waits for the active ones. After `graceMs` they are interrupted and returned to
   * the queue. Does not wait for a queue that is not available. May be called more than once.
   */
  close(graceMs: number): Promise<void>;
}

export interface JobWorkerOptions {
  readonly queue: JobQueue;
  /** The greatest number of concurrent jobs. */
  readonly concurrency: number;
  readonly handle: JobHandler;
  readonly logger: Logger;
  /** Is told which jobs cannot record an outcome. */
  readonly unrecorded?: UnrecordedJobs;
  /**
   * How long a silent worker keeps a job, in milliseconds. Another worker gets the job within three
   * times that time.
   */
  readonly lockMs?: number;
  /** Delay after the first outcome in a row that could not be recorded, in milliseconds. */
  readonly stagingRetryMs?: number;
}

const LOCK_MS = 30_000;

/** After this delay the next attempt takes over the row, which still has the state `running`. The delay doubles. */
const STAGING_RETRY_MS = 30_000;
/** Shorter than the five minutes after which every due day is done when a fault has ended. */
const MAX_STAGING_RETRY_MS = 4 * 60_000;

/**
 * BullMQ fails a job that stalled more often than this. A job is a wake-up and must survive any
 * number of crashed workers.
 */
const ANY_NUMBER_OF_STALLS = 2 ** 31 - 1;

const OPENING_TIMEOUT_MS = 20_000;
/** An interrupted attempt has only to record its end. */
const INTERRUPTION_MS = 10_000;
/** After this time the close does not wait for the queue: the locks expire there. */
const FAREWELL_MS = 2_000;
const RETRY_DELAY_MS = 1_000;

type Fate = Handled | 'hand back';

/** The jobs of a process whose newest attempts could not record an outcome. */
export class UnrecordedJobs {
  readonly #jobs = new Map<string, { sinceMs: number; attempts: number }>();

  /** @returns how many attempts in a row have recorded no outcome */
  add(job: string): number {
    const failed = this.#jobs.get(job) ?? { sinceMs: performance.now(), attempts: 0 };
    failed.attempts += 1;
    this.#jobs.set(job, failed);
    return failed.attempts;
  }

  delete(job: string): void {
    this.#jobs.delete(job);
  }

  /** Whether one of the jobs has recorded no outcome for so long. */
  areOlderThan(ms: number): boolean {
    return [...this.#jobs.values()].some(({ sinceMs }) => performance.now() - sinceMs >= ms);
  }
}

/**
 * Starts taking jobs. If the queue becomes unavailable later, the worker waits for it.
 * @throws StagingUnavailableError when the queue is no longer available
 */
export async function startJobWorker(options: JobWorkerOptions): Promise<JobWorker> {
  const { queue, handle, logger, lockMs = LOCK_MS, stagingRetryMs = STAGING_RETRY_MS } = options;
  const { unrecorded = new UnrecordedJobs() } = options;
  const stopping = new AbortController();
  const interruption = new AbortController();
  // Every running pull adds several listeners. Node warns of a leak above ten.
  setMaxListeners(0, interruption.signal, stopping.signal);
  const inHand = new Set<Promise<Fate>>();

  async function attempt({ id }: JobPayload): Promise<Fate> {
    // The job was already fetched when the worker began to stop.
    if (stopping.signal.aborted) return 'hand back';
    const job = `${queue.kind} ${id}`;
    try {
      const handled = await handle(BigInt(id), interruption.signal, stopping.signal);
      unrecorded.delete(job);
      return handled;
    } catch (error) {
      if (error instanceof ShutdownError) return 'hand back';
      const fields = { [`${queue.kind}Id`]: id, err: error };
      if (error instanceof StaleFenceError || error instanceof InputError) {
        unrecorded.delete(job);
        const isStale = error instanceof StaleFenceError;
        logger[isStale ? 'info' : 'debug'](
          fields,
          isStale
            ? `another worker has taken the ${queue.kind} over`
            : 'nothing left to do for a job',
        );
        return undefined;
      }
      const retryInMs = Math.min(
        stagingRetryMs * 2 ** (unrecorded.add(job) - 1),
        MAX_STAGING_RETRY_MS,
      );
      if (error instanceof ConciliationError) {
        logger.warn({ ...fields, retryInMs }, 'the outcome could not be recorded');
      } else logger.error({ ...fields, retryInMs }, 'defect in a job; it is tried again');
      return { retryInMs };
    }
  }

  async function processJob(job: Job<JobPayload, void>, token: string | undefined): Promise<void> {
    const attempted = attempt(job.data);
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
    queue.bullQueue.name,
    processJob,
    {
      connection: queue.backend.connectionFor('worker'),
      concurrency: options.concurrency,
      lockDuration: lockMs,
      stalledInterval: lockMs,
      maxStalledCount: ANY_NUMBER_OF_STALLS,
      runRetryDelay: RETRY_DELAY_MS,
      autorun: false,
    },
    queue.backend.factory,
  );
  let pause: NodeJS.Timeout | undefined;
  worker.on('error', (error) => {
    if (stopping.signal.aborted || isRefusal(error) || LOCK_LOST.test(error.message)) return;
    queue.onError(error);
    // If the server refuses every command immediately, BullMQ would retry without a pause.
    void worker.pause(true);
    pause ??= setTimeout(() => {
      pause = undefined;
      void worker.resume();
    }, RETRY_DELAY_MS);
  });
  worker.on('lockRenewalFailed', (jobIds) => {
    logger.debug({ jobIds }, 'another worker may have these jobs by now');
  });
  worker.on('stalled', (jobId) => {
    logger.warn(
      { jobId },
      'the lock of a job has run out, as when its worker is silent; the job is handed out again',
    );
  });
  async function end(graceMs: number): Promise<void> {
    stopping.abort();
    clearTimeout(pause);
    const farewell = worker.close();
    farewell.catch(() => {});
    if (!(await endInTime(inHand, graceMs))) {
      const fields = { queue: queue.bullQueue.name, jobs: inHand.size };
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
    logger.error({ err: error }, 'the worker has stopped');
  });
  return { close };
}

const LOCK_LOST = /^could not renew lock/;

/** Tells the queue the outcome of the job. A normal return means done. */
async function settle(
  job: Job<JobPayload, void>,
  token: string | undefined,
  fate: Fate,
  logger: Logger,
): Promise<void> {
  if (fate === undefined) return;
  try {
    if (fate === 'hand back') await job.moveToWait(token);
    else await job.moveToDelayed(Date.now() + fate.retryInMs, token);
  } catch (error) {
    // Either another worker has the job, or its lock expires and the job is handed out again.
    const fields = { ...job.data, err: error };
    if (!isRefusal(error)) logger.warn(fields, 'the job could not be put back');
  }
  // BullMQ's signal that the job was moved.
  throw new WaitingError();
}

async function endInTime(inHand: ReadonlySet<Promise<unknown>>, timeoutMs: number) {
  return within(timeoutMs, Promise.allSettled(inHand)).then(
    () => true,
    () => false,
  );
}
