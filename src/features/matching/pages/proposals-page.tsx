import { Type } from 'typebox';
import type { CivilDate } from '../../../base/values/business-day.ts';
import { id, words } from '../../../console/api/schema-parts.ts';
import { declareAction, ledgerDate, reason } from '../../../console/declare.tsx';
import { type Column, ListTable } from '../../../console/list/columns.tsx';
import { anyOf, asTabs, dateField, textField } from '../../../console/list/filter.tsx';
import { declareList } from '../../../console/list/list.tsx';
import { Field } from '../../../console/shell/layout.tsx';
import { usePage } from '../../../console/shell/page-context.ts';
import { Card, DayLink, Options } from '../../../console/shell/parts.tsx';
import { REVIEW } from '../../../console/shell/route-access.ts';
import {
  confirmProposals,
  MATCH_CODES,
  MAX_BREAKS_TO_RESOLVE,
  type MatchCode,
  matchByPerson,
} from '../match-decisions.sql.ts';
import {
  LISTED_KINDS,
  Proposal,
  type ProposalFilter,
  type ProposalList,
  readProposals,
} from '../proposals.sql.ts';
import { SUM_ITEMS } from '../sums.sql.ts';

export const MAX_TEXT = 255;
const erpKey = Type.String({ maxLength: MAX_TEXT });
const code = words(MATCH_CODES);
const date = Type.Optional(ledgerDate);

export const MATCH = declareAction({
  path: '/break/match',
  who: REVIEW,
  input: { title: id, payable: Type.Array(erpKey, { maxItems: SUM_ITEMS }), date, code, reason },
  deed: ({ database, fourEyes }, { title, payable, code, reason }, by) =>
    matchByPerson(
      database,
      { titleId: BigInt(title), erpKeys: payable },
      { by, code, reason, fourEyes },
    ),
  next: ({ date }) => (date === undefined ? '/breaks' : `/breaks?date=${date}`),
  notice: 'matched',
});

const CONFIRM_PROPOSALS = declareAction({
  path: '/proposals/confirm',
  who: REVIEW,
  input: {
    ...{ kind: words(LISTED_KINDS), date, supplier: Type.Optional(erpKey), digest: Type.String() },
    ...{ code, reason },
  },
  deed: ({ database, fourEyes }, input, by) => {
    const { kind, date = null, supplier = null, digest: seenDigest, code, reason } = input;
    const filter = { kind, date, supplier, seenDigest };
    return confirmProposals(database, filter, { by, code, reason, fourEyes });
  },
  next: () => '/proposals',
  notice: 'matched',
});

export const PROPOSAL_ACTIONS = [MATCH, CONFIRM_PROPOSALS];

const CODES: Readonly<Record<Proposal['kind'], MatchCode>> = {
  ...{ same: 'other', date: 'due_date', value: 'rounding', sum: 'instalments', other: 'agreed' },
};

function MatchCodeField({ kind }: { readonly kind: Proposal['kind'] }) {
  const { text } = usePage();
  return (
    <Field label={text('matching.code')}>
      <select name="code">
        <Options
          values={MATCH_CODES}
          chosen={CODES[kind]}
          text={(code) => text(`matching.matchCodes.${code}`)}
        />
      </select>
    </Field>
  );
}

const breakHref = ({ breakKind, titleId, breakKey }: Proposal) =>
  `/break?${new URLSearchParams({
    ...{ kind: breakKind, title: String(titleId) },
    ...(breakKey !== null && { payable: breakKey }),
  })}`;

const duesOf = ({ dueDate, erpDueDate }: Proposal, show: (due: CivilDate) => string) =>
  [...new Set([dueDate, erpDueDate])]
    .flatMap((due) => due ?? [])
    .map(show)
    .join(' → ') || null;

const TITLE_COLUMNS: readonly Column<Proposal>[] = [
  {
    name: 'kind',
    head: 'matching.kind',
    kind: 'text',
    value: ({ kind }, { text }) => text(`matching.proposalKinds.${kind}`),
    cell: (row, { text }) => (
      <a href={breakHref(row)}>{text(`matching.proposalKinds.${row.kind}`)}</a>
    ),
    isHead: true,
  },
  {
    name: 'accepted_date',
    head: 'matching.date',
    kind: 'date',
    cell: ({ acceptedDate }) => <DayLink date={acceptedDate} />,
  },
  { name: 'order_uid', head: 'matching.order', kind: 'text' },
  { name: 'supplier', head: 'matching.supplier', kind: 'text' },
  { name: 'value', head: 'matching.value', kind: 'amount' },
];

