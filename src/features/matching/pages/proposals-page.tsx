import { Type } from 'typebox';
import { id } from '../../../console/api/schema-parts.ts';
import { declareAction } from '../../../console/declare.tsx';
import type { Column } from '../../../console/list/columns.tsx';
import { parameterSchemas, readFilter } from '../../../console/list/filter.tsx';
import { declareList } from '../../../console/list/list.tsx';
import { usePage } from '../../../console/shell/page-context.ts';
import { REVIEW } from '../../../console/shell/route-access.ts';
import { confirmProposals, MAX_BREAKS_TO_RESOLVE, matchByPerson } from '../match-decisions.sql.ts';
import {
  PROPOSAL_FILTER,
  Proposal,
  type ProposalFilter,
  type ProposalList,
  readProposals,
} from '../proposals.sql.ts';
import { SUM_ITEMS } from '../sums.sql.ts';
import { CodeField, DECISION, DecisionCard, erpKey, listOf } from './break-page.tsx';

const MATCH = declareAction({
  path: '/break/match',
  who: REVIEW,
  input: { ...DECISION, title: id, payable: Type.Array(erpKey, { maxItems: SUM_ITEMS }) },
  deed: ({ database, fourEyes }, { title, payable: erpKeys, code, reason }, by) =>
    matchByPerson(database, { titleId: BigInt(title), erpKeys }, { by, code, reason, fourEyes }),
  next: listOf,
  notice: 'matched',
});

const CONFIRM_PROPOSALS = declareAction({
  path: '/proposals/confirm',
  who: REVIEW,
  input: { ...parameterSchemas(PROPOSAL_FILTER), ...DECISION, digest: Type.String() },
  deed: ({ database, fourEyes }, { code, reason, digest: seenDigest, ...input }, by) => {
    const filter = { ...readFilter(PROPOSAL_FILTER, input).filter, title: 0, seenDigest };
    return confirmProposals(database, filter, { by, code, reason, fourEyes });
  },
  next: () => '/proposals',
  notice: 'matched',
});

export const PROPOSAL_ACTIONS = [MATCH, CONFIRM_PROPOSALS];

const COLUMNS: readonly Column<Proposal>[] = [
  {
    name: 'kind',
    head: 'matching.kind',
    kind: 'text',
    value: ({ kind, sameOrder, isClear }, { text }) =>
      [
        text(`matching.proposalKinds.${kind}`),
        ...(sameOrder ? [text('matching.sameOrder')] : []),
        ...(isClear ? [] : [text('matching.unclear')]),
      ].join('; '),
    isHead: true,
  },
  { name: 'accepted_date', head: 'matching.date', kind: 'day' },
  {
    name: 'order_uid',
    head: 'matching.order',
    kind: 'text',
    cell: ({ titleId, orderUid }) => <a href={`/titles/${titleId}`}>{orderUid}</a>,
  },
  { name: 'supplier', head: 'matching.supplier', kind: 'text' },
  { name: 'value', head: 'matching.value', kind: 'amount' },
  { name: 'due_date', head: 'matching.dueOnPlatform', kind: 'date' },
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
  { name: 'erp_due_date', head: 'matching.dueInErp', kind: 'date' },
  {
    name: 'match',
    head: 'matching.matchHere',
    kind: 'text',
    value: () => null,
    cell: ({ titleId, acceptedDate, erpKeys }, { text }) => (
      <MATCH.Form
        values={{ title: titleId, date: acceptedDate, payable: erpKeys }}
        button={text('matching.matchWith', { key: erpKeys.join(', ') })}
        look="primary"
        isFolded
      >
        <CodeField />
      </MATCH.Form>
    ),
    only: 'page',
  },
];

/** What the rules have left, with the payables that a person may match, and the form that confirms those of a kind. */
export const PROPOSALS = declareList(Proposal, {
  name: 'proposals',
  path: '/proposals',
  active: '/breaks',
  filter: PROPOSAL_FILTER,
  columns: COLUMNS,
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
  const { title, kind } = props.filter;
  const { clear, clearValue, left, digest } = props.list;
  const isPossible = title === 0 && clear > 0 && clear <= MAX_BREAKS_TO_RESOLVE;
  if (kind === null || !isPossible || !CONFIRM_PROPOSALS.isOffered(page)) return null;
  return (
    <DecisionCard
      title={text('matching.confirmAll', {
        count: formats.count(clear),
        value: formats.amount(clearValue),
      })}
      help={text('matching.confirmAllHelp', { left })}
      action={CONFIRM_PROPOSALS}
      values={{ ...props.filter, digest }}
      button={text('matching.confirm')}
    />
  );
}
