import { Type } from 'typebox';
import { DEFAULT_LIMIT, declareOperation } from '../../../console/api/api-request.ts';
import { date, ledgerDate, pageOfList, words } from '../../../console/api/schema-parts.ts';
import { FILE_FORMATS } from '../../../console/list/file.tsx';
import { dueRange, readSchedule, Schedule } from '../read-schedule.sql.ts';
import { maskGroup, sendScheduleFile } from '../schedule-file.tsx';

const range = { dueFrom: ledgerDate, dueTo: ledgerDate };

export const SCHEDULE_API = [
  declareOperation({
    path: '/payment-schedule',
    scope: 'read',
    tag: 'titles',
    operationId: 'getPaymentSchedule',
    summary:
      'Who is to be paid on the due dates of a range, and on which account, over all accepted dates',
    input: { ...range, ...pageOfList },
    answer: Type.Object({ dueFrom: date, dueTo: date, ...Schedule.properties }),
    run: async ({ database }, { dueFrom, dueTo, offset = 0, limit = DEFAULT_LIMIT }) => {
      const due = dueRange(dueFrom, dueTo);
      const schedule = await database.prisma.$transaction(
        (tx) => readSchedule(tx, due, { offset, limit }),
        // All values are those of one instant.
        { isolationLevel: 'RepeatableRead' },
      );
      return { dueFrom, dueTo, ...schedule, groups: schedule.groups.map(maskGroup) };
    },
  }),
  declareOperation({
    path: '/payment-schedule/export',
    scope: 'export',
    tag: 'titles',
    operationId: 'exportPaymentSchedule',
    summary: 'The payment schedule of a range as a file',
    input: {
      ...range,
      format: words(FILE_FORMATS),
      locale: Type.Optional(words(['pt-BR', 'en'])),
    },
    answer: Type.Unsafe<string>({ type: 'string', format: 'binary' }),
    run: (parts, { dueFrom, dueTo, format, locale: language = 'pt-BR' }, request, reply) => {
      return sendScheduleFile(request, reply, parts, dueRange(dueFrom, dueTo), format, language);
    },
  }),
];
