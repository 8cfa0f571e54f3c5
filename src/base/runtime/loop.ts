export interface Loop {
  /** Starts `run` now. During a run, any number of calls cause one more run after it. */
  notify(): void;
  /** Begins no further run. Resolves when the current run has ended. */
  stop(): Promise<void>;
}

/**
 * Calls `run` now, after each interval, and after each `notify`, which begins a new interval. Two runs never
 * overlap: an interval that ends during a run is skipped.
 *
 * @param everyMs the interval in milliseconds. Without it, `run` is called after `notify` only
 * @param run must not reject
 */
export function loop({
  everyMs,
  run,
}: {
  readonly everyMs?: number;
  readonly run: () => Promise<unknown>;
}): Loop {
  let underWay: Promise<void> | undefined;
  let isWanted = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  const work = async () => {
    do {
      isWanted = false;
      await run();
    } while (isWanted && !isStopped);
    underWay = undefined;
  };
  const begin = () => {
    if (!isStopped) underWay ??= work();
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
      isStopped = true;
      clearTimeout(timer);
      await underWay;
    },
  };
}
