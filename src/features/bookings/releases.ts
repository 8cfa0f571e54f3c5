import type { Database } from '../../base/database/database.ts';
import type { Logger } from '../../base/runtime/logger.ts';
import { type Loop, loop } from '../../base/runtime/loop.ts';
import { type CivilDate, lastClosedDate } from '../../base/values/business-day.ts';
import { signCleanDays } from '../review/sign-off.sql.ts';
import { settleReceipts } from './receipts.sql.ts';
import { RELEASE_TRANSACTION, releaseWaitingDays } from './release.sql.ts';

const INTERVAL_MS = 60_000;

/**
 * Once a minute: compares new receipts with the lines, makes the first seals of clean days where that is configured,
 * and releases the signed-off days that need not wait any longer.
 */
export function startReleases({
  database,
  logger,
  bookingsFrom,
  payablesMaxAgeHours,
  signsCleanDays,
  timeZone,
  everyMs = INTERVAL_MS,
}: {
  readonly database: Database;
  readonly logger: Logger;
  readonly bookingsFrom: CivilDate;
  readonly payablesMaxAgeHours: number;
  readonly signsCleanDays: boolean;
  readonly timeZone: string;
  /** Replaced in tests. */
  readonly everyMs?: number;
}): Loop {
  return loop({
    everyMs,
    run: async () => {
      await database.prisma.$transaction((tx) => settleReceipts(tx, null), RELEASE_TRANSACTION);
      const rules = { payablesMaxAgeHours, timeZone };
      const range = { ...rules, bookingsFrom, to: lastClosedDate(timeZone, new Date()) };
      const signed = signsCleanDays ? await signCleanDays(database, range) : [];
      const released = await releaseWaitingDays(database, rules);
      if (signed.length + released.length > 0) {
        logger.info({ signed, released }, 'days were released for booking');
      }
    },
    failure: { logger, message: 'bookings were not released; tried again in a minute' },
  });
}
