import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { InputError } from '../../../base/runtime/errors.ts';
import { describe, numberOf, requireId } from '../../../console/api/api-request.ts';
import {
  amount,
  count,
  IdParameter,
  id,
  instantOrNull,
  words,
} from '../../../console/api/schema-parts.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { actorOf } from '../../../console/shell/path-parameters.ts';
import { EVERYBODY, forKeys, OPERATE } from '../../../console/shell/route-access.ts';
import {
  PAYABLE_FIELDS,
  PAYABLE_STATUSES,
  REQUIRED_PAYABLE_FIELDS,
  SETTLEMENTS,
} from '../payables/payable.ts';
import { checkPayables } from '../payables/payable-file.ts';
import {
  addPayables,
  beginImport,
  type EndedImport,
  endImport,
  IMPORT_KINDS,
  type ImportKind,
  PAYABLES_AT_ONCE,
} from '../payables/payable-import.sql.ts';
import { readPayableState } from '../payables/payable-state.sql.ts';

const PAYABLE_HELP = {
  erpKey: "The ERP's key, unique over all companies. Required.",
  company: 'The company or branch that owes.',
  supplierExternalId: "The supplier's code in the ERP. Required without supplierTaxId.",
  supplierTaxId: 'CPF or CNPJ of the supplier. Required without supplierExternalId.',
  document: 'The number of the invoice.',
  instalment: 'The instalment of the document.',
  orderUid: "The platform's order, where the ERP knows the order.",
  dueDate: 'YYYY-MM-DD.',
  openValue:
    'An exact decimal as text with at most two decimals, such as "1234.50". Negative: a credit note. Required.',
  status: `${PAYABLE_STATUSES.join(', ')}; default open.`,
  payee: 'CPF or CNPJ of the party that the ERP is going to pay; absent: the supplier.',
  version:
    "The ERP's version of the payable: an integer, a date or a time, always in one form. In a delta, an older version replaces no newer one.",
  settledAs: `How the payable was settled: ${SETTLEMENTS.join(', ')}.`,
  settledBy: 'The key of the booking line that settled the payable.',
  settledOn: 'When the payable was settled, YYYY-MM-DD.',
  paidTo: 'CPF or CNPJ of the party that was paid.',
  totalValue: 'The whole value, as openValue.',
  currency: 'Three upper-case letters (ISO 4217); absent: BRL.',
  bookingKey: 'The key of the booking line whose posting made this payable of the financial agent.',
  issueDate: 'When the document was issued, YYYY-MM-DD.',
} satisfies Record<(typeof PAYABLE_FIELDS)[number], string>;

/** Without types, because a payable with a fault is rejected alone and not with its whole request. */
const PayablesBody = Type.Object({
  payables: Type.Array(
    Type.Unsafe<unknown>({
      description: PAYABLE_FIELDS.map((field) => `${field}: ${PAYABLE_HELP[field]}`).join('\n'),
    }),
    { maxItems: PAYABLES_AT_ONCE },
  ),
});

const PayableImportBody = Type.Object({ kind: words(IMPORT_KINDS) });

const EndPayableImportBody = Type.Object({
  count: Type.Integer({
    minimum: 0,
    description: 'The number of payables that were sent. With another number nothing is closed.',
  }),
});

const payableCounts = {
  inserted: count,
  changed: count,
  unchanged: count,
  outdated: Type.Integer({
    minimum: 0,
    description:
      'Payables left as they are: a newer version or a later statement has written them.',
  }),
  downgraded: Type.Integer({
    minimum: 0,
    description: 'Of the changed ones: a snapshot gave them an older version.',
  }),
  incomparable: Type.Integer({
    minimum: 0,
    description: 'Of the changed ones: their version cannot be compared with the one before.',
  }),
  rejected: count,
};

const payableRejects = Type.Array(
  Type.Object({
    at: Type.Integer({ minimum: 1, description: 'The place in `payables`, from 1.' }),
    field: Type.String(),
    expected: Type.String(),
  }),
);

const PayableBatch = Type.Object({
  ...payableCounts,
  downgradedKeys: Type.Array(Type.String(), { description: 'ERP keys of downgraded payables.' }),
  rejects: payableRejects,
});

const payableImport = {
  importId: id,
  kind: words(IMPORT_KINDS),
  ...payableCounts,
  isComplete: Type.Boolean({
    description: 'Whether no payable was rejected and as many arrived as were announced.',
  }),
  closed: Type.Integer({ minimum: 0, description: 'Payables that a complete snapshot lacks.' }),
};

const PayableImport = Type.Object(payableImport);

const PayableImportWithRejects = Type.Object({ ...payableImport, rejects: payableRejects });

const PayableState = Type.Union(
  [
    Type.Object({
      open: count,
      openValue: amount,
      snapshotAt: instantOrNull,
      incompleteAt: instantOrNull,
    }),
    Type.Null(),
  ],
  { description: 'The payables of the ERP. Null: the ERP has given none.' },
);

const PayableStateAnswer = Type.Object({ payables: PayableState });

const BATCH_TRANSACTION = { timeout: 60_000, maxWait: 10_000 };

/** Payables of the ERP in batches. A snapshot is begun, filled by any number of requests, and ended. */
export function addPayablesApi(api: FastifyInstance, { database }: ConsoleParts): void {
  const { prisma } = database;

  api.get(
    '/erp-payables',
    describe(
      forKeys(EVERYBODY, 'read'),
      'payables',
      'getErpPayables',
      'The open payables, and the age of the last snapshot',
      {
        answer: PayableStateAnswer,
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
        body: PayablesBody,
        answer: PayableImportWithRejects,
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
        body: PayableImportBody,
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
        params: IdParameter,
        body: PayablesBody,
        answer: PayableBatch,
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
        params: IdParameter,
        body: EndPayableImportBody,
        answer: PayableImport,
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
