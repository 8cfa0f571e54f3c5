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
  /** The type of work that the ids identify, for the log. */
  readonly subject: 'pull' | 'sweep';
  readonly attempt: (id: bigint, signal: AbortSignal) => Promise<AttemptOutcome<unknown>>;
  readonly gate: AuthGate;
  readonly logger: Logger;
  /** Delay after an outcome that could not be recorded, in milliseconds. */
  readonly stagingRetryMs?: number;
}

/** After this delay the next attempt takes over the row, which still has the state `running`. */
const STAGING_RETRY_MS = 30_000;

/**
 * Translates the outcome of an attempt at a pull or a sweep into the outcome of its job. The
 * returned handler throws ShutdownError when the job has to be returned to the queue. Any other
 * error is a defect of the program.
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
          // The job returns immediately and then waits at the gate.
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
