import { randomUUID } from 'node:crypto';
import type { Database } from '../../base/database/database.ts';
import { describeError, type Logger } from '../../base/runtime/logger.ts';
import { loop } from '../../base/runtime/loop.ts';
import { PROCESS_SILENCE_MS, type ProcessFault } from '../../core/work/process-fault.ts';

export interface FaultReport {
  /** A number that identifies the reporting process, drawn at its start. */
  readonly processId: string;
  readonly faults: readonly ProcessFault[];
  /** The platform refused a token of the process and has not accepted one since. */
  readonly awaitsAcceptance: boolean;
  /** See `TokenReport.acceptedAgoMs`. */
  readonly acceptedAgoMs: number | null;
  /** A fault without a report for this time counts as over; null: no fault does. */
  readonly silenceMs: number | null;
}

/**
 * Replaces the faults of a process by those of the report, and removes the faults of silent
 * processes. A refused token outlives its replacement and its process. It ends when the platform
 * has accepted another token of the process, or when it was not reported for `silenceMs` and the
 * platform has accepted a token of any process in a request that was sent after its last report.
 * All instants are by the database's clock.
 */
export async function reportFaults(database: Database, report: FaultReport): Promise<void> {
  const { processId, faults, awaitsAcceptance, acceptedAgoMs, silenceMs } = report;
  const lasting = awaitsAcceptance ? [...faults, 'token_refused'] : faults;

  await database.prisma.$executeRaw`
    INSERT INTO conciliation.process_fault (process_id, kind)
    SELECT ${processId}::uuid, kind FROM unnest(${faults}::text[]) AS reported (kind)
    ON CONFLICT (process_id, kind) DO UPDATE SET seen_at = clock_timestamp()`;
  await database.prisma.$executeRaw`
    DELETE FROM conciliation.process_fault
    WHERE (process_id = ${processId}::uuid AND kind <> ALL(${lasting}::text[]))
       OR (seen_at < clock_timestamp() - make_interval(secs => ${seconds(silenceMs)}::float8)
           AND (kind <> 'token_refused'
                OR seen_at < clock_timestamp() - make_interval(secs => ${seconds(acceptedAgoMs)}::float8)))`;
}

function seconds(ms: number | null): number | null {
  return ms === null ? null : ms / 1000;
}

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
