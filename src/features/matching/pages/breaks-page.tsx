import { Type } from 'typebox';
import type { TextKey } from '../../../base/texts/texts.ts';
import { ledgerDate, words } from '../../../console/api/schema-parts.ts';
import { declareAction, reason } from '../../../console/declare.tsx';
import { type Column, TableCard } from '../../../console/list/columns.tsx';
import { parameterSchemas, parametersOf, readFilter } from '../../../console/list/filter.tsx';
import { declareList } from '../../../console/list/list.tsx';
import { payablesMaxAge } from '../../../console/shell/console-parts.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import { Card, OwnSeal, type OwnSealProps } from '../../../console/shell/parts.tsx';
import { REVIEW } from '../../../console/shell/route-access.ts';
import { readOwnSeals } from '../../review/own-seal.sql.ts';
import {
  BREAK_FILTER,
  type BreakCount,
  type BreakFilter,
  type BreakList,
  ListedBreak,
  listBreaks,
} from '../break-list.sql.ts';
import { REOPENED } from '../breaks.sql.ts';
import { BREAK_KINDS } from '../judgement.sql.ts';
import { MAX_BREAKS_TO_RESOLVE, resolveBreaks, WAITING } from '../match-decisions.sql.ts';
import {
  arePayablesStale,
  type PayableState,
  readPayableState,
} from '../payables/payable-state.sql.ts';
import { DECISION, DECISION_FIELDS, DecisionCard, duesOf } from './decision-card.tsx';
import { PROPOSALS } from './proposals-page.tsx';
import { SET_RULES } from './settings-pages.tsx';

/** The rows of a kind in a list of breaks, as the person has seen them. The list of all kinds follows. */
const LISTED = {
  ...{ ...parameterSchemas(BREAK_FILTER), date: Type.Optional(ledgerDate) },
  ...{ kind: words(BREAK_KINDS), digest: Type.String() },
};
const listedBreaks = (state: BreakFilter['state'], input: { readonly digest: string }) => ({
  ...readFilter(BREAK_FILTER, input),
  ...{ state, seenDigest: input.digest },
});

const nextList = (input: object) => {
  const { date, supplier, urgency } = readFilter(BREAK_FILTER, input);
  return BREAKS.href({ date, supplier, urgency });
};

const RESOLVE_BREAKS = declareAction({
  path: '/breaks/resolve',
  who: REVIEW,
  input: { ...LISTED, ...DECISION },
  fields: DECISION_FIELDS,
  deed: ({ database, fourEyes }, { code, reason, ...input }, by) =>
    resolveBreaks(database, listedBreaks('open', input), { by, code, reason, fourEyes }),
  next: nextList,
  notice: 'break_resolved',
});

/** Needs no second person: an open break releases nothing. */
const REOPEN_BREAKS = declareAction({
  path: '/breaks/reopen',
  who: REVIEW,
  input: { ...LISTED, reason },
  deed: ({ database }, { reason, ...input }, by) =>
    resolveBreaks(database, listedBreaks('resolved', input), { by, code: REOPENED, reason }),
  next: nextList,
  notice: 'break_resolved',
});

export const BREAK_ACTIONS = [RESOLVE_BREAKS, REOPEN_BREAKS];

/** A column with a value of one of the sides, which a break may lack. */
const column = (
  name: string,
  head: TextKey,
  kind: NonNullable<Column<ListedBreak>['kind']>,
  value: (found: ListedBreak) => string | Date | null | undefined,
  more: Pick<Column<ListedBreak>, 'only' | 'note'> = {},
): Column<ListedBreak> => ({ name, head, kind, value: (found) => value(found) ?? null, ...more });
const FILE = { only: 'file' } as const;

/** The list of one break. */
const oneBreak = ({ kind, title, payable, decidedAt }: ListedBreak) =>
  BREAKS.href({
    ...{ kind, title: title?.id ?? 0, payable: payable?.erpKey ?? null },
    state: decidedAt === null ? 'open' : 'resolved',
  });

const supplierOf = ({ title, payable }: ListedBreak) => title?.supplier ?? payable?.supplier;

