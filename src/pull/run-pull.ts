/**
 * pull/ is the engine: one attempt at one window, from the request to the merge. This file is its
 * table of contents.
 */
import { lastClosedDate } from '../domain/business-day.ts';
import { backoffDelayMs, type RetryPolicy } from '../domain/retry.ts';
import {
  ConciliationError,
  PlatformAuthError,
  PlatformContractError,
  PlatformRateLimitedError,
  ShutdownError,
  StagingUnavailableError,
  StaleFenceError,
} from '../errors.ts';
import { describeError, type Logger } from '../logger.ts';
import type { PlatformClient } from '../platform/conciliation-client.ts';
import type { Database } from '../staging/database.ts';
import { mergePull, type PullReport } from '../staging/merge.ts';
import {
  type Attempt,
  discardStaleAttempt,
  recordFailure,
  startAttempt,
} from '../staging/pull-ledger.ts';
import { type PullProgress, type StagedCount, stageResponse } from './stage-response.ts';

export interface PullParts {
  readonly database: Database;
  readonly platform: PlatformClient;
  readonly logger: Logger;
  readonly timeZone: string;
  readonly withdrawalLimitPercent: number;
  readonly retry: RetryPolicy;
  /** The clock that says which dates are over, and the dice of the backoff; replaced in tests. */
  readonly now?: () => Date;
  readonly random?: () => number;
  /** Called for every chunk of a response that was read. */
  readonly onProgress?: (progress: PullProgress) => void;
}

/**
 * How one attempt ended. `retry`: the pull is queued again and due in `delayMs`; `unauthorized`: it is
 * queued as before, and no pull can succeed until the token is replaced.
 */
export type AttemptOutcome =
  | { readonly kind: 'done'; readonly report: PullReport }
  | { readonly kind: 'retry'; readonly delayMs: number; readonly error: ConciliationError }
  | { readonly kind: 'unauthorized'; readonly error: PlatformAuthError }
  | { readonly kind: 'failed'; readonly error: ConciliationError };

/**
 * Makes one attempt at a pull and records its outcome in the pull's row, whatever it is.
 *
 * @throws StaleFenceError when another attempt took the pull over: nothing was written
 * @throws ShutdownError when `signal` aborted: the pull is queued as it was before
 * @throws StagingUnavailableError when the outcome could not be recorded: the row still says `running`
 * @throws whatever is not one of our errors: a defect, loudly
 */
export async function runPull(
  parts: PullParts,
  pullId: bigint,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const attempt = await startAttempt(parts.database, pullId);
  const progress = { httpStatus: null as number | null, bytesReceived: () => 0 };
  const startedMs = performance.now();
  try {
    const response = await parts.platform.fetchTitles(attempt.window, signal);
    progress.httpStatus = response.httpStatus;
    progress.bytesReceived = response.bytesReceived;
    const staged = await stageResponse(
      response,
      { pool: parts.database.pool, fence: attempt.fence, window: attempt.window },
      signal,
      parts.onProgress,
    );
    verify(staged);
    const report = await mergePull(
      parts.database,
      attempt,
      {
        httpStatus: response.httpStatus,
        responseBytes: response.bytesReceived(),
        accepted: staged.accepted,
        rejected: staged.rejected,
        undatedRejects: staged.undatedRejects,
        drift: staged.drift,
      },
      {
        withdrawalLimitPercent: parts.withdrawalLimitPercent,
        lastClosedDate: lastClosedDate(parts.timeZone, parts.now?.() ?? new Date()),
      },
    );
    logReport(parts.logger, attempt, report, performance.now() - startedMs);
    return { kind: 'done', report };
  } catch (error) {
    try {
      return await endFailedAttempt(
        parts,
        attempt,
        signal.aborted ? toShutdown(error) : error,
        progress,
      );
    } catch (end) {
      if (end instanceof StaleFenceError) await discardStale(parts, attempt);
      throw end;
    }
  }
}

/** What stays behind where this fails is litter, and no reason to hide that the attempt was stale. */
async function discardStale(parts: PullParts, attempt: Attempt): Promise<void> {
  await discardStaleAttempt(parts.database, attempt).catch((error: unknown) => {
    parts.logger.warn(
      { ...describeAttempt(attempt), err: describeError(error) },
      'the rows of a stale attempt stay behind',
    );
  });
}

