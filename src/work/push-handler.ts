import type { PushReport } from '../providers/push-providers.ts';
import { PlatformAuthError, StagingUnavailableError } from '../runtime/errors.ts';
import { describeError, type Logger } from '../runtime/logger.ts';
import type { AuthGate } from './auth-gate.ts';
import type { PushSubject } from './job-kind.ts';
import type { Handled, JobHandler } from './job-worker.ts';

export interface PushHandlerParts {
  /** Milliseconds until a batch is due: 0 for now; null: no batch waits. */
  readonly readDelayMs: () => Promise<number | null>;
  readonly pushOnce: (signal: AbortSignal, stopping: AbortSignal) => Promise<PushReport>;
  readonly gate: AuthGate;
  readonly logger: Logger;
  /** Delay after an outcome that could not be recorded, in milliseconds. */
  readonly stagingRetryMs?: number;
}

const STAGING_RETRY_MS = 30_000;

/**
 * Translates the outcome of a batch into the outcome of its job. The tables are read before every
 * request: a job may come too early, too late or twice, and must not send a request that is not
 * due. The returned handler throws ShutdownError when the job has to be returned to the queue. Any
 * other error is a defect of the program.
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
      logger.warn(fields, 'the outcome of a push could not be recorded');
      return { retryInMs: stagingRetryMs };
    }
  };
}

function toFate(report: PushReport): Handled {
  switch (report.kind) {
    case 'busy':
      // The process that is pushing continues while batches are due. The planner finds the rest.
      return undefined;
    case 'done':
      // The next batch, if there is one. A batch without a decision, because the ERP holds locks on
      // its rows, waits for the planner.
      return hasDecided(report) ? { retryInMs: 0 } : undefined;
    case 'unauthorized':
      // The job returns immediately and then waits at the gate.
      return { retryInMs: 0 };
    case 'retry':
    case 'failed':
      return { retryInMs: report.delayMs };
  }
}

function hasDecided({ synced, rejected, invalid, unchanged, relieved }: PushReport): boolean {
  return synced + rejected + invalid + unchanged + relieved > 0;
}
