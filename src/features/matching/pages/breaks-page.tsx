import { DataTable, right } from '../../../console/shell/data-table.tsx';
import { Field } from '../../../console/shell/layout.tsx';
import { usePage } from '../../../console/shell/page-context.ts';
import { Pager, type Paging } from '../../../console/shell/paging.tsx';
import {
  ActionForm,
  AmountCell,
  Card,
  DayCell,
  Options,
  Submit,
} from '../../../console/shell/parts.tsx';
import type { BreakFilter, BreakList } from '../breaks.sql.ts';
import { BREAK_KINDS } from '../breaks.sql.ts';
import type { PayableState } from '../payables/payable-state.sql.ts';
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
  readonly data: BreaksPageData;
}

/** The breaks of a filter, with counts and sums over the whole filter. */
export function BreaksPage({ data }: PageProps) {
  const { text } = usePage();
  return (
    <>
      <div>
        <h1>{text('matching.title')}</h1>
        <p class="quiet">{text('matching.intro')}</p>
        <SnapshotAge state={data.state} />
        {data.isStale && <p class="error">{text('matching.stale')}</p>}
      </div>
      <Filters data={data} />
      {data.list.counts.length > 0 && <Counts data={data} />}
      <section class="card stack">
        {data.list.breaks.length === 0 ? (
          <p class="quiet">
            {Object.values(data.filter).some((value) => value !== null)
              ? text('matching.noneFound')
              : text('matching.none')}
          </p>
        ) : (
          <Breaks data={data} />
        )}
      </section>
      {data.list.total > 0 && (
        <Card title={text('matching.export')}>
          <ActionForm action="/breaks/export" class="filters" isDownload>
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

function Filters({ data }: PageProps) {
  const { text } = usePage();
  const { filter } = data;
  return (
    <form method="get" action="/breaks" class="filters card">
      <div class="wide">
        <Field label={text('matching.kind')}>
          <select name="kind">
            <option value="">{text('matching.all')}</option>
            <Options
              values={BREAK_KINDS}
              chosen={filter.kind}
              text={(kind) => text(`matching.kinds.${kind}`)}
            />
          </select>
        </Field>
      </div>
      <Field label={text('matching.date')}>
        <input type="date" name="date" value={filter.date ?? ''} />
      </Field>
      <Field label={text('matching.supplier')}>
        <input name="supplier" value={filter.supplier ?? ''} maxLength={255} />
      </Field>
      <div class="buttons">
        <Submit>{text('matching.show')}</Submit>
      </div>
    </form>
  );
}

function Counts({ data }: PageProps) {
  const { text, formats } = usePage();
  const total = data.list.sum;
  return (
    <section class="card">
      <DataTable
        label={text('matching.breaks')}
        heads={[
          text('matching.kind'),
          right(text('matching.breaks')),
          right(text('matching.value')),
        ]}
        foot={
          <tr>
            <th scope="row">{text('matching.total', { count: total.breaks })}</th>
            <td class="right number">{formats.count(total.breaks)}</td>
            <AmountCell value={total.value} />
          </tr>
        }
      >
        {data.list.counts.map(({ kind, breaks, value }) => (
          <tr key={kind}>
            <th scope="row">
              <a href={breaksHref({ ...data.filter, kind })}>{text(`matching.kinds.${kind}`)}</a>
            </th>
            <td class="right number">{formats.count(breaks)}</td>
            <AmountCell value={value} />
          </tr>
        ))}
      </DataTable>
    </section>
  );
}

function Breaks({ data }: PageProps) {
  const { text, formats } = usePage();
  return (
    <>
      <DataTable
        label={text('matching.title')}
        heads={[
          text('matching.kind'),
          text('matching.date'),
          text('matching.order'),
          right(text('matching.value')),
          text('matching.key'),
          right(text('matching.openValue')),
          text('matching.dueDate'),
          text('matching.supplier'),
        ]}
      >
        {data.list.breaks.map((found) => {
          const { kind, isUrgent, title, payable } = found;
          return (
            <tr key={breakHref(found)}>
              <th scope="row">
                <a href={breakHref(found)}>{text(`matching.kinds.${kind}`)}</a>
                {isUrgent && (
                  <>
                    {' '}
                    <span class="tag is-withdrawn">{text('matching.urgent')}</span>
                  </>
                )}
              </th>
              <DayCell date={title?.acceptedDate ?? null} />
              <td class="anywhere">{title?.orderUid ?? payable?.orderUid ?? '–'}</td>
              <AmountCell value={title?.value ?? null} />
              <td class="anywhere">{payable?.erpKey ?? '–'}</td>
              <AmountCell value={payable?.openValue ?? null} />
              <td>
                {[...new Set([title?.dueDate, payable?.dueDate])]
                  .flatMap((date) => (date == null ? [] : formats.date(date)))
                  .join(' → ') || '–'}
              </td>
              <td>
                {title?.supplier ?? payable?.supplier ?? '–'}
                {found.supplierName !== null && (
                  <>
                    <br />
                    {found.supplierName}
                  </>
                )}
              </td>
            </tr>
          );
        })}
      </DataTable>
      <Pager
        label={text('matching.title')}
        paging={data.paging}
        hrefOf={(page) => breaksHref(data.filter, page)}
      />
    </>
  );
}
