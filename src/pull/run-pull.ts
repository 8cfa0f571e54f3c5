/**
 * pull/ is the engine: one attempt at one accepted date, from the request to the merge. This file is its
 * table of contents.
 */
import { lastClosedDate } from '../domain/business-day.ts';
import { type Attempt, startAttempt } from '../ledger/pull-ledger.ts';
import type { ConciliationResponse } from '../platform/conciliation-client.ts';
import type { ReadCount } from '../reader/response-rows.ts';
import { ShutdownError, StaleFenceError } from '../runtime/errors.ts';
import { reachFaultPoint } from '../runtime/fault-points.ts';
import { endFailedAttempt } from './attempt-failure.ts';
import { logReport } from './attempt-log.ts';
import { type KnownDay, loadKnownDay } from './known-day.ts';
import { loadDay } from './load-day.ts';
import { mergePull, type PullReport, type ReadResponse } from './merge/merge.ts';
import type { AttemptOutcome, PullParts, TransferProgress } from './pull-parts.ts';
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
  const known = await loadKnownDay(parts.database.pool, attempt, parts.maxKnownTitles);
  // Whether the date was over before the request was sent: the response to an earlier request may lack
  // titles that were accepted afterwards, whenever the response is merged.
  const startedAt = parts.now?.() ?? attempt.startedAt;
  const dateWasClosed = attempt.date <= lastClosedDate(parts.timeZone, startedAt);
  reachFaultPoint('before-request');
  const response = await parts.platform.fetchTitles(
    { from: attempt.date, to: attempt.date },
    signal,
  );
  reachFaultPoint('headers');
  progress.httpStatus = response.httpStatus;
  progress.bytesReceived = response.bytesReceived;
  const fetched: Fetched = { attempt, response, known, dateWasClosed };
  try {
    const report =
      (await loadNewDay(parts, fetched, signal)) ?? (await stageAndMerge(parts, fetched, signal));
    return { kind: 'done', report };
  } finally {
    await leave(response);
  }
}

/** A response of which the header has arrived. */
interface Fetched {
  readonly attempt: Attempt;
  readonly response: ConciliationResponse;
  readonly known: KnownDay;
  readonly dateWasClosed: boolean;
}

/** Null where the response is to be staged first; nothing of it was taken then. */
async function loadNewDay(
  parts: PullParts,
  fetched: Fetched,
  signal: AbortSignal,
): Promise<PullReport | null> {
  const { attempt, response, known } = fetched;
  if (known.baseChangedAt !== null || parts.alwaysStage === true) return null;
  return loadDay(parts.database, attempt, async (connection, accounts) => {
    const target = { ...stageTarget(parts, fetched), connection, accounts, pullId: attempt.pullId };
    return describeRead(fetched, await loadResponse(response, target, signal, parts.onProgress));
  });
}

async function stageAndMerge(
  parts: PullParts,
  fetched: Fetched,
  signal: AbortSignal,
): Promise<PullReport> {
  const { attempt, response } = fetched;
  const target = stageTarget(parts, fetched);
  const read = await stageResponse(response, target, signal, parts.onProgress);
  return mergePull(parts.database, attempt, describeRead(fetched, read), parts);
}

function stageTarget(parts: PullParts, { attempt, known }: Fetched): StageTarget {
  return { pool: parts.database.pool, fence: attempt.fence, date: attempt.date, known };
}

function describeRead(
  { attempt, response, known, dateWasClosed }: Fetched,
  read: ReadCount,
): ReadResponse {
  return {
    httpStatus: response.httpStatus,
    responseBytes: response.bytesReceived(),
    dateWasClosed,
    known: { baseChangedAt: known.baseChangedAt, titles: read.known, missing: known.titles },
    accepted: read.accepted,
    rejected: read.rejected,
    fold: read.folds.at(attempt.date),
    drift: read.drift,
  };
}

/** Gives the connection back where the response was not read to its end. */
async function leave(response: ConciliationResponse): Promise<void> {
  await response.chunks[Symbol.asyncIterator]().return?.();
}

/** An abort surfaces as whatever it interrupted. */
function toShutdown(error: unknown): unknown {
  return error instanceof StaleFenceError
    ? error
    : new ShutdownError('the pull was interrupted', { cause: error });
}
