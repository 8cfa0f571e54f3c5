import type { FastifyInstance } from 'fastify';
import { describe, limitOf, numberOf } from '../../../console/api/api-request.ts';
import * as schemas from '../../../console/api/api-schemas.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { EVERYBODY, forKeys } from '../../../console/shell/route-access.ts';
import { countFindings, readFindings } from '../findings.sql.ts';
import { findingFilter } from './finding-address.ts';

/** The findings of the checks. */
export function addApiFindings(api: FastifyInstance, { database }: ConsoleParts): void {
  api.get(
    '/findings',
    describe(forKeys(EVERYBODY, 'read'), 'days', 'listFindings', 'Findings of the checks', {
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
}
