import type { Database } from '../database/database.ts';
import { discardAbandoned } from '../ledger/pull-ledger.sql.ts';
import { createStoppedLoadWatch } from '../pull/stopped-loads.sql.ts';
import { describeError, type Logger } from '../runtime/logger.ts';
import { loop } from '../runtime/loop.ts';

export interface Housekeeping {
  stop(): Promise<void>;
}

const CLEAN_INTERVAL_MS = 3_600_000;
const LOADS_INTERVAL_MS = 30_000;
/**
 * A running process ends an attempt that receives no byte within the platform's timeout, and a load that has sent
 * no row for 30 s when a byte arrives. This margin is added to the timeout.
 */
const SPARE_MS = 45_000;

/**
 * Deletes the rows that killed processes left in the staging tables, and ends the loads of stopped processes.
 * @param silenceMs longest time without a byte of the platform within an attempt
 */
export function startHousekeeping({
  database,
  logger,
  silenceMs,
}: {
  readonly database: Database;
  readonly logger: Logger;
  readonly silenceMs: number;
}): Housekeeping {
  const endStoppedLoads = createStoppedLoadWatch(database, silenceMs + SPARE_MS);
  const clean = async () => {
    try {
      const titles = await discardAbandoned(database);
      if (titles > 0) logger.info({ titles }, 'removed the staged rows of a killed process');
    } catch (error) {
      logger.warn({ err: describeError(error) }, 'the staging tables were not cleared');
    }
  };
  const endLoads = async () => {
    try {
      const sessions = await endStoppedLoads();
      if (sessions > 0) logger.warn({ sessions }, 'ended the load of a process that was stopped');
    } catch (error) {
      logger.warn({ err: describeError(error) }, 'stopped loads were not looked for');
    }
  };
  const loops = [
    loop({ everyMs: CLEAN_INTERVAL_MS, run: clean }),
    loop({ everyMs: LOADS_INTERVAL_MS, run: endLoads }),
  ];
  return {
    async stop() {
      await Promise.all(loops.map(({ stop }) => stop()));
    },
  };
}
