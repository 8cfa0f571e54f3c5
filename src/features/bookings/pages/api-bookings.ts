import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Database } from '../../../base/database/database.ts';
import { InputError } from '../../../base/runtime/errors.ts';
import { DEFAULT_LIMIT, declareOperation } from '../../../console/api/api-request.ts';
import { count } from '../../../console/api/schema-parts.ts';
import { STAFF } from '../../../console/shell/route-access.ts';
import { FeedPage, PayableToBlock, position, readFeed, readPayablesToBlock } from '../feed.sql.ts';
import { ReceiptBody, takeReceipts } from '../receipt-decisions.sql.ts';

const MAX_LINES = 1_000;
const MAX_RECEIPTS = 1_000;

const limit = Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LINES, default: 100 }));

/** The booking feed and the receipts, for the keys of consumers. */
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
