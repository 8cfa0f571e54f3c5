import type { TextKey } from '../../../base/texts/texts.ts';
import type { CivilDate } from '../../../base/values/business-day.ts';
import { type Column, ListTable } from '../../../console/list/columns.tsx';
import { FileButtons } from '../../../console/list/file.tsx';
import {
  anyOf,
  asTabs,
  choice,
  dateField,
  FilterFaults,
  FilterForm,
  FilterTabs,
  parametersOf,
  textField,
} from '../../../console/list/filter.tsx';
import { textParameter, usePage } from '../../../console/shell/page-context.ts';
import { Pager, type Paging } from '../../../console/shell/paging.tsx';
import { Card, DayLink } from '../../../console/shell/parts.tsx';
import {
  BREAK_KINDS,
  BREAK_STATES,
  type BreakCount,
  type BreakFilter,
  type BreakKey,
  type BreakList,
  type ListedBreak,
} from '../breaks.sql.ts';
import { MAX_BREAKS_TO_RESOLVE } from '../match-decisions.sql.ts';
import type { PayableState } from '../payables/payable-state.sql.ts';
import { ResolveForm } from './break-page.tsx';

const MAX_TEXT = 255;
const ID = /^[1-9]\d{0,17}$/;

const STATES = { open: 'matching.states.open', resolved: 'matching.states.resolved' } as const;

export const BREAK_FILTER = {
  state: asTabs(choice('matching.state', BREAK_STATES, 'open', (state) => STATES[state])),
  kind: anyOf('matching.kind', BREAK_KINDS, (kind) => `matching.kinds.${kind}`),
  date: dateField('matching.date'),
  supplier: textField('matching.supplier', MAX_TEXT),
};

export const breaksHref = (filter: Partial<BreakFilter>, page = 1) =>
  `/breaks?${new URLSearchParams([
    ...parametersOf(BREAK_FILTER, filter),
    ...(page > 1 ? [['page', String(page)]] : []),
  ] as [string, string][])}`;

/** Returns the break that a query or a form names; null: it names none. */
export function breakKey(source: unknown): BreakKey | null {
  const kind = BREAK_KINDS.find((known) => known === textParameter(source, 'kind'));
  const title = textParameter(source, 'title');
  const erpKey = textParameter(source, 'payable');
  if (kind === undefined || (title === null && erpKey === null)) return null;
  if (title !== null && !ID.test(title)) return null;
  if (erpKey !== null && erpKey.length > MAX_TEXT) return null;
  return { kind, titleId: title === null ? null : BigInt(title), erpKey };
}

const breakHref = ({ kind, title, payable }: ListedBreak) =>
  `/break?${new URLSearchParams({
    kind,
    ...(title !== null && { title: String(title.id) }),
    ...(payable !== null && { payable: payable.erpKey }),
  })}`;

const duesOf = ({ title, payable }: ListedBreak, date: (due: CivilDate) => string) =>
  [...new Set([title?.dueDate, payable?.dueDate])]
    .flatMap((due) => (due == null ? [] : date(due)))
    .join(' → ');

const COLUMNS: readonly Column<ListedBreak>[] = [
  {
    name: 'kind',
    head: 'matching.kind',
    kind: 'text',
    value: ({ kind }, { text }) => text(`matching.kinds.${kind}`),
    cell: (found, { text }) => (
      <>
        {found.decidedAt === null ? (
          <a href={breakHref(found)}>{text(`matching.kinds.${found.kind}`)}</a>
        ) : (
          text(`matching.kinds.${found.kind}`)
        )}
        {found.isUrgent && (
          <>
            {' '}
            <span class="tag is-withdrawn">{text('matching.urgent')}</span>
          </>
        )}
      </>
    ),
    isHead: true,
  },
  {
    name: 'accepted_date',
    head: 'matching.date',
    kind: 'date',
    value: ({ title }) => title?.acceptedDate ?? null,
    cell: ({ title }) => title && <DayLink date={title.acceptedDate} />,
  },
  {
    name: 'order_uid',
    head: 'matching.order',
    kind: 'text',
    value: ({ title, payable }) => title?.orderUid ?? payable?.orderUid ?? null,
  },
  {
    name: 'value',
    head: 'matching.value',
    kind: 'amount',
    value: ({ title }) => title?.value ?? null,
  },
  {
    name: 'erp_key',
    head: 'matching.key',
    kind: 'text',
    value: ({ payable }) => payable?.erpKey ?? null,
  },
  {
    name: 'document',
    head: 'matching.document',
    kind: 'text',
    value: ({ payable }) => payable?.document ?? null,
    only: 'file',
  },
  {
    name: 'instalment',
    head: 'matching.instalment',
    kind: 'text',
    value: ({ payable }) => payable?.instalment ?? null,
    only: 'file',
  },
  {
    name: 'open_value',
    head: 'matching.openValue',
    kind: 'amount',
    value: ({ payable }) => payable?.openValue ?? null,
  },
  {
    name: 'due_dates',
    head: 'matching.dueDate',
    kind: 'text',
    value: (found, { formats }) => duesOf(found, formats.date) || null,
    only: 'page',
  },
  {
    name: 'due_date',
    head: 'matching.dueOnPlatform',
    kind: 'date',
    value: ({ title }) => title?.dueDate ?? null,
    only: 'file',
  },
  {
    name: 'erp_due_date',
    head: 'matching.dueInErp',
    kind: 'date',
    value: ({ payable }) => payable?.dueDate ?? null,
    only: 'file',
  },
  {
    name: 'supplier',
    head: 'matching.supplier',
    kind: 'text',
    value: ({ title, payable }) => title?.supplier ?? payable?.supplier ?? null,
    cell: ({ title, payable, supplierName }) => (
      <>
        {title?.supplier ?? payable?.supplier ?? '–'}
        {supplierName !== null && (
          <>
            <br />
            {supplierName}
          </>
        )}
      </>
    ),
  },
  {
    name: 'supplier_name',
    head: 'matching.supplierName',
    kind: 'text',
    value: ({ supplierName }) => supplierName,
    only: 'file',
  },
  {
    name: 'status',
    head: 'matching.status',
    kind: 'text',
    value: ({ payable }, { text }) =>
      payable && (text.find(`matching.statuses.${payable.status}`) ?? payable.status),
    only: 'file',
  },
];

