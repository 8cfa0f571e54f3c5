/**
 * pull/ is the engine: one attempt at one window, from the request to the merge. This file is its
 * table of contents.
 */
import { lastClosedDate } from '../domain/business-day.ts';
import { ShutdownError, StagingUnavailableError, StaleFenceError } from '../errors.ts';
import { loadKnownDates } from '../staging/known-dates.ts';
import { mergePull } from '../staging/merge.ts';
import { type Attempt, startAttempt } from '../staging/pull-ledger.ts';
import { endFailedAttempt } from './attempt-failure.ts';
import { logReport } from './attempt-log.ts';
import type { AttemptOutcome, PullParts, TransferProgress } from './pull-parts.ts';
import { type StagedCount, stageResponse } from './stage-response.ts';

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
  const progress: TransferProgress = { httpStatus: null, bytesReceived: () => 0 };
  const startedMs = performance.now();
  const outcome = await pullAndMerge(parts, attempt, progress, signal).catch((error: unknown) =>
    endFailedAttempt(parts, attempt, signal.aborted ? toShutdown(error) : error, progress),
  );
  const durationMs = performance.now() - startedMs;
  if (outcome.kind === 'done') {
    logReport(parts.logger, attempt, outcome.report, progress, durationMs);
  }
  parts.onOutcome?.({ attempt, outcome, durationMs, httpStatus: progress.httpStatus });
  return outcome;
}

async function pullAndMerge(
  parts: PullParts,
  attempt: Attempt,
  progress: TransferProgress,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const known = await loadKnownDates(parts.database.pool, attempt, parts.maxKnownTitles);
  const response = await parts.platform.fetchTitles(attempt.window, signal);
  progress.httpStatus = response.httpStatus;
  progress.bytesReceived = response.bytesReceived;
  const staged = await stageResponse(
    response,
    { pool: parts.database.pool, fence: attempt.fence, window: attempt.window, known },
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
      known: { dates: known.dates, titles: staged.known, missing: known.titles },
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
  return { kind: 'done', report };
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
      context: {
        stagedTitles: staged.stagedTitles,
        readTitles: staged.accepted,
        stagedRejects: staged.stagedRejects,
        readRejects: staged.rejected,
      },
    });
  }
}
