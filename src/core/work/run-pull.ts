/**
 * One attempt at one accepted date, from the request to the merge. `pullDate` names its steps.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import {
  AttemptAbandonedError,
  ShutdownError,
  StaleFenceError,
  TokenUnusableError,
} from '../../base/runtime/errors.ts';
import { reachFaultPoint } from '../../base/runtime/fault-points.ts';
import { lastClosedDate } from '../../base/values/business-day.ts';
import {
  type Attempt,
  cancelPull,
  FREE_INTERRUPTIONS,
  startAttempt,
} from '../ledger/pull-ledger.sql.ts';
import { isRepair, mergeStaged, type PullReport } from '../merge/merge.sql.ts';
import {
  type FetchedResponse,
  type KnownDay,
  readKnownDay,
  stageResponse,
} from '../merge/stage-response.sql.ts';
import type { ConciliationResponse } from '../platform/conciliation-client.ts';
import { describeAttempt, endFailedAttempt } from './attempt-failure.ts';
import type { AttemptOutcome, PullParts, TransferProgress } from './pull-parts.ts';

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
      endFailedAttempt(parts, attempt, signal.aborted ? toShutdown(error) : error, progress),
  );
  const durationMs = performance.now() - startedMs;
  if (outcome.kind === 'done') {
    logReport(parts, attempt, outcome.report, progress, durationMs);
  }
  parts.onOutcome?.({ attempt, outcome, durationMs, httpStatus: progress.httpStatus });
  return outcome;
}

/** Logs the report of a pull in one line. */
function logReport(
  { logger }: PullParts,
  attempt: Attempt,
  report: PullReport,
  progress: TransferProgress,
  durationMs: number,
): void {
  const { titles, inserted, changed, withdrawn, restored, unchanged, withheld, rejected } = report;
  logger.info(
    {
      ...describeAttempt(attempt, progress),
      state: report.state,
      titles,
      inserted,
      changed,
      withdrawn,
      restored,
      unchanged,
      withheld,
      rejected,
      durationMs: Math.round(durationMs),
    },
    'pull ended',
  );
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
  const maxKnownTitles = isRepair(attempt) ? 0 : parts.maxKnownTitles;
  const known = await readKnownDay(parts.database.pool, attempt, maxKnownTitles);
  const fetched = await fetchResponse(parts, attempt, known, signal);
  const { response } = fetched;
  progress.httpStatus = response.httpStatus;
  progress.bytesReceived = response.bytesReceived;
  try {
    const read = await stageResponse(parts, fetched, signal);
    return await mergeStaged(parts, attempt, read);
  } finally {
    await closeResponse(response);
  }
}

/** Attempts that end their process keep the pulls of all other dates from being made. */
const MAX_ABANDONED = 3;

/** @throws AttemptAbandonedError where too many attempts have ended their process or their connection */
function requireSurvivors({ retry }: PullParts, attempt: Attempt): void {
  const { attemptsAbandoned, attemptsSpent, interruptions, date } = attempt;
  if (attemptsAbandoned >= MAX_ABANDONED) {
    throw new AttemptAbandonedError(
      `${attemptsAbandoned} attempts at ${date} ended their process, for example for want of memory`,
    );
  }
  if (interruptions > FREE_INTERRUPTIONS && attemptsSpent >= retry.attempts) {
    throw new AttemptAbandonedError(
      `${interruptions} attempts at ${date} ended with the loss of the database`,
    );
  }
}

/** Sends the request, and returns when the header of the response has arrived. */
async function fetchResponse(
  parts: PullParts,
  attempt: Attempt,
  known: KnownDay,
  signal: AbortSignal,
): Promise<FetchedResponse> {
  // The date may end while the response arrives or waits for its merge. A response to a request that was
  // sent before may lack titles that were accepted afterwards, so the time of the request counts.
  const startedAt = parts.now?.() ?? attempt.startedAt;
  const dateWasClosed = attempt.date <= lastClosedDate(parts.timeZone, startedAt);
  reachFaultPoint('before-request');
  const window = { from: attempt.date, to: attempt.date };
  const response = await parts.platform.fetchTitles(window, signal);
  reachFaultPoint('headers');
  return { attempt, response, known, dateWasClosed };
}

/** Releases the connection of a response that was not read to its end. */
async function closeResponse(response: ConciliationResponse): Promise<void> {
  await response.chunks[Symbol.asyncIterator]().return?.();
}

/** After an abort, the error is that of the step that the abort interrupted. */
function toShutdown(error: unknown): unknown {
  return error instanceof StaleFenceError
    ? error
    : new ShutdownError('the pull was interrupted', { cause: error });
}

type EndOutcome = Exclude<AttemptOutcome, { kind: 'retry' }>;
type RetryOutcome = Extract<AttemptOutcome, { kind: 'retry' }>;

/**
 * Makes attempts, with waits between them, until the pull has ended, for a command that a person waits for.
 * When the person stops the command, or the platform refuses the token, the pull is cancelled, because no
 * other process continues it.
 *
 * @param onRetry called before each wait
 * @throws ShutdownError when `signal` aborted; TokenUnusableError when there is no usable token
 */
export async function pullToEnd(
  parts: PullParts,
  pullId: bigint,
  signal: AbortSignal,
  onRetry: (outcome: RetryOutcome) => void,
): Promise<EndOutcome> {
  const cancel = () => cancelPull(parts.database, pullId);
  try {
    for (;;) {
      const outcome = await runPull(parts, pullId, signal);
      if (outcome.kind === 'unauthorized') {
        await cancel();
        if (outcome.error instanceof TokenUnusableError) throw outcome.error;
      }
      if (outcome.kind !== 'retry') return outcome;
      onRetry(outcome);
      await sleep(outcome.delayMs, undefined, { signal }).catch((cause: unknown) => {
        throw new ShutdownError('stopped while waiting for the next attempt', { cause });
      });
    }
  } catch (error) {
    if (error instanceof ShutdownError) await cancel();
    throw error;
  }
}
