import type { Logger } from '../../base/runtime/logger.ts';
import type { Attempt } from '../ledger/pull-ledger.sql.ts';
import type { PullReport } from '../merge/merge.sql.ts';
import type { TransferProgress } from './pull-parts.ts';

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

/** Logs the report of a pull in one line. */
export function logReport(
  logger: Logger,
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
