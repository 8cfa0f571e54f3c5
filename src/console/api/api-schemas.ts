/** The input and output of `/api` as JSON Schema. It validates the input and is published as OpenAPI. */

import { Type } from 'typebox';
import { LANGUAGES } from '../../base/texts/texts.ts';
import { CHECK_CODES } from '../../base/values/checks.ts';
import { DAY_STATES, HOLD_REASONS } from '../../core/ledger/day-state.ts';
import { AMOUNT_COLUMNS, TITLE_COLUMNS } from '../../core/title/title.ts';
import { CHANGE_LISTS } from '../../features/accounts/account-changes.sql.ts';
import { ALERT_KINDS } from '../../features/alerts/messages/alert.ts';
import { MAX_BACKFILL_CONCURRENCY } from '../../features/backfills/backfill-plan.ts';
import { FINDING_STATES } from '../../features/checks/findings.sql.ts';
import { BREAK_KINDS, PAYEES } from '../../features/matching/breaks.sql.ts';
import {
  PAYABLE_FIELDS,
  PAYABLE_STATUSES,
  SETTLEMENTS,
} from '../../features/matching/payables/payable.ts';
import {
  IMPORT_KINDS,
  PAYABLES_AT_ONCE,
} from '../../features/matching/payables/payable-import.sql.ts';
import { SYNC_STATES } from '../../features/providers/provider.ts';
import { NEEDS } from '../../features/review/ledger-days.sql.ts';
import { BREAK_CAUSES, SEAL_FIELDS } from '../../features/review/months/civil-month.ts';
import { MONTH_STATES } from '../../features/review/months/month-seal.sql.ts';
import { SEALED_MEASURES } from '../../features/review/restated-days.sql.ts';
import { SCHEDULE_FORMATS } from '../../features/schedule/schedule-file.ts';
import { SWEEP_STATES } from '../../features/sweep/sweeps.sql.ts';
import { TITLE_SORTS } from '../../features/titles/pages/title-list.sql.ts';
import { EXPORT_FORMATS } from '../../features/titles/title-file.ts';

const words = (values: readonly string[]) => Type.Unsafe<string>({ type: 'string', enum: values });
const orNull = (type: string, more: object = {}) =>
  Type.Unsafe<string | null>({ type: [type, 'null'], ...more });
const date = Type.Unsafe<string>({ type: 'string', format: 'date', examples: ['2026-03-02'] });
const dateOrNull = orNull('string', { format: 'date' });
const instant = Type.Unsafe<string>({ type: 'string', format: 'date-time' });
const instantOrNull = orNull('string', { format: 'date-time' });
const count = Type.Integer({ minimum: 0 });
const id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
/** Text, because most JSON parsers would round a number to a double. */
const amount = Type.String({ description: 'An exact decimal.', examples: ['1234.50'] });

const sums = Type.Object(Object.fromEntries(AMOUNT_COLUMNS.map((column) => [column, amount])));

export const ErrorAnswer = Type.Object({
  code: Type.String({ description: 'Stable; may be matched.' }),
  message: Type.String(),
  position: Type.Optional(
    Type.String({
      description: 'Of a feed that does not have the position asked for: where to read again from.',
    }),
  ),
});

