import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Database } from '../../../base/database/database.ts';
import { InputError } from '../../../base/runtime/errors.ts';
import { DEFAULT_LIMIT, declareOperation } from '../../../console/api/api-request.ts';
import { count, ledgerDate } from '../../../console/api/schema-parts.ts';
import { STAFF } from '../../../console/shell/route-access.ts';
import {
  ConsumerLag,
  FeedPage,
  PayableToBlock,
  position,
  readConsumerLags,
  readFeed,
  readPayablesToBlock,
  readWaitingTitles,
  WaitingTitle,
} from '../feed.sql.ts';
import { ReceiptBody, takeReceipts } from '../receipt-decisions.sql.ts';
import { readWaitingDays, WaitingDays } from '../release.sql.ts';
import { KeptReceipts, readKeptReceipts } from './booking-list.sql.ts';

const MAX_LINES = 1_000;
const MAX_RECEIPTS = 1_000;

const limit = Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LINES, default: 100 }));

const Status = Type.Object({
  waiting: Type.Array(WaitingDays, {
    description: 'Signed-off days that are not released completely.',
  }),
  consumers: Type.Array(ConsumerLag),
  kept: KeptReceipts,
});

/** The booking feed and the receipts, for the keys of consumers, and what the page of bookings has beside its list. */
export const BOOKINGS_API = [
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
    summary: 'Open payables whose titles are matched and not posted, to block from the payment run',
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
  declareOperation({
    path: '/waiting-titles',
    scope: 'read',
    tag: 'bookings',
    operationId: 'listWaitingTitles',
    summary: 'Titles of a date that wait for their release',
    input: { date: ledgerDate },
    answer: Type.Object({
      titles: Type.Array(WaitingTitle, {
        description: 'GET /api/breaks with the date has the reasons.',
      }),
    }),
    run: async ({ database }, { date }) => ({ titles: await readWaitingTitles(database, date) }),
  }),
  declareOperation({
    path: '/booking-status',
    scope: 'read',
    tag: 'bookings',
    operationId: 'getBookingStatus',
    summary: 'The consumers, and the receipts that do not fit',
    input: {},
    answer: Status,
    run: async (parts, _, { principal }) => {
      const { database } = parts;
      return {
        waiting: await readWaitingDays(database, parts),
        consumers: await readConsumerLags(database.prisma),
        kept: await readKeptReceipts(database, MAX_RECEIPTS, principal),
      };
    },
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
