import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { describe, requireId } from '../../../console/api/api-request.ts';
import { date, IdParameter } from '../../../console/api/schema-parts.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { actorOf } from '../../../console/shell/path-parameters.ts';
import { EVERYBODY, forKeys, OPERATE } from '../../../console/shell/route-access.ts';
import { Backfill, cancelBackfill, readBackfillProgress } from '../backfill-ledger.sql.ts';
import { MAX_BACKFILL_CONCURRENCY } from '../backfill-plan.ts';
import { startBackfill } from './backfills.tsx';

const BackfillBody = Type.Object({
  from: date,
  to: date,
  concurrency: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_BACKFILL_CONCURRENCY, default: 2 }),
  ),
});

/** The operations of the API for backfills. */
export function addBackfillsApi(api: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;

  api.get(
    '/backfills/:id',
    describe(forKeys(EVERYBODY, 'read'), 'backfills', 'getBackfill', 'How far a backfill is', {
      params: IdParameter,
      answer: Backfill,
    }),
    async (request, reply) =>
      (await readBackfillProgress(database, requireId(request))) ?? reply.callNotFound(),
  );

  api.post(
    '/backfills',
    describe(forKeys(OPERATE, 'pull'), 'backfills', 'startBackfill', 'Pull a range day by day', {
      body: BackfillBody,
      status: 201,
      answer: Backfill,
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
        params: IdParameter,
        answer: Backfill,
      },
    ),
    async (request) => {
      const id = requireId(request);
      await cancelBackfill(database, id, actorOf(request));
      return readBackfillProgress(database, id);
    },
  );
}
