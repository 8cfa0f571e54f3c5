import { describeError, type Logger } from '../logger.ts';
import { repeat } from '../repeat.ts';
import type { Database } from '../staging/database.ts';
import { discardAbandoned } from '../staging/pull-ledger.ts';
import { endStoppedLoads } from '../staging/stopped-loads.ts';

export interface Housekeeping {
  stop(): Promise<void>;
}

const CLEAN_INTERVAL_MS = 3_600_000;
const LOADS_INTERVAL_MS = 30_000;
/** Longer than a load goes on of itself: see `DirectLoads`. */
const STOPPED_LOAD_SECONDS = 75;

/**
 * Clears the staging tables of what killed processes left there, and takes the change feed from processes
 * that were stopped while they had it.
 */
export function startHousekeeping({
  database,
  logger,
}: {
  readonly database: Database;
  readonly logger: Logger;
}): Housekeeping {
  const clean = async () => {
    try {
      const titles = await discardAbandoned(database);
      if (titles > 0) logger.info({ titles }, 'removed what a killed process had staged');
    } catch (error) {
      logger.warn({ err: describeError(error) }, 'the staging tables were not cleared');
    }
  };
  const endLoads = async () => {
    try {
      const sessions = await endStoppedLoads(database, STOPPED_LOAD_SECONDS);
      if (sessions > 0) logger.warn({ sessions }, 'ended the load of a process that was stopped');
    } catch (error) {
      logger.warn({ err: describeError(error) }, 'stopped loads were not looked for');
    }
  };
  const stops = [repeat(CLEAN_INTERVAL_MS, clean), repeat(LOADS_INTERVAL_MS, endLoads)];
  return {
    async stop() {
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}
