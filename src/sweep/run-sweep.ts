/**
 * sweep/ requests every title accepted since a date and compares each date with the ledger. It merges
 * nothing: a date that differs gets a pull. This file is one attempt, from the request to the comparison.
 */
import { type CivilDate, dateIn, lastClosedDate } from '../domain/business-day.ts';
import { sweepWindow } from '../domain/plan/pull-plan.ts';
import { describeFailure, isOverLimit, toOutcome } from '../pull/attempt-failure.ts';
import type { AttemptOutcome, PullParts, TransferProgress } from '../pull/pull-parts.ts';
import { ShutdownError, StaleFenceError } from '../runtime/errors.ts';
import { reachFaultPoint } from '../runtime/fault-points.ts';
import { describeError } from '../runtime/logger.ts';
import { readFolds } from './read-folds.ts';
import {
  completeSweep,
  readSweepBasis,
  readSweepReport,
  recordSweepFailure,
  type SweepAttempt,
  type SweepReport,
  startSweepAttempt,
} from './sweep-ledger.sql.ts';

/** The parts of a sweep: some of the parts of a pull. */
export type SweepParts = Pick<
  PullParts,
  'database' | 'platform' | 'logger' | 'timeZone' | 'retry' | 'now' | 'random'
> & {
  /** Called once for each attempt with a recorded outcome. */
  readonly onSweepOutcome?: (observed: ObservedSweep) => void;
};

interface ObservedSweep {
  readonly outcome: SweepOutcome;
  readonly durationMs: number;
  /** Null: the platform did not answer. */
  readonly httpStatus: number | null;
}

export type SweepOutcome = AttemptOutcome<SweepReport>;

/**
 * Makes one attempt at a sweep and records its outcome in the sweep's row.
 * @throws StaleFenceError when another attempt took the sweep over: nothing was written
 * @throws ShutdownError when `signal` aborted: the sweep is queued as before
 * @throws StagingUnavailableError when the outcome could not be recorded: the row still has the
 * state `running`
 * @throws any other error for a defect of the program
 */
export async function runSweep(
  parts: SweepParts,
  sweepId: bigint,
  signal: AbortSignal,
): Promise<SweepOutcome> {
  const attempt = await startSweepAttempt(parts.database, sweepId);
  reachFaultPoint('claim');
  const progress: TransferProgress = { httpStatus: null, bytesReceived: () => 0 };
  const startedMs = performance.now();
  const outcome = await compare(parts, attempt, progress, signal).catch((error: unknown) =>
    endFailedSweep(parts, attempt, signal.aborted ? toShutdown(error) : error, progress),
  );
  const durationMs = Math.round(performance.now() - startedMs);
  if (outcome.kind === 'done') {
    const { differences, sweepId: _, from: __, ...counts } = outcome.report;
    parts.logger.info(
      {
        ...describeSweep(attempt, progress),
        ...counts,
        datesDiffering: differences.length,
        durationMs,
      },
      'sweep ended',
    );
  }
  parts.onSweepOutcome?.({ outcome, durationMs, httpStatus: progress.httpStatus });
  return outcome;
}

async function compare(
  parts: SweepParts,
  attempt: SweepAttempt,
  progress: TransferProgress,
  signal: AbortSignal,
): Promise<SweepOutcome> {
  const { database, platform, timeZone } = parts;
  const now = () => parts.now?.() ?? new Date();
  const { firstDate, versions } = await readSweepBasis(database, attempt.from);
  reachFaultPoint('before-request');
  // The time of the request, not the end of the answer, decides which dates are closed.
  const lastDate = lastClosedDate(timeZone, now());
  const response = await platform.fetchTitles(sweepWindow(attempt.from), signal);
  reachFaultPoint('headers');
  progress.httpStatus = response.httpStatus;
  progress.bytesReceived = response.bytesReceived;
  const read = await readFolds(response, {
    from: attempt.from,
    today: () => dateIn(timeZone, now()),
    versions,
  });
  reachFaultPoint('verify');
  await completeSweep(
    database,
    attempt,
    { first: firstDate, last: lastDate },
    { httpStatus: response.httpStatus, responseBytes: response.bytesReceived(), read },
  );
  return doneWith(await readSweepReport(database, attempt));
}

function doneWith(report: SweepReport | null): SweepOutcome {
  if (report === null) throw new Error('a sweep that was completed has no report');
  return { kind: 'done', report };
}

async function endFailedSweep(
  parts: SweepParts,
  attempt: SweepAttempt,
  error: unknown,
  progress: TransferProgress,
): Promise<SweepOutcome> {
  const { database, logger } = parts;
  const failure = describeFailure(parts, attempt, error, progress);
  try {
    if (error instanceof StaleFenceError) throw error;
    const state = await recordSweepFailure(database, attempt, failure, isOverLimit(error));
    const fields = { ...describeSweep(attempt, progress), state };
    if (error instanceof ShutdownError) {
      logger.info(fields, 'sweep handed back');
      throw error;
    }
    const { retryDelayMs } = failure;
    logger[state === 'failed' ? 'error' : 'warn'](
      { ...fields, retryDelayMs, err: describeError(error) },
      'sweep attempt failed',
    );
    return toOutcome(error, retryDelayMs);
  } catch (end) {
    if (!(end instanceof StaleFenceError)) throw end;
    // Either another attempt owns the sweep, or this one committed before it lost its connection.
    const report = await readSweepReport(database, attempt);
    if (report === null) throw end;
    return doneWith(report);
  }
}

/** The fields of every log line about an attempt. */
function describeSweep(
  attempt: SweepAttempt,
  progress: TransferProgress,
): Record<string, string | number | CivilDate | null> {
  return {
    sweepId: String(attempt.sweepId),
    from: attempt.from,
    attempt: attempt.attemptsSpent + 1,
    httpStatus: progress.httpStatus,
    bytes: progress.bytesReceived(),
  };
}

/** An abort may surface as any error of the interrupted step. */
function toShutdown(error: unknown): unknown {
  return error instanceof StaleFenceError
    ? error
    : new ShutdownError('the sweep was interrupted', { cause: error });
}
