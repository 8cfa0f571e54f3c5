import { describeError, type Logger } from '../logger.ts';
import type { Database } from '../staging/database.ts';
import { discardAbandoned } from '../staging/pull-ledger.ts';

export interface Housekeeping {
  stop(): Promise<void>;
}

const INTERVAL_MS = 3_600_000;

/** Clears the staging tables of what killed processes left there, now and then once an hour. */
export function startHousekeeping(parts: {
  readonly database: Database;
  readonly logger: Logger;
}): Housekeeping {
  let underWay: Promise<void> | undefined;
  const clean = async () => {
    try {
      const titles = await discardAbandoned(parts.database);
      if (titles > 0) parts.logger.info({ titles }, 'removed what a killed process had staged');
    } catch (error) {
      parts.logger.warn({ err: describeError(error) }, 'the staging tables were not cleared');
    }
  };
  const start = () => {
    underWay ??= clean().finally(() => {
      underWay = undefined;
    });
  };
  const timer = setInterval(start, INTERVAL_MS);
  start();
  return {
    async stop() {
      clearInterval(timer);
      await underWay;
    },
  };
}
