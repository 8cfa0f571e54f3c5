import type { PushReport } from '../providers/push-providers.ts';
import type { PushSubject } from '../queue/job-kind.ts';
import { PlatformAuthError, StagingUnavailableError } from '../runtime/errors.ts';
import { describeError, type Logger } from '../runtime/logger.ts';
import type { AuthGate } from './auth-gate.ts';
import type { Handled, JobHandler } from './job-worker.ts';

export interface PushHandlerParts {
  /** Until a batch is due: 0 now, null when nothing waits. */
  readonly readDelayMs: () => Promise<number | null>;
  readonly pushOnce: (signal: AbortSignal, stopping: AbortSignal) => Promise<PushReport>;
  readonly gate: AuthGate;
  readonly logger: Logger;
  /** Until a batch whose outcome could not be recorded is looked at again. */
  readonly stagingRetryMs?: number;
}

const STAGING_RETRY_MS = 30_000;

/**
 * The one place where the outcome of a batch becomes the fate of its job. The tables are asked first,
 * every time: a job may come too early, too late or twice, and none of that may send a request that
 * is not due.
 *
 * The returned handler throws ShutdownError where the job is to be handed back, and whatever else is
 * a defect; nothing else.
 */
export function createPushHandler(parts: PushHandlerParts): JobHandler<PushSubject> {
  const { readDelayMs, pushOnce, gate, logger } = parts;
  const { stagingRetryMs = STAGING_RETRY_MS } = parts;
  return async (_subject, signal, stopping) => {
    const pass = await gate.pass(stopping);
    try {
      const delayMs = await readDelayMs();
      if (delayMs === null) return undefined;
      if (delayMs > 0) return { retryInMs: delayMs };
      const report = await pushOnce(signal, stopping);
      if (report.kind === 'done' && report.requests > 0) gate.accept(pass);
      if (report.kind === 'unauthorized' && report.error instanceof PlatformAuthError) {
        gate.refuse(pass);
      }
      return toFate(report);
    } catch (error) {
      if (!(error instanceof StagingUnavailableError)) throw error;
      const fields = { err: describeError(error), retryInMs: stagingRetryMs };
      logger.warn(fields, 'what became of the pushed providers could not be recorded');
      return { retryInMs: stagingRetryMs };
    }
  };
}

function toFate(report: PushReport): Handled {
  switch (report.kind) {
    case 'busy':
      // Whoever is pushing goes on for as long as something is due; what is left the planner finds.
      return undefined;
    case 'done':
      // The next batch, if there is one. A batch that decided nothing, because the ERP has its rows
      // locked, would decide nothing again: it waits for the planner.
      return hasDecided(report) ? { retryInMs: 0 } : undefined;
    case 'unauthorized':
      // Comes straight back, and then waits at the gate.
      return { retryInMs: 0 };
    case 'retry':
    case 'failed':
      return { retryInMs: report.delayMs };
  }
}

function hasDecided({ synced, rejected, invalid, unchanged, relieved }: PushReport): boolean {
  return synced + rejected + invalid + unchanged + relieved > 0;
}
