import {
  InputError,
  PlatformAuthError,
  StagingUnavailableError,
  StaleFenceError,
} from '../errors.ts';
import { describeError, type Logger } from '../logger.ts';
import type { AttemptOutcome } from '../pull/pull-parts.ts';
import type { AuthGate } from './auth-gate.ts';
import type { Handled, JobHandler } from './job-worker.ts';

export interface PullHandlerParts {
  readonly runPull: (pullId: bigint, signal: AbortSignal) => Promise<AttemptOutcome>;
  readonly gate: AuthGate;
  readonly logger: Logger;
  /** Until a pull whose outcome could not be recorded is looked at again. */
  readonly stagingRetryMs?: number;
}

/** The database needs a moment, and the pull's row still says `running`: the next attempt takes over. */
const STAGING_RETRY_MS = 30_000;

/**
 * The one place where the outcome of an attempt becomes the fate of its job.
 *
 * The returned handler throws ShutdownError where the job is to be handed back, and whatever else is
 * a defect; nothing else.
 */
export function createPullHandler(parts: PullHandlerParts): JobHandler<bigint> {
  const { runPull, gate } = parts;
  return async (pullId, signal, stopping) => {
    const pass = await gate.pass(stopping);
    try {
      const outcome = await runPull(pullId, signal);
      switch (outcome.kind) {
        case 'done':
          gate.accept(pass);
          return undefined;
        case 'failed':
          return undefined;
        case 'retry':
          return { retryInMs: outcome.delayMs };
        case 'unauthorized':
          if (outcome.error instanceof PlatformAuthError) gate.refuse(pass);
          // Comes straight back, and then waits at the gate.
          return { retryInMs: 0 };
      }
    } catch (error) {
      return handleError(parts, error, pullId);
    }
  };
}

function handleError(
  { logger, stagingRetryMs = STAGING_RETRY_MS }: PullHandlerParts,
  error: unknown,
  pullId: bigint,
): Handled {
  const fields = { pullId: String(pullId), err: describeError(error) };
  if (error instanceof StaleFenceError) {
    logger.info(fields, 'another worker has taken the pull over');
    return undefined;
  }
  if (error instanceof InputError) {
    logger.debug(fields, 'nothing left to do for the pull');
    return undefined;
  }
  if (error instanceof StagingUnavailableError) {
    logger.warn({ ...fields, retryInMs: stagingRetryMs }, 'the outcome could not be recorded');
    return { retryInMs: stagingRetryMs };
  }
  throw error;
}
