import type { FastifyInstance } from 'fastify';
import { listBreaks } from '../../matching/breaks.sql.ts';
import { breakFilter } from '../matching/break-address.ts';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { describe, limitOf, numberOf } from './api-request.ts';
import * as schemas from './api-schemas.ts';

/** The breaks between titles and payables. */
export function addApiMatching(api: FastifyInstance, { database }: ConsoleParts): void {
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
}
