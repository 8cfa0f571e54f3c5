import type { Database, Transaction } from '../../base/database/database.ts';
import { PROCESS_SILENCE_MS, type ProcessFault } from '../../core/work/process-fault.ts';
import type { FaultyProcesses } from './messages/process-alerts.ts';

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

/**
 * Returns the present faults. A silent process may have ended; only the fault of a refused token
 * outlives its process.
 */
export function readFaults(tx: Transaction): Promise<FaultyProcesses[]> {
  return tx.$queryRaw<FaultyProcesses[]>`
    SELECT kind, count(*)::int AS processes
    FROM conciliation.process_fault
    WHERE kind = 'token_refused'
       OR seen_at >= clock_timestamp() - make_interval(secs => ${PROCESS_SILENCE_MS / 1000}::float8)
    GROUP BY kind`;
}