export const Day = Type.Object({
  date,
  state: words(DAY_STATES),
  titles: count,
  withdrawn: count,
  rejected: count,
  sums,
  contentDigest: orNull('string'),
  heldPullId: orNull('integer'),
  hold: Type.Union(
    [
      Type.Object({
        reason: orNull('string', { enum: [...HOLD_REASONS, null] }),
        detail: Type.Union(
          [
            Type.Object({
              found: Type.Integer(),
              of: orNull('integer'),
              limit: Type.Integer(),
            }),
            Type.Null(),
          ],
          { description: 'What the limit was compared with, for a hold for plausibility.' },
        ),
        titles: count,
        withdrawals: count,
        faults: Type.Array(Type.String()),
      }),
      Type.Null(),
    ],
    { description: 'The response that waits for a person, and the withdrawals of a release.' },
  ),
  withheld: Type.Integer({
    minimum: 0,
    description:
      'Titles that the newest response lacks and that stay current, because a rejected title may be one of them.',
  }),
  heldPayments: Type.Integer({
    minimum: 0,
    description: 'Titles that name a changed bank account that no person has confirmed.',
  }),
  openFindings: Type.Integer({
    minimum: 0,
    description: 'Findings of the checks that a person has to resolve.',
  }),
  alterations: Type.Integer({
    minimum: 0,
    description:
      'Changes to the titles or totals of the day that no merge made and no person has acknowledged.',
  }),
  isChecked: Type.Boolean({ description: 'Whether the checks ran on the present content.' }),
  verifiedAt: instantOrNull,
  changedAt: instantOrNull,
  signedOffAt: instantOrNull,
  signedOffBy: orNull('string'),
  signedOffDigest: orNull('string'),
  isRestated: Type.Boolean({ description: 'Restated after it was signed off.' }),
});

export const Status = Type.Object({
  startDate: dateOrNull,
  lastReconciledDate: dateOrNull,
  lagDays: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'Dates that are over and have no data.',
  }),
  needs: Type.Object(Object.fromEntries(NEEDS.map((need) => [need, count])), {
    description: 'Days that wait for a person, by the next decision.',
  }),
  openAlerts: count,
  accountChanges: Type.Integer({
    minimum: 0,
    description: 'Changed bank accounts without a decision.',
  }),
  unmappedCompanies: Type.Integer({
    minimum: 0,
    description: 'Companies of the ERP whose buyers a person has to confirm.',
  }),
  headline: Type.Object(
    Object.fromEntries(
      LANGUAGES.map((language) => [
        language,
        Type.Object({
          inOrder: Type.Boolean({ description: 'Whether nothing waits for a person.' }),
          title: Type.String(),
          lines: Type.Array(Type.String()),
        }),
      ]),
    ),
    { description: 'The state of the ledger in the words of the start page.' },
  ),
});

export const Sweep = Type.Object(
  {
    id,
    from: date,
    state: words(SWEEP_STATES),
    startedAt: instant,
    finishedAt: instant,
    titles: orNull('integer'),
    datesCompared: orNull('integer'),
    datesDiffering: orNull('integer'),
    undatedTitles: orNull('integer', {
      description: 'Titles without a readable accepted date. They belong to no date.',
    }),
    futureTitles: orNull('integer', {
      description: 'Titles of a date that had not begun. They belong to no date.',
    }),
    earlyTitles: orNull('integer', {
      description: 'Titles of a date before `from`. They belong to no date.',
    }),
    errorCode: orNull('string'),
    errorMessage: orNull('string'),
  },
  { description: 'The results are null where the sweep failed.' },
);

const TitleRow = Type.Object({
  id,
  status: words(['current', 'withdrawn']),
  acceptedDate: date,
  orderUid: Type.String(),
  occurrence: id,
  provider: orNull('string'),
  agent: orNull('string'),
  dueDate: dateOrNull,
  originalValue: amount,
  changedAt: instant,
});

export const TitlePage = Type.Object({
  rows: Type.Array(TitleRow),
  previous: orNull('string', {
    description: 'For `at`: the page before. Null: this is the first.',
  }),
  next: orNull('string', { description: 'For `at`: the page after. Null: this is the last.' }),
});

const MovedField = Type.Object({
  column: Type.String({ description: 'A column of conciliation.title.' }),
  before: orNull('string'),
  after: orNull('string'),
});

