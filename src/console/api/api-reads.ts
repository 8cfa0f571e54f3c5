import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { readAuditLog } from '../../base/audit/audit.ts';
import { InputError } from '../../base/runtime/errors.ts';
import { LANGUAGES, type Language } from '../../base/texts/texts.ts';
import {
  type CivilDate,
  dateIn,
  daysBetween,
  parseCivilDate,
} from '../../base/values/business-day.ts';
import { readOpenDrift } from '../../core/ledger/drift.sql.ts';
import { readAlerts } from '../../features/alerts/alert-list.sql.ts';
import {
  readBackfillProgress,
  readBackfills,
} from '../../features/backfills/backfill-ledger.sql.ts';
import { headlineOf } from '../../features/home/headline.ts';
import { readOpenItems } from '../../features/home/open-items.sql.ts';
import { readLedgerDay, readLedgerDays } from '../../features/review/ledger-days.sql.ts';
import { type Month, readMonths, stateOf } from '../../features/review/months/month-seal.sql.ts';
import { readDayChanges } from '../../features/review/moved-titles.sql.ts';
import {
  monthOfPath,
  readMonthPage,
  sendEvidence,
} from '../../features/review/pages/months-routes.tsx';
import { readRestatedDays, readRestatedTotals } from '../../features/review/restated-days.sql.ts';
import { sendScheduleFile } from '../../features/schedule/pages/schedule-export.ts';
import {
  dueRangeParameters,
  scheduleFormat,
} from '../../features/schedule/pages/schedule-range.ts';
import { readSchedule } from '../../features/schedule/read-schedule.sql.ts';
import { readSweeps } from '../../features/sweep/sweeps.sql.ts';
import { parseExport } from '../../features/titles/pages/export-routes.tsx';
import { readTitleDetail } from '../../features/titles/pages/title-detail.sql.ts';
import { CONTENT_TYPES, sendTitleFile } from '../../features/titles/pages/title-export.ts';
import { parseTitleQuery } from '../../features/titles/pages/title-filters.ts';
import { readTitlePage } from '../../features/titles/pages/title-list.sql.ts';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { maskColumn, maskPayee } from '../shell/masking.ts';
import { textParameter } from '../shell/page-context.ts';
import { EVERYBODY, forKeys, STAFF } from '../shell/route-access.ts';
import { describe, limitOf, numberOf, requireDate, requireId } from './api-request.ts';
import * as schemas from './api-schemas.ts';

const MAX_DAYS = 1_000;
const MAX_CHANGES = 1_000;

