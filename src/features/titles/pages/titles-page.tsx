import type { CivilDate } from '../../../base/values/business-day.ts';
import { Field } from '../../../console/shell/layout.tsx';
import { type PageContext, usePage } from '../../../console/shell/page-context.ts';
import { AmountCell, Card, DayCell, Submit, TableFrame } from '../../../console/shell/parts.tsx';
import type { LedgerDay } from '../../review/ledger-days.sql.ts';
import { DayHead } from '../../review/pages/day-page.tsx';
import { PayeeAccount, PayeeName } from '../../schedule/pages/payee-text.tsx';
import type { Payee } from '../../schedule/read-schedule.sql.ts';
import { type TitleQuery, titleQueryText } from './title-filters.ts';
import type { TitlePage, TitleSort } from './title-list.sql.ts';

export interface TitlesPageData {
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
      {data.query.faults.length > 0 && (
        <p class="error">
          {text('filter.bad', {
            names: data.query.faults.map((name) => filterLabel(text, name)).join(', '),
          })}
        </p>
      )}
      <TitlesTable data={data} />
    </>
  );
}

function Filters({ data }: { data: TitlesPageData }) {
  const { text } = usePage();
  const { filter, sort, isDescending } = data.query;
  const input = (name: string, value: string | null) => (
    <input name={name} value={value ?? ''} maxLength={200} />
  );
  const dateInput = (name: string, value: string | null) => (
    <input type="date" name={name} value={value ?? ''} />
  );
  return (
    <form method="get" class="filters">
      <div class="wide">
        <Field label={text('titles.search')}>{input('search', filter.search?.text ?? null)}</Field>
      </div>
      {data.date === null && (
        <>
          <Field label={text('titles.from')}>{dateInput('from', filter.from)}</Field>
          <Field label={text('titles.to')}>{dateInput('to', filter.to)}</Field>
        </>
      )}
      <Field label={text('titles.orderFilter')}>{input('order', filter.order)}</Field>
      <Field label={text('titles.providerFilter')}>{input('provider', filter.provider)}</Field>
      <Field label={text('titles.agent')}>{input('agent', filter.agent)}</Field>
      <Field label={text('titles.status')}>
        <select name="status">
          <option value="">{text('filter.all')}</option>
          {(['current', 'withdrawn'] as const).map((status) => (
            <option key={status} value={status} selected={filter.status === status}>
              {text(`titles.statuses.${status}`)}
            </option>
          ))}
        </select>
      </Field>
      <Field label={text('titles.dueFrom')}>{dateInput('dueFrom', filter.dueFrom)}</Field>
      <Field label={text('titles.dueTo')}>{dateInput('dueTo', filter.dueTo)}</Field>
      <label class="check">
        <input type="checkbox" name="undated" value="true" checked={filter.isUndated === true} />
        {text('titles.undated')}
      </label>
      {filter.payeeOf !== null && <input type="hidden" name="payeeOf" value={filter.payeeOf} />}
      <Field label={text('titles.minValue')}>{input('minValue', filter.minValue)}</Field>
      <Field label={text('titles.maxValue')}>{input('maxValue', filter.maxValue)}</Field>
      <input type="hidden" name="sort" value={sort} />
      <input type="hidden" name="direction" value={isDescending ? 'descending' : 'ascending'} />
      <div class="buttons">
        <Submit class="primary">{text('filter.apply')}</Submit>
        <a class="button" href={data.date === null ? '/titles' : `/days/${data.date}/titles`}>
          {text('filter.clear')}
        </a>
      </div>
    </form>
  );
}

function TitlesTable({ data }: { data: TitlesPageData }) {
  const { text, formats } = usePage();
  const { page, count } = data;
  if (page.rows.length === 0) {
    return (
      <p class="quiet">
        {text('titles.none')}{' '}
        {data.query.filter.search !== null && (
          <a href="/providers">{text('titles.searchProviders')}</a>
        )}
      </p>
    );
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
  const { query, date } = data;
  const isSorted = query.sort === sort;
  const direction = query.isDescending ? 'descending' : 'ascending';
  const href = titleQueryText(query, date, {
    sort,
    isDescending: isSorted ? !query.isDescending : sort === 'accepted',
  });
  return (
    <th scope="col" class={props.class} {...(isSorted && { 'aria-sort': direction })}>
      <a href={href}>
        {label}
        {isSorted && <span aria-hidden="true"> {query.isDescending ? '↓' : '↑'}</span>}
      </a>
    </th>
  );
}

function Pages({ data }: { data: TitlesPageData }) {
  const { text } = usePage();
  const { page, query, date } = data;
  if (page.previous === null && page.next === null) return null;
  return (
    <nav class="pager" aria-label={text('titles.pages')}>
      {page.previous !== null && (
        <>
          <a href={titleQueryText(query, date)}>{text('titles.first')}</a>
          <a rel="prev" href={titleQueryText(query, date, { at: page.previous })}>
            ← {text('titles.previous')}
          </a>
        </>
      )}
      {page.next !== null && (
        <a rel="next" href={titleQueryText(query, date, { at: page.next })}>
          {text('titles.next')} →
        </a>
      )}
    </nav>
  );
}

/** The label of a filter in the form. */
function filterLabel(text: PageContext['text'], name: string): string {
  const labels: Readonly<Record<string, string>> = {
    from: text('titles.from'),
    to: text('titles.to'),
    order: text('titles.orderFilter'),
    provider: text('titles.providerFilter'),
    agent: text('titles.agent'),
    status: text('titles.status'),
    dueFrom: text('titles.dueFrom'),
    dueTo: text('titles.dueTo'),
    undated: text('titles.undated'),
    payeeOf: text('titles.payee'),
    minValue: text('titles.minValue'),
    maxValue: text('titles.maxValue'),
    sort: text('titles.sort'),
    at: text('titles.pages'),
  };
  return labels[name] ?? name;
}
