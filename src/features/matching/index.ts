import { Type } from 'typebox';
import { RECORDS_AT_ONCE } from '../../base/files/import-file.ts';
import { InputError } from '../../base/runtime/errors.ts';
import { declareOperation } from '../../console/api/api-request.ts';
import { id, words } from '../../console/api/schema-parts.ts';
import type { Feature } from '../../console/shell/console-parts.ts';
import { actorOf } from '../../console/shell/guard.ts';
import { OPERATE } from '../../console/shell/route-access.ts';
import { BREAK_ACTIONS, BREAKS } from './pages/breaks-page.tsx';
import { UNDO_MATCH } from './pages/match-cards.tsx';
import { PROPOSAL_ACTIONS, PROPOSALS } from './pages/proposals-page.tsx';
import { COMPANIES, COMPANY_ACTIONS, MATCHING_RULES, SET_RULES } from './pages/settings-pages.tsx';
import { checkPayables, PAYABLE_HELP, REQUIRED_PAYABLE_FIELDS } from './payables/payable.ts';
import {
  addPayables,
  BatchReport,
  beginImport,
  EndedImport,
  endImport,
  IMPORT_KINDS,
  rejects,
} from './payables/payable-import.sql.ts';
import { PayableState, readPayableState } from './payables/payable-state.sql.ts';
import { startMatchingLoop } from './run-matching.sql.ts';

/** Without types, because a payable with a fault is rejected alone and not with its whole request. */
const payables = Type.Array(Type.Unsafe<unknown>({ description: PAYABLE_HELP }), {
  maxItems: RECORDS_AT_ONCE,
});

const PayableStateAnswer = Type.Object({
  payables: Type.Union([PayableState, Type.Null()], {
    description: 'The payables of the ERP. Null: the ERP has given none.',
  }),
});

const BATCH_TRANSACTION = { timeout: 60_000, maxWait: 10_000 };

const forImports = { method: 'POST', who: OPERATE, scope: 'payables', tag: 'payables' } as const;

/** The payables of the ERP in batches. A snapshot is begun, filled by any number of requests, and ended. */
const MATCHING_API = [
  declareOperation({
    path: '/erp-payables',
    scope: 'read',
    tag: 'payables',
    operationId: 'getErpPayables',
    summary: 'The open payables, and the age of the last snapshot',
    input: {},
    answer: PayableStateAnswer,
    run: async ({ database }) => ({ payables: await readPayableState(database.prisma) }),
  }),
  declareOperation({
    ...forImports,
    path: '/erp-payables',
    operationId: 'putErpPayables',
    summary: 'Write payables that changed; no other is touched',
    input: { payables },
    answer: Type.Object({ ...EndedImport.properties, rejects }),
    run: ({ database }, { payables }, request) => {
      const by = actorOf(request);
      return database.prisma.$transaction(async (tx) => {
        const importId = await beginImport(tx, { kind: 'delta', by });
        const batch = await addPayables(tx, importId, checked(payables));
        return {
          ...(await endImport(tx, importId, { by, announced: null })),
          rejects: batch.rejects,
        };
      }, BATCH_TRANSACTION);
    },
  }),
  declareOperation({
    ...forImports,
    path: '/erp-payables/imports',
    operationId: 'beginErpPayableImport',
    summary: 'Begin an import of several requests',
    input: { kind: words(IMPORT_KINDS) },
    status: 201,
    answer: Type.Object({ importId: id }),
    run: async ({ database }, { kind }, request) => ({
      importId: Number(await beginImport(database.prisma, { kind, by: actorOf(request) })),
    }),
  }),
  declareOperation({
    ...forImports,
    path: '/erp-payables/imports/:id/payables',
    operationId: 'addErpPayables',
    summary: 'Write payables of an import; the same request again changes nothing',
    input: { id, payables },
    answer: BatchReport,
    run: ({ database }, { id, payables }) => {
      const batch = checked(payables);
      return database.prisma.$transaction(
        (tx) => addPayables(tx, BigInt(id), batch),
        BATCH_TRANSACTION,
      );
    },
  }),
  declareOperation({
    ...forImports,
    path: '/erp-payables/imports/:id/end',
    operationId: 'endErpPayableImport',
    summary: 'End an import; a complete snapshot closes the payables that it lacks',
    input: {
      id,
      count: Type.Integer({
        minimum: 0,
        description:
          'The number of payables that were sent. With another number nothing is closed.',
      }),
    },
    answer: EndedImport,
    run: ({ database }, { id, count: announced }, request) => {
      const by = actorOf(request);
      return database.prisma.$transaction(
        (tx) => endImport(tx, BigInt(id), { by, announced }),
        BATCH_TRANSACTION,
      );
    },
  }),
];

function checked(payables: readonly unknown[]) {
  if (payables.length === 0) {
    throw new InputError(
      `payables: expected at least one, with ${REQUIRED_PAYABLE_FIELDS.join(', ')}`,
    );
  }
  return [...checkPayables(payables)];
}

export const matching: Feature = {
  name: 'matching',
  pages: [COMPANIES, MATCHING_RULES],
  lists: [BREAKS, PROPOSALS],
  actions: [...BREAK_ACTIONS, ...PROPOSAL_ACTIONS, ...COMPANY_ACTIONS, UNDO_MATCH, SET_RULES],
  api: MATCHING_API,
  loops: (parts) => [startMatchingLoop(parts)],
};
