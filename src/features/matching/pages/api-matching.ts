import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { InputError } from '../../../base/runtime/errors.ts';
import { describe, limitOf, numberOf, requireId } from '../../../console/api/api-request.ts';
import { IdParameter, id, pageOfList, words } from '../../../console/api/schema-parts.ts';
import { parameterSchemas, readFilter } from '../../../console/list/filter.tsx';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { actorOf } from '../../../console/shell/guard.ts';
import { EVERYBODY, forKeys, OPERATE } from '../../../console/shell/route-access.ts';
import { BreakList, listBreaks } from '../breaks.sql.ts';
import { PAYABLE_HELP, REQUIRED_PAYABLE_FIELDS } from '../payables/payable.ts';
import { checkPayables } from '../payables/payable-file.ts';
import {
  addPayables,
  BatchReport,
  beginImport,
  EndedImport,
  endImport,
  IMPORT_KINDS,
  type ImportKind,
  PAYABLES_AT_ONCE,
  rejects,
} from '../payables/payable-import.sql.ts';
import { PayableState, readPayableState } from '../payables/payable-state.sql.ts';
import { BREAK_FILTER } from './breaks-page.tsx';

const BreakQuery = Type.Object({ ...parameterSchemas(BREAK_FILTER), ...pageOfList });

/** Without types, because a payable with a fault is rejected alone and not with its whole request. */
const PayablesBody = Type.Object({
  payables: Type.Array(Type.Unsafe<unknown>({ description: PAYABLE_HELP }), {
    maxItems: PAYABLES_AT_ONCE,
  }),
});

const EndPayableImportBody = Type.Object({
  count: Type.Integer({
    minimum: 0,
    description: 'The number of payables that were sent. With another number nothing is closed.',
  }),
});

const PayableStateAnswer = Type.Object({
  payables: Type.Union([PayableState, Type.Null()], {
    description: 'The payables of the ERP. Null: the ERP has given none.',
  }),
});

const BATCH_TRANSACTION = { timeout: 60_000, maxWait: 10_000 };

/**
 * The breaks between titles and payables, and the payables of the ERP in batches. A snapshot is begun, filled by any
 * number of requests, and ended.
 */
export function addMatchingApi(api: FastifyInstance, { database }: ConsoleParts): void {
  const { prisma } = database;
  const forEverybody = forKeys(EVERYBODY, 'read');
  const forImports = forKeys(OPERATE, 'payables');

  api.get(
    '/breaks',
    describe(forEverybody, 'payables', 'listBreaks', 'The breaks between titles and payables', {
      querystring: BreakQuery,
      answer: BreakList,
    }),
    async (request) =>
      listBreaks(database, {
        ...readFilter(BREAK_FILTER, request.query).filter,
        offset: numberOf(request, 'offset') ?? 0,
        limit: limitOf(request),
      }),
  );

  api.get(
    '/erp-payables',
    describe(
      forEverybody,
      'payables',
      'getErpPayables',
      'The open payables, and the age of the last snapshot',
      { answer: PayableStateAnswer },
    ),
    async () => ({ payables: await readPayableState(prisma) }),
  );

  api.post(
    '/erp-payables',
    describe(
      forImports,
      'payables',
      'putErpPayables',
      'Write payables that changed; no other is touched',
      { body: PayablesBody, answer: Type.Object({ ...EndedImport.properties, rejects }) },
    ),
    async (request) => {
      const by = actorOf(request);
      return prisma.$transaction(async (tx) => {
        const importId = await beginImport(tx, { kind: 'delta', by });
        const batch = await addPayables(tx, importId, payablesOf(request));
        return {
          ...(await endImport(tx, importId, { by, announced: null })),
          rejects: batch.rejects,
        };
      }, BATCH_TRANSACTION);
    },
  );

  api.post(
    '/erp-payables/imports',
    describe(
      forImports,
      'payables',
      'beginErpPayableImport',
      'Begin an import of several requests',
      {
        body: Type.Object({ kind: words(IMPORT_KINDS) }),
        status: 201,
        answer: Type.Object({ importId: id }),
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
      forImports,
      'payables',
      'addErpPayables',
      'Write payables of an import; the same request again changes nothing',
      { params: IdParameter, body: PayablesBody, answer: BatchReport },
    ),
    async (request) => {
      const importId = requireId(request);
      const payables = payablesOf(request);
      return prisma.$transaction((tx) => addPayables(tx, importId, payables), BATCH_TRANSACTION);
    },
  );

  api.post(
    '/erp-payables/imports/:id/end',
    describe(
      forImports,
      'payables',
      'endErpPayableImport',
      'End an import; a complete snapshot closes the payables that it lacks',
      { params: IdParameter, body: EndPayableImportBody, answer: EndedImport },
    ),
    async (request) => {
      const importId = requireId(request);
      const announced = numberOf(request, 'count', request.body);
      const by = actorOf(request);
      return prisma.$transaction(
        (tx) => endImport(tx, importId, { by, announced }),
        BATCH_TRANSACTION,
      );
    },
  );
}

function payablesOf(request: FastifyRequest) {
  const { payables } = request.body as { payables: readonly unknown[] };
  if (payables.length === 0) {
    throw new InputError(
      `payables: expected at least one, with ${REQUIRED_PAYABLE_FIELDS.join(', ')}`,
    );
  }
  return [...checkPayables(payables)];
}
