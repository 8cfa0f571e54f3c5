import { within } from './within.ts';

/**
 * Makes `work` cheap to ask for. Callers that ask during a run share the run. Its outcome, also a failure,
 * is returned to further callers for `keepMs` after the run ended. A run that takes longer than `timeoutMs`
 * goes on without its callers; no second run starts beside it.
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
    return within(limits.timeoutMs, current);
  };
}