export const Changes = Type.Object({
  since: words(['sign_off', 'last_change']),
  pullId: orNull('integer'),
  count,
  counts: Type.Object({ inserted: count, changed: count, withdrawn: count, restored: count }),
  titles: Type.Array(
    Type.Object({
      titleId: id,
      orderUid: Type.String(),
      occurrence: id,
      kind: words(['inserted', 'changed', 'withdrawn', 'restored']),
      fields: Type.Array(MovedField),
      originalValue: amount,
      pullId: id,
      changedAt: instant,
    }),
  ),
});

const relatedTitle = (description: string) =>
  Type.Union([Type.Object({ id, dueDate: dateOrNull, originalValue: amount }), Type.Null()], {
    description,
  });

export const Title = Type.Object({
  id,
  status: words(['current', 'withdrawn']),
  acceptedDate: date,
  occurrence: id,
  fields: Type.Object(
    Object.fromEntries(TITLE_COLUMNS.map((column) => [column, orNull('string')])),
    { description: 'Tax identifiers, accounts and undocumented fields are masked.' },
  ),
  predecessor: relatedTitle(
    'The withdrawn title of the same order, buyer and provider that this one replaces.',
  ),
  successor: relatedTitle('The newest title that replaced this one.'),
  isPaymentHeld: Type.Boolean({
    description: 'The title names a changed bank account that no person has confirmed.',
  }),
  createdAt: instant,
  changedAt: instant,
  revisions: Type.Array(
    Type.Object({
      revision: id,
      kind: words(['changed', 'withdrawn', 'restored']),
      changedAt: instant,
      pullId: id,
      fields: Type.Array(MovedField),
    }),
  ),
});

export const Alert = Type.Object({
  id,
  kind: Type.String({ description: `Such as ${ALERT_KINDS.join(', ')}.` }),
  message: Type.String(),
  messagePt: Type.String({ description: 'The message in Portuguese.' }),
  date: dateOrNull,
  pullId: orNull('integer'),
  raisedAt: instant,
  resolvedAt: instantOrNull,
  deliveredAt: instantOrNull,
});

export const OpenDrift = Type.Object({
  items: Type.Array(
    Type.Object({
      path: Type.String({ examples: ['titles[].financialAgent.type'] }),
      kind: words(['unknown_field', 'unknown_value']),
      firstSeenAt: instant,
      pullId: id,
    }),
  ),
});

export const AuditEntry = Type.Object({
  id,
  at: instant,
  actor: Type.String(),
  action: Type.String(),
  date: dateOrNull,
  pullId: orNull('integer'),
  reason: orNull('string'),
  details: Type.Unknown(),
});

export const Backfill = Type.Object({
  id,
  from: date,
  to: date,
  state: words(['running', 'done', 'cancelled']),
  concurrency: id,
  requestedBy: Type.String(),
  createdAt: instant,
  finishedAt: instantOrNull,
  total: count,
  done: count,
  failed: count,
  held: count,
  open: count,
  titles: count,
});

const totals = Type.Object(
  Object.fromEntries(SEALED_MEASURES.map((measure) => [measure, amount])),
  { description: 'Over the seals of the days.' },
);

const MonthSeal = Type.Object({
  id,
  month: Type.String(),
  sealedAt: instant,
  sealedBy: Type.String(),
  reason: orNull('string'),
  digest: Type.String({ description: 'SHA-256 over the month and the seals of its days.' }),
  days: count,
  totals,
});

const monthFields = {
  month: Type.String({ examples: ['2026-03'] }),
  from: date,
  to: date,
  days: count,
  signed: Type.Integer({
    minimum: 0,
    description: 'Signed off, not restated since, and reconciled.',
  }),
  restated: count,
  state: words(MONTH_STATES),
  seal: Type.Union([MonthSeal, Type.Null()], { description: 'The newest seal.' }),
  broken: Type.Array(Type.Object({ date, cause: words(BREAK_CAUSES) }), {
    description: 'The days that break the newest seal.',
  }),
};

export const Month = Type.Object(monthFields);

