import type { ComponentChildren } from 'preact';
import type { CivilDate } from '../../../base/values/business-day.ts';
import {
  FilterFaults,
  type FilterFields,
  FilterForm,
  parametersOf,
} from '../../../console/list/filter.tsx';
import { usePage } from '../../../console/shell/page-context.ts';
import {
  ActionForm,
  AmountCell,
  Card,
  DayCell,
  TableFrame,
} from '../../../console/shell/parts.tsx';
import type { LedgerDay } from '../../review/ledger-days.sql.ts';
import { DayHead } from '../../review/pages/day-page.tsx';
import { PayeeAccount, PayeeName } from '../../schedule/pages/payee-text.tsx';
import type { Payee } from '../../schedule/read-schedule.sql.ts';
import { TITLE_FILTER } from './title-filters.sql.ts';
import { TITLE_PLACE, type TitlePage, type TitleQuery, type TitleSort } from './title-list.sql.ts';

export interface TitlesPageData {
  /** Whether the parameters hold a tax identifier, which must not get into an address. */
  readonly isPrivate: boolean;
  /** Null: the titles of a range of dates. */
  readonly date: CivilDate | null;
  readonly day: LedgerDay | null;
  readonly query: TitleQuery;
  /** The payee that the filter asks for; null: none. */
  readonly payee: Payee | null;
  readonly page: TitlePage;
  /** Of all titles that match. */
  readonly count: { readonly titles: number; readonly originalValueSum: string };
}

export function TitlesPage({ data }: { data: TitlesPageData }) {
  const { text } = usePage();
  return (
    <>
      {data.date === null ? (
        <h1>{text('titles.title')}</h1>
      ) : (
        <DayHead date={data.date} day={data.day} active="titles" />
      )}
      <Card title={text('filter.title')}>
        {data.payee !== null && (
          <p>
            {text('titles.payee')}: <PayeeName payee={data.payee} isRevealed={false} />,{' '}
            <PayeeAccount payee={data.payee} isRevealed={false} />
          </p>
        )}
        <Filters data={data} />
      </Card>
      <FilterFaults faults={data.query.faults} />
      <TitlesTable data={data} />
    </>
  );
}

function Filters({ data }: { data: TitlesPageData }) {
  const { sort, isDescending } = data.query;
  return (
    <FilterForm
      fields={{ ...fieldsOf(data), ...TITLE_PLACE }}
      filter={{ ...data.query.filter, sort, direction: directionText(isDescending) }}
      path={listPath(data.date)}
    />
  );
}

/** The dates of the titles of one day are in the path. */
function fieldsOf({ date }: TitlesPageData): FilterFields {
  const { from: _, to: __, ...rest } = TITLE_FILTER;
  return date === null ? TITLE_FILTER : rest;
}

const directionText = (isDescending: boolean) => (isDescending ? 'descending' : 'ascending');

const listPath = (date: CivilDate | null) => (date === null ? '/titles' : `/days/${date}/titles`);

/** A link to the same list with other parameters; a button, if the parameters must not get into an address. */
function ListLink(props: {
  readonly data: TitlesPageData;
  readonly changes: {
    readonly sort?: TitleSort;
    readonly isDescending?: boolean;
    readonly at?: string;
  };
  readonly rel?: 'prev' | 'next';
  readonly children: ComponentChildren;
}) {
  const { data, rel } = props;
  const { filter, ...order } = data.query;
  const { sort, isDescending, at } = { ...order, ...props.changes };
  const parameters = [
    ...parametersOf(fieldsOf(data), filter),
    ...parametersOf(TITLE_PLACE, { sort, direction: directionText(isDescending), at: at ?? null }),
  ];
  if (!data.isPrivate) {
    return (
      <a rel={rel} href={`?${new URLSearchParams(parameters)}`}>
        {props.children}
      </a>
    );
  }
  return (
    <ActionForm action={listPath(data.date)}>
      {parameters.map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <button type="submit" class="link">
        {props.children}
      </button>
    </ActionForm>
  );
}

function TitlesTable({ data }: { data: TitlesPageData }) {
  const { text, formats } = usePage();
  const { page, count } = data;
  if (page.rows.length === 0) {
    return <p class="quiet">{text('titles.none')}</p>;
  }
  const heading = (sort: TitleSort, label: string, className = '') => (
    <SortHeading data={data} sort={sort} label={label} class={className} />
  );
  return (
    <section class="card">
      <p class="quiet">
        {text('titles.count', {
          shown: formats.count(page.rows.length),
          count: formats.count(count.titles),
          sum: formats.amount(count.originalValueSum),
        })}
      </p>
      <TableFrame label={text('titles.title')}>
        <table class="data">
          <thead>
            <tr>
              {heading('order', text('titles.order'))}
              {data.date === null && heading('accepted', text('titles.accepted'))}
              {heading('due', text('titles.due'))}
              {heading('provider', text('titles.provider'))}
              {heading('agent', text('title.groups.agent'))}
              {heading('value', text('titles.value'), 'right')}
              <th scope="col">{text('titles.status')}</th>
            </tr>
          </thead>
          <tbody>
            {page.rows.map((title) => (
              <tr
                key={title.id}
                class={title.status === 'withdrawn' ? 'is-withdrawn-row' : undefined}
              >
                <th scope="row">
                  <a href={`/titles/${title.id}`}>{title.orderUid}</a>
                  {title.occurrence > 1 && (
                    <span class="quiet small">
                      {' '}
                      {text('title.copy', { number: formats.count(title.occurrence) })}
                    </span>
                  )}
                </th>
                {data.date === null && <DayCell date={title.acceptedDate} />}
                <td class="tight">{title.dueDate === null ? '–' : formats.date(title.dueDate)}</td>
                <td>{title.provider ?? '–'}</td>
                <td>{title.agent ?? '–'}</td>
                <AmountCell value={title.originalValue} />
                <td>
                  {title.status === 'withdrawn' && (
                    <span class="tag is-withdrawn">{text('title.status.withdrawn')}</span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableFrame>
      <Pages data={data} />
    </section>
  );
}

function SortHeading(props: {
  readonly data: TitlesPageData;
  readonly sort: TitleSort;
  readonly label: string;
  readonly class: string;
}) {
  const { data, sort, label } = props;
  const { query } = data;
  const isSorted = query.sort === sort;
  const direction = directionText(query.isDescending);
  const changes = {
    sort,
    isDescending: isSorted ? !query.isDescending : sort === 'accepted',
  };
  return (
    <th scope="col" class={props.class} {...(isSorted && { 'aria-sort': direction })}>
      <ListLink data={data} changes={changes}>
        {label}
        {isSorted && <span aria-hidden="true"> {query.isDescending ? '↓' : '↑'}</span>}
      </ListLink>
    </th>
  );
}

function Pages({ data }: { data: TitlesPageData }) {
  const { text } = usePage();
  const { previous, next } = data.page;
  if (previous === null && next === null) return null;
  return (
    <nav class="pager" aria-label={text('titles.pages')}>
      {previous !== null && (
        <>
          <ListLink data={data} changes={{}}>
            {text('titles.first')}
          </ListLink>
          <ListLink data={data} changes={{ at: previous }} rel="prev">
            ← {text('titles.previous')}
          </ListLink>
        </>
      )}
      {next !== null && (
        <ListLink data={data} changes={{ at: next }} rel="next">
          {text('titles.next')} →
        </ListLink>
      )}
    </nav>
  );
}