/** An abort surfaces as whatever it interrupted. */
function toShutdown(error: unknown): unknown {
  return error instanceof StaleFenceError
    ? error
    : new ShutdownError('the pull was interrupted', { cause: error });
}

/** Every title that was read must be a row, or nothing is merged. */
function verify(staged: StagedCount): void {
  if (staged.stagedTitles !== staged.accepted || staged.stagedRejects !== staged.rejected) {
    throw new StagingUnavailableError('PostgreSQL took another number of rows than were sent', {
      context: { ...staged, drift: staged.drift.length },
    });
  }
}

/** Contract errors are retried a few times only: a platform that changed will not change back soon. */
const CONTRACT_ATTEMPTS = 3;

async function endFailedAttempt(
  parts: PullParts,
  attempt: Attempt,
  error: unknown,
  progress: { readonly httpStatus: number | null; readonly bytesReceived: () => number },
): Promise<AttemptOutcome> {
  if (error instanceof StaleFenceError) throw error;
  const known = error instanceof ConciliationError;
  const countsAsAttempt = !(
    error instanceof PlatformAuthError ||
    error instanceof ShutdownError ||
    error instanceof StagingUnavailableError
  );
  const delayMs = known ? retryDelayMs(parts, attempt, error) : null;
  const statusOfError = known ? error.context['httpStatus'] : null;
  const state = await recordFailure(parts.database, attempt, {
    errorCode: known ? error.code : 'DEFECT',
    errorMessage: known ? error.message : 'a defect of the program; its log tells where',
    httpStatus: typeof statusOfError === 'number' ? statusOfError : progress.httpStatus,
    responseBytes: progress.bytesReceived(),
    countsAsAttempt,
    retryDelayMs: delayMs,
  });
  parts.logger[state === 'failed' ? 'error' : 'warn'](
    { ...describeAttempt(attempt), state, retryDelayMs: delayMs, err: describeError(error) },
    'pull attempt failed',
  );
  if (!known || error instanceof ShutdownError) throw error;
  if (error instanceof PlatformAuthError) return { kind: 'unauthorized', error };
  return delayMs === null ? { kind: 'failed', error } : { kind: 'retry', delayMs, error };
}

/** Null: there is no further attempt. */
function retryDelayMs(parts: PullParts, attempt: Attempt, error: ConciliationError): number | null {
  // Not the pull's fault: it goes back as it was, and what is wrong is waited for elsewhere.
  if (error instanceof ShutdownError || error instanceof PlatformAuthError) return 0;
  if (!error.retryable) return null;
  const isStaging = error instanceof StagingUnavailableError;
  const attemptsSpent = attempt.attemptsSpent + (isStaging ? 0 : 1);
  const limit =
    error instanceof PlatformContractError
      ? Math.min(parts.retry.attempts, CONTRACT_ATTEMPTS)
      : parts.retry.attempts;
  if (!isStaging && attemptsSpent >= limit) return null;
  return backoffDelayMs(
    parts.retry,
    Math.max(attemptsSpent, 1),
    error instanceof PlatformRateLimitedError ? error.retryAfterSeconds : null,
    (parts.random ?? Math.random)(),
  );
}

function describeAttempt(attempt: Attempt) {
  return {
    pullId: String(attempt.pullId),
    origin: attempt.origin,
    from: attempt.window.from,
    to: attempt.window.to,
    attempt: attempt.attemptsSpent + 1,
  };
}

/** One line that tells the whole story of a pull. */
function logReport(logger: Logger, attempt: Attempt, report: PullReport, durationMs: number): void {
  const total = (field: 'inserted' | 'changed' | 'withdrawn' | 'restored' | 'unchanged') =>
    report.dates.reduce((sum, date) => sum + date[field], 0);
  logger.info(
    {
      ...describeAttempt(attempt),
      state: report.state,
      titles: report.titles,
      rejected: report.rejected,
      inserted: total('inserted'),
      changed: total('changed'),
      withdrawn: total('withdrawn'),
      restored: total('restored'),
      unchanged: total('unchanged'),
      durationMs: Math.round(durationMs),
    },
    'pull merged',
  );
}
