import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { InputError } from '../../../base/runtime/errors.ts';
import { describe, numberOf, requireId } from '../../../console/api/api-request.ts';
import * as schemas from '../../../console/api/api-schemas.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { actorOf } from '../../../console/shell/path-parameters.ts';
import { EVERYBODY, forKeys, OPERATE } from '../../../console/shell/route-access.ts';
import { REQUIRED_PAYABLE_FIELDS } from '../payables/payable.ts';
import { checkPayables } from '../payables/payable-file.ts';
import {
  addPayables,
  beginImport,
  type EndedImport,
  endImport,
  type ImportKind,
} from '../payables/payable-import.sql.ts';
import { readPayableState } from '../payables/payable-state.sql.ts';

const BATCH_TRANSACTION = { timeout: 60_000, maxWait: 10_000 };

/** Payables of the ERP in batches. A snapshot is begun, filled by any number of requests, and ended. */
export function addApiPayables(api: FastifyInstance, { database }: ConsoleParts): void {
  const { prisma } = database;

  api.get(
    '/erp-payables',
    describe(
      forKeys(EVERYBODY, 'read'),
      'payables',
      'getErpPayables',
      'The open payables, and the age of the last snapshot',
      {
        answer: schemas.PayableStateAnswer,
      },
    ),
    async () => ({ payables: await readPayableState(prisma) }),
  );

  api.post(
    '/erp-payables',
    describe(
      forKeys(OPERATE, 'payables'),
      'payables',
      'putErpPayables',
      'Write payables that changed; no other is touched',
      {
        body: schemas.PayablesBody,
        answer: schemas.PayableImportWithRejects,
      },
    ),
    async (request) => {
      const by = actorOf(request);
      return prisma.$transaction(async (tx) => {
        const importId = await beginImport(tx, { kind: 'delta', by });
        const { rejects } = await addPayables(tx, importId, payablesOf(request.body));
        return { ...withNumber(await endImport(tx, importId, { by, announced: null })), rejects };
      }, BATCH_TRANSACTION);
    },
  );

  api.post(
    '/erp-payables/imports',
    describe(
      forKeys(OPERATE, 'payables'),
      'payables',
      'beginErpPayableImport',
      'Begin an import of several requests',
      {
        body: schemas.PayableImportBody,
        status: 201,
        answer: Type.Object({ importId: Type.Integer() }),
      },
    ),
    async (request, reply) => {
      const { kind } = request.body as { kind: ImportKind };
      const importId = await beginImport(prisma, { kind, by: actorOf(request) });
      return reply.code(201).send({ importId: Number(importId) });
    },
  );

  api.post(
    '/erp-payables/imports/:id/payables',
    describe(
      forKeys(OPERATE, 'payables'),
      'payables',
      'addErpPayables',
      'Write payables of an import; the same request again changes nothing',
      {
        params: schemas.IdParameter,
        body: schemas.PayablesBody,
        answer: schemas.PayableBatch,
      },
    ),
    async (request) => {
      const importId = requireId(request);
      const payables = payablesOf(request.body);
      return prisma.$transaction((tx) => addPayables(tx, importId, payables), BATCH_TRANSACTION);
    },
  );

  api.post(
    '/erp-payables/imports/:id/end',
    describe(
      forKeys(OPERATE, 'payables'),
      'payables',
      'endErpPayableImport',
      'End an import; a complete snapshot closes the payables that it lacks',
      {
        params: schemas.IdParameter,
        body: schemas.EndPayableImportBody,
        answer: schemas.PayableImport,
      },
    ),
    async (request) => {
      const importId = requireId(request);
      const announced = numberOf(request, 'count', request.body);
      const by = actorOf(request);
      const ended = await prisma.$transaction(
        (tx) => endImport(tx, importId, { by, announced }),
        BATCH_TRANSACTION,
      );
      return withNumber(ended);
    },
  );
}

function payablesOf(body: unknown) {
  const { payables } = body as { payables: readonly unknown[] };
  if (payables.length === 0) {
    throw new InputError(
      `payables: expected at least one, with ${REQUIRED_PAYABLE_FIELDS.join(', ')}`,
    );
  }
  return [...checkPayables(payables)];
}

const withNumber = ({ importId, ...ended }: EndedImport) => ({
  importId: Number(importId),
  ...ended,
});
