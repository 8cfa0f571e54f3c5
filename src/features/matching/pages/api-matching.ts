import type { FastifyInstance } from 'fastify';
import { describe, limitOf, numberOf } from '../../../console/api/api-request.ts';
import * as schemas from '../../../console/api/api-schemas.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { EVERYBODY, forKeys } from '../../../console/shell/route-access.ts';
import { listBreaks } from '../breaks.sql.ts';
import { breakFilter } from './break-address.ts';

/** The breaks between titles and payables. */
export function addApiMatching(api: FastifyInstance, { database }: ConsoleParts): void {
  api.get(
    '/breaks',
    describe(
      forKeys(EVERYBODY, 'read'),
      'payables',
      'listBreaks',
      'The breaks between titles and payables',
      {
        querystring: schemas.BreakQuery,
        answer: schemas.BreakListAnswer,
      },
    ),
    async (request) =>
      listBreaks(database, {
        ...breakFilter(request.query),
        offset: numberOf(request, 'offset') ?? 0,
        limit: limitOf(request),
      }),
  );
}
