import { StagingUnavailableError } from './errors.ts';
import type { Logger } from './logger.ts';

export class OverdueError extends Error {
  override readonly name = 'OverdueError';
}

/**
 * Settles as `work` does. After the timeout, or once `signal` is aborted, `work` continues and its outcome is ignored.
 * @throws OverdueError when `work` takes longer than `timeoutMs`; the reason of the signal
 */
export function within<T>(timeoutMs: number, work: Promise<T>, signal?: AbortSignal): Promise<T> {
  // Not AbortSignal.timeout: Node may collect such a signal before it fires.
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new OverdueError(`no answer within ${timeoutMs} ms`)),
      timeoutMs,
    );
    const stop = () => reject(signal?.reason);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    });
  });
}

/**
 * Limits how often and how long `work` runs. Calls during a run share that run. Its outcome, including a
 * failure, is returned to further calls for `keepMs` after the run. A run that takes longer than `timeoutMs`
 * continues without its callers; no second run starts beside it.
 * @returns a function that rejects with an OverdueError after `timeoutMs`, otherwise settles as `work` does
 */
export function boundedRun<T>(
  work: () => Promise<T>,
  limits: { readonly timeoutMs: number; readonly keepMs: number },
): () => Promise<T> {
  let current: Promise<T> | null = null;
  let expiresAtMs = Number.POSITIVE_INFINITY;

  const start = (): Promise<T> => {
    expiresAtMs = Number.POSITIVE_INFINITY;
    const run = work();
    const settle = () => {
      expiresAtMs = performance.now() + limits.keepMs;
    };
    run.then(settle, settle);
    return run;
  };

  return async () => {
    if (current === null || performance.now() >= expiresAtMs) current = start();
    return within(limits.timeoutMs, current);
  };
}

export interface Loop {
  /** Starts `run` now. During a run, any number of calls cause one more run after it. */
  notify(): void;
  /** Begins no further run, and aborts the signal of the current one. Resolves when that has ended. */
  stop(): Promise<void>;
}

/**
 * Calls `run` now, after each interval, and after each `notify`, which begins a new interval. Two runs never
 * overlap: an interval that ends during a run is skipped.
 *
 * @param everyMs the interval in milliseconds. Without it, `run` is called after `notify` only
 * @param run must not reject without `failure`
 * @param failure logs that a run has failed, and that the next may succeed where the database was not available; a run
 *   that was stopped has not failed
 */
export function loop({
  everyMs,
  run,
  failure,
}: {
  readonly everyMs?: number;
  readonly run: (signal: AbortSignal) => Promise<unknown>;
  readonly failure?: { readonly logger: Logger; readonly message: string };
}): Loop {
  const abort = new AbortController();
  const { signal } = abort;
  let underWay: Promise<void> | undefined;
  let isWanted = false;
  let timer: NodeJS.Timeout | undefined;

  let isOut = false;

  const runAndTell = async () => {
    try {
      await run(signal);
      isOut = false;
    } catch (error) {
      if (failure === undefined) throw error;
      if (signal.aborted) return;
      // An outage lasts for many runs.
      const isOutage = error instanceof StagingUnavailableError;
      const level = isOutage ? (isOut ? 'debug' : 'warn') : 'error';
      isOut = isOutage;
      failure.logger[level]({ err: error }, failure.message);
    }
  };
  const work = async () => {
    do {
      isWanted = false;
      await runAndTell();
    } while (isWanted && !signal.aborted);
    underWay = undefined;
  };
  const begin = () => {
    if (!signal.aborted) underWay ??= work();
  };
  const tick = () => {
    timer = setTimeout(tick, everyMs);
    begin();
  };
  if (everyMs !== undefined) tick();
  return {
    notify() {
      timer?.refresh();
      isWanted = true;
      begin();
    },
    async stop() {
      abort.abort();
      clearTimeout(timer);
      await underWay;
    },
  };
}
