/**
 * One attempt at one accepted date, from the request to the merge. `pullDate` names its steps.
 */

import { databaseErrorCode, describeDatabaseError } from '../../base/database/database-error.ts';
import {
  AttemptAbandonedError,
  ConciliationError,
  DefectError,
  PlatformAuthError,
  PlatformContractError,
  PlatformRateLimitedError,
  ShutdownError,
  StaleFenceError,
  TokenUnusableError,
} from '../../base/runtime/errors.ts';
import { reachFaultPoint } from '../../base/runtime/fault-points.ts';
import type { Logger } from '../../base/runtime/logger.ts';
import { lastClosedDate } from '../../base/values/business-day.ts';
import { type Attempt, recordFailure, startAttempt } from '../ledger/pull-ledger.sql.ts';
import type { EngineParts } from '../merge/engine-hooks.ts';
import type { MergePolicy } from '../merge/holds.sql.ts';
import { mergeStaged, type PullReport } from '../merge/merge.sql.ts';
import { readKnownDay, stageResponse } from '../merge/stage-response.sql.ts';
import type { PlatformClient } from '../platform/conciliation-client.ts';
import type { PullProgress } from '../reader/cutter.ts';

export interface RetryPolicy {
  readonly attempts: number;
  readonly backoffSeconds: number;
}

const MAX_DELAY_MS = 3_600_000;

/**
 * Exponential backoff with full jitter ("Exponential Backoff And Jitter", AWS Architecture Blog, 2015): a
 * uniform share of a span that doubles from `backoffSeconds` to at most an hour, so that pulls which failed
 * together are not retried together. The delay is never shorter than the platform's `Retry-After`.
 * @param attemptsSpent the number of counted attempts, including the last one
 * @param random uniform in [0, 1)
 * @returns the delay in milliseconds
 */
export function backoffDelayMs(
  policy: RetryPolicy,
  attemptsSpent: number,
  retryAfterSeconds: number | null,
  random: number,
): number {
  const spanMs = Math.min(policy.backoffSeconds * 1000 * 2 ** (attemptsSpent - 1), MAX_DELAY_MS);
  const jitteredMs = Math.round(spanMs * random);
  return retryAfterSeconds === null
    ? jitteredMs
    : Math.max(jitteredMs, Math.ceil(retryAfterSeconds * 1000));
}

/** The parts of the service that a pull uses, and its settings. */
export interface PullParts extends EngineParts, MergePolicy {
  readonly platform: PlatformClient;
  readonly logger: Logger;
  readonly timeZone: string;
  readonly retry: RetryPolicy;
  /**
   * The largest number of titles that are held in memory to be compared with a response; see `readKnownDay`.
   */
  readonly maxKnownTitles?: number;
  /** For tests: replaces the clock of the database, which decides whether a date is over. */
  readonly now?: () => Date;
  /** For tests: the random numbers of the backoff. */
  readonly random?: () => number;
  /** Called for every chunk of a response that was read. */
  readonly onProgress?: (progress: PullProgress) => void;
  /** Called once for every attempt whose outcome was recorded. */
  readonly onOutcome?: (observed: ObservedAttempt) => void;
}

export interface ObservedAttempt {
  readonly attempt: Attempt;
  readonly outcome: AttemptOutcome;
  readonly durationMs: number;
  /** Null: no response arrived. */
  readonly httpStatus: number | null;
}

/**
 * How one attempt at a pull ended. `retry`: it is queued again and due in `delayMs`;
 * `unauthorized`: it is queued as before, and no attempt can succeed until there is another token.
 */
export type AttemptOutcome =
  | { readonly kind: 'done'; readonly report: PullReport }
  | { readonly kind: 'retry'; readonly delayMs: number; readonly error: ConciliationError }
  | {
      readonly kind: 'unauthorized';
      readonly error: PlatformAuthError | TokenUnusableError;
    }
  | { readonly kind: 'failed'; readonly error: ConciliationError };

/** The part of a response that has arrived. */
interface TransferProgress {
  /** Null until the header of the response has arrived. */
  httpStatus: number | null;
  /** Bytes of the body, decoded. */
  bytesReceived: () => number;
}

/**
 * Makes one attempt at a pull and records its outcome in the pull's row, failures included.
 *
 * @throws StaleFenceError when another attempt took the pull over: nothing was written
 * @throws ShutdownError when `signal` aborted: the pull is queued as it was before
 * @throws StagingUnavailableError when the outcome could not be recorded: the row still says `running`
 */
export async function runPull(
  parts: PullParts,
  pullId: bigint,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const attempt = await startAttempt(parts.database, pullId);
  reachFaultPoint('claim');
  const progress: TransferProgress = { httpStatus: null, bytesReceived: () => 0 };
  const startedMs = performance.now();
  const outcome = await pullDate(parts, attempt, progress, signal).then(
    (report) => ({ kind: 'done', report }) as const,
    (error: unknown) =>
      recordAttemptFailure(parts, attempt, signal.aborted ? toShutdown(error) : error, progress),
  );
  const durationMs = performance.now() - startedMs;
  if (outcome.kind === 'done') {
    const { state, titles, rejected, ...report } = outcome.report;
    const { inserted, changed, withdrawn, restored, unchanged, withheld } = report;
    const counts = { inserted, changed, withdrawn, restored, unchanged, withheld, rejected };
    parts.logger.info(
      {
        ...describeAttempt(attempt, progress),
        ...{ state, titles, ...counts, durationMs: Math.round(durationMs) },
      },
      'pull ended',
    );
  }
  parts.onOutcome?.({ attempt, outcome, durationMs, httpStatus: progress.httpStatus });
  return outcome;
}

