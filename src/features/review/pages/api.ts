import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { InputError } from '../../../base/runtime/errors.ts';
import {
  type CivilDate,
  dateIn,
  daysBetween,
  parseCivilDate,
} from '../../../base/values/business-day.ts';
import { describe, limitOf, numberOf, requireDate } from '../../../console/api/api-request.ts';
import {
  amount,
  count,
  DateParameter,
  date,
  id,
  instant,
  instantOrNull,
  MovedField,
  orNull,
  pageOfList,
  sums,
  words,
} from '../../../console/api/schema-parts.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { maskColumn } from '../../../console/shell/masking.ts';
import { textParameter } from '../../../console/shell/page-context.ts';
import { actorOf } from '../../../console/shell/path-parameters.ts';
import { EVERYBODY, forKeys, OPERATE, STAFF } from '../../../console/shell/route-access.ts';
import { DAY_STATES, HOLD_REASONS } from '../../../core/ledger/day-state.ts';
import { readLedgerDay, readLedgerDays } from '../ledger-days.sql.ts';
import { BREAK_CAUSES, SEAL_FIELDS } from '../months/civil-month.ts';
import { MONTH_STATES, type Month, readMonths, stateOf } from '../months/month-seal.sql.ts';
import { readDayChanges } from '../moved-titles.sql.ts';
import { readRestatedDays, readRestatedTotals, SEALED_MEASURES } from '../restated-days.sql.ts';
import { monthOfPath, readMonthPage, sendEvidence } from './months-routes.tsx';
import { requestPull } from './request-pull.ts';

const MAX_DAYS = 1_000;
const MAX_CHANGES = 1_000;

const Day = Type.Object({
  date,
  state: words(DAY_STATES),
  titles: count,
  withdrawn: count,
  rejected: count,
  sums,
  contentDigest: orNull('string'),
  heldPullId: orNull('integer'),
  hold: Type.Union(
    [
      Type.Object({
        reason: orNull('string', { enum: [...HOLD_REASONS, null] }),
        detail: Type.Union(
          [
            Type.Object({
              found: Type.Integer(),
              of: orNull('integer'),
              limit: Type.Integer(),
            }),
            Type.Null(),
          ],
          { description: 'What the limit was compared with, for a hold for plausibility.' },
        ),
        titles: count,
        withdrawals: count,
        faults: Type.Array(Type.String()),
      }),
      Type.Null(),
    ],
    { description: 'The response that waits for a person, and the withdrawals of a release.' },
  ),
  withheld: Type.Integer({
    minimum: 0,
    description:
      'Titles that the newest response lacks and that stay current, because a rejected title may be one of them.',
  }),
  heldPayments: Type.Integer({
    minimum: 0,
    description: 'Titles that name a changed bank account that no person has confirmed.',
  }),
  openFindings: Type.Integer({
    minimum: 0,
    description: 'Findings of the checks that a person has to resolve.',
  }),
  alterations: Type.Integer({
    minimum: 0,
    description:
      'Changes to the titles or totals of the day that no merge made and no person has acknowledged.',
  }),
  isChecked: Type.Boolean({ description: 'Whether the checks ran on the present content.' }),
  verifiedAt: instantOrNull,
  changedAt: instantOrNull,
  signedOffAt: instantOrNull,
  signedOffBy: orNull('string'),
  signedOffDigest: orNull('string'),
  isRestated: Type.Boolean({ description: 'Restated after it was signed off.' }),
});

const Changes = Type.Object({
  since: words(['sign_off', 'last_change']),
  pullId: orNull('integer'),
  count,
  counts: Type.Object({ inserted: count, changed: count, withdrawn: count, restored: count }),
  titles: Type.Array(
    Type.Object({
      titleId: id,
      orderUid: Type.String(),
      occurrence: id,
      kind: words(['inserted', 'changed', 'withdrawn', 'restored']),
      fields: Type.Array(MovedField),
      originalValue: amount,
      pullId: id,
      changedAt: instant,
    }),
  ),
});

const totals = Type.Object(
  Object.fromEntries(SEALED_MEASURES.map((measure) => [measure, amount])),
  { description: 'Over the seals of the days.' },
);

const MonthSeal = Type.Object({
  id,
  month: Type.String(),
  sealedAt: instant,
  sealedBy: Type.String(),
  reason: orNull('string'),
  digest: Type.String({ description: 'SHA-256 over the month and the seals of its days.' }),
  days: count,
  totals,
});

const monthFields = {
  month: Type.String({ examples: ['2026-03'] }),
  from: date,
  to: date,
  days: count,
  signed: Type.Integer({
    minimum: 0,
    description: 'Signed off, not restated since, and reconciled.',
  }),
  restated: count,
  state: words(MONTH_STATES),
  seal: Type.Union([MonthSeal, Type.Null()], { description: 'The newest seal.' }),
  broken: Type.Array(Type.Object({ date, cause: words(BREAK_CAUSES) }), {
    description: 'The days that break the newest seal.',
  }),
};