/** The API's equivalents of the pages. */
export function addApiReads(api: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;
  const now = () => parts.now?.() ?? new Date();
  const today = () => dateIn(parts.timeZone, now());

  api.get(
    '/status',
    describe(
      forKeys(EVERYBODY, 'read'),
      'status',
      'getStatus',
      'The progress of the ledger, and the decisions that are open',
      {
        answer: schemas.Status,
      },
    ),
    async () => {
      const [items, openAlerts] = await Promise.all([
        readOpenItems(database, { now: now(), policy: parts.alertPolicy }),
        database.prisma.alert.count({ where: { resolvedAt: null } }),
      ]);
      const { startDate, lastReconciledDate, lagDays, needs, accountChanges } = items;
      return {
        startDate,
        lastReconciledDate,
        lagDays: startDate === null ? null : lagDays,
        needs,
        openAlerts,
        accountChanges,
        unmappedCompanies: items.unmappedCompanies,
        headline: Object.fromEntries(
          LANGUAGES.map((language) => [language, headlineOf(items, language)]),
        ),
      };
    },
  );

  api.get(
    '/days',
    describe(
      forKeys(EVERYBODY, 'read'),
      'days',
      'listDays',
      'The days of a range, both ends included',
      {
        querystring: schemas.RangeQuery,
        answer: Type.Array(schemas.Day),
      },
    ),
    async (request) => readLedgerDays(database, rangeOf(request), today()),
  );

  api.get(
    '/days/:date',
    describe(forKeys(EVERYBODY, 'read'), 'days', 'getDay', 'One day', {
      params: schemas.DateParameter,
      answer: schemas.Day,
    }),
    async (request, reply) =>
      (await readLedgerDay(database, requireDate(request), today())) ?? reply.callNotFound(),
  );

  api.get(
    '/days/:date/titles',
    describe(
      forKeys(EVERYBODY, 'read'),
      'titles',
      'listTitlesOfDay',
      'Titles of a day, page by page',
      {
        params: schemas.DateParameter,
        querystring: schemas.TitleQueryParameters,
        answer: schemas.TitlePage,
      },
    ),
    async (request) => {
      const query = parseTitleQuery(request.query, requireDate(request), 'en');
      if (query.faults.length > 0) {
        throw new InputError(`these parameters cannot be read: ${query.faults.join(', ')}`);
      }
      return readTitlePage(database, { ...query, limit: limitOf(request) });
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
        params: schemas.DateParameter,
        answer: schemas.Changes,
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
        querystring: schemas.RestatedQuery,
        answer: schemas.RestatedDays,
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
        answer: Type.Array(schemas.Month),
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
        params: schemas.MonthParameter,
        answer: schemas.MonthDetail,
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
        params: schemas.MonthParameter,
        answer: Type.Unsafe<string>({ type: 'string', format: 'binary' }),
      },
    ),
    async (request, reply) => {
      const month = monthOfPath(request);
      if (month === null) throw new InputError('month: expected a month as YYYY-MM');
      return sendEvidence(request, reply, parts, month);
    },
  );

  api.get(
    '/titles/:id',
    describe(forKeys(EVERYBODY, 'read'), 'titles', 'getTitle', 'One title with its whole history', {
      params: schemas.IdParameter,
      answer: schemas.Title,
    }),
    async (request, reply) => {
      const title = await readTitleDetail(database, requireId(request));
      if (title === null) return reply.callNotFound();
      const { first: _, contentHash: __, ...rest } = title;
      return {
        ...rest,
        fields: Object.fromEntries(
          Object.entries(title.fields).map(([column, value]) => [
            column,
            maskColumn(column, value),
          ]),
        ),
        revisions: title.revisions.map(({ revision, kind, changedAt, pullId, fields }) => ({
          revision,
          kind,
          changedAt,
          pullId,
          fields: fields.map(mask),
        })),
      };
    },
  );

  api.get(
    '/payment-schedule',
    describe(
      forKeys(EVERYBODY, 'read'),
      'titles',
      'getPaymentSchedule',
      'Who is to be paid on the due dates of a range, and on which account, over all accepted dates',
      { querystring: schemas.ScheduleQuery, answer: schemas.PaymentSchedule },
    ),
    async (request) => {
      const range = dueRangeParameters(request.query);
      const schedule = await readSchedule(database, {
        range,
        hasAllAmounts: true,
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
        querystring: schemas.ScheduleExportQuery,
        answer: Type.Unsafe<string>({ type: 'string', format: 'binary' }),
      },
    ),
    async (request, reply) => {
      const { principal } = request;
      if (principal === null) throw new Error('this route has no guard');
      return sendScheduleFile(reply, parts, principal, {
        range: dueRangeParameters(request.query),
        format: scheduleFormat(request.query),
        locale: textParameter(request.query, 'locale') === 'en' ? 'en' : 'pt-BR',
      });
    },
  );

  api.get(
    '/alerts',
    describe(
      forKeys(EVERYBODY, 'read'),
      'alerts',
      'listAlerts',
      'Alerts that last, then those that are over',
      {
        answer: Type.Array(schemas.Alert),
      },
    ),
    async () => readAlerts(database, { limit: 500 }),
  );

  api.get(
    '/drift',
    describe(
      forKeys(EVERYBODY, 'read'),
      'alerts',
      'listDrift',
      'Fields and values outside the documented interface that wait for a person',
      {
        answer: schemas.OpenDrift,
      },
    ),
    async () => {
      const { items } = await readOpenDrift(database);
      // Without the values, which may be personal data.
      return { items: items.map(({ value: _, ...item }) => item) };
    },
  );

  api.get(
    '/audit',
    describe(
      forKeys(EVERYBODY, 'read'),
      'audit',
      'listAuditEntries',
      'The audit log, newest first',
      {
        querystring: schemas.AuditQuery,
        answer: Type.Array(schemas.AuditEntry),
      },
    ),
    async (request) => {
      const before = numberOf(request, 'before');
      return readAuditLog(database, {
        before: before === null ? null : BigInt(before),
        limit: limitOf(request),
      });
    },
  );

  api.get(
    '/sweeps',
    describe(forKeys(EVERYBODY, 'read'), 'sweeps', 'listSweeps', 'The newest sweeps', {
      answer: Type.Array(schemas.Sweep),
    }),
    async () => readSweeps(database, 100),
  );

  api.get(
    '/backfills',
    describe(forKeys(EVERYBODY, 'read'), 'backfills', 'listBackfills', 'The newest backfills', {
      answer: Type.Array(schemas.Backfill),
    }),
    async () => readBackfills(database, 100),
  );

  api.get(
    '/backfills/:id',
    describe(forKeys(EVERYBODY, 'read'), 'backfills', 'getBackfill', 'How far a backfill is', {
      params: schemas.IdParameter,
      answer: schemas.Backfill,
    }),
    async (request, reply) =>
      (await readBackfillProgress(database, requireId(request))) ?? reply.callNotFound(),
  );

  api.get(
    '/export',
    describe(
      forKeys(EVERYBODY, 'export'),
      'titles',
      'exportTitles',
      'Titles of a range as a file',
      {
        querystring: schemas.ExportQuery,
        answer: Type.Unsafe<string>({ type: 'string', format: 'binary' }),
        types: Object.values(CONTENT_TYPES),
      },
    ),
    async (request, reply) => {
      const { principal } = request;
      if (principal === null) throw new Error('this route has no guard');
      const locale: Language = textParameter(request.query, 'locale') === 'en' ? 'en' : 'pt-BR';
      return sendTitleFile(reply, parts, principal, {
        ...parseExport(request.query),
        locale,
        // For programs: the names of the data dictionary in either notation.
        language: 'en',
      });
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
