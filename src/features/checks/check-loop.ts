import type { Database } from '../../base/database/database.ts';
import type { Logger } from '../../base/runtime/logger.ts';
import { type Loop, loop } from '../../base/runtime/loop.ts';
import { type CheckRules, checkDays } from './check-day.sql.ts';

const EVERY_MS = 2_000;

/** Checks the dates whose titles have changed. */
export function startCheckLoop(database: Database, logger: Logger, rules: CheckRules): Loop {
  return loop({
    everyMs: EVERY_MS,
    run: async (signal) => {
      for (const { date, found, closed } of await checkDays(database, rules, signal)) {
        if (found > 0 || closed > 0) logger.info({ date, found, closed }, 'titles checked');
      }
    },
    failure: { logger, message: 'titles were not checked', level: 'error' },
  });
}
