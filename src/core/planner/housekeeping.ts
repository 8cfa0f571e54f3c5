import type { Database } from '../../base/database/database.ts';
import { describeError, type Logger } from '../../base/runtime/logger.ts';
import { loop } from '../../base/runtime/loop.ts';
import { discardAbandoned } from '../ledger/pull-ledger.sql.ts';

export interface Housekeeping {
  stop(): Promise<void>;
}

const CLEAN_INTERVAL_MS = 3_600_000;

/** Deletes the rows that killed processes left in the staging tables. */
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
      if (titles > 0) logger.info({ titles }, 'removed the staged rows of a killed process');
    } catch (error) {
      logger.warn({ err: describeError(error) }, 'the staging tables were not cleared');
    }
  };
  return loop({ everyMs: CLEAN_INTERVAL_MS, run: clean });
}
