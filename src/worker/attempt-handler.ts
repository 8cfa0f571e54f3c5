import type { AttemptOutcome } from '../pull/pull-parts.ts';
import {
  InputError,
  PlatformAuthError,
  StagingUnavailableError,
  StaleFenceError,
} from '../runtime/errors.ts';
import { describeError, type Logger } from '../runtime/logger.ts';
import type { AuthGate } from './auth-gate.ts';
import type { Handled, JobHandler } from './job-worker.ts';

export interface AttemptHandlerParts {
  /** What the ids are of, for the log. */
  readonly subject: 'pull' | 'sweep';
  readonly attempt: (id: bigint, signal: AbortSignal) => Promise<AttemptOutcome<unknown>>;
  readonly gate: AuthGate;
  readonly logger: Logger;
  /** Until a pull or sweep whose outcome could not be recorded is looked at again. */
  readonly stagingRetryMs?: number;
}

/** The database needs a moment, and the row still says `running`: the next attempt takes over. */
const STAGING_RETRY_MS = 30_000;

/**
 * The one place where the outcome of an attempt at a pull or a sweep becomes the fate of its job.
 *
 * The returned handler throws ShutdownError where the job is to be handed back, and whatever else is
 * a defect; nothing else.
 */
export function createAttemptHandler(parts: AttemptHandlerParts): JobHandler<bigint> {
  const { attempt, gate } = parts;
  return async (id, signal, stopping) => {
    const pass = await gate.pass(stopping);
    try {
      const outcome = await attempt(id, signal);
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
      return handleError(parts, error, id);
    }
  };
}

function handleError(
  { subject, logger, stagingRetryMs = STAGING_RETRY_MS }: AttemptHandlerParts,
  error: unknown,
  id: bigint,
): Handled {
  const fields = { [`${subject}Id`]: String(id), err: describeError(error) };
  if (error instanceof StaleFenceError) {
    logger.info(fields, `another worker has taken the ${subject} over`);
    return undefined;
  }
  if (error instanceof InputError) {
    logger.debug(fields, `nothing left to do for the ${subject}`);
    return undefined;
  }
  if (error instanceof StagingUnavailableError) {
    logger.warn({ ...fields, retryInMs: stagingRetryMs }, 'the outcome could not be recorded');
    return { retryInMs: stagingRetryMs };
  }
  throw error;
}
