import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { describe, limitOf, numberOf } from '../../../console/api/api-request.ts';
import {
  amount,
  count,
  date,
  dateOrNull,
  id,
  orNull,
  words,
} from '../../../console/api/schema-parts.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { EVERYBODY, forKeys } from '../../../console/shell/route-access.ts';
import { BREAK_KINDS, listBreaks, PAYEES } from '../breaks.sql.ts';
import { PAYABLE_STATUSES } from '../payables/payable.ts';
import { breakFilter } from './break-address.ts';

const BreakQuery = Type.Object({
  kind: Type.Optional(words(BREAK_KINDS)),
  date: Type.Optional(date),
  supplier: Type.Optional(Type.String({ maxLength: 255, description: "The supplier's code." })),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0, description: 'To skip.' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
});

const BreakAnswer = Type.Object({
  kind: words(BREAK_KINDS),
  isUrgent: Type.Boolean({ description: 'Money may be paid twice, or to the wrong party.' }),
  ground: Type.String({ description: 'Names both sides as they are.' }),
  title: Type.Union([
    Type.Object({
      id,
      orderUid: Type.String(),
      acceptedDate: date,
      dueDate: dateOrNull,
      value: amount,
      supplier: orNull('string'),
      isWithdrawn: Type.Boolean(),
    }),
    Type.Null(),
  ]),
  payable: Type.Union([
    Type.Object({
      erpKey: Type.String(),
      company: orNull('string'),
      supplier: orNull('string'),
      document: orNull('string'),
      instalment: orNull('string'),
      orderUid: orNull('string'),
      dueDate: dateOrNull,
      openValue: amount,
      status: words(PAYABLE_STATUSES),
      payee: Type.Union([words(PAYEES), Type.Null()], {
        description:
          'Whom the ERP is going to pay. other: neither the supplier nor the financial agent. Null: not stated, which means the supplier.',
      }),
    }),
    Type.Null(),
  ]),
});

const BreakListAnswer = Type.Object({
  counts: Type.Array(Type.Object({ kind: words(BREAK_KINDS), breaks: count, value: amount }), {
    description: 'Over the whole filter, without its kind.',
  }),
  total: count,
  breaks: Type.Array(BreakAnswer),
});

/** The breaks between titles and payables. */
export function addMatchingApi(api: FastifyInstance, { database }: ConsoleParts): void {
  api.get(
    '/breaks',
    describe(
      forKeys(EVERYBODY, 'read'),
      'payables',
      'listBreaks',
      'The breaks between titles and payables',
      {
        querystring: BreakQuery,
        answer: BreakListAnswer,
      },
    ),
    async (request) =>
      listBreaks(database, {
        ...breakFilter(request.query),
        offset: numberOf(request, 'offset') ?? 0,
        limit: limitOf(request),
      }),
  );
}