export const MonthDetail = Type.Object({
  ...monthFields,
  presentDigest: orNull('string', {
    description: 'The digest of a seal over the present seals of the days.',
  }),
  seals: Type.Array(MonthSeal),
  daySeals: Type.Array(
    Type.Object({
      date,
      state: orNull('string', { enum: [...DAY_STATES, null] }),
      isRestated: Type.Boolean(),
      seal: Type.Union([
        Type.Object(Object.fromEntries(SEAL_FIELDS.map((field) => [field, orNull('string')]))),
        Type.Null(),
      ]),
    }),
  ),
});

export const RangeQuery = Type.Object({ from: date, to: date });

/** Parsed as on the pages, where an invalid parameter counts as absent. */
export const TitleQueryParameters = Type.Object({
  order: Type.Optional(Type.String({ maxLength: 200 })),
  provider: Type.Optional(Type.String({ maxLength: 200 })),
  agent: Type.Optional(
    Type.String({ maxLength: 200, description: 'A part of the name, in any case.' }),
  ),
  status: Type.Optional(words(['current', 'withdrawn'])),
  dueFrom: Type.Optional(date),
  dueTo: Type.Optional(date),
  minValue: Type.Optional(Type.String({ maxLength: 200 })),
  maxValue: Type.Optional(Type.String({ maxLength: 200 })),
  sort: Type.Optional(words(TITLE_SORTS)),
  direction: Type.Optional(words(['ascending', 'descending'])),
  at: Type.Optional(
    Type.String({ maxLength: 2000, description: 'A place that an earlier answer named.' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
});

export const ScheduleQuery = Type.Object({
  dueFrom: date,
  dueTo: date,
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000_000,
      default: 0,
      description: 'Groups to skip.',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
});

export const ScheduleExportQuery = Type.Object({
  dueFrom: date,
  dueTo: date,
  format: words(SCHEDULE_FORMATS),
  locale: Type.Optional(words(['pt-BR', 'en'])),
});

const scheduleTotals = {
  titles: count,
  sums,
  waitingTitles: Type.Integer({
    description:
      'Titles of days in the state held or attention, whose newest response waits for a person.',
  }),
  waitingValue: amount,
};

export const PaymentSchedule = Type.Object({
  dueFrom: date,
  dueTo: date,
  overall: Type.Object(scheduleTotals),
  changed: Type.Object(
    { groups: count, titles: count, originalValue: amount },
    { description: 'On accounts that changed, where no person has confirmed the change.' },
  ),
  dates: Type.Array(Type.Object({ date, ...scheduleTotals })),
  groupCount: count,
  groups: Type.Array(
    Type.Object({
      ...scheduleTotals,
      payee: Type.Object({
        kind: orNull('string', { enum: ['financial_agent', 'provider', null] }),
        name: orNull('string'),
        externalId: orNull('string'),
        identification: orNull('string', { description: 'Masked, as the account is.' }),
        account: Type.Object({
          bank: orNull('string'),
          agency: orNull('string'),
          agencyDigit: orNull('string'),
          account: orNull('string'),
          accountDigit: orNull('string'),
        }),
        isChanged: Type.Boolean(),
      }),
      titleId: Type.Integer({ description: 'One of the titles of the group.' }),
    }),
    { description: 'By party to be paid and account, the largest original value first.' },
  ),
  undated: Type.Object(
    { titles: count, originalValue: amount },
    { description: 'Current titles without a due date. They are in no other figure.' },
  ),
});

const pageOfList = {
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0, description: 'Rows to skip.' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
};

const difference = Type.Object({ sealed: amount, present: amount, difference: amount });
const differences = Type.Object(
  Object.fromEntries(SEALED_MEASURES.map((name) => [name, difference])),
  { description: 'Counts and sums of the seal, of the present titles, and present minus sealed.' },
);

export const RestatedQuery = Type.Object(pageOfList);
export const RestatedDays = Type.Object({
  total: Type.Integer({ minimum: 0, description: 'Days that changed after their sign-off.' }),
  differences,
  days: Type.Array(
    Type.Object({
      date,
      signedOffAt: instant,
      signedOffBy: Type.String(),
      sealedDigest: Type.String(),
      presentDigest: orNull('string'),
      differences,
    }),
    { description: 'In date order.' },
  ),
});

export const ProviderQuery = Type.Object({
  q: Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        'An external id, or a part of one where no provider has it; or a part of the name. Tax identifiers are not searched, because the address of a request may be logged.',
    }),
  ),
  state: Type.Optional(words(SYNC_STATES)),
  ...pageOfList,
});
const providerRow = {
  externalId: Type.String(),
  name: orNull('string'),
  identification: orNull('string', { description: 'Masked.' }),
  state: words(SYNC_STATES),
  sentAt: instantOrNull,
  syncedAt: instantOrNull,
  batchId: orNull('integer', { description: 'The newest request that had the provider.' }),
  httpStatus: orNull('integer'),
  errorCode: orNull('string'),
  isUnderWay: Type.Boolean({ description: 'The newest request has no answer yet.' }),
  faults: orNull('string', { description: 'The violated rules of an invalid provider.' }),
};
export const Providers = Type.Object({
  total: count,
  providers: Type.Array(Type.Object(providerRow), { description: 'By external id.' }),
});
const bankAccount = {
  bank: orNull('string'),
  agency: orNull('string', { description: 'Masked.' }),
  agencyDigit: orNull('string'),
  account: orNull('string', { description: 'Masked.' }),
  accountDigit: orNull('string'),
  destination: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()], {
    description:
      'Undocumented fields that name a destination, such as a Pix key. Masked. Null: none.',
  }),
};
export const ExternalIdQuery = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 1000, description: 'The external id.' }),
});
export const Provider = Type.Object({
  externalId: Type.String(),
  provider: Type.Union(
    [
      Type.Object({
        ...providerRow,
        type: orNull('string'),
        canAnticipate: orNull('boolean'),
        changedAt: instant,
        requests: Type.Integer({ minimum: 0, description: 'Requests that had the provider.' }),
      }),
      Type.Null(),
    ],
    { description: 'Null: titles name the provider, and the ERP has not written it.' },
  ),
  titles: count,
  originalValue: amount,
  accounts: Type.Array(
    Type.Object({ ...bankAccount, lastAcceptedDate: date, firstSeenAt: instant }),
    { description: 'Accounts that titles name, at most 500, the last seen first.' },
  ),
  accountCount: count,
  accountChanges: count,
});