const DECISION_COLUMNS: readonly Column<ListedBreak>[] = [
  {
    name: 'resolved_at',
    head: 'matching.at',
    kind: 'instant',
    value: ({ decidedAt }) => decidedAt && new Date(decidedAt),
  },
  {
    name: 'resolved_by',
    head: 'matching.by',
    kind: 'text',
    value: ({ decidedBy }) => decidedBy,
  },
  {
    name: 'reason',
    head: 'matching.reason',
    kind: 'text',
    value: ({ code, reason }, { text }) => code && `${text(`matching.codes.${code}`)}: ${reason}`,
  },
];

export const breakColumns = ({ state }: BreakFilter) =>
  state === 'resolved' ? [...COLUMNS, ...DECISION_COLUMNS] : COLUMNS;

const countColumns = (filter: BreakFilter): readonly Column<BreakCount>[] => [
  {
    name: 'kind',
    head: 'matching.kind',
    kind: 'text',
    value: ({ kind }) => kind,
    cell: ({ kind }, { text }) => (
      <a href={breaksHref({ ...filter, kind })}>{text(`matching.kinds.${kind}`)}</a>
    ),
    isHead: true,
  },
  { name: 'breaks', head: 'matching.breaks', kind: 'count', value: ({ breaks }) => breaks },
  { name: 'value', head: 'matching.value', kind: 'amount', value: ({ value }) => value },
];

/** The breaks of a filter, with counts and sums over the whole filter. */
export function BreaksPage(props: {
  readonly filter: BreakFilter;
  readonly faults: readonly TextKey[];
  /** Null: the ERP has given no payables. */
  readonly state: PayableState | null;
  /** Whether the payables are older than the limit. */
  readonly isStale: boolean;
  readonly list: BreakList;
  readonly paging: Paging;
  readonly isReviewer: boolean;
}) {
  const { filter, list } = props;
  const { text, formats } = usePage();
  const parameters = parametersOf(BREAK_FILTER, filter);
  return (
    <>
      <div>
        <h1>{text('matching.title')}</h1>
        <p class="quiet">{text('matching.intro')}</p>
        <SnapshotAge state={props.state} />
        {props.isStale && <p class="error">{text('matching.stale')}</p>}
      </div>
      <Card title={text('filter.title')}>
        <FilterForm fields={BREAK_FILTER} filter={{ ...filter }} path="/breaks" />
      </Card>
      <FilterFaults faults={props.faults} />
      <FilterTabs
        fields={BREAK_FILTER}
        filter={{ ...filter }}
        hrefOf={(change) => breaksHref({ ...filter, ...change })}
      />
      {list.counts.length > 0 && (
        <section class="card">
          <ListTable
            label={text('matching.breaks')}
            columns={countColumns(filter)}
            rows={list.counts}
            sums={list.sum}
          />
        </section>
      )}
      <section class="card stack">
        {list.breaks.length === 0 ? (
          <p class="quiet">
            {text(
              filter.state === 'resolved'
                ? 'matching.noneResolved'
                : parameters.length > 0
                  ? 'matching.noneFound'
                  : 'matching.none',
            )}
          </p>
        ) : (
          <>
            <ListTable
              label={text('matching.title')}
              columns={breakColumns(filter)}
              rows={list.breaks}
            />
            <Pager
              label={text('matching.title')}
              paging={props.paging}
              hrefOf={(page) => breaksHref(filter, page)}
            />
            <FileButtons path="/breaks" parameters={parameters} />
          </>
        )}
      </section>
      {props.isReviewer &&
        filter.state === 'open' &&
        filter.kind !== null &&
        list.total > 0 &&
        list.total <= MAX_BREAKS_TO_RESOLVE && (
          <ResolveForm
            title={text('matching.resolveAll', {
              count: formats.count(list.total),
              value: formats.amount(
                list.counts.find(({ kind }) => kind === filter.kind)?.value ?? '0',
              ),
            })}
            action="/breaks/resolve"
            fields={[...parameters, ['digest', list.digest]]}
          />
        )}
      <p>
        <a href="/companies">{text('matching.companies')}</a>
      </p>
    </>
  );
}

function SnapshotAge({ state }: { state: PayableState | null }) {
  const { text, formats } = usePage();
  if (state === null) return <p class="quiet">{text('matching.noPayables')}</p>;
  const { snapshotAt } = state;
  return (
    <p class="quiet">
      {text('matching.open', {
        count: formats.count(state.open),
        value: formats.amount(state.openValue),
      })}
      .{' '}
      {snapshotAt === null
        ? text('matching.noSnapshot')
        : text('matching.snapshot', { at: formats.instant(snapshotAt) })}
      {state.incompleteAt !== null && ` ${text('matching.incomplete')}`}
    </p>
  );
}
