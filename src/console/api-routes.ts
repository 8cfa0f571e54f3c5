/**
 * `/api`: what the pages show and do, as JSON, for scripts with a key and for people who are signed in.
 * The same table says who may.
 */
import fastifySwagger from '@fastify/swagger';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import {
  addDays,
  type CivilDate,
  dateIn,
  daysBetween,
  lastClosedDate,
  parseCivilDate,
} from '../domain/business-day.ts';
import { InputError } from '../errors.ts';
import type { CsvLocale } from '../export/csv.ts';
import { readAlerts } from '../staging/alert-list.ts';
import { readAuditLog } from '../staging/audit.ts';
import { cancelBackfill, readBackfillProgress, readBackfills } from '../staging/backfill-ledger.ts';
import { acceptRejects, releasePull } from '../staging/decisions.ts';
import { readBadges, readLedgerDay, readLedgerDays, readNeeds } from '../staging/ledger-days.ts';
import { readDayChanges } from '../staging/moved-titles.ts';
import { readCheckpoint } from '../staging/reads.ts';
import { reopenDay, signOffDay } from '../staging/sign-off.ts';
import { readTitleDetail } from '../staging/title-detail.ts';
import { readTitlePage } from '../staging/title-list.ts';
import * as schemas from './api-schemas.ts';
import { startBackfill } from './backfill-routes.tsx';
import type { ConsoleParts } from './console-parts.ts';
import { parseExport } from './export-routes.tsx';
import { maskColumn } from './masking.ts';
import { textParameter } from './page-context.ts';
import { actorOf, dateOfPath, idOfPath, optionalReason, requireReason } from './path-parameters.ts';
import { requestPull } from './request-pull.ts';
import { sendTitleFile } from './title-export.ts';
import { parseTitleQuery } from './title-filters.ts';

const MAX_DAYS = 1_000;
const MAX_CHANGES = 1_000;
const DEFAULT_LIMIT = 100;

export async function addApiRoutes(
  server: FastifyInstance,
  parts: ConsoleParts,
  version: string,
): Promise<void> {
  await server.register(fastifySwagger, {
    hideUntagged: true,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'erp-conciliation-sync',
        version,
        description:
          'The ledger of anticipated receivables. Amounts are exact decimals as text; dates are calendar dates.',
      },
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
      security: [{ key: [] }],
    },
  });
  await server.register(
    async (api) => {
      // What goes out is tested against the schemas; making it by them would only hide a difference.
      api.setSerializerCompiler(() => (data) => JSON.stringify(data));
      addReads(api, parts);
      addDecisions(api, parts);
      api.get('/openapi.json', async () => server.swagger());
    },
    { prefix: '/api' },
  );
}

function describe(
  tag: string,
  summary: string,
  schema: {
    readonly params?: TSchema;
    readonly querystring?: TSchema;
    readonly body?: TSchema;
    readonly status?: number;
    readonly answer: TSchema;
  },
) {
  const { status = 200, answer, ...input } = schema;
  const failures = Object.fromEntries(
    [400, 401, 403, 404].map((code) => [code, { description: 'Refused.', ...schemas.ErrorAnswer }]),
  );
  return {
    schema: {
      tags: [tag],
      summary,
      ...input,
      response: { [status]: { description: 'Done.', ...answer }, ...failures },
    },
  };
}

