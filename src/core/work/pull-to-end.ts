import { setTimeout as sleep } from 'node:timers/promises';
import { ShutdownError, TokenUnusableError } from '../../base/runtime/errors.ts';
import { cancelPull } from '../ledger/pull-ledger.sql.ts';
import type { AttemptOutcome, PullParts } from './pull-parts.ts';
import { runPull } from './run-pull.ts';

type EndOutcome = Exclude<AttemptOutcome, { kind: 'retry' }>;
type RetryOutcome = Extract<AttemptOutcome, { kind: 'retry' }>;

/**
 * Makes attempts, with waits between them, until the pull has ended, for a command that a person waits for.
 * When the person stops the command, or the platform refuses the token, the pull is cancelled, because no
 * other process continues it.
 *
 * @param onRetry called before each wait
 * @throws ShutdownError when `signal` aborted; TokenUnusableError when there is no usable token
 */
export async function pullToEnd(
  parts: PullParts,
  pullId: bigint,
  signal: AbortSignal,
  onRetry: (outcome: RetryOutcome) => void,
): Promise<EndOutcome> {
  const cancel = () => cancelPull(parts.database, pullId);
  try {
    for (;;) {
      const outcome = await runPull(parts, pullId, signal);
      if (outcome.kind === 'unauthorized') {
        await cancel();
        if (outcome.error instanceof TokenUnusableError) throw outcome.error;
      }
      if (outcome.kind !== 'retry') return outcome;
      onRetry(outcome);
      await sleep(outcome.delayMs, undefined, { signal }).catch((cause: unknown) => {
        throw new ShutdownError('stopped while waiting for the next attempt', { cause });
      });
    }
  } catch (error) {
    if (error instanceof ShutdownError) await cancel();
    throw error;
  }
}
