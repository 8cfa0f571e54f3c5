import type { BreakFilter, BreakList } from '../../matching/breaks.sql.ts';
import { BREAK_KINDS, URGENT_BREAKS } from '../../matching/breaks.sql.ts';
import type { PayableState } from '../../payables/payable-state.sql.ts';
import { DataTable, right } from '../shell/data-table.tsx';
import { Field } from '../shell/layout.tsx';
import type { PageContext } from '../shell/page-context.ts';
import { Pager, type Paging } from '../shell/paging.tsx';
import { ActionForm, Amount, Card, DayLink } from '../shell/parts.tsx';
import { breakHref, breaksHref } from './break-address.ts';

interface BreaksPageData {
  readonly filter: BreakFilter;
  /** Null: the ERP has given no payables. */
  readonly state: PayableState | null;
  /** Whether the payables are older than the limit. */
  readonly isStale: boolean;
  readonly list: BreakList;
  readonly paging: Paging;
}

interface PageProps {
  readonly context: PageContext;
  readonly data: BreaksPageData;
}

/** The breaks of a filter, with counts and sums over the whole filter. */
export function BreaksPage({ context, data }: PageProps) {
  const { matching } = context.text;
  return (
    <>
      <div>
        <h1>{matching.title}</h1>
        <p class="quiet">{matching.intro}</p>
        <SnapshotAge context={context} state={data.state} />
        {data.isStale && <p class="error">{matching.stale}</p>}
      </div>
      <Filters context={context} data={data} />
      {data.list.counts.length > 0 && <Counts context={context} data={data} />}
      <section class="card stack">
        {data.list.breaks.length === 0 ? (
          <p class="quiet">{matching.none}</p>
        ) : (
          <Breaks context={context} data={data} />
        )}
      </section>
      {data.list.total > 0 && (
        <Card title={matching.export}>
          <ActionForm context={context} action="/breaks/export" class="filters">
            {Object.entries(data.filter).map(
              ([name, value]) =>
                value !== null && <input key={name} type="hidden" name={name} value={value} />,
            )}
            <div class="buttons">
              <button type="submit" class="button" name="format" value="csv">
                CSV
              </button>
              <button type="submit" class="button" name="format" value="xlsx">
                Excel
              </button>
            </div>
          </ActionForm>
        </Card>
      )}
      <p>
        <a href="/match-runs">{matching.runs}</a>
      </p>
    </>
  );
}

function SnapshotAge({ context, state }: { context: PageContext; state: PayableState | null }) {
  const { text, formats } = context;
  const { matching } = text;
  if (state === null) return <p class="quiet">{matching.noPayables}</p>;
  const { snapshotAt } = state;
  return (
    <p class="quiet">
      {matching.open(formats.count(state.open), formats.amount(state.openValue))}.{' '}
      {snapshotAt === null ? matching.noSnapshot : matching.snapshot(formats.instant(snapshotAt))}
      {state.incompleteAt !== null && ` ${matching.incomplete}`}
    </p>
  );
}

function Filters({ context, data }: PageProps) {
  const { matching } = context.text;
  const { filter } = data;
  return (
    <form method="get" action="/breaks" class="filters card">
      <Field label={matching.kind}>
        <select name="kind">
          <option value="">{matching.all}</option>
          {BREAK_KINDS.map((kind) => (
            <option key={kind} value={kind} selected={kind === filter.kind}>
              {matching.kinds[kind]}
            </option>
          ))}
        </select>
      </Field>
      <Field label={matching.date}>
        <input type="date" name="date" value={filter.date ?? ''} />
      </Field>
      <Field label={matching.supplier}>
        <input name="supplier" value={filter.supplier ?? ''} maxLength={255} />
      </Field>
      <div class="buttons">
        <button type="submit" class="button">
          {matching.show}
        </button>
      </div>
    </form>
  );
}

function Counts({ context, data }: PageProps) {
  const { text, formats } = context;
  const { matching } = text;
  return (
    <section class="card">
      <DataTable
        label={matching.breaks}
        heads={[matching.kind, right(matching.breaks), right(matching.value)]}
      >
        {data.list.counts.map(({ kind, breaks, value }) => (
          <tr key={kind}>
            <th scope="row">
              <a href={breaksHref({ ...data.filter, kind })}>{matching.kinds[kind]}</a>
            </th>
            <td class="right number">{formats.count(breaks)}</td>
            <td class="right">
              <Amount context={context} value={value} />
            </td>
          </tr>
        ))}
      </DataTable>
    </section>
  );
}

function Breaks({ context, data }: PageProps) {
  const { text, formats } = context;
  const { matching } = text;
  return (
    <>
      <DataTable
        label={matching.title}
        heads={[
          matching.kind,
          matching.date,
          matching.order,
          right(matching.value),
          matching.key,
          right(matching.openValue),
          matching.supplier,
        ]}
      >
        {data.list.breaks.map((found) => {
          const { kind, title, payable } = found;
          return (
            <tr key={breakHref(found)}>
              <th scope="row">
                <a href={breakHref(found)}>{matching.kinds[kind]}</a>
                {URGENT_BREAKS.includes(kind) && <span class="tag is-withdrawn">!</span>}
              </th>
              <td>
                <DayLink context={context} date={title?.acceptedDate ?? null} />
              </td>
              <td class="anywhere">{title?.orderUid ?? payable?.orderUid ?? '–'}</td>
              <td class="right">
                <Amount context={context} value={title?.value ?? null} />
              </td>
              <td class="anywhere">{payable?.erpKey ?? '–'}</td>
              <td class="right">
                <Amount context={context} value={payable?.openValue ?? null} />
              </td>
              <td>{title?.supplier ?? payable?.supplier ?? '–'}</td>
            </tr>
          );
        })}
      </DataTable>
      <Pager
        context={context}
        label={matching.title}
        paging={data.paging}
        hrefOf={(page) => breaksHref(data.filter, page)}
      />
      <p class="sr">{formats.count(data.list.total)}</p>
    </>
  );
}
