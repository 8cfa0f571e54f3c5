import { StagingUnavailableError } from './errors.ts';
import { describeError, type Logger } from './logger.ts';

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

  const runAndTell = async () => {
    try {
      await run(signal);
    } catch (error) {
      if (failure === undefined) throw error;
      if (signal.aborted) return;
      const level = error instanceof StagingUnavailableError ? 'warn' : 'error';
      failure.logger[level]({ err: describeError(error) }, failure.message);
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
