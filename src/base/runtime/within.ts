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