/** Reads the response, stages it, merges it and records the outcome; the last two are one transaction. */
async function pullDate(
  parts: PullParts,
  attempt: Attempt,
  progress: TransferProgress,
  signal: AbortSignal,
): Promise<PullReport> {
  requireSurvivors(parts, attempt);
  // A repair compares every title of the response with the columns of the rows.
  const maxKnownTitles = attempt.isRepair ? 0 : parts.maxKnownTitles;
  const known = await readKnownDay(parts.database.pool, attempt, maxKnownTitles);
  // The date may end while the response arrives or waits for its merge. A response to a request that was
  // sent before may lack titles that were accepted afterwards, so the time of the request counts.
  const startedAt = parts.now?.() ?? attempt.startedAt;
  const dateWasClosed = attempt.date <= lastClosedDate(parts.timeZone, startedAt);
  reachFaultPoint('before-request');
  const window = { from: attempt.date, to: attempt.date };
  const response = await parts.platform.fetchTitles(window, signal);
  reachFaultPoint('headers');
  progress.httpStatus = response.httpStatus;
  progress.bytesReceived = response.bytesReceived;
  try {
    const fetched = { attempt, response, known, dateWasClosed };
    const read = await stageResponse(parts, fetched, signal);
    return await mergeStaged(parts, attempt, read);
  } finally {
    // Releases the connection of a response that was not read to its end.
    response.drop();
  }
}

/** @throws AttemptAbandonedError where the last attempts have ended their process or their connection */
function requireSurvivors({ retry }: PullParts, { number, date }: Attempt): void {
  if (number <= retry.attempts) return;
  throw new AttemptAbandonedError(
    `${number - 1} attempts at ${date} were made; the last ended its process, for example for want of memory, or the server`,
  );
}

/** After an abort, the error is that of the step that the abort interrupted. */
function toShutdown(error: unknown): unknown {
  return error instanceof StaleFenceError
    ? error
    : new ShutdownError('the pull was interrupted', { cause: error });
}

/**
 * Contract errors are retried only a few times, because a changed interface does not change back soon. The
 * same holds for responses beyond the limits, which will have the same length the next time.
 */
const CONTRACT_ATTEMPTS = 3;

/**
 * Records the failure of an attempt. The pull is retried, has failed, or is queued as it was before.
 *
 * @throws StaleFenceError when another attempt took the pull over; the rows that this one staged are stray rows
 * @throws ShutdownError where `error` is one; StagingUnavailableError when nothing could be recorded
 */
async function recordAttemptFailure(
  parts: PullParts,
  attempt: Attempt,
  cause: unknown,
  progress: TransferProgress,
): Promise<AttemptOutcome> {
  if (cause instanceof StaleFenceError) throw cause;
  const error = toKnownError(cause);
  const statusOfError = error.context['httpStatus'];
  if (typeof statusOfError === 'number') progress.httpStatus = statusOfError;
  const retryDelayMs = findRetryDelayMs(parts, attempt, error);
  const state = await recordFailure(parts.database, attempt, {
    errorCode: error.code,
    errorMessage: error.message,
    httpStatus: progress.httpStatus,
    responseBytes: progress.bytesReceived(),
    countsAsAttempt: !isBlameless(error),
    retryDelayMs,
  });
  if (error instanceof ShutdownError) {
    parts.logger.info({ ...describeAttempt(attempt, progress), state }, 'pull handed back');
    throw error;
  }
  parts.logger[state === 'failed' || error instanceof DefectError ? 'error' : 'warn'](
    { ...describeAttempt(attempt, progress), state, retryDelayMs, err: cause },
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
function describeAttempt(attempt: Attempt, progress: TransferProgress) {
  return {
    pullId: String(attempt.pullId),
    origin: attempt.origin,
    date: attempt.date,
    attempt: attempt.number,
    httpStatus: progress.httpStatus,
    bytes: progress.bytesReceived(),
  };
}

/** An error of any other kind becomes a DefectError, whose message is safe to store. */
export function toKnownError(error: unknown): ConciliationError {
  if (error instanceof ConciliationError) return error;
  const code = databaseErrorCode(error);
  const what = code === null ? 'no code' : describeDatabaseError(error);
  const message = `an error that the program does not know (${what}); see its log`;
  return new DefectError(code === '42501' ? what : message, { cause: error });
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

/** Null: no further attempt is made. */
function findRetryDelayMs(
  { retry, random = Math.random }: PullParts,
  attempt: Attempt,
  error: ConciliationError,
): number | null {
  if (isBlameless(error)) return 0;
  if (!error.retryable) return null;
  const limit =
    error instanceof PlatformContractError || error.context['limit'] !== undefined
      ? Math.min(retry.attempts, CONTRACT_ATTEMPTS)
      : retry.attempts;
  if (attempt.number >= limit) return null;
  return backoffDelayMs(
    retry,
    attempt.number,
    error instanceof PlatformRateLimitedError ? error.retryAfterSeconds : null,
    random(),
  );
}
