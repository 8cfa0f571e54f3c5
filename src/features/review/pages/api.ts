import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { InputError } from '../../../base/runtime/errors.ts';
import { type CivilDate, daysBetween, parseCivilDate } from '../../../base/values/business-day.ts';
import { describe, requireDate } from '../../../console/api/api-request.ts';
import { DateParameter, date } from '../../../console/api/schema-parts.ts';
import { type ConsoleParts, todayOf } from '../../../console/shell/console-parts.ts';
import { actorOf } from '../../../console/shell/guard.ts';
import { maskChange } from '../../../console/shell/masking.ts';
import { textParameter } from '../../../console/shell/page-context.ts';
import { EVERYBODY, forKeys, OPERATE, STAFF } from '../../../console/shell/route-access.ts';
import { DayChanges, readDayChanges } from '../changed-titles.sql.ts';
import { readLedgerDays } from '../ledger-days.sql.ts';
import { type CivilMonth, parseMonth } from '../months/civil-month.ts';
import { JudgedDay, withObstacles } from '../obstacles.sql.ts';
import { requestPull } from './day-actions.ts';
import { sendEvidence } from './months-pages.tsx';

const MAX_DAYS = 1_000;
const MAX_CHANGES = 1_000;

const RangeQuery = Type.Object({ from: date, to: date });

const MonthParameter = Type.Object({ month: Type.String({ examples: ['2026-03'] }) });

export function addReviewApi(api: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;
  const { bookingsFrom = null, payablesMaxAgeHours } = parts;
  const readDays = async (range: { readonly from: CivilDate; readonly to: CivilDate }) =>
    withObstacles(database.prisma, await readLedgerDays(database, range, todayOf(parts)), {
      bookingsFrom,
      payablesMaxAgeHours,
    });

  api.get(
    '/days',
    describe(
      forKeys(EVERYBODY, 'read'),
      'days',
      'listDays',
      'The days of a range, both ends included',
      {
        querystring: RangeQuery,
        answer: Type.Array(JudgedDay),
      },
    ),
    async (request) => readDays(rangeOf(request)),
  );

  api.get(
    '/days/:date',
    describe(forKeys(EVERYBODY, 'read'), 'days', 'getDay', 'One day', {
      params: DateParameter,
      answer: JudgedDay,
    }),
    async (request, reply) => {
      const date = requireDate(request);
      const [day] = await readDays({ from: date, to: date });
      return day ?? reply.callNotFound();
    },
  );

  api.get(
    '/days/:date/changes',
    describe(
      forKeys(EVERYBODY, 'read'),
      'days',
      'listChangesOfDay',
      'The changes since the sign-off, or those of the newest pull',
      {
        params: DateParameter,
        answer: DayChanges,
      },
    ),
    async (request) => {
      const changes = await readDayChanges(database, requireDate(request), MAX_CHANGES);
      const titles = changes.titles.map((title) => ({
        ...title,
        fields: title.fields.map(maskChange),
      }));
      return { ...changes, titles };
    },
  );

  api.get(
    '/months/:month/evidence',
    describe(
      forKeys(STAFF, 'export'),
      'months',
      'downloadMonthEvidence',
      'The evidence of a sealed month as a ZIP file',
      {
        params: MonthParameter,
        answer: Type.Unsafe<string>({ type: 'string', format: 'binary' }),
      },
    ),
    async (request, reply) => {
      return sendEvidence(request, reply, parts, requireMonth(request));
    },
  );

  api.post(
    '/days/:date/pull',
    describe(forKeys(OPERATE, 'pull'), 'pulls', 'pullDay', 'Pull a day again', {
      params: DateParameter,
      status: 202,
      answer: Type.Object({ pullId: Type.Integer() }),
    }),
    async (request, reply) => {
      const pullId = await requestPull(parts, requireDate(request), actorOf(request));
      return reply.code(202).send({ pullId: Number(pullId) });
    },
  );
}

function requireMonth(request: FastifyRequest): CivilMonth {
  const month = parseMonth(textParameter(request.params, 'month') ?? '');
  if (month === null) throw new InputError('month: expected a month as YYYY-MM');
  return month;
}

function rangeOf(request: FastifyRequest): { from: CivilDate; to: CivilDate } {
  const [from, to] = ['from', 'to'].map((name) =>
    parseCivilDate(textParameter(request.query, name) ?? ''),
  );
  if (!from || !to || from > to || daysBetween(from, to) >= MAX_DAYS) {
    throw new InputError(`from and to: expected two dates in order, at most ${MAX_DAYS} days`);
  }
  return { from, to };
}
