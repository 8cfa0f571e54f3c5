import type { CivilDate } from '../../../base/values/business-day.ts';
import { DataTable, right } from '../../../console/shell/data-table.tsx';
import { Field } from '../../../console/shell/layout.tsx';
import { type PageContext, usePage } from '../../../console/shell/page-context.ts';
import { Pager, type Paging } from '../../../console/shell/paging.tsx';
import { ActionForm, AmountCell, Card, Metric, Submit } from '../../../console/shell/parts.tsx';
import { mayUse } from '../../../console/shell/route-access.ts';
import { RevealForm } from '../../accounts/pages/change-list.tsx';
import { DUE_VIEWS, type DueView, dueRangeOf, neighbour } from '../due-range.ts';
import type {
  DueRange,
  Payee,
  Schedule,
  ScheduleGroup,
  ScheduleTotals,
} from '../read-schedule.sql.ts';
import { SCHEDULE_FORMATS } from '../schedule-file.ts';
import { PayeeAccount, PayeeName } from './payee-text.tsx';

interface SchedulePageData {
  readonly view: DueView;
  /** A date in the span that is shown. */
  readonly date: CivilDate;
  readonly today: CivilDate;
  readonly isDateBad: boolean;
  readonly range: DueRange;
  readonly schedule: Schedule;
  readonly paging: Paging;
  readonly isRevealed: boolean;
  readonly isMasked: boolean;
}

const scheduleHref = (view: DueView, date: CivilDate, page = 1) =>
  `/schedule?${new URLSearchParams({ view, date, ...(page > 1 && { page: String(page) }) })}`;

/** The list of the titles of a due date or a group. */
const titlesHref = (range: DueRange, payee: Payee | null) =>
  `/titles?${new URLSearchParams({
    dueFrom: range.from,
    dueTo: range.to,
    status: 'current',
    ...(payee !== null && { payeeOf: String(payee.titleId) }),
  })}`;

interface PageProps {
  readonly data: SchedulePageData;
}

export function SchedulePage({ data }: PageProps) {
  const context = usePage();
  const { text } = context;
  const { view, date } = data;
  return (
    <>
      <div>
        <h1>{text('schedule.title')}</h1>
        <p class="quiet">{text('schedule.intro')}</p>
      </div>
      <nav class="tabs" aria-label={text('schedule.title')}>
        {DUE_VIEWS.map((known) => (
          <a
            key={known}
            href={scheduleHref(known, date)}
            {...(known === view && { 'aria-current': 'page' })}
          >
            {text(`schedule.views.${known}`)}
          </a>
        ))}
      </nav>
      {data.isDateBad && <p class="error">{text('schedule.badDate')}</p>}
      <Card title={spanTitle(context, data)} class="stack">
        <form method="get" class="filters">
          <input type="hidden" name="view" value={view} />
          <Field label={text('schedule.date')}>
            <input type="date" name="date" value={date} />
          </Field>
          <div class="buttons">
            <Submit>{text('schedule.show')}</Submit>
          </div>
        </form>
        <nav class="pager" aria-label={text('schedule.date')}>
          <a rel="prev" href={scheduleHref(view, neighbour(data.range, 'previous'))}>
            ← {text('schedule.previous')}
          </a>
          <a href={scheduleHref(view, data.today)}>{text('schedule.today')}</a>
          <a rel="next" href={scheduleHref(view, neighbour(data.range, 'next'))}>
            {text('schedule.next')} →
          </a>
        </nav>
        <Figures data={data} />
      </Card>
      {view !== 'day' && <DueDates data={data} />}
      <Groups data={data} />
      {data.schedule.overall.titles > 0 && <Download data={data} />}
      <Card title={text('schedule.helpHead')}>
        <p>{text('schedule.help')}</p>
        <p>{text('schedule.helpTitles')}</p>
      </Card>
    </>
  );
}

function spanTitle({ formats }: PageContext, { view, range }: SchedulePageData): string {
  return view === 'day' ? formats.longDate(range.from) : formats.month(range.from.slice(0, 7));
}

/** A number of titles and their value. */
const figure = ({ text, formats }: PageContext, titles: number, value: string) =>
  text('schedule.titlesAndValue', {
    titles: text('schedule.titleCount', { count: titles }),
    value: formats.amount(value),
  });

function Figures({ data }: PageProps) {
  const context = usePage();
  const { text } = context;
  const { overall, changed, undated } = data.schedule;
  const isAlarming = (titles: number) => (titles > 0 ? 'is-warning' : '');
  return (
    <>
      <dl class="metrics">
        <Metric
          label={text('schedule.value')}
          value={figure(context, overall.titles, overall.sums.original_value)}
          {...(overall.titles > 0 && { href: titlesHref(data.range, null) })}
        />
        <Metric
          label={text('schedule.onChanged')}
          value={figure(context, changed.titles, changed.originalValue)}
          class={isAlarming(changed.titles)}
          {...(changed.titles > 0 && { href: '/account-changes' })}
        />
        <Metric
          label={text('schedule.waiting')}
          value={figure(context, overall.waitingTitles, overall.waitingValue)}
          class={isAlarming(overall.waitingTitles)}
        />
        <Metric
          label={text('schedule.undated')}
          value={figure(context, undated.titles, undated.originalValue)}
          {...(undated.titles > 0 && { href: '/titles?undated=true&status=current' })}
        />
      </dl>
      <p class="quiet small">{text('schedule.figuresHelp')}</p>
    </>
  );
}

