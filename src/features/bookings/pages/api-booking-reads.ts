import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { InputError } from '../../../base/runtime/errors.ts';
import { parseCivilDate } from '../../../base/values/business-day.ts';
import { describe, limitOf, numberOf } from '../../../console/api/api-request.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { maskErpTexts } from '../../../console/shell/masking.ts';
import { textParameter } from '../../../console/shell/page-context.ts';
import { EVERYBODY, forKeys, STAFF } from '../../../console/shell/route-access.ts';
import { readConsumerLags } from '../open-lines.sql.ts';
import { readWaitingDays } from '../release.sql.ts';
import { RELEASE_FAULTS } from '../release-conditions.sql.ts';
import { readPayablesToBlock, readWaitingTitles } from '../unposted.sql.ts';
import { LINE_STATES, readLines, readLineTotals } from './booking-list.sql.ts';
import { readKeptReceipts } from './booking-receipts.sql.ts';
import { filterOf } from './line-filter.ts';

const MAX_LINES = 1_000;
const MAX_RECEIPTS = 1_000;

const text = Type.String();
const textOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'] });
const count = Type.Integer({ minimum: 0 });
const date = Type.Unsafe<string>({ type: 'string', format: 'date' });
const instant = Type.Unsafe<string>({ type: 'string', format: 'date-time' });
const instantOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });
const words = (values: readonly string[]) => Type.Unsafe<string>({ type: 'string', enum: values });
const kind = words(['book', 'adjust', 'reverse']);

const Lines = Type.Object({
  totals: Type.Object({
    states: Type.Object(Object.fromEntries(LINE_STATES.map((state) => [state, count]))),
    kinds: Type.Array(Type.Object({ kind, lines: count, originalValue: text })),
    lines: count,
  }),
  lines: Type.Array(
    Type.Object({
      id: Type.Integer({ minimum: 1 }),
      key: text,
      date,
      kind,
      state: words(['released', 'posted', 'failed', 'refused', 'superseded']),
      stateAt: instant,
      releasedAt: instant,
      isOverdue: Type.Boolean(),
      consumer: text,
      document: textOrNull,
      failure: textOrNull,
      orderUid: textOrNull,
      originalValue: textOrNull,
    }),
  ),
});

const Status = Type.Object({
  waiting: Type.Array(
    Type.Object({
      fault: Type.Unsafe<string | null>({
        type: ['string', 'null'],
        enum: [...RELEASE_FAULTS, 'titles', null],
        description: 'titles: only single titles of the days wait. Null: released within a minute.',
      }),
      days: count,
      titles: count,
      dates: Type.Array(date, { description: 'The first of them.' }),
    }),
    { description: 'Signed-off days that are not released completely.' },
  ),
  consumers: Type.Array(
    Type.Object({
      name: text,
      lastSeq: text,
      acknowledgedAt: instantOrNull,
      behind: count,
      behindSince: instantOrNull,
    }),
  ),
  kept: Type.Object({
    count,
    receipts: Type.Array(
      Type.Object({
        id: Type.Integer({ minimum: 1 }),
        key: text,
        date,
        consumer: text,
        status: words(['posted', 'failed']),
        document: textOrNull,
        reason: textOrNull,
        isFinal: Type.Boolean(),
        receivedAt: instant,
        outcome: words(['unknown_key', 'other_content']),
      }),
    ),
  }),
});

const title = { titleId: Type.Integer({ minimum: 1 }), orderUid: text, date, originalValue: text };
const WaitingTitles = Type.Object({
  titles: Type.Array(
    Type.Object({
      ...title,
      dueDate: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date' }),
    }),
    { description: 'GET /api/breaks with the date has the reasons.' },
  ),
});
const PayablesToBlock = Type.Object({
  payables: Type.Array(
    Type.Object({
      erpKey: text,
      company: textOrNull,
      ...title,
      supplier: textOrNull,
      effect: words(['early_payment', 'payee_change', 'not_stated']),
      payeeAfter: textOrNull,
      matchedAt: instant,
      state: words(['not_released', 'released', 'failed', 'refused', 'superseded', 'posted']),
    }),
    { description: 'In the order of erpKey. A payable with several titles has several rows.' },
  ),
});

/** The data of the page of bookings. The routes answer 404 while no seal releases bookings. */
export function addBookingReadsApi(api: FastifyInstance, parts: ConsoleParts): void {
  const { database, bookingsFrom = null } = parts;

  api.get(
    '/waiting-titles',
    describe(
      forKeys(EVERYBODY, 'read'),
      'bookings',
      'listWaitingTitles',
      'Titles of a date that wait for their release',
      {
        querystring: Type.Object({ date }),
        answer: WaitingTitles,
      },
    ),
    async (request, reply) => {
      if (bookingsFrom === null) return reply.callNotFound();
      const text = textParameter(request.query, 'date');
      const day = text === null ? null : parseCivilDate(text);
      if (day === null) throw new InputError('date: expected a calendar date as YYYY-MM-DD');
      return { titles: await readWaitingTitles(database, day) };
    },
  );

  api.get(
    '/payables-to-block',
    describe(
      forKeys(STAFF, 'export'),
      'payables',
      'listPayablesToBlock',
      'Open payables whose titles are matched and not posted, to block from the payment run',
      {
        querystring: Type.Object({
          after: Type.Optional(
            Type.String({ maxLength: 255, description: 'The last erpKey of the page before.' }),
          ),
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LINES, default: 100 })),
        }),
        answer: PayablesToBlock,
      },
    ),
    async (request) => {
      const after = textParameter(request.query, 'after') ?? '';
      return {
        payables: await readPayablesToBlock(database, { after, limit: limitOf(request) }),
      };
    },
  );

  api.get(
    '/booking-lines',
    describe(
      forKeys(EVERYBODY, 'read'),
      'bookings',
      'listBookingLines',
      'Released lines by accepted date and state',
      {
        querystring: Type.Object({
          from: Type.Optional(date),
          to: Type.Optional(date),
          state: Type.Optional(words(LINE_STATES)),
          days: Type.Optional(
            Type.Integer({ minimum: 0, maximum: 3_650, description: 'Overdue after days.' }),
          ),
          offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0 })),
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LINES, default: 100 })),
        }),
        answer: Lines,
      },
    ),
    async (request, reply) => {
      if (bookingsFrom === null) return reply.callNotFound();
      const { filter } = filterOf(request.query);
      const page = { offset: numberOf(request, 'offset') ?? 0, limit: limitOf(request) };
      return {
        totals: await readLineTotals(database, filter),
        lines: maskErpTexts(await readLines(database, filter, page), request.principal),
      };
    },
  );

  api.get(
    '/booking-status',
    describe(
      forKeys(EVERYBODY, 'read'),
      'bookings',
      'getBookingStatus',
      'The consumers, and the receipts that do not fit',
      {
        answer: Status,
      },
    ),
    async (request, reply) => {
      if (bookingsFrom === null) return reply.callNotFound();
      const { count, receipts } = await readKeptReceipts(database, MAX_RECEIPTS);
      return {
        waiting: await readWaitingDays(database, parts),
        consumers: await readConsumerLags(database.prisma),
        kept: { count, receipts: maskErpTexts(receipts, request.principal) },
      };
    },
  );
}
