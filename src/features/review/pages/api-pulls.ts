import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { describe, requireDate, requireId } from '../../../console/api/api-request.ts';
import * as schemas from '../../../console/api/api-schemas.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { actorOf } from '../../../console/shell/path-parameters.ts';
import { forKeys, OPERATE } from '../../../console/shell/route-access.ts';
import { cancelBackfill, readBackfillProgress } from '../../backfills/backfill-ledger.sql.ts';
import { startBackfill } from '../../backfills/pages/backfill-routes.tsx';
import { requestPull } from './request-pull.ts';

/** Requests for pulls and backfills. */
export function addApiPulls(api: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;

  api.post(
    '/days/:date/pull',
    describe(forKeys(OPERATE, 'pull'), 'pulls', 'pullDay', 'Pull a day again', {
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
    '/backfills',
    describe(forKeys(OPERATE, 'pull'), 'backfills', 'startBackfill', 'Pull a range day by day', {
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
    describe(
      forKeys(OPERATE, 'pull'),
      'backfills',
      'cancelBackfill',
      'Stop a backfill; pulled dates stay',
      {
        params: schemas.IdParameter,
        answer: schemas.Backfill,
      },
    ),
    async (request) => {
      const id = requireId(request);
      await cancelBackfill(database, id, actorOf(request));
      return readBackfillProgress(database, id);
    },
  );
}
