import { Type } from 'typebox';
import { InputError } from '../../base/runtime/errors.ts';
import { type CivilDate, daysBetween } from '../../base/values/business-day.ts';
import { declareOperation } from '../../console/api/api-request.ts';
import { ledgerDate as date } from '../../console/api/schema-parts.ts';
import { type ConsoleParts, type Feature, todayOf } from '../../console/shell/console-parts.ts';
import { actorOf } from '../../console/shell/guard.ts';
import { maskChange } from '../../console/shell/masking.ts';
import { OPERATE, STAFF } from '../../console/shell/route-access.ts';
import { DayChanges, readDayChanges } from './changed-titles.sql.ts';
import { readLedgerDays } from './ledger-days.sql.ts';
import { JudgedDay, withObstacles } from './obstacles.sql.ts';
import { CHANGED_FIELDS } from './pages/changed-fields.tsx';
import { DAY_ACTIONS, requestPull } from './pages/day-actions.tsx';
import { DAY } from './pages/day-page.tsx';
import { EVIDENCE, MONTH, MONTHS, month, SEAL_MONTH, sendEvidence } from './pages/months-pages.tsx';
import { RELEASE, RELEASE_PAGE } from './pages/release-page.tsx';
import { SIGN_DAYS, SIGN_OFFS } from './pages/sign-offs.tsx';

const MAX_DAYS = 1_000;
const MAX_CHANGES = 1_000;

async function readDays(
  parts: ConsoleParts,
  range: { readonly from: CivilDate; readonly to: CivilDate },
): Promise<JudgedDay[]> {
  const { database, bookingsFrom = null, payablesMaxAgeHours } = parts;
  const days = await readLedgerDays(database, range, todayOf(parts));
  return withObstacles(database.prisma, days, { bookingsFrom, payablesMaxAgeHours });
}

const REVIEW_API = [
  declareOperation({
    path: '/days',
    scope: 'read',
    tag: 'days',
    operationId: 'listDays',
    summary: 'The days of a range, both ends included',
    input: { from: date, to: date },
    answer: Type.Array(JudgedDay),
    run: (parts, range) => {
      if (range.from > range.to || daysBetween(range.from, range.to) >= MAX_DAYS) {
        throw new InputError(`from and to: expected two dates in order, at most ${MAX_DAYS} days`);
      }
      return readDays(parts, range);
    },
  }),
  declareOperation({
    path: '/days/:date',
    scope: 'read',
    tag: 'days',
    operationId: 'getDay',
    summary: 'One day',
    input: { date },
    answer: JudgedDay,
    run: async (parts, { date }) => (await readDays(parts, { from: date, to: date }))[0] ?? null,
  }),
  declareOperation({
    path: '/days/:date/changes',
    scope: 'read',
    tag: 'days',
    operationId: 'listChangesOfDay',
    summary: 'The changes since the sign-off, or those of the newest pull',
    input: { date },
    answer: DayChanges,
    run: async ({ database }, { date }) => {
      const changes = await readDayChanges(database, date, MAX_CHANGES);
      const titles = changes.titles.map((title) => ({
        ...title,
        fields: title.fields.map(maskChange),
      }));
      return { ...changes, titles };
    },
  }),
  declareOperation({
    path: '/months/:month/evidence',
    who: STAFF,
    scope: 'export',
    tag: 'months',
    operationId: 'downloadMonthEvidence',
    summary: 'The evidence of a sealed month as a ZIP file',
    input: { month },
    answer: Type.Unsafe<string>({ type: 'string', format: 'binary' }),
    run: (parts, { month }, request, reply) => sendEvidence(request, reply, parts, month),
  }),
  declareOperation({
    method: 'POST',
    path: '/days/:date/pull',
    who: OPERATE,
    scope: 'pull',
    tag: 'pulls',
    operationId: 'pullDay',
    summary: 'Pull a day again',
    input: { date },
    status: 202,
    answer: Type.Object({ pullId: Type.Integer() }),
    run: async (parts, { date }, request) => ({
      pullId: Number(await requestPull(parts, date, actorOf(request))),
    }),
  }),
];

export const review: Feature = {
  name: 'review',
  pages: [DAY, RELEASE_PAGE, MONTH],
  lists: [SIGN_OFFS, MONTHS],
  actions: [...DAY_ACTIONS, CHANGED_FIELDS, SIGN_DAYS, RELEASE, SEAL_MONTH, EVIDENCE],
  api: REVIEW_API,
};