const MonthAnswer = Type.Object(monthFields);

const MonthDetail = Type.Object({
  ...monthFields,
  presentDigest: orNull('string', {
    description: 'The digest of a seal over the present seals of the days.',
  }),
  seals: Type.Array(MonthSeal),
  daySeals: Type.Array(
    Type.Object({
      date,
      state: orNull('string', { enum: [...DAY_STATES, null] }),
      isRestated: Type.Boolean(),
      seal: Type.Union([
        Type.Object(Object.fromEntries(SEAL_FIELDS.map((field) => [field, orNull('string')]))),
        Type.Null(),
      ]),
    }),
  ),
});

const RangeQuery = Type.Object({ from: date, to: date });

const difference = Type.Object({ sealed: amount, present: amount, difference: amount });

const differences = Type.Object(
  Object.fromEntries(SEALED_MEASURES.map((name) => [name, difference])),
  { description: 'Counts and sums of the seal, of the present titles, and present minus sealed.' },
);

const RestatedQuery = Type.Object(pageOfList);

const RestatedDays = Type.Object({
  total: Type.Integer({ minimum: 0, description: 'Days that changed after their sign-off.' }),
  differences,
  days: Type.Array(
    Type.Object({
      date,
      signedOffAt: instant,
      signedOffBy: Type.String(),
      sealedDigest: Type.String(),
      presentDigest: orNull('string'),
      differences,
    }),
    { description: 'In date order.' },
  ),
});

const MonthParameter = Type.Object({ month: Type.String({ examples: ['2026-03'] }) });

/** The operations of the API for review. */
export function addReviewApi(api: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;
  const today = () => dateIn(parts.timeZone, parts.now?.() ?? new Date());

  api.get(
    '/days',
    describe(
      forKeys(EVERYBODY, 'read'),
      'days',
      'listDays',
      'The days of a range, both ends included',
      {
        querystring: RangeQuery,
        answer: Type.Array(Day),
      },
    ),
    async (request) => readLedgerDays(database, rangeOf(request), today()),
  );

  api.get(
    '/days/:date',
    describe(forKeys(EVERYBODY, 'read'), 'days', 'getDay', 'One day', {
      params: DateParameter,
      answer: Day,
    }),
    async (request, reply) =>
      (await readLedgerDay(database, requireDate(request), today())) ?? reply.callNotFound(),
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
        answer: Changes,
      },
    ),
    async (request) => {
      const { moved, ...changes } = await readDayChanges(
        database,
        requireDate(request),
        MAX_CHANGES,
      );
      const titles = moved.titles.map((title) => ({ ...title, fields: title.fields.map(mask) }));
      return { ...changes, ...moved, titles };
    },
  );

  api.get(
    '/restated',
    describe(
      forKeys(EVERYBODY, 'read'),
      'days',
      'listRestatedDays',
      'What changed since the sign-offs, over all days',
      {
        querystring: RestatedQuery,
        answer: RestatedDays,
      },
    ),
    async (request) => {
      const filter = { signedBy: null, today: today() };
      const page = { offset: numberOf(request, 'offset') ?? 0, limit: limitOf(request) };
      const [totals, days] = await Promise.all([
        readRestatedTotals(database, filter),
        readRestatedDays(database, filter, page),
      ]);
      return {
        total: totals.days,
        differences: totals.differences,
        days: days.map(({ fence: _, ...day }) => day),
      };
    },
  );

  api.get(
    '/months',
    describe(
      forKeys(EVERYBODY, 'read'),
      'months',
      'listMonths',
      'The months of the ledger with their seals, the newest first',
      {
        answer: Type.Array(MonthAnswer),
      },
    ),
    async () => (await readMonths(database, today())).map(withState),
  );

  api.get(
    '/months/:month',
    describe(
      forKeys(EVERYBODY, 'read'),
      'months',
      'getMonth',
      'One month with its days and all its seals',
      {
        params: MonthParameter,
        answer: MonthDetail,
      },
    ),
    async (request, reply) => {
      const name = monthOfPath(request);
      if (name === null) throw new InputError('month: expected a month as YYYY-MM');
      const data = await readMonthPage(parts, name);
      if (data === null) return reply.callNotFound();
      return {
        ...withState(data.month),
        presentDigest: data.presentDigest,
        seals: data.seals,
        daySeals: data.days,
      };
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
      const month = monthOfPath(request);
      if (month === null) throw new InputError('month: expected a month as YYYY-MM');
      return sendEvidence(request, reply, parts, month);
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

function withState(month: Month) {
  return { ...month, state: stateOf(month) };
}

function mask<T extends { column: string; before: string | null; after: string | null }>(field: T) {
  const { column, before, after } = field;
  return { column, before: maskColumn(column, before), after: maskColumn(column, after) };
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
