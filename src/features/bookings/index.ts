import { type Loop, loop } from '../../base/runtime/timing.ts';
import { type CivilDate, lastClosedDate } from '../../base/values/business-day.ts';
import { postWebhook } from '../../base/webhooks/post-webhook.ts';
import type { Feature, LoopParts } from '../../console/shell/console-parts.ts';
import { signCleanDays } from '../review/sign-off.sql.ts';
import { readConsumerLags } from './feed.sql.ts';
import { BOOKINGS_API } from './pages/api-bookings.ts';
import { BOOKING } from './pages/booking-page.tsx';
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
        logger.info({ signed, released }, 'days were released for booking');
      }
    },
    failure: { logger, message: 'bookings were not released; tried again in a minute' },
  });
}

const MAX_WAIT_MS = 3_600_000;
const TIMEOUT_MS = 10_000;

/**
 * Once a minute: posts one event for each consumer that has lines after its position, unless this process has
 * posted an event for the newest of them. After a failure, the waits double up to an hour. Nothing is stored: an
 * event is a wake-up only, and a process that starts posts again what no reader has read.
 * @param url a secret, because it may hold a token
 */
export function startWakeUps(
  url: URL,
  {
    database,
    logger,
    config: { bookingsWebhookSecret: key },
    everyMs = INTERVAL_MS,
  }: LoopParts<'bookingsWebhookSecret'>,
): Loop {
  const posted = new Map<string, string>();
  let attempts = 0;
  let nextAt = 0;

  const post = async (document: ReturnType<typeof eventOf>, signal: AbortSignal) => {
    if (posted.get(document.subject) === document.id) return null;
    const fault = await postWebhook(url, {
      ...{ id: document.id, document, key, timeoutMs: TIMEOUT_MS, signal },
      contentType: 'application/cloudevents+json; charset=utf-8',
    });
    if (fault === null) posted.set(document.subject, document.id);
    return fault;
  };

  const run = async (signal: AbortSignal) => {
    if (Date.now() < nextAt) return;
    for (const { name, seq, offeredAt } of await readConsumerLags(database.prisma)) {
      if (signal.aborted) return;
      if (seq === null || offeredAt === null) continue;
      const fault = await post(eventOf(name, seq, offeredAt), signal);
      if (fault === null) {
        attempts = 0;
        continue;
      }
      // The other events would probably fail too.
      const waitMs = Math.min(everyMs * 2 ** attempts, MAX_WAIT_MS);
      nextAt = Date.now() + waitMs;
      attempts += 1;
      logger.warn({ fault, attempts, waitMs }, 'the webhook of the bookings failed');
      return;
    }
  };
  const failure = { logger, message: 'the webhook of the bookings waits a minute' };
  return loop({ everyMs, run, failure });
}

/** https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md */
function eventOf(consumer: string, seq: string, offeredAt: Date) {
  return {
    specversion: '1.0',
    // With the time, because a restored database uses positions again until the step "restored".
    id: `booking-${consumer}-${seq}-${offeredAt.getTime()}`,
    source: '/erp-conciliation-sync/bookings',
    type: 'erp-conciliation-sync.bookings.offered',
    subject: consumer,
    time: offeredAt.toISOString(),
    datacontenttype: 'application/json',
    // Text, because many readers of JSON round numbers beyond 2^53.
    data: { consumer, seq },
  };
}

export const bookings: Feature = {
  name: 'bookings',
  pages: [BOOKING],
  actions: BOOKING_ACTIONS,
  lists: [LINES],
  api: BOOKINGS_API,
  loops: (parts) => {
    const { bookingsFrom, bookingsWebhookUrl: url } = parts.config;
    return [
      ...(bookingsFrom === null ? [] : [startReleases(bookingsFrom, parts)]),
      ...(url === null ? [] : [startWakeUps(url, parts)]),
    ];
  },
};
