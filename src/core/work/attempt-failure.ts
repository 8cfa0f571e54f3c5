import { databaseErrorCode, describeDatabaseError } from '../../base/database/database-error.ts';
import {
  ConciliationError,
  DefectError,
  PlatformAuthError,
  PlatformContractError,
  PlatformRateLimitedError,
  RowsLostError,
  ShutdownError,
  StagingUnavailableError,
  StaleFenceError,
  TokenUnusableError,
} from '../../base/runtime/errors.ts';
import { describeError } from '../../base/runtime/logger.ts';
import {
  type Attempt,
  type AttemptFailure,
  discardStaleAttempt,
  FREE_INTERRUPTIONS,
  recordFailure,
} from '../ledger/pull-ledger.sql.ts';
import { readCommittedReport } from '../merge/merge.sql.ts';
import { backoffDelayMs } from '../planner/retry.ts';
import type { AttemptOutcome, PullParts, TransferProgress } from './pull-parts.ts';

/**
 * Contract errors are retried only a few times, because a changed interface does not change back soon. The
 * same holds for responses beyond the limits, which will have the same length the next time.
 */
const CONTRACT_ATTEMPTS = 3;

/**
 * Records the failure of an attempt. The pull is retried, has failed, or is queued as it was before.
 *
 * @throws StaleFenceError when another attempt took the pull over; the rows that this one staged are removed
 * @throws ShutdownError where `error` is one; StagingUnavailableError when nothing could be recorded
 */
export async function endFailedAttempt(
  parts: PullParts,
  attempt: Attempt,
  error: unknown,
  progress: TransferProgress,
): Promise<AttemptOutcome> {
  try {
    if (error instanceof StaleFenceError) throw error;
    return await recordAttemptFailure(parts, attempt, error, progress);
  } catch (end) {
    if (!(end instanceof StaleFenceError)) throw end;
    // Either another attempt has the pull, or this one had committed before it lost its connection.
    const report = await readCommittedReport(parts.database, attempt);
    if (report !== null) return { kind: 'done', report };
    await discardStale(parts, attempt);
    throw end;
  }
}

async function recordAttemptFailure(
  parts: PullParts,
  attempt: Attempt,
  cause: unknown,
  progress: TransferProgress,
): Promise<AttemptOutcome> {
  const error = toKnownError(cause);
  const failure = describeFailure(parts, attempt, error, progress);
  const { retryDelayMs } = failure;
  const state = await recordFailure(parts.database, attempt, failure);
  if (error instanceof ShutdownError) {
    parts.logger.info({ ...describeAttempt(attempt, progress), state }, 'pull handed back');
    throw error;
  }
  parts.logger[state === 'failed' || error instanceof DefectError ? 'error' : 'warn'](
    { ...describeAttempt(attempt, progress), state, retryDelayMs, err: describeError(cause) },
    'pull attempt failed',
  );
  if (error instanceof PlatformAuthError || error instanceof TokenUnusableError) {
    return { kind: 'unauthorized', error };
  }
  return retryDelayMs === null
    ? { kind: 'failed', error }
    : { kind: 'retry', delayMs: retryDelayMs, error };
}

/** The fields of every log line about an attempt. */
export function describeAttempt(attempt: Attempt, progress: TransferProgress) {
  return {
    pullId: String(attempt.pullId),
    origin: attempt.origin,
    date: attempt.date,
    attempt: attempt.attemptsSpent + 1,
    httpStatus: progress.httpStatus,
    bytes: progress.bytesReceived(),
  };
}

/** An error of any other kind becomes a DefectError, whose message is safe to store. */
export function toKnownError(error: unknown): ConciliationError {
  if (error instanceof ConciliationError) return error;
  const what = databaseErrorCode(error) === null ? 'no code' : describeDatabaseError(error);
  return new DefectError(`an error that the program does not know (${what}); see its log`, {
    cause: error,
  });
}

