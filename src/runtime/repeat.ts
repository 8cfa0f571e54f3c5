/**
 * Does work at once and then at intervals, never twice at a time.
 *
 * @param work does not fail
 * @returns what ends it: no further work begins, and what is under way is waited for
 */
export function repeat(intervalMs: number, work: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | undefined;
  const start = () => {
    underWay ??= work().finally(() => {
      underWay = undefined;
    });
  };
  const timer = setInterval(start, intervalMs);
  start();
  return async () => {
    clearInterval(timer);
    await underWay;
  };
}
