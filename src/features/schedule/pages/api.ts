import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { describe, limitOf, numberOf } from '../../../console/api/api-request.ts';
import { date, pageOfList, words } from '../../../console/api/schema-parts.ts';
import { FILE_FORMATS } from '../../../console/list/file.tsx';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { EVERYBODY, forKeys } from '../../../console/shell/route-access.ts';
import { dueRangeParameters, readSchedule, Schedule } from '../read-schedule.sql.ts';
import { maskGroup, sendScheduleFile } from '../schedule-file.tsx';

const ScheduleQuery = Type.Object({ dueFrom: date, dueTo: date, ...pageOfList });

const ScheduleExportQuery = Type.Object({
  dueFrom: date,
  dueTo: date,
  format: words(FILE_FORMATS),
  locale: Type.Optional(words(['pt-BR', 'en'])),
});

const PaymentSchedule = Type.Object({ dueFrom: date, dueTo: date, ...Schedule.properties });

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
      const place = { offset: numberOf(request, 'offset') ?? 0, limit: limitOf(request) };
      const schedule = await database.prisma.$transaction(
        (tx) => readSchedule(tx, range, place),
        // All values are those of one instant.
        { isolationLevel: 'RepeatableRead' },
      );
      const groups = schedule.groups.map(maskGroup);
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