/** The record of a failed attempt. Sets the HTTP status in `progress` to that of the error. */
function describeFailure(
  parts: PullParts,
  attempt: Attempt,
  error: ConciliationError,
  progress: TransferProgress,
): AttemptFailure {
  const statusOfError = error.context['httpStatus'];
  if (typeof statusOfError === 'number') progress.httpStatus = statusOfError;
  const interruptions = interruptionsWith(attempt, error);
  return {
    errorCode: error.code,
    errorMessage: error.message,
    httpStatus: progress.httpStatus,
    responseBytes: progress.bytesReceived(),
    countsAsAttempt: spendsAttempt(error, interruptions),
    interruptions,
    retryDelayMs: retryDelayMs(parts, attempt, error, interruptions),
  };
}

/**
 * SQLSTATEs of work beyond a limit of the server for time (query_canceled, transaction_timeout), memory
 * (out_of_memory) or temporary files (configuration_limit_exceeded).
 */
const BEYOND_LIMITS: ReadonlySet<unknown> = new Set(['57014', '25P04', '53200', '53400']);

/**
 * Returns how many attempts in a row, with this one, the loss of the database has ended. An error that the program
 * does not know may never end, so it counts as if there had been two before.
 */
function interruptionsWith({ interruptions }: Attempt, error: ConciliationError): number {
  if (error instanceof DefectError) return Math.max(interruptions, FREE_INTERRUPTIONS - 1) + 1;
  return error instanceof StagingUnavailableError ? interruptions + 1 : 0;
}

/**
 * Whether the attempt is spent. A stop of the program and a refused token are not faults of the pull, and neither
 * are three losses of the database in a row. A merge beyond a limit of the server, or whose rows are lost, may fail in
 * the same way each time, and without an end of its attempts `pull_failed` would not be raised.
 */
function spendsAttempt(error: ConciliationError, interruptions: number): boolean {
  if (error instanceof RowsLostError) return true;
  if (BEYOND_LIMITS.has(error.context['code'])) return true;
  return interruptions > 0 ? interruptions > FREE_INTERRUPTIONS : !isBlameless(error);
}

/**
 * Whether the pull is not at fault. It is queued as it was before, and another part of the service waits for
 * the cause to end.
 */
function isBlameless(error: unknown): boolean {
  return (
    error instanceof PlatformAuthError ||
    error instanceof TokenUnusableError ||
    error instanceof ShutdownError
  );
}

/** Whether the response was too long or took too long; see `openBody`. */
function isOverLimit(error: ConciliationError): boolean {
  return error.context['limit'] !== undefined;
}

/** Null: no further attempt is made. */
function retryDelayMs(
  { retry, random = Math.random }: PullParts,
  attempt: Attempt,
  error: ConciliationError,
  interruptions: number,
): number | null {
  if (isBlameless(error)) return 0;
  if (!error.retryable) return null;
  const isSpent = spendsAttempt(error, interruptions);
  const attemptsSpent = attempt.attemptsSpent + (isSpent ? 1 : 0);
  const limit =
    error instanceof PlatformContractError || isOverLimit(error)
      ? Math.min(retry.attempts, CONTRACT_ATTEMPTS)
      : retry.attempts;
  if (isSpent && attemptsSpent >= limit) return null;
  return backoffDelayMs(
    retry,
    Math.max(attemptsSpent, interruptions, 1),
    error instanceof PlatformRateLimitedError ? error.retryAfterSeconds : null,
    random(),
  );
}

/** A failure is only logged: the rows that stay are removed later, and the stale attempt has to be reported. */
async function discardStale(parts: PullParts, attempt: Attempt): Promise<void> {
  await discardStaleAttempt(parts.database, attempt).catch((error: unknown) => {
    parts.logger.warn(
      { pullId: String(attempt.pullId), err: describeError(error) },
      'the rows of a stale attempt were not removed',
    );
  });
}
