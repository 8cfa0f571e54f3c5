import { randomUUID } from 'node:crypto';
import type { Database } from '../../base/database/database.ts';
import { describeError, type Logger } from '../../base/runtime/logger.ts';
import { type Loop, loop } from '../../base/runtime/loop.ts';
import { PROCESS_SILENCE_MS, type ProcessFault } from '../../core/work/process-fault.ts';

/**
 * Replaces the faults of a process, by those that it reports, and removes the faults of processes that have ended.
 * All instants are by the database's clock.
 *
 * @param processId a number that identifies the reporting process, drawn at its start
 */
export async function reportFaults(
  database: Database,
  processId: string,
  faults: readonly ProcessFault[],
): Promise<void> {
  await database.prisma.$executeRaw`
    INSERT INTO conciliation.process_fault (process_id, kind)
    SELECT ${processId}::uuid, kind FROM unnest(${faults}::text[]) AS reported (kind)
    ON CONFLICT (process_id, kind) DO UPDATE SET seen_at = clock_timestamp()`;
  await database.prisma.$executeRaw`
    DELETE FROM conciliation.process_fault
    WHERE (process_id = ${processId}::uuid AND kind <> ALL(${faults}::text[]))
       OR seen_at < clock_timestamp() - make_interval(secs => ${PROCESS_SILENCE_MS / 1000}::float8)`;
}

const INTERVAL_MS = 15_000;

/**
 * Reports at once, and then every 15 seconds, the faults that keep this process from its work. The last report stays in
 * the table for `PROCESS_SILENCE_MS`.
 */
export function startFaultReports(parts: {
  readonly database: Database;
  readonly logger: Logger;
  readonly read: () => Promise<readonly ProcessFault[]>;
  readonly intervalMs?: number;
}): Loop {
  const { database, logger, read, intervalMs = INTERVAL_MS } = parts;
  const processId = randomUUID();
  let isReporting = false;

  const round = async () => {
    try {
      await reportFaults(database, processId, await read());
      isReporting = true;
    } catch (error) {
      const level = isReporting ? 'warn' : 'debug';
      logger[level]({ err: describeError(error) }, 'the faults of this process were not reported');
      isReporting = false;
    }
  };
  return loop({ everyMs: intervalMs, run: round });
}