const COLUMNS: readonly Column<ListedBreak>[] = [
  {
    name: 'kind',
    head: 'matching.kind',
    word: ({ kind }) => `matching.kinds.${kind}`,
    cell: (found, { text }) => (
      <>
        <a href={oneBreak(found)}>{text(`matching.kinds.${found.kind}`)}</a>
        {found.isUrgent && [' ', <span class="tag is-withdrawn">{text('matching.urgent')}</span>]}
        {found.waits && [' ', <span class="tag is-changed">{text('matching.waits')}</span>]}
      </>
    ),
    isHead: true,
  },
  column('accepted_date', 'matching.date', 'day', ({ title }) => title?.acceptedDate),
  { name: 'age', head: 'matching.age', kind: 'count' },
  column(
    'order_uid',
    'matching.order',
    'text',
    ({ title, payable }) => (title ?? payable)?.orderUid,
  ),
  column('value', 'matching.value', 'amount', ({ title }) => title?.value),
  {
    name: 'erp_key',
    head: 'matching.key',
    value: ({ payable }) => payable?.erpKey ?? null,
    // A long key wraps between its parts.
    cell: ({ payable }) =>
      payable?.erpKey.split(/(?<=\|)/).flatMap((part, place) => [part, <wbr key={place} />]),
  },
  column('document', 'matching.document', 'text', ({ payable }) => payable?.document, FILE),
  column('instalment', 'matching.instalment', 'text', ({ payable }) => payable?.instalment, FILE),
  column('open_value', 'matching.openValue', 'amount', ({ payable }) => payable?.openValue),
  { name: 'difference', head: 'matching.difference', kind: 'amount' },
  {
    name: 'due_dates',
    head: 'matching.dueDate',
    value: ({ title, payable }, page) => duesOf([title?.dueDate, payable?.dueDate], page),
    only: 'page',
  },
  column('due_date', 'matching.dueOnPlatform', 'date', ({ title }) => title?.dueDate, FILE),
  column('erp_due_date', 'matching.dueInErp', 'date', ({ payable }) => payable?.dueDate, FILE),
  column('supplier', 'matching.supplier', 'text', supplierOf, {
    note: ({ supplierName }) => supplierName,
  }),
  { name: 'supplier_name', head: 'matching.supplierName', only: 'file' },
  {
    name: 'status',
    head: 'matching.status',
    value: ({ payable }, { text }) =>
      payable && (text.find(`matching.statuses.${payable.status}`) ?? payable.status),
  },
  {
    name: 'payee',
    head: 'matching.payee',
    word: ({ payable }) => (payable?.payee == null ? null : `matching.payees.${payable.payee}`),
  },
];

const DECISION_COLUMNS: readonly Column<ListedBreak>[] = [
  column(
    'resolved_at',
    'matching.at',
    'instant',
    ({ decidedAt }) => decidedAt && new Date(decidedAt),
  ),
  column('resolved_by', 'matching.by', 'text', ({ decidedBy }) => decidedBy),
  {
    name: 'reason',
    head: 'matching.reason',
    value: ({ code, reason }, { text }) => code && `${text(`matching.codes.${code}`)}: ${reason}`,
  },
];

const countColumns = (filter: BreakFilter): readonly Column<BreakCount>[] => [
  {
    name: 'kind',
    head: 'matching.kind',
    word: ({ kind }) => `matching.kinds.${kind}`,
    href: ({ kind }) => BREAKS.href({ ...filter, kind }),
    isHead: true,
  },
  { name: 'breaks', head: 'matching.breaks', kind: 'count' },
  { name: 'value', head: 'matching.value', kind: 'amount' },
];

