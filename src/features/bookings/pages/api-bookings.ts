import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Database } from '../../../base/database/database.ts';
import { InputError } from '../../../base/runtime/errors.ts';
import { describe, limitOf } from '../../../console/api/api-request.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { textParameter } from '../../../console/shell/page-context.ts';
import { forKeys, STAFF } from '../../../console/shell/route-access.ts';
import { VALUE_COLUMNS } from '../../../core/title/title.ts';
import { DESTINATION_COLUMNS } from '../../../core/title/title-hashes.sql.ts';
import { consumerOfKey } from '../consumers.ts';
import { readFeed } from '../feed.sql.ts';
import { type Receipt, takeReceipts } from '../take-receipts.sql.ts';

const MAX_LINES = 1_000;
const MAX_RECEIPTS = 1_000;

const text = Type.String();
const textOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'] });
const limited = (maxLength: number) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength });
const position = Type.String({ pattern: '^(0|[1-9][0-9]{0,17})$', examples: ['0'] });
const words = (values: readonly string[]) => Type.Unsafe<string>({ type: 'string', enum: values });

const Lines = Type.Object({
  lines: Type.Array(
    Type.Object({
      seq: position,
      key: text,
      succeedsKey: textOrNull,
      kind: words(['book', 'adjust', 'reverse']),
      effect: words(['early_payment', 'payee_change', 'not_stated']),
      payeeBefore: textOrNull,
      payeeAfter: textOrNull,
      erpKey: textOrNull,
      state: words(['released', 'posted', 'failed', 'refused', 'superseded']),
      batchId: text,
      offeredAt: Type.Unsafe<string>({ type: 'string', format: 'date-time' }),
      date: Type.Unsafe<string>({ type: 'string', format: 'date' }),
      contentHash: text,
      title: Type.Object(
        {
          ...Object.fromEntries(
            VALUE_COLUMNS.filter((name) => name !== 'accepted_date').map((name) => [
              name,
              name === 'buyer_is_financial'
                ? Type.Unsafe<boolean | null>({ type: ['boolean', 'null'] })
                : textOrNull,
            ]),
          ),
          ...Object.fromEntries(
            DESTINATION_COLUMNS.map((name) => [
              name,
              Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()]),
            ]),
          ),
        },
        { description: 'As in the database; amounts are exact decimals.' },
      ),
    }),
  ),
  next: position,
});

const Receipts = Type.Object({
  receipts: Type.Array(
    Type.Object({
      idempotencyKey: Type.String({ minLength: 1, maxLength: 200 }),
      key: Type.String({ maxLength: 100 }),
      contentHash: Type.String({ maxLength: 32 }),
      status: words(['posted', 'failed']),
      document: Type.Optional(limited(200)),
      reason: Type.Optional(limited(2_000)),
      final: Type.Optional(
        Type.Boolean({
          description: 'With failed: the ERP will never post the line, which is not offered again.',
        }),
      ),
    }),
    { minItems: 1, maxItems: MAX_RECEIPTS },
  ),
});

/** The booking feed and the receipts, for the keys of consumers. */
export function addBookingsApi(api: FastifyInstance, { database }: ConsoleParts): void {
  api.get(
    '/bookings',
    describe(
      forKeys(STAFF, 'export'),
      'bookings',
      'listBookings',
      'Released lines after a position, in their order',
      {
        querystring: Type.Object({
          after: Type.Optional(position),
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LINES, default: 100 })),
        }),
        answer: Lines,
      },
    ),
    async (request) => {
      const after = BigInt(textParameter(request.query, 'after') ?? '0');
      return readFeed(database, await requireConsumer(database, request), {
        after,
        limit: limitOf(request),
      });
    },
  );

  api.post(
    '/bookings/receipts',
    describe(
      forKeys(STAFF, 'export'),
      'bookings',
      'sendReceipts',
      'Say which lines were posted, and which failed',
      {
        body: Receipts,
        answer: Type.Object({ stored: Type.Integer({ minimum: 0 }) }),
      },
    ),
    async (request) => {
      const body = request.body as { receipts: readonly Partial<Receipt>[] };
      const receipts = body.receipts.map(
        (receipt) => ({ document: null, reason: null, ...receipt }) as Receipt,
      );
      const consumer = await requireConsumer(database, request);
      return { stored: await takeReceipts(database, consumer, receipts) };
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