export const AccountChangesQuery = Type.Object({
  state: Type.Optional(words([...CHANGE_LISTS])),
  ...pageOfList,
});
export const AccountChanges = Type.Object({
  total: count,
  changes: Type.Array(
    Type.Object({
      id,
      kind: words(['provider', 'financial_agent']),
      partyKey: Type.String({ description: 'Masked where the key is a tax identifier.' }),
      partyName: orNull('string'),
      before: Type.Object(bankAccount),
      after: Type.Object(bankAccount),
      acceptedDate: date,
      titleId: Type.Integer(),
      orderUid: orNull('string'),
      pullId: Type.Integer(),
      detectedAt: instant,
      state: words(['open', 'refused', 'confirmed', 'parallel', 'returned']),
      decidedAt: instantOrNull,
      decidedBy: orNull('string'),
      reason: orNull('string'),
      heldTitles: count,
      heldValue: amount,
    }),
    { description: 'The oldest first where all are open, otherwise the newest first.' },
  ),
});
export const FindingsQuery = Type.Object({
  state: Type.Optional(words([...FINDING_STATES, 'all'])),
  check: Type.Optional(words(CHECK_CODES)),
  severity: Type.Optional(words(['info', 'review'])),
  date: Type.Optional(date),
  ...pageOfList,
});
export const Findings = Type.Object({
  total: count,
  findings: Type.Array(
    Type.Object({
      id,
      code: words(CHECK_CODES),
      severity: words(['info', 'review']),
      state: words(FINDING_STATES),
      date,
      titleId: Type.Integer(),
      orderUid: Type.String(),
      providerExternalId: orNull('string'),
      dueDate: dateOrNull,
      originalValue: amount,
      detail: Type.Record(Type.String(), Type.String(), {
        description:
          'What was compared: field, value, limit and other title, as far as the check has them.',
      }),
      foundAt: instant,
      resolvedAt: instantOrNull,
      resolvedBy: orNull('string'),
      reason: orNull('string'),
    }),
    { description: 'The newest date first.' },
  ),
});
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
export const PayablesBody = Type.Object({
  payables: Type.Array(
    Type.Unsafe<unknown>({
      description: PAYABLE_FIELDS.map((field) => `${field}: ${PAYABLE_HELP[field]}`).join('\n'),
    }),
    { maxItems: PAYABLES_AT_ONCE },
  ),
});
export const PayableImportBody = Type.Object({ kind: words(IMPORT_KINDS) });
export const EndPayableImportBody = Type.Object({
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
export const PayableBatch = Type.Object({
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
export const PayableImport = Type.Object(payableImport);
export const PayableImportWithRejects = Type.Object({ ...payableImport, rejects: payableRejects });
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
export const PayableStateAnswer = Type.Object({ payables: PayableState });

export const BreakQuery = Type.Object({
  kind: Type.Optional(words(BREAK_KINDS)),
  date: Type.Optional(date),
  supplier: Type.Optional(Type.String({ maxLength: 255, description: "The supplier's code." })),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0, description: 'To skip.' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
});
const BreakAnswer = Type.Object({
  kind: words(BREAK_KINDS),
  isUrgent: Type.Boolean({ description: 'Money may be paid twice, or to the wrong party.' }),
  ground: Type.String({ description: 'Names both sides as they are.' }),
  title: Type.Union([
    Type.Object({
      id,
      orderUid: Type.String(),
      acceptedDate: date,
      dueDate: dateOrNull,
      value: amount,
      supplier: orNull('string'),
      isWithdrawn: Type.Boolean(),
    }),
    Type.Null(),
  ]),
  payable: Type.Union([
    Type.Object({
      erpKey: Type.String(),
      company: orNull('string'),
      supplier: orNull('string'),
      document: orNull('string'),
      instalment: orNull('string'),
      orderUid: orNull('string'),
      dueDate: dateOrNull,
      openValue: amount,
      status: words(PAYABLE_STATUSES),
      payee: Type.Union([words(PAYEES), Type.Null()], {
        description:
          'Whom the ERP is going to pay. other: neither the supplier nor the financial agent. Null: not stated, which means the supplier.',
      }),
    }),
    Type.Null(),
  ]),
});
export const BreakListAnswer = Type.Object({
  counts: Type.Array(Type.Object({ kind: words(BREAK_KINDS), breaks: count, value: amount }), {
    description: 'Over the whole filter, without its kind.',
  }),
  total: count,
  breaks: Type.Array(BreakAnswer),
});
export const AuditQuery = Type.Object({
  before: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Only entries with a smaller id.' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
});

export const ExportQuery = Type.Object({
  from: date,
  to: date,
  format: words(EXPORT_FORMATS),
  locale: Type.Optional(words(['en', 'pt-BR'])),
  includeWithdrawn: Type.Optional(words(['true', 'false'])),
});

export const BackfillBody = Type.Object({
  from: date,
  to: date,
  concurrency: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_BACKFILL_CONCURRENCY, default: 2 }),
  ),
});

export const DateParameter = Type.Object({ date });
export const MonthParameter = Type.Object({ month: Type.String({ examples: ['2026-03'] }) });
export const IdParameter = Type.Object({ id });
