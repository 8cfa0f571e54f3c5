import { setTimeout as sleep } from 'node:timers/promises';

export class OverdueError extends Error {
  override readonly name = 'OverdueError';
}

/**
 * `work` for callers who come often and must not wait long. All who come while it runs share that
 * run, and its outcome, good or bad, serves for `keepMs` after it ended. A run that overstays goes on
 * without its callers, and no second one starts beside it: work that hangs is asked for once, not
 * once a probe.
 *
 * @returns a function that rejects with an OverdueError after `timeoutMs`, else as `work` does
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
    const timer = new AbortController();
    const overdue = sleep(limits.timeoutMs, undefined, { signal: timer.signal, ref: false }).then(
      () => {
        throw new OverdueError('overdue');
      },
    );
    try {
      return await Promise.race([current, overdue]);
    } finally {
      timer.abort();
      overdue.catch(() => {});
    }
  };
}
