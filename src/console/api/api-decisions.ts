import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { cancelBackfill, readBackfillProgress } from '../../backfills/backfill-ledger.sql.ts';
import { type CivilDate, dateIn, parseCivilDate } from '../../domain/business-day.ts';
import { SIGN_OFF_FAULTS } from '../../domain/sign-off.ts';
import { acknowledgeDrift } from '../../ledger/drift.sql.ts';
import { readLedgerDay } from '../../ledger/ledger-days.sql.ts';
import { reopenDay, signOffDay, signOffDays } from '../../ledger/sign-off.sql.ts';
import { releaseRun } from '../../pull/decide-runs.sql.ts';
import { acceptRejects, releasePull } from '../../pull/decisions.sql.ts';
import { InputError } from '../../runtime/errors.ts';
import { startBackfill } from '../backfills/backfill-routes.tsx';
import { requestPull } from '../days/request-pull.ts';
import { type ConsoleParts, signingRules } from '../shell/console-parts.ts';
import { textParameter } from '../shell/page-context.ts';
import { actorOf, authorOf, optionalReason, requireReason } from '../shell/path-parameters.ts';
import { describe, requireDate, requireId } from './api-request.ts';
import * as schemas from './api-schemas.ts';

/** The API's equivalents of the buttons of the pages. */
export function addApiDecisions(api: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;

  const decide = (
    path: string,
    operationId: string,
    summary: string,
    body: TSchema,
    deed: (request: FastifyRequest, date: CivilDate) => Promise<unknown>,
  ) => {
    const schema = { params: schemas.DateParameter, body, answer: schemas.Day };
    api.post(path, describe('days', operationId, summary, schema), async (request) => {
      const date = requireDate(request);
      await deed(request, date);
      return readLedgerDay(database, date, dateIn(parts.timeZone, parts.now?.() ?? new Date()));
    });
  };
  decide(
    '/days/:date/sign-off',
    'signOffDay',
    'Sign a day off',
    schemas.SignOffBody,
    (request, date) =>
      signOffDay(database, date, {
        ...authorOf(request),
        reason: optionalReason(request.body),
        seenDigest: textParameter(request.body, 'digest') ?? '',
        ...signingRules(parts),
      }),
  );
  decide('/days/:date/reopen', 'reopenDay', 'Reopen a day', schemas.ReasonBody, (request, date) =>
    reopenDay(database, date, { ...authorOf(request), reason: requireReason(request.body) }),
  );
  decide(
    '/days/:date/accept-rejects',
    'acceptRejects',
    'Accept rejects',
    schemas.ReasonBody,
    (request, date) => {
      const decision = { ...authorOf(request), reason: requireReason(request.body) };
      return acceptRejects(database, date, decision);
    },
  );

  api.post(
    '/sign-offs',
    describe('days', 'signOffDays', 'Sign many days off, each for itself', {
      body: schemas.SignOffsBody,
      answer: schemas.SignOffOutcomes,
    }),
    async (request) => {
      const { days } = request.body as { days: readonly { date: string; digest: string }[] };
      const seen = days.map(({ date: text, digest }) => {
        const date = parseCivilDate(text);
        if (date === null) throw new InputError('date: expected a calendar date as YYYY-MM-DD');
        return { date, seenDigest: digest };
      });
      const outcomes = await signOffDays(database, seen, {
        ...authorOf(request),
        reason: optionalReason(request.body),
        ...signingRules(parts),
      });
      return outcomes.map(({ date, refusal }) => ({
        date,
        isSignedOff: refusal === null,
        refusal,
        message: refusal === null ? null : SIGN_OFF_FAULTS[refusal],
      }));
    },
  );

  api.post(
    '/days/:date/pull',
    describe('pulls', 'pullDay', 'Pull a day again', {
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
    describe('pulls', 'releasePull', 'Merge the changes of a held pull', {
      params: schemas.IdParameter,
      body: schemas.ReleaseBody,
      answer: Type.Object({ pullId: Type.Integer(), dates: Type.Array(Type.String()) }),
    }),
    async (request) => {
      const decision = { ...authorOf(request), reason: requireReason(request.body) };
      const pullId = requireId(request);
      const { run } = request.body as { run?: boolean };
      const reports =
        run === true
          ? await releaseRun(database, pullId, decision)
          : [await releasePull(database, pullId, decision)];
      return { pullId: Number(pullId), dates: reports.map(({ date }) => date) };
    },
  );

  api.post(
    '/drift/acknowledge',
    describe(
      'alerts',
      'acknowledgeDrift',
      'Acknowledge fields and values outside the documented interface',
      {
        body: schemas.AcknowledgeDriftBody,
        answer: Type.Object({ acknowledged: Type.Integer() }),
      },
    ),
    async (request) => {
      const items = await acknowledgeDrift(database, {
        by: actorOf(request),
        reason: requireReason(request.body),
        seenDigest: textParameter(request.body, 'digest') ?? '',
      });
      return { acknowledged: items.length };
    },
  );

  api.post(
    '/backfills',
    describe('backfills', 'startBackfill', 'Pull a range day by day', {
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
    describe('backfills', 'cancelBackfill', 'Stop a backfill; pulled dates stay', {
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
