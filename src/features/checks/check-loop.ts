import type { Database } from '../../base/database/database.ts';
import { describeError, type Logger } from '../../base/runtime/logger.ts';
import { type Loop, loop } from '../../base/runtime/loop.ts';
import { type CheckRules, checkDays } from './check-day.sql.ts';

const EVERY_MS = 2_000;

/** Checks the dates whose titles have changed. */
export function startCheckLoop(
  parts: { readonly database: Database; readonly logger: Logger; readonly rules: CheckRules },
  everyMs = EVERY_MS,
): Pick<Loop, 'stop'> {
  const { database, logger, rules } = parts;
  const stopping = new AbortController();
  const runs = loop({
    everyMs,
    run: async () => {
      try {
        for (const { date, found, closed } of await checkDays(database, rules, stopping.signal)) {
          if (found > 0 || closed > 0) logger.info({ date, found, closed }, 'titles checked');
        }
      } catch (error) {
        logger.error({ err: describeError(error) }, 'titles were not checked');
      }
    },
  });
  return {
    stop: () => {
      stopping.abort();
      return runs.stop();
    },
  };
}
