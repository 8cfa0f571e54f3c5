export class OverdueError extends Error {
  override readonly name = 'OverdueError';
}

/**
 * Settles as `work` does. After the timeout, `work` continues and its outcome is ignored.
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