/** The columns of a payable that is proposed. */
const PAYABLE_COLUMNS: readonly Column<Proposal>[] = [
  { name: 'place', head: 'matching.place', kind: 'count' },
  {
    name: 'erp_key',
    head: 'matching.key',
    kind: 'text',
    value: ({ erpKeys }) => erpKeys.join(', '),
  },
  { name: 'documents', head: 'matching.document', kind: 'text' },
  { name: 'erp_value', head: 'matching.openValue', kind: 'amount' },
  { name: 'difference', head: 'matching.difference', kind: 'amount' },
  {
    name: 'due_dates',
    head: 'matching.dueDate',
    kind: 'text',
    value: (row, { formats }) => duesOf(row, formats.date),
    only: 'page',
  },
  { name: 'due_date', head: 'matching.dueOnPlatform', kind: 'date', only: 'file' },
  { name: 'erp_due_date', head: 'matching.dueInErp', kind: 'date', only: 'file' },
  {
    name: 'grounds',
    head: 'matching.proposalReason',
    kind: 'text',
    value: ({ kind, sameOrder, isClear }, { text }) =>
      [
        ...(sameOrder ? [text('matching.sameOrder')] : []),
        text(`matching.proposalReasons.${kind}`),
        ...(isClear ? [] : [text('matching.unclear')]),
      ].join('; '),
  },
];

/** The proposals of one title, with the form that confirms one of them. */
export function TitleProposals(props: {
  readonly proposals: readonly Proposal[];
  readonly mayDecide: boolean;
}) {
  const { proposals } = props;
  const { text } = usePage();
  const label = text('lists.proposals.title');
  const form: Column<Proposal> = {
    name: 'match',
    head: 'matching.matchHere',
    kind: 'text',
    value: () => null,
    cell: ({ titleId, acceptedDate, erpKeys, kind }) => (
      <MATCH.Form
        values={{ title: titleId, date: acceptedDate, payable: erpKeys }}
        button={text('matching.matchWith', { key: erpKeys.join(', ') })}
        look="primary"
        isFolded
      >
        <MatchCodeField kind={kind} />
      </MATCH.Form>
    ),
  };
  return (
    <Card title={label}>
      {proposals.length === 0 ? (
        <p class="quiet">{text('lists.proposals.none')}</p>
      ) : (
        <ListTable
          label={label}
          columns={props.mayDecide ? [...PAYABLE_COLUMNS, form] : PAYABLE_COLUMNS}
          rows={proposals}
        />
      )}
    </Card>
  );
}

/** What the rules have left, with the payables that a person may match, and the form that confirms those of a kind. */
export const PROPOSALS = declareList(Proposal, {
  name: 'proposals',
  path: '/proposals',
  active: '/breaks',
  filter: {
    kind: asTabs(anyOf('matching.kind', LISTED_KINDS, (kind) => `matching.proposalKinds.${kind}`)),
    date: dateField('matching.date'),
    supplier: textField('matching.supplier', MAX_TEXT),
  },
  columns: [...TITLE_COLUMNS, ...PAYABLE_COLUMNS],
  together: async (tx, filter, place) => {
    const { total, counts, value, rows, ...list } = await readProposals(tx, filter, place);
    return { total: { rows: total, counts, sums: { value }, list }, rows };
  },
  api: {
    tag: 'payables',
    operationId: 'listProposals',
    summary: 'The payables that a person may match with titles that the rules leave',
  },
  layout:
    async (_, filter) =>
    ({ head, filter: form, table, total: { list } }) => (
      <>
        {head}
        {form}
        {table}
        <ConfirmAll filter={filter} list={list} />
      </>
    ),
});

/** Confirms the clear proposals of a kind that the filter selects, as the person sees them. */
function ConfirmAll(props: {
  readonly filter: ProposalFilter;
  readonly list: Pick<ProposalList, 'clear' | 'clearValue' | 'left' | 'digest'>;
}) {
  const page = usePage();
  const { text, formats } = page;
  const { kind, date, supplier } = props.filter;
  const { clear, clearValue, left, digest } = props.list;
  const isPossible = clear > 0 && clear <= MAX_BREAKS_TO_RESOLVE;
  if (kind === null || !isPossible || !CONFIRM_PROPOSALS.isOffered(page)) return null;
  const counted = { count: formats.count(clear), value: formats.amount(clearValue) };
  return (
    <Card title={text('matching.confirmAll', counted)}>
      <p class="quiet">{text('matching.confirmAllHelp', { left })}</p>
      <CONFIRM_PROPOSALS.Form
        values={{ kind, date, supplier, digest }}
        button={text('matching.confirm')}
        look="primary"
      >
        <MatchCodeField kind={kind} />
      </CONFIRM_PROPOSALS.Form>
    </Card>
  );
}
