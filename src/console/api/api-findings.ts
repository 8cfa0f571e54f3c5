import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { countFindings, readFindings, resolveFindings } from '../../checks/findings.sql.ts';
import type { CivilDate } from '../../domain/business-day.ts';
import type { CheckCode } from '../../domain/checks/checks.ts';
import { findingFilter } from '../findings/finding-address.ts';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { authorOf, requireReason } from '../shell/path-parameters.ts';
import { describe, limitOf, numberOf } from './api-request.ts';
import * as schemas from './api-schemas.ts';

/** The findings of the checks, and their resolution. */
export function addApiFindings(api: FastifyInstance, { database }: ConsoleParts): void {
  api.get(
    '/findings',
    describe('days', 'listFindings', 'Findings of the checks', {
      querystring: schemas.FindingsQuery,
      answer: schemas.Findings,
    }),
    async (request) => {
      const filter = findingFilter(request.query);
      const page = { offset: numberOf(request, 'offset') ?? 0, limit: limitOf(request) };
      const [total, findings] = await Promise.all([
        countFindings(database, filter),
        readFindings(database, filter, page),
      ]);
      return { total, findings };
    },
  );

  api.post(
    '/findings/resolve',
    describe('days', 'resolveFindings', 'Resolve findings of one check on one date', {
      body: schemas.ResolveFindingsBody,
      answer: Type.Object({ resolved: Type.Integer() }),
    }),
    async (request) => {
      const body = request.body as {
        date: CivilDate;
        check: CheckCode;
        newestId: number;
        titleId?: number;
      };
      const seen = {
        date: body.date,
        code: body.check,
        newestId: BigInt(body.newestId),
        titleId: body.titleId === undefined ? null : BigInt(body.titleId),
      };
      const decision = { ...authorOf(request), reason: requireReason(request.body) };
      return { resolved: await resolveFindings(database, seen, decision) };
    },
  );
}
