import { Type } from 'typebox';
import { declareAction } from '../../../console/declare.tsx';
import type { Column } from '../../../console/list/columns.tsx';
import { parameterSchemas, readFilter } from '../../../console/list/filter.tsx';
import { declareList } from '../../../console/list/list.tsx';
import type { PageContext } from '../../../console/shell/page-context.ts';
import { REVIEW } from '../../../console/shell/route-access.ts';
import { confirmProposals, MAX_BREAKS_TO_RESOLVE } from '../match-decisions.sql.ts';
import { PROPOSAL_FILTER, Proposal, readProposals, seenOf } from '../proposals.sql.ts';
import { DECISION, DECISION_FIELDS, DecisionCard, duesOf } from './decision-card.tsx';

const ALL = readFilter(PROPOSAL_FILTER, {});

const FILTER = {
  ...parameterSchemas(PROPOSAL_FILTER),
  kind: Type.Optional(PROPOSAL_FILTER.kind.schema),
};
const nextList = (input: object) =>
  PROPOSALS.href({ ...readFilter(PROPOSAL_FILTER, input), title: 0 });

const MATCH = declareAction({
  path: '/break/match',
  who: REVIEW,
  input: { ...FILTER, ...DECISION, seen: Type.String({ pattern: '^\\[\\d{1,15},' }) },
  fields: DECISION_FIELDS,
  deed: ({ database, fourEyes }, { seen, code, reason }, by) => {
    const filter = { ...ALL, title: Number.parseInt(seen.slice(1), 10), seen };
    return confirmProposals(database, filter, { by, code, reason, fourEyes });
  },
  next: nextList,
  notice: 'matched',
});

const CONFIRM_PROPOSALS = declareAction({
  path: '/proposals/confirm',
  who: REVIEW,
  input: { ...FILTER, kind: PROPOSAL_FILTER.kind.schema, ...DECISION, digest: Type.String() },
  fields: DECISION_FIELDS,
  deed: ({ database, fourEyes }, { code, reason, digest: seen, ...input }, by) => {
    const filter = { ...readFilter(PROPOSAL_FILTER, input), title: 0, seen };
    return confirmProposals(database, filter, { by, code, reason, fourEyes });
  },
  next: nextList,
  notice: 'matched',
});

export const PROPOSAL_ACTIONS = [MATCH, CONFIRM_PROPOSALS];

const FORM = 'match';

const kindText = ({ kind, sameOrder, isClear }: Proposal, { text }: Pick<PageContext, 'text'>) =>
  [
    text(`matching.proposalKinds.${kind}`),
    ...(sameOrder ? [text('matching.sameOrder')] : []),
    ...(isClear ? [] : [text('matching.unclear')]),
  ].join('; ');

const COLUMNS: readonly Column<Proposal>[] = [
  {
    name: 'kind',
    head: 'matching.kind',
    value: kindText,
    cell: (proposal, page) =>
      !MATCH.isOffered(page) ? null : (
        <label class="check">
          <input type="radio" form={FORM} name="seen" required value={seenOf(proposal)} />
          {kindText(proposal, page)}
        </label>
      ),
    isHead: true,
  },
  { name: 'accepted_date', head: 'matching.date', kind: 'day' },
  {
    name: 'order_uid',
    head: 'matching.order',
    href: ({ titleId }) => `/titles/${titleId}`,
  },
  { name: 'supplier', head: 'matching.supplier' },
  { name: 'value', head: 'matching.value', kind: 'amount' },
  { name: 'due_date', head: 'matching.dueOnPlatform', kind: 'date', only: 'file' },
  { name: 'place', head: 'matching.place', kind: 'count', only: 'file' },
  {
    name: 'erp_key',
    head: 'matching.key',
    value: ({ erpKeys }) => erpKeys.join(', '),
    cell: ({ erpKeys, documents }) => [erpKeys.join(', '), <br />, documents],
  },
  { name: 'documents', head: 'matching.document', only: 'file' },
  { name: 'erp_value', head: 'matching.openValue', kind: 'amount' },
  { name: 'difference', head: 'matching.difference', kind: 'amount' },
  {
    name: 'due_dates',
    head: 'matching.dueDate',
    value: ({ dueDate, erpDueDate }, page) => duesOf([dueDate, erpDueDate], page),
    only: 'page',
  },
  { name: 'erp_due_date', head: 'matching.dueInErp', kind: 'date', only: 'file' },
];

/** What the rules have left, with the payables that a person may match, and the form that confirms those of a kind. */
export const PROPOSALS = declareList(Proposal, {
  name: 'proposals',
  path: '/proposals',
  active: '/breaks',
  filter: PROPOSAL_FILTER,
  columns: COLUMNS,
  read: async (tx, filter, place) => {
    const { total, counts, titles, value, rows, ...list } = await readProposals(tx, filter, place);
    // A title may have several proposals, and counts once.
    return { total: { rows: total, counts, sums: { order_uid: titles, value }, list }, rows };
  },
  api: {
    tag: 'payables',
    operationId: 'listProposals',
    summary: 'The payables that a person may match with titles that the rules leave',
  },
  layout:
    async (_, filter) =>
    ({ page: { text, formats }, head, filter: form, table, total: { rows, list } }) => {
      const { clear, clearValue, clearDifference, left, digest } = list;
      return (
        <>
          {head}
          {form}
          {table}
          {rows > 0 && (
            <DecisionCard
              id={FORM}
              title={text('matching.matchHere')}
              help={text('matching.matchHelp')}
              action={MATCH}
              values={filter}
              button={text('matching.matchHere')}
            />
          )}
          {/* The clear proposals of a kind that the filter selects, as the person sees them. */}
          {filter.kind !== null &&
            filter.title === 0 &&
            clear > 0 &&
            clear <= MAX_BREAKS_TO_RESOLVE && (
              <DecisionCard
                title={text('matching.confirmAll', {
                  count: formats.count(clear),
                  value: formats.amount(clearValue),
                })}
                help={text('matching.confirmAllHelp', {
                  left,
                  difference: formats.amount(clearDifference),
                })}
                action={CONFIRM_PROPOSALS}
                values={{ ...filter, digest }}
                button={text('matching.confirm')}
              />
            )}
        </>
      );
    },
});
