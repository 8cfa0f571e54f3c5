import { randomUUID } from 'node:crypto';
import type { Database } from '../database/database.ts';
import { PROCESS_SILENCE_MS } from '../domain/process-fault.ts';
import { type FaultReport, reportFaults } from '../ledger/process-faults.sql.ts';
import { describeError, type Logger } from '../runtime/logger.ts';
import { loop } from '../runtime/loop.ts';

export interface FaultReports {
  /** The faults of a process that stops stay reported, until they are found to be over. */
  stop(): Promise<void>;
}

const INTERVAL_MS = 15_000;

/** Reports now and then every 15 seconds what keeps this process from its work. */
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
  /** Since when every report arrived; while the database is away all processes are silent. */
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
