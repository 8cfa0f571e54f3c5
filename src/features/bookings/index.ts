import { type Loop, loop } from '../../base/runtime/timing.ts';
import { type CivilDate, lastClosedDate } from '../../base/values/business-day.ts';
import type { Feature, LoopParts } from '../../console/shell/console-parts.ts';
import { signCleanDays } from '../review/sign-off.sql.ts';
import { BOOKINGS_API } from './pages/api-bookings.ts';
import { BOOKING_ACTIONS, LINES } from './pages/bookings.tsx';
import { settleReceipts } from './receipts.sql.ts';
import { RELEASE_TRANSACTION, releaseWaitingDays } from './release.sql.ts';

const INTERVAL_MS = 60_000;

/**
 * Once a minute: compares new receipts with the lines, makes the first seals of clean days where that is configured,
 * and releases the signed-off days that need not wait any longer.
 */
export function startReleases(
  bookingsFrom: CivilDate,
  {
    database,
    logger,
    config: { timezone: timeZone, erpPayablesMaxAgeHours: payablesMaxAgeHours, autoSignOff },
    everyMs = INTERVAL_MS,
  }: LoopParts<'timezone' | 'erpPayablesMaxAgeHours' | 'autoSignOff'>,
): Loop {
  return loop({
    everyMs,
    run: async () => {
      await database.prisma.$transaction((tx) => settleReceipts(tx, null), RELEASE_TRANSACTION);
      const rules = { payablesMaxAgeHours, timeZone };
      const range = { ...rules, bookingsFrom, to: lastClosedDate(timeZone, new Date()) };
      const signed = autoSignOff === 'clean' ? await signCleanDays(database, range) : [];
      const released = await releaseWaitingDays(database, rules);
      if (signed.length + released.length > 0) {
        logger.info({ signed, released }, 'days were signed off or released for booking');
      }
    },
    failure: { logger, message: 'bookings were not released; tried again in a minute' },
  });
}

export const bookings: Feature = {
  name: 'bookings',
  actions: BOOKING_ACTIONS,
  lists: [LINES],
  api: BOOKINGS_API,
  loops: (parts) => {
    const { bookingsFrom } = parts.config;
    return bookingsFrom === null ? [] : [startReleases(bookingsFrom, parts)];
  },
};
