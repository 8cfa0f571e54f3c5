import { randomUUID } from 'node:crypto';
import type { Database } from '../../base/database/database.ts';
import { describeError, type Logger } from '../../base/runtime/logger.ts';
import { loop } from '../../base/runtime/loop.ts';
import { PROCESS_SILENCE_MS } from '../../core/work/process-fault.ts';
import { type FaultReport, reportFaults } from './process-faults.sql.ts';

export interface FaultReports {
  /** The reports of a process that stops stay in the table until the fault is over. */
  stop(): Promise<void>;
}

const INTERVAL_MS = 15_000;

/** Reports at once, and then every 15 seconds, the faults that keep this process from its work. */
export function startFaultReports(parts: {
  readonly database: Database;
  readonly logger: Logger;
  readonly read: () => Promise<Omit<FaultReport, 'processId' | 'silenceMs'>>;
  readonly intervalMs?: number;
  readonly silenceMs?: number;
}): FaultReports {
  const { database, logger, read, intervalMs = INTERVAL_MS } = parts;
  const { silenceMs = PROCESS_SILENCE_MS } = parts;
  const processId = randomUUID();
  /**
   * Start of the time in which every report arrived. While the database is not available, no
   * process can report.
   */
  let reportingSinceMs: number | null = null;

  const round = async () => {
    try {
      const now = performance.now();
      const maySayEnded = reportingSinceMs !== null && now - reportingSinceMs >= silenceMs;
      const state = await read();
      await reportFaults(database, {
        processId,
        ...state,
        silenceMs: maySayEnded ? silenceMs : null,
      });
      reportingSinceMs ??= now;
    } catch (error) {
      const level = reportingSinceMs === null ? 'debug' : 'warn';
      logger[level]({ err: describeError(error) }, 'the faults of this process were not reported');
      reportingSinceMs = null;
    }
  };
  return loop({ everyMs: intervalMs, run: round });
}
