import { backoffDelayMs } from '../domain/plan/retry.ts';
import {
  type Attempt,
  type AttemptFailure,
  discardStaleAttempt,
  recordFailure,
} from '../ledger/pull-ledger.sql.ts';
import {
  ConciliationError,
  PlatformAuthError,
  PlatformContractError,
  PlatformRateLimitedError,
  RowsLostError,
  ShutdownError,
  StagingUnavailableError,
  StaleFenceError,
  TokenUnusableError,
} from '../runtime/errors.ts';
import { describeError } from '../runtime/logger.ts';
import { describeAttempt } from './attempt-log.ts';
import { readCommittedReport } from './committed-report.sql.ts';
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
 * @throws `error` itself if `error` is not a ConciliationError
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
  error: unknown,
  progress: TransferProgress,
): Promise<AttemptOutcome> {
  const failure = describeFailure(parts, attempt, error, progress);
  const state = await recordFailure(parts.database, attempt, failure);
  if (error instanceof ShutdownError) {
    parts.logger.info({ ...describeAttempt(attempt, progress), state }, 'pull handed back');
    throw error;
  }
  parts.logger[state === 'failed' ? 'error' : 'warn'](
    {
      ...describeAttempt(attempt, progress),
      state,
      retryDelayMs: failure.retryDelayMs,
      err: describeError(error),
    },
    'pull attempt failed',
  );
  return toOutcome(error, failure.retryDelayMs);
}

/**
 * The record of a failed attempt at a pull or a sweep. Sets the HTTP status in `progress` to that of the
 * error.
 */
export function describeFailure(
  parts: RetryParts,
  attempt: { readonly attemptsSpent: number },
  error: unknown,
  progress: TransferProgress,
): AttemptFailure {
  const known = error instanceof ConciliationError;
  const statusOfError = known ? error.context['httpStatus'] : null;
  if (typeof statusOfError === 'number') progress.httpStatus = statusOfError;
  return {
    errorCode: known ? error.code : 'DEFECT',
    errorMessage: known ? error.message : 'a defect of the program; see its log',
    httpStatus: progress.httpStatus,
    responseBytes: progress.bytesReceived(),
    countsAsAttempt: spendsAttempt(error),
    retryDelayMs: known ? retryDelayMs(parts, attempt, error) : null,
  };
}

/** @throws `error` itself if `error` is not a ConciliationError */
export function toOutcome(
  error: unknown,
  delayMs: number | null,
): Exclude<AttemptOutcome, { kind: 'done' }> {
  if (!(error instanceof ConciliationError)) throw error;
  if (error instanceof PlatformAuthError || error instanceof TokenUnusableError) {
    return { kind: 'unauthorized', error };
  }
  return delayMs === null ? { kind: 'failed', error } : { kind: 'retry', delayMs, error };
}

/**
 * SQLSTATEs of work beyond a limit of the server for time (query_canceled, transaction_timeout), memory
 * (out_of_memory) or temporary files (configuration_limit_exceeded).
 */
const BEYOND_LIMITS: ReadonlySet<unknown> = new Set(['57014', '25P04', '53200', '53400']);

/**
 * Whether the attempt is spent. An outage of the database, a stop of the program and a refused token are
 * not faults of the pull. A merge beyond a limit of the server, or whose rows are lost, may fail in the same way
 * each time, and without an end of its attempts `pull_failed` would not be raised.
 */
function spendsAttempt(error: unknown): boolean {
  if (error instanceof RowsLostError) return true;
  if (error instanceof StagingUnavailableError) return BEYOND_LIMITS.has(error.context['code']);
  return !isBlameless(error);
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
export function isOverLimit(error: unknown): boolean {
  return error instanceof ConciliationError && error.context['limit'] !== undefined;
}

type RetryParts = Pick<PullParts, 'retry' | 'random'>;

/** Null: no further attempt is made. */
function retryDelayMs(
  parts: RetryParts,
  attempt: { readonly attemptsSpent: number },
  error: ConciliationError,
): number | null {
  if (isBlameless(error)) return 0;
  if (!error.retryable) return null;
  const isSpent = spendsAttempt(error);
  const attemptsSpent = attempt.attemptsSpent + (isSpent ? 1 : 0);
  const limit =
    error instanceof PlatformContractError || isOverLimit(error)
      ? Math.min(parts.retry.attempts, CONTRACT_ATTEMPTS)
      : parts.retry.attempts;
  if (isSpent && attemptsSpent >= limit) return null;
  return backoffDelayMs(
    parts.retry,
    Math.max(attemptsSpent, 1),
    error instanceof PlatformRateLimitedError ? error.retryAfterSeconds : null,
    (parts.random ?? Math.random)(),
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
