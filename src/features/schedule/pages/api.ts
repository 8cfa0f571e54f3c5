import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { describe, limitOf, numberOf } from '../../../console/api/api-request.ts';
import {
  amount,
  count,
  date,
  orNull,
  pageOfList,
  words,
} from '../../../console/api/schema-parts.ts';
import { FILE_FORMATS } from '../../../console/list/file.tsx';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { maskPayee } from '../../../console/shell/masking.ts';
import { EVERYBODY, forKeys } from '../../../console/shell/route-access.ts';
import { dueRangeParameters } from '../due-range.ts';
import { readSchedule } from '../read-schedule.sql.ts';
import { sendScheduleFile } from '../schedule-file.tsx';

const ScheduleQuery = Type.Object({ dueFrom: date, dueTo: date, ...pageOfList });

const ScheduleExportQuery = Type.Object({
  dueFrom: date,
  dueTo: date,
  format: words(FILE_FORMATS),
  locale: Type.Optional(words(['pt-BR', 'en'])),
});

const scheduleTotals = {
  titles: count,
  originalValue: amount,
  waitingTitles: Type.Integer({
    description:
      'Titles of days in the state held or attention, whose newest response waits for a person.',
  }),
  waitingValue: amount,
};

const PaymentSchedule = Type.Object({
  dueFrom: date,
  dueTo: date,
  overall: Type.Object(scheduleTotals),
  changed: Type.Object(
    { groups: count, titles: count, originalValue: amount },
    { description: 'On accounts that changed, where no person has confirmed the change.' },
  ),
  dates: Type.Array(Type.Object({ date, businessDay: date, ...scheduleTotals })),
  groupCount: count,
  groups: Type.Array(
    Type.Object({
      ...scheduleTotals,
      payee: Type.Object({
        kind: orNull('string', { enum: ['financial_agent', 'provider', null] }),
        name: orNull('string'),
        externalId: orNull('string'),
        identification: orNull('string', { description: 'Masked, as the account is.' }),
        account: Type.Object({
          bank: orNull('string'),
          agency: orNull('string'),
          agencyDigit: orNull('string'),
          account: orNull('string'),
          accountDigit: orNull('string'),
        }),
        isChanged: Type.Boolean(),
      }),
      titleId: Type.Integer({ description: 'One of the titles of the group.' }),
    }),
    { description: 'By party to be paid and account, the largest original value first.' },
  ),
  undated: Type.Object(
    { titles: count, originalValue: amount },
    { description: 'Current titles without a due date. They are in no other figure.' },
  ),
});

/** The operations of the API for schedule. */
export function addScheduleApi(api: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;

  api.get(
    '/payment-schedule',
    describe(
      forKeys(EVERYBODY, 'read'),
      'titles',
      'getPaymentSchedule',
      'Who is to be paid on the due dates of a range, and on which account, over all accepted dates',
      { querystring: ScheduleQuery, answer: PaymentSchedule },
    ),
    async (request) => {
      const range = dueRangeParameters(request.query);
      const schedule = await readSchedule(database, range, {
        offset: numberOf(request, 'offset') ?? 0,
        limit: limitOf(request),
      });
      const groups = schedule.groups.map(({ payee, ...totals }) => {
        const { titleId, ...masked } = maskPayee(payee);
        return { ...totals, payee: masked, titleId };
      });
      return { dueFrom: range.from, dueTo: range.to, ...schedule, groups };
    },
  );

  api.get(
    '/payment-schedule/export',
    describe(
      forKeys(EVERYBODY, 'export'),
      'titles',
      'exportPaymentSchedule',
      'The payment schedule of a range as a file',
      {
        querystring: ScheduleExportQuery,
        answer: Type.Unsafe<string>({ type: 'string', format: 'binary' }),
      },
    ),
    async (request, reply) => {
      const { format, locale = 'pt-BR' } = request.query as Static<typeof ScheduleExportQuery>;
      const range = dueRangeParameters(request.query);
      return sendScheduleFile(request, reply, parts, { range, format, language: locale });
    },
  );
}