/** The dates of the month with their figures. */
function DueDates({ data }: PageProps) {
  const { text, formats } = usePage();
  const { dates } = data.schedule;
  return (
    <Card title={text('schedule.dueDates')}>
      {dates.length === 0 ? (
        <p class="quiet">{text('schedule.noneDue')}</p>
      ) : (
        <DataTable
          label={text('schedule.dueDates')}
          heads={[
            text('schedule.dueDate'),
            right(text('schedule.titles')),
            right(text('schedule.value')),
            text('schedule.marks'),
          ]}
        >
          {dates.map((day) => (
            <tr key={day.date}>
              <th scope="row">
                <a href={scheduleHref('day', day.date)}>{formats.date(day.date)}</a>
              </th>
              <td class="right number">{formats.count(day.titles)}</td>
              <AmountCell value={day.sums.original_value} />
              <td>
                <Waiting totals={day} />
              </td>
            </tr>
          ))}
        </DataTable>
      )}
    </Card>
  );
}

function Waiting({ totals }: { readonly totals: ScheduleTotals }) {
  const { text, formats } = usePage();
  if (totals.waitingTitles === 0) return null;
  return (
    <span class="tag is-changed" title={text('schedule.waitingHelp')}>
      {text('schedule.waitingTitles', { titles: formats.count(totals.waitingTitles) })}
    </span>
  );
}

function Groups({ data }: PageProps) {
  const context = usePage();
  const { text } = context;
  const { groups } = data.schedule;
  if (groups.length === 0) {
    return data.view === 'day' ? <p class="quiet">{text('schedule.noneDue')}</p> : null;
  }
  const role = context.principal?.role ?? 'viewer';
  return (
    <Card title={text('schedule.groups')}>
      <RevealForm
        action={scheduleHref(data.view, data.date, data.paging.page)}
        isRevealed={data.isRevealed}
        mayReveal={mayUse(role, 'POST', '/schedule')}
      />
      <DataTable
        label={text('schedule.groups')}
        heads={[
          text('schedule.party'),
          text('schedule.account'),
          right(text('schedule.titles')),
          right(text('schedule.value')),
          text('schedule.marks'),
        ]}
      >
        {groups.map((group) => (
          <Group key={group.payee.titleId} data={data} group={group} />
        ))}
      </DataTable>
      <Pager
        label={text('schedule.groups')}
        paging={data.paging}
        hrefOf={(page) => scheduleHref(data.view, data.date, page)}
      />
    </Card>
  );
}

function Group({ data, group }: PageProps & { readonly group: ScheduleGroup }) {
  const { text, formats } = usePage();
  const { payee, titles, sums } = group;
  const count = formats.count(titles);
  return (
    <tr>
      <th scope="row" class="anywhere">
        <PayeeName payee={payee} isRevealed={data.isRevealed} />
        {payee.kind !== null && (
          <>
            <br />
            <span class="quiet small">{text(`schedule.kinds.${payee.kind}`)}</span>
          </>
        )}
      </th>
      <td>
        <PayeeAccount payee={payee} isRevealed={data.isRevealed} />
      </td>
      <td class="right number">
        <a
          href={titlesHref(data.range, payee)}
          aria-label={text('schedule.openTitles', { titles: count })}
        >
          {count}
        </a>
      </td>
      <AmountCell value={sums.original_value} />
      <td>
        {payee.isChanged && (
          <a class="tag is-withdrawn" href="/account-changes">
            {text('schedule.changed')}
          </a>
        )}{' '}
        <Waiting totals={group} />
      </td>
    </tr>
  );
}

function Download({ data }: PageProps) {
  const { text } = usePage();
  return (
    <Card title={text('schedule.export')}>
      <ActionForm action="/schedule/export" class="buttons" isDownload>
        <input type="hidden" name="dueFrom" value={data.range.from} />
        <input type="hidden" name="dueTo" value={data.range.to} />
        {SCHEDULE_FORMATS.map((format) => (
          <button key={format} type="submit" name="format" value={format} class="button">
            {text(`schedule.files.${format}`)}
          </button>
        ))}
      </ActionForm>
      <p class="quiet small">
        {text('schedule.exportHelp')}{' '}
        {data.isMasked ? text('exports.masked') : text('exports.personal')}
      </p>
    </Card>
  );
}

/** The span that a request asks for. */
export function spanOf(view: string | null, date: CivilDate): { view: DueView; range: DueRange } {
  const known = DUE_VIEWS.find((name) => name === view) ?? 'month';
  return { view: known, range: dueRangeOf(known, date) };
}