/** The breaks of a filter, with counts and sums over the whole filter, and the form that resolves those of a kind. */
export const BREAKS = declareList(ListedBreak, {
  name: 'breaks',
  path: '/breaks',
  active: '/breaks',
  filter: BREAK_FILTER,
  columns: ({ state }) => (state === 'resolved' ? [...COLUMNS, ...DECISION_COLUMNS] : COLUMNS),
  none: (filter) =>
    filter.state === 'resolved'
      ? 'matching.noneResolved'
      : parametersOf(BREAK_FILTER, filter).length > 0
        ? 'matching.noneFound'
        : 'lists.breaks.none',
  read: async (tx, filter, place, { parts, actor }) => {
    const { breaks, total, dates, ...list } = await listBreaks(tx, { ...filter, ...place });
    const isDecided = parts.fourEyes && filter.kind !== null && filter.state === 'open';
    /** What keeps the person from resolving the open breaks of a kind. */
    const own = isDecided ? await readOwnSeals(tx, dates, actor, WAITING) : [];
    return { total: { rows: total, list, ownSeal: own[0] ?? null }, rows: breaks };
  },
  api: {
    tag: 'payables',
    operationId: 'listBreaks',
    summary: 'The breaks between titles and payables, as the newest run of the matching found them',
  },
  layout: async (parts, filter) => {
    const { prisma } = parts.database;
    const state = await readPayableState(prisma);
    const isStale = state !== null && (await arePayablesStale(prisma, payablesMaxAge(parts)));
    return ({
      page,
      page: { text },
      head,
      filter: form,
      table,
      total: { rows, list, ownSeal },
    }) => (
      <>
        {head}
        <SnapshotAge state={state} isStale={isStale} />
        {form}
        <TableCard
          head="matching.breaks"
          columns={countColumns(filter)}
          rows={list.counts}
          sums={list.sum}
        />
        {filter.kind !== null && <p>{text(`matching.help.${filter.kind}`)}</p>}
        {table}
        <ResolveAll filter={filter} rows={rows} list={list} ownSeal={ownSeal} />
        <p>
          <a href={PROPOSALS.href({ title: filter.title })}>{text('lists.proposals.title')}</a>
          {' · '}
          <a href="/companies">{text('matching.companies')}</a>
          {SET_RULES.isOffered(page) && ' · '}
          {SET_RULES.isOffered(page) && <a href="/matching-rules">{text('matching.rulesTitle')}</a>}
        </p>
      </>
    );
  },
});

interface ListProps {
  readonly filter: BreakFilter;
  readonly list: Pick<BreakList, 'counts' | 'sum' | 'digest'>;
}

/** Resolves all breaks of a kind that the filter selects, or opens them again, as the person sees them. */
function ResolveAll(
  props: ListProps & { readonly rows: number; readonly ownSeal: OwnSealProps | null },
) {
  const { filter, rows, list, ownSeal } = props;
  const page = usePage();
  const { text, formats } = page;
  const { state, kind } = filter;
  const isPossible = rows > 0 && rows <= MAX_BREAKS_TO_RESOLVE;
  if (kind === null || !isPossible || !RESOLVE_BREAKS.isOffered(page)) return null;
  if (ownSeal !== null) return <OwnSeal {...ownSeal} />;
  const count = formats.count(rows);
  const value = formats.amount(list.counts.find((counted) => counted.kind === kind)?.value ?? '0');
  const values = { ...filter, digest: list.digest };
  return state === 'resolved' ? (
    <Card title={text('matching.reopenAll', { count, value })}>
      <p class="quiet">{text('matching.reopenHelp')}</p>
      <REOPEN_BREAKS.Form values={values} button={text('matching.reopen')} />
    </Card>
  ) : (
    <DecisionCard
      title={text('matching.resolveAll', { count, value })}
      help={text('matching.resolveHelp')}
      action={RESOLVE_BREAKS}
      values={values}
      button={text('matching.resolve')}
    >
      <label>
        <input type="checkbox" required /> {text('matching.resolveConfirm', { count: rows, value })}
      </label>
    </DecisionCard>
  );
}

function SnapshotAge(props: {
  /** Null: the ERP has given no payables. */
  readonly state: PayableState | null;
  /** Whether the payables are older than the limit. */
  readonly isStale: boolean;
}) {
  const { state, isStale } = props;
  const { text, formats } = usePage();
  if (state === null) return <p class="quiet">{text('matching.noPayables')}</p>;
  const { snapshotAt, incompleteAt } = state;
  return (
    <>
      <p class="quiet">
        {text('matching.open', {
          count: state.open,
          value: formats.amount(state.openValue),
        })}
        .{' '}
        {snapshotAt === null
          ? text('matching.noSnapshot')
          : text('matching.snapshot', { at: formats.instant(snapshotAt) })}
        {incompleteAt !== null && ` ${text('matching.incomplete')}`}
      </p>
      {isStale && <p class="error">{text('matching.stale')}</p>}
    </>
  );
}