function addReads(api: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;
  const now = () => parts.now?.() ?? new Date();

  api.get(
    '/status',
    describe('status', 'How far the ledger is, and what waits for a person', {
      answer: schemas.Status,
    }),
    async () => {
      const [checkpoint, { counts }, badges] = await Promise.all([
        readCheckpoint(database),
        readNeeds(database, 1),
        readBadges(database),
      ]);
      const reached =
        checkpoint === null
          ? null
          : (checkpoint.lastReconciledDate ?? addDays(checkpoint.startDate, -1));
      return {
        startDate: checkpoint?.startDate ?? null,
        lastReconciledDate: checkpoint?.lastReconciledDate ?? null,
        lagDays:
          reached === null
            ? null
            : Math.max(0, daysBetween(reached, lastClosedDate(parts.timeZone, now()))),
        needs: counts,
        openAlerts: badges.alerts,
        accountChanges: badges.accountChanges,
      };
    },
  );

  api.get(
    '/days',
    describe('days', 'The days of a range, both ends included', {
      querystring: schemas.RangeQuery,
      answer: Type.Array(schemas.Day),
    }),
    async (request) => readLedgerDays(database, rangeOf(request)),
  );

  api.get(
    '/days/:date',
    describe('days', 'One day', { params: schemas.DateParameter, answer: schemas.Day }),
    async (request, reply) =>
      (await readLedgerDay(database, requireDate(request))) ?? reply.callNotFound(),
  );

  api.get(
    '/days/:date/titles',
    describe('titles', 'Titles of a day, page by page', {
      params: schemas.DateParameter,
      querystring: schemas.TitleQueryParameters,
      answer: schemas.TitlePage,
    }),
    async (request) => {
      const query = parseTitleQuery(
        request.query,
        requireDate(request),
        dateIn(parts.timeZone, now()),
      );
      if (query.hasFault) throw new InputError('one of the filters cannot be read');
      return readTitlePage(database, { ...query, limit: limitOf(request) });
    },
  );

  api.get(
    '/days/:date/changes',
    describe('days', 'What moved since the sign-off, or what the newest change brought', {
      params: schemas.DateParameter,
      answer: schemas.Changes,
    }),
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
    '/titles/:id',
    describe('titles', 'One title with its whole history', {
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
    '/alerts',
    describe('alerts', 'Alerts that last, then those that are over', {
      answer: Type.Array(schemas.Alert),
    }),
    async () => readAlerts(database, 500),
  );

  api.get(
    '/audit',
    describe('audit', 'Who did what, newest first', {
      querystring: schemas.AuditQuery,
      answer: Type.Array(schemas.AuditEntry),
    }),
    async (request) => {
      const before = numberOf(request, 'before');
      return readAuditLog(database, {
        before: before === null ? null : BigInt(before),
        limit: limitOf(request),
      });
    },
  );

  api.get(
    '/backfills',
    describe('backfills', 'The newest backfills', { answer: Type.Array(schemas.Backfill) }),
    async () => readBackfills(database, 100),
  );

  api.get(
    '/backfills/:id',
    describe('backfills', 'How far a backfill is', {
      params: schemas.IdParameter,
      answer: schemas.Backfill,
    }),
    async (request, reply) =>
      (await readBackfillProgress(database, requireId(request))) ?? reply.callNotFound(),
  );

  api.get(
    '/export',
    describe('titles', 'Titles of a range as a file', {
      querystring: schemas.ExportQuery,
      answer: Type.Unsafe<string>({ type: 'string', format: 'binary' }),
    }),
    async (request, reply) => {
      const { principal } = request;
      if (principal === null) throw new Error('this route has no guard');
      const locale: CsvLocale = textParameter(request.query, 'locale') === 'en' ? 'en' : 'pt-BR';
      return sendTitleFile(reply, parts, principal, { ...parseExport(request.query), locale });
    },
  );
}

function addDecisions(api: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;
  const policy = () => ({
    lastClosedDate: lastClosedDate(parts.timeZone, parts.now?.() ?? new Date()),
  });

  const decide = (
    path: string,
    summary: string,
    body: TSchema,
    deed: (request: FastifyRequest, date: CivilDate) => Promise<unknown>,
  ) => {
    const schema = { params: schemas.DateParameter, body, answer: schemas.Day };
    api.post(path, describe('days', summary, schema), async (request) => {
      const date = requireDate(request);
      await deed(request, date);
      return readLedgerDay(database, date);
    });
  };
  decide('/days/:date/sign-off', 'Sign a day off', schemas.SignOffBody, (request, date) =>
    signOffDay(database, date, {
      by: actorOf(request),
      reason: optionalReason(request.body),
      seenDigest: textParameter(request.body, 'digest') ?? '',
      fourEyes: parts.fourEyes,
    }),
  );
  decide('/days/:date/reopen', 'Reopen a day', schemas.ReasonBody, (request, date) =>
    reopenDay(database, date, { by: actorOf(request), reason: requireReason(request.body) }),
  );
  decide('/days/:date/accept-rejects', 'Accept rejects', schemas.ReasonBody, (request, date) => {
    const decision = { by: actorOf(request), reason: requireReason(request.body) };
    return acceptRejects(database, date, decision, policy());
  });

  api.post(
    '/days/:date/pull',
    describe('pulls', 'Pull a day again', {
      params: schemas.DateParameter,
      status: 202,
      answer: Type.Object({ pullId: Type.Integer() }),
    }),
    async (request, reply) => {
      const pullId = await requestPull(parts, requireDate(request), actorOf(request));
      return reply.code(202).send({ pullId: Number(pullId) });
    },
  );

  api.post(
    '/pulls/:id/release',
    describe('pulls', 'Merge what a held pull would change', {
      params: schemas.IdParameter,
      body: schemas.ReasonBody,
      answer: Type.Object({ pullId: Type.Integer(), dates: Type.Array(Type.String()) }),
    }),
    async (request) => {
      const decision = { by: actorOf(request), reason: requireReason(request.body) };
      const { pullId, dates } = await releasePull(database, requireId(request), decision, policy());
      return { pullId: Number(pullId), dates: dates.map(({ date }) => date) };
    },
  );

  api.post(
    '/backfills',
    describe('backfills', 'Pull a range day by day', {
      body: schemas.BackfillBody,
      status: 201,
      answer: schemas.Backfill,
    }),
    async (request, reply) => {
      const body = request.body as { from: string; to: string; concurrency?: number };
      const source = { ...body, concurrency: String(body.concurrency ?? 2) };
      const id = await startBackfill(parts, source, actorOf(request));
      return reply.code(201).send(await readBackfillProgress(database, id));
    },
  );

  api.post(
    '/backfills/:id/cancel',
    describe('backfills', 'Stop a backfill; what was pulled stays', {
      params: schemas.IdParameter,
      answer: schemas.Backfill,
    }),
    async (request) => {
      const id = requireId(request);
      await cancelBackfill(database, id, actorOf(request));
      return readBackfillProgress(database, id);
    },
  );
}

function mask<T extends { column: string; before: string | null; after: string | null }>(field: T) {
  const { column, before, after } = field;
  return { column, before: maskColumn(column, before), after: maskColumn(column, after) };
}

function requireDate(request: FastifyRequest): CivilDate {
  const date = dateOfPath(request);
  if (date === null) throw new InputError('date: expected a calendar date as YYYY-MM-DD');
  return date;
}

function requireId(request: FastifyRequest): bigint {
  const text = numberOf(request, 'id', request.params);
  const id = text === null ? idOfPath(request) : BigInt(text);
  if (id === null) throw new InputError('id: expected a number');
  return id;
}

/** Validated by the schema, which makes numbers of what a query says. */
function numberOf(
  request: FastifyRequest,
  name: string,
  source: unknown = request.query,
): number | null {
  const value: unknown =
    typeof source === 'object' && source !== null ? Reflect.get(source, name) : undefined;
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
}

function limitOf(request: FastifyRequest): number {
  return numberOf(request, 'limit') ?? DEFAULT_LIMIT;
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
