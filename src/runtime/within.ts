export class OverdueError extends Error {
  override readonly name = 'OverdueError';
}

/**
 * Resolves or rejects as `work` does. `work` goes on after the time is over, and its outcome is ignored.
 *
 * @throws OverdueError when `work` takes longer than `timeoutMs`
 */
export function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  // Not AbortSignal.timeout: Node may collect such a signal before it fires.
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new OverdueError(`no answer within ${timeoutMs} ms`)),
      timeoutMs,
    );
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
