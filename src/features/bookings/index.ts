import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Database } from '../../base/database/database.ts';
import { InputError } from '../../base/runtime/errors.ts';
import { type Loop, loop } from '../../base/runtime/timing.ts';
import { type CivilDate, lastClosedDate } from '../../base/values/business-day.ts';
import { DEFAULT_LIMIT, declareOperation } from '../../console/api/api-request.ts';
import { count } from '../../console/api/schema-parts.ts';
import type { Feature, LoopParts } from '../../console/shell/console-parts.ts';
import { STAFF } from '../../console/shell/route-access.ts';
import { signCleanDays } from '../review/sign-off.sql.ts';
import { FeedPage, PayableToBlock, position, readFeed, readPayablesToBlock } from './feed.sql.ts';
import { BOOKING_ACTIONS, LINES } from './pages/bookings.tsx';
import { ReceiptBody, takeReceipts } from './receipt-decisions.sql.ts';
import { settleReceipts } from './receipts.sql.ts';
import { RELEASE_TRANSACTION, releaseWaitingDays } from './release.sql.ts';

const MAX_LINES = 1_000;
const MAX_RECEIPTS = 1_000;

const limit = Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LINES, default: 100 }));

/** The booking feed and the receipts, for the keys of consumers. */
const BOOKINGS_API = [
  declareOperation({
    path: '/bookings',
    who: STAFF,
    scope: 'export',
    tag: 'bookings',
    operationId: 'listBookings',
    summary: 'Released lines after a position, in their order',
    input: { after: Type.Optional(position), limit },
    answer: FeedPage,
    run: async ({ database }, { after = '0', limit = DEFAULT_LIMIT }, request) => {
      const consumer = await requireConsumer(database, request);
      return readFeed(database, consumer, { after: BigInt(after), limit });
    },
  }),
  declareOperation({
    method: 'POST',
    path: '/bookings/receipts',
    who: STAFF,
    scope: 'export',
    tag: 'bookings',
    operationId: 'sendReceipts',
    summary: 'Say which lines were posted, and which failed',
    input: { receipts: Type.Array(ReceiptBody, { minItems: 1, maxItems: MAX_RECEIPTS }) },
    answer: Type.Object({ stored: count }),
    run: async ({ database }, { receipts }, request) => {
      const consumer = await requireConsumer(database, request);
      return { stored: await takeReceipts(database, consumer, receipts) };
    },
  }),
  declareOperation({
    path: '/payables-to-block',
    who: STAFF,
    scope: 'export',
    tag: 'payables',
    operationId: 'listPayablesToBlock',
    summary:
      'Open payables of titles that are matched and not posted, or in a break, to block from the payment run',
    input: {
      after: Type.Optional(
        Type.String({
          maxLength: 255,
          pattern: '^[^\\0]*$',
          description: 'The last erpKey of the page before.',
        }),
      ),
      limit,
    },
    answer: Type.Object({
      payables: Type.Array(PayableToBlock, {
        description: 'In the order of erpKey. A payable with several titles has several rows.',
      }),
    }),
    run: async ({ database }, { after = '', limit = DEFAULT_LIMIT }) => ({
      payables: await readPayablesToBlock(database, { after, limit }),
    }),
  }),
];

/** @throws InputError for a person, and for a key that belongs to no consumer */
async function requireConsumer(database: Database, { principal }: FastifyRequest): Promise<string> {
  const { keyId } = principal ?? {};
  const consumer =
    keyId === undefined
      ? null
      : await database.prisma.bookingConsumer.findFirst({
          where: { apiKeyId: BigInt(keyId) },
          select: { name: true },
        });
  if (consumer !== null) return consumer.name;
  throw new InputError(
    'expected the key of a consumer; "conciliation bookings consumer" gives a key to a consumer',
    { context: { fault: 'no_consumer' } },
  );
}

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
