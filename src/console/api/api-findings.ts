import type { FastifyInstance } from 'fastify';
import { countFindings, readFindings } from '../../checks/findings.sql.ts';
import { findingFilter } from '../findings/finding-address.ts';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { describe, limitOf, numberOf } from './api-request.ts';
import * as schemas from './api-schemas.ts';

/** The findings of the checks. */
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
}
