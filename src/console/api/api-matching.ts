import type { FastifyInstance, FastifyRequest } from 'fastify';
import { listBreaks } from '../../matching/breaks.sql.ts';
import { matchByPerson, resolveBreak, undoMatch } from '../../matching/match-decisions.sql.ts';
import { InputError } from '../../runtime/errors.ts';
import { breakFilter, breakKey } from '../matching/break-address.ts';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { textParameter } from '../shell/page-context.ts';
import { authorOf, requireReason } from '../shell/path-parameters.ts';
import { describe, limitOf, numberOf, requireId } from './api-request.ts';
import * as schemas from './api-schemas.ts';

/** The API's equivalents of the pages of breaks. */
export function addApiMatching(api: FastifyInstance, { database, fourEyes }: ConsoleParts): void {
  const decisionOf = (request: FastifyRequest) => ({
    ...authorOf(request),
    reason: requireReason(request.body),
    fourEyes,
  });

  api.get(
    '/breaks',
    describe('payables', 'listBreaks', 'The breaks between titles and payables', {
      querystring: schemas.BreakQuery,
      answer: schemas.BreakListAnswer,
    }),
    async (request) =>
      listBreaks(database, {
        ...breakFilter(request.query),
        offset: numberOf(request, 'offset') ?? 0,
        limit: limitOf(request),
      }),
  );

  api.post(
    '/breaks/resolve',
    describe('payables', 'resolveBreak', 'Resolve a break without a match', {
      body: schemas.ResolveBreakBody,
      answer: schemas.Done,
    }),
    async (request) => {
      const { titleId, erpKey, ground, kind } = request.body as {
        titleId?: number;
        erpKey?: string;
        ground: string;
        kind: string;
      };
      const title = titleId === undefined ? {} : { title: String(titleId) };
      const key = breakKey({ kind, ...title, ...(erpKey !== undefined && { payable: erpKey }) });
      if (key === null) throw new InputError('titleId, erpKey: expected at least one of them');
      await resolveBreak(database, { ...key, seenGround: ground }, decisionOf(request));
      return { done: true };
    },
  );

  api.post(
    '/matches',
    describe('payables', 'matchTitle', 'Match a title with a payable', {
      body: schemas.MatchBody,
      status: 201,
      answer: schemas.MatchAnswer,
    }),
    async (request, reply) => {
      const titleId = BigInt(numberOf(request, 'titleId', request.body) ?? 0);
      const erpKey = textParameter(request.body, 'erpKey') ?? '';
      const matchId = await matchByPerson(database, { titleId, erpKey }, decisionOf(request));
      return reply.code(201).send({ matchId: Number(matchId) });
    },
  );

  api.post(
    '/matches/:id/undo',
    describe('payables', 'undoMatch', 'Undo a match', {
      params: schemas.IdParameter,
      body: schemas.ReasonBody,
      answer: schemas.Done,
    }),
    async (request) => {
      await undoMatch(database, requireId(request), decisionOf(request));
      return { done: true };
    },
  );
}
