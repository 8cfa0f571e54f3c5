import { setTimeout as sleep } from 'node:timers/promises';
import { cancelPull } from '../ledger/pull-ledger.sql.ts';
import { ShutdownError, TokenUnusableError } from '../runtime/errors.ts';
import type { PullReport } from './merge/merge.sql.ts';
import type { AttemptOutcome, PullParts } from './pull-parts.ts';
import { runPull } from './run-pull.ts';

type EndOutcome<Report> = Exclude<AttemptOutcome<Report>, { kind: 'retry' }>;
type RetryOutcome = Extract<AttemptOutcome, { kind: 'retry' }>;

/**
 * Makes attempts, with waits between them, until the work has ended, for a command that a person waits for.
 * When the person stops the command, or the platform refuses the token, the work is cancelled, because no
 * other process continues it.
 *
 * @param onRetry called before each wait
 * @throws ShutdownError when `signal` aborted; TokenUnusableError when there is no usable token
 */
export async function attemptToEnd<Report>(
  work: {
    readonly attempt: () => Promise<AttemptOutcome<Report>>;
    readonly cancel: () => Promise<void>;
  },
  signal: AbortSignal,
  onRetry: (outcome: RetryOutcome) => void,
): Promise<EndOutcome<Report>> {
  try {
    for (;;) {
      const outcome = await work.attempt();
      if (outcome.kind === 'unauthorized') {
        await work.cancel();
        if (outcome.error instanceof TokenUnusableError) throw outcome.error;
      }
      if (outcome.kind !== 'retry') return outcome;
      onRetry(outcome);
      await sleep(outcome.delayMs, undefined, { signal }).catch((cause: unknown) => {
        throw new ShutdownError('stopped while waiting for the next attempt', { cause });
      });
    }
  } catch (error) {
    if (error instanceof ShutdownError) await work.cancel();
    throw error;
  }
}

/** `attemptToEnd` for a pull. */
export function pullToEnd(
  parts: PullParts,
  pullId: bigint,
  signal: AbortSignal,
  onRetry: (outcome: RetryOutcome) => void,
): Promise<EndOutcome<PullReport>> {
  return attemptToEnd(
    {
      attempt: () => runPull(parts, pullId, signal),
      cancel: () => cancelPull(parts.database, pullId),
    },
    signal,
    onRetry,
  );
}
