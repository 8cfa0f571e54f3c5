import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Database } from '../../../base/database/database.ts';
import { InputError } from '../../../base/runtime/errors.ts';
import { parseCivilDate } from '../../../base/values/business-day.ts';
import { describe, limitOf } from '../../../console/api/api-request.ts';
import { count, date } from '../../../console/api/schema-parts.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { maskErpTexts } from '../../../console/shell/masking.ts';
import { textParameter } from '../../../console/shell/page-context.ts';
import { EVERYBODY, forKeys, STAFF } from '../../../console/shell/route-access.ts';
import { consumerOfKey } from '../consumers.ts';
import { ConsumerLag, FeedPage, position, readConsumerLags, readFeed } from '../feed.sql.ts';
import { readWaitingDays, WaitingDays } from '../release.sql.ts';
import { type Receipt, ReceiptBody, takeReceipts } from '../take-receipts.sql.ts';
import {
  PayableToBlock,
  readPayablesToBlock,
  readWaitingTitles,
  WaitingTitle,
} from '../unposted.sql.ts';
import { KeptReceipts, readKeptReceipts } from './booking-receipts.sql.ts';

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
export function addBookingsApi(api: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;
  const forEverybody = forKeys(EVERYBODY, 'read');
  const forConsumers = forKeys(STAFF, 'export');

  api.get(
    '/bookings',
    describe(
      forConsumers,
      'bookings',
      'listBookings',
      'Released lines after a position, in their order',
      {
        querystring: Type.Object({ after: Type.Optional(position), limit }),
        answer: FeedPage,
      },
    ),
    async (request) => {
      const after = BigInt(textParameter(request.query, 'after') ?? '0');
      const consumer = await requireConsumer(database, request);
      return readFeed(database, consumer, { after, limit: limitOf(request) });
    },
  );

  api.post(
    '/bookings/receipts',
    describe(
      forConsumers,
      'bookings',
      'sendReceipts',
      'Say which lines were posted, and which failed',
      {
        body: Type.Object({
          receipts: Type.Array(ReceiptBody, { minItems: 1, maxItems: MAX_RECEIPTS }),
        }),
        answer: Type.Object({ stored: count }),
      },
    ),
    async (request) => {
      const { receipts } = request.body as { receipts: readonly Receipt[] };
      const consumer = await requireConsumer(database, request);
      return { stored: await takeReceipts(database, consumer, receipts) };
    },
  );

  api.get(
    '/payables-to-block',
    describe(
      forConsumers,
      'payables',
      'listPayablesToBlock',
      'Open payables whose titles are matched and not posted, to block from the payment run',
      {
        querystring: Type.Object({
          after: Type.Optional(
            Type.String({ maxLength: 255, description: 'The last erpKey of the page before.' }),
          ),
          limit,
        }),
        answer: Type.Object({
          payables: Type.Array(PayableToBlock, {
            description: 'In the order of erpKey. A payable with several titles has several rows.',
          }),
        }),
      },
    ),
    async (request) => {
      const after = textParameter(request.query, 'after') ?? '';
      return { payables: await readPayablesToBlock(database, { after, limit: limitOf(request) }) };
    },
  );

  api.get(
    '/waiting-titles',
    describe(
      forEverybody,
      'bookings',
      'listWaitingTitles',
      'Titles of a date that wait for their release',
      {
        querystring: Type.Object({ date }),
        answer: Type.Object({
          titles: Type.Array(WaitingTitle, {
            description: 'GET /api/breaks with the date has the reasons.',
          }),
        }),
      },
    ),
    async (request) => {
      const day = parseCivilDate(textParameter(request.query, 'date') ?? '');
      if (day === null) throw new InputError('date: expected a calendar date as YYYY-MM-DD');
      return { titles: await readWaitingTitles(database, day) };
    },
  );

  api.get(
    '/booking-status',
    describe(
      forEverybody,
      'bookings',
      'getBookingStatus',
      'The consumers, and the receipts that do not fit',
      { answer: Status },
    ),
    async (request) => {
      const { count: kept, receipts } = await readKeptReceipts(database, MAX_RECEIPTS);
      return {
        waiting: await readWaitingDays(database, parts),
        consumers: await readConsumerLags(database.prisma),
        kept: {
          count: kept,
          receipts: receipts.map((receipt) => maskErpTexts(receipt, request.principal)),
        },
      };
    },
  );
}

/** @throws InputError for a person, and for a key that belongs to no consumer */
async function requireConsumer(database: Database, { principal }: FastifyRequest): Promise<string> {
  const keyId = principal?.keyId;
  const consumer = keyId === undefined ? null : await consumerOfKey(database, keyId);
  if (consumer !== null) return consumer;
  throw new InputError(
    'expected the key of a consumer; "conciliation bookings consumer" gives a key to a consumer',
    { context: { fault: 'no_consumer' } },
  );
}
