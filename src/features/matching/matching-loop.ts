import type { Database } from '../../base/database/database.ts';
import { describeError, type Logger } from '../../base/runtime/logger.ts';
import { type Loop, loop } from '../../base/runtime/loop.ts';
import { isMatchingDue, MATCHING_ACTOR, type RunRequest, runMatching } from './run-matching.sql.ts';

const EVERY_MS = 60_000;

/** Matches titles with payables within a minute after one of them has changed. */
export function startMatchingLoop(
  {
    database,
    logger,
    maxAgeHours,
    ...request
  }: Omit<RunRequest, 'by'> & {
    readonly database: Database;
    readonly logger: Logger;
    readonly maxAgeHours: number;
  },
  everyMs = EVERY_MS,
): Loop {
  return loop({
    everyMs,
    run: async () => {
      try {
        if (!(await isMatchingDue(database, maxAgeHours, request.bookingsFrom))) return;
        const run = await runMatching(database, { by: MATCHING_ACTOR, ...request });
        logger.info({ ...run }, 'titles matched');
      } catch (error) {
        logger.error({ err: describeError(error) }, 'titles were not matched');
      }
    },
  });
}
