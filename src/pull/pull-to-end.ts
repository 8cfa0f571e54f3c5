import { setTimeout as sleep } from 'node:timers/promises';
import { ShutdownError, TokenUnusableError } from '../errors.ts';
import { cancelPull } from '../staging/pull-ledger.ts';
import type { AttemptOutcome, PullParts } from './pull-parts.ts';
import { runPull } from './run-pull.ts';

type EndOutcome = Exclude<AttemptOutcome, { kind: 'retry' }>;

/**
 * Makes attempts at a pull, with the waits between them, until it has ended: what a person in front
 * of a terminal waits for. When the person gives up, or the platform refuses the token, the pull is
 * cancelled: nobody else knows of it.
 *
 * @param onRetry called before each wait
 * @throws ShutdownError when `signal` aborted; TokenUnusableError when there is no usable token
 */
export async function pullToEnd(
  parts: PullParts,
  pullId: bigint,
  signal: AbortSignal,
  onRetry: (outcome: Extract<AttemptOutcome, { kind: 'retry' }>) => void,
): Promise<EndOutcome> {
  try {
    for (;;) {
      const outcome = await runPull(parts, pullId, signal);
      if (outcome.kind === 'unauthorized') {
        await cancelPull(parts.database, pullId);
        if (outcome.error instanceof TokenUnusableError) throw outcome.error;
      }
      if (outcome.kind !== 'retry') return outcome;
      onRetry(outcome);
      await sleep(outcome.delayMs, undefined, { signal }).catch((cause: unknown) => {
        throw new ShutdownError('stopped while waiting for the next attempt', { cause });
      });
    }
  } catch (error) {
    if (error instanceof ShutdownError) await cancelPull(parts.database, pullId);
    throw error;
  }
}
