/**
 * pull/ is the engine: one attempt at one window, from the request to the merge. This file is its
 * table of contents.
 */
import { lastClosedDate } from '../domain/business-day.ts';
import { ShutdownError, StaleFenceError } from '../errors.ts';
import { reachFaultPoint } from '../fault-points.ts';
import { type KnownDates, loadKnownDates } from '../staging/known-dates.ts';
import { type DayLoad, loadDay } from '../staging/load-days.ts';
import {
  type MergePolicy,
  mergePull,
  type PullReport,
  type ReadResponse,
} from '../staging/merge.ts';
import { type Attempt, startAttempt } from '../staging/pull-ledger.ts';
import { type ArrivingResponse, awaitHead } from './arriving-response.ts';
import { endFailedAttempt } from './attempt-failure.ts';
import { logReport } from './attempt-log.ts';
import type { AttemptOutcome, PullParts, TransferProgress } from './pull-parts.ts';
import type { ReadCount } from './response-rows.ts';
import { loadResponse, type StageTarget, stageResponse } from './stage-response.ts';

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
  reachFaultPoint('claim');
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
  reachFaultPoint('before-request');
  const response = await parts.platform.fetchTitles(attempt.window, signal);
  reachFaultPoint('headers');
  progress.httpStatus = response.httpStatus;
  progress.bytesReceived = response.bytesReceived;
  const arriving = await awaitHead(response);
  try {
    const report =
      (await loadNewDay(parts, attempt, arriving, known, signal)) ??
      (await stageAndMerge(parts, attempt, arriving, known, signal));
    return { kind: 'done', report };
  } finally {
    await arriving.chunks.return?.();
  }
}

/** Null where the response is to be staged first; nothing of it was taken then. */
async function loadNewDay(
  parts: PullParts,
  attempt: Attempt,
  response: ArrivingResponse,
  known: KnownDates,
  signal: AbortSignal,
): Promise<PullReport | null> {
  const isDay = attempt.window.to !== null;
  if (!isDay || known.dates.length > 0 || !parts.directLoads.admits(response)) return null;
  // An interruption ends fetches, not merges; and what is in memory is fetched.
  const untilAborted = response.isWhole ? new AbortController().signal : signal;
  const load: DayLoad = {
    attempt,
    lastClosedDate: mergePolicy(parts).lastClosedDate,
    async read(connection, accounts) {
      const read = await loadResponse(
        parts.directLoads.withoutPauses(response),
        { ...stageTarget(parts, attempt, known), connection, accounts, pullId: attempt.pullId },
        untilAborted,
        parts.onProgress,
      );
      return describeRead(response, read, known);
    },
  };
  return response.isWhole
    ? parts.joinedLoads.load(parts.database, load)
    : loadDay(parts.database, load);
}

async function stageAndMerge(
  parts: PullParts,
  attempt: Attempt,
  response: ArrivingResponse,
  known: KnownDates,
  signal: AbortSignal,
): Promise<PullReport> {
  const target = stageTarget(parts, attempt, known);
  const read = await stageResponse(response, target, signal, parts.onProgress);
  return mergePull(
    parts.database,
    attempt,
    describeRead(response, read, known),
    mergePolicy(parts),
  );
}

function stageTarget(parts: PullParts, attempt: Attempt, known: KnownDates): StageTarget {
  return { pool: parts.database.pool, fence: attempt.fence, window: attempt.window, known };
}

function describeRead(
  response: ArrivingResponse,
  read: ReadCount,
  known: KnownDates,
): ReadResponse {
  return {
    httpStatus: response.httpStatus,
    responseBytes: response.bytesReceived(),
    known: { dates: known.dates, titles: read.known, missing: known.titles },
    accepted: read.accepted,
    rejected: read.rejected,
    undatedRejects: read.undatedRejects,
    drift: read.drift,
  };
}

function mergePolicy(parts: PullParts): MergePolicy {
  return {
    withdrawalLimitPercent: parts.withdrawalLimitPercent,
    lastClosedDate: lastClosedDate(parts.timeZone, parts.now?.() ?? new Date()),
  };
}

/** An abort surfaces as whatever it interrupted. */
function toShutdown(error: unknown): unknown {
  return error instanceof StaleFenceError
    ? error
    : new ShutdownError('the pull was interrupted', { cause: error });
}
