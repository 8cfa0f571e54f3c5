import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { recordAudit } from '../../../base/audit/audit.ts';
import { type CivilDate, parseCivilDate } from '../../../base/values/business-day.ts';
import { maySeePersonalData } from '../../../base/values/role.ts';
import { ListTable } from '../../../console/list/columns.tsx';
import { FILE_FORMATS, FileButtons, fileFormatOf } from '../../../console/list/file.tsx';
import { type ConsoleParts, todayOf } from '../../../console/shell/console-parts.ts';
import { Field } from '../../../console/shell/layout.tsx';
import {
  type PageContext,
  pageContext,
  textParameter,
  usePage,
} from '../../../console/shell/page-context.ts';
import { Pager, type Paging, pagingOf } from '../../../console/shell/paging.tsx';
import { Card, Metric, RevealForm, Submit } from '../../../console/shell/parts.tsx';
import { actorOf } from '../../../console/shell/path-parameters.ts';
import { EVERYBODY, forPeople, mayUse, STAFF } from '../../../console/shell/route-access.ts';
import { sendPage } from '../../../console/shell/send-page.ts';
import {
  DUE_VIEWS,
  type DueRange,
  type DueView,
  dueRangeOf,
  dueRangeParameters,
  neighbour,
  readSchedule,
  type Schedule,
} from '../read-schedule.sql.ts';
import { dateColumns, groupColumns, sendScheduleFile } from '../schedule-file.tsx';

interface SchedulePageData {
  readonly view: DueView;
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

const titlesHref = (range: DueRange, payeeOf: number | null) =>
  `/titles?${new URLSearchParams({
    dueFrom: range.from,
    dueTo: range.to,
    status: 'current',
    ...(payeeOf !== null && { payeeOf: String(payeeOf) }),
  })}`;

interface PageProps {
  readonly data: SchedulePageData;
}

function SchedulePage({ data }: PageProps) {
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
          value={figure(context, overall.titles, overall.originalValue)}
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
  const { text } = usePage();
  const { dates } = data.schedule;
  return (
    <Card title={text('schedule.dueDates')}>
      {dates.length === 0 ? (
        <p class="quiet">{text('schedule.noneDue')}</p>
      ) : (
        <ListTable
          label={text('schedule.dueDates')}
          columns={dateColumns((date) => scheduleHref('day', date))}
          rows={dates}
        />
      )}
    </Card>
  );
}

function Groups({ data }: PageProps) {
  const { principal, text } = usePage();
  const { view, date, paging, isRevealed, range, schedule } = data;
  if (schedule.groups.length === 0) {
    return view === 'day' ? <p class="quiet">{text('schedule.noneDue')}</p> : null;
  }
  return (
    <Card title={text('schedule.groups')}>
      <RevealForm
        action={scheduleHref(view, date, paging.page)}
        isRevealed={isRevealed}
        mayReveal={mayUse(principal?.role ?? 'viewer', 'POST', '/schedule')}
      />
      <ListTable
        label={text('schedule.groups')}
        columns={groupColumns({ titlesHref: (titleId) => titlesHref(range, titleId), isRevealed })}
        rows={schedule.groups}
      />
      <Pager
        label={text('schedule.groups')}
        paging={paging}
        hrefOf={(page) => scheduleHref(view, date, page)}
      />
    </Card>
  );
}

function Download({ data }: PageProps) {
  const { text } = usePage();
  return (
    <Card title={text('schedule.export')}>
      <FileButtons
        path="/schedule"
        parameters={[
          ['dueFrom', data.range.from],
          ['dueTo', data.range.to],
        ]}
      />
      <p class="quiet small">
        {text('schedule.exportHelp')}{' '}
        {data.isMasked ? text('exports.masked') : text('exports.personal')}
      </p>
    </Card>
  );
}

const GROUPS_A_PAGE = 50;

export function addScheduleRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database, timeZone } = parts;

  const show = async (request: FastifyRequest, reply: FastifyReply, isRevealed: boolean) => {
    const today = todayOf(parts);
    const wanted = textParameter(request.query, 'date');
    const date = wanted === null ? today : parseCivilDate(wanted);
    const view = DUE_VIEWS.find((name) => name === textParameter(request.query, 'view')) ?? 'month';
    const range = dueRangeOf(view, date ?? today);
    const read = (offset: number) =>
      readSchedule(database, range, { offset, limit: GROUPS_A_PAGE });
    const asked = pagingOf(request.query, 'page', Number.MAX_SAFE_INTEGER, GROUPS_A_PAGE);
    let schedule = await read(asked.offset);
    const paging = pagingOf(request.query, 'page', schedule.groupCount, GROUPS_A_PAGE);
    if (paging.page !== asked.page) schedule = await read(paging.offset);
    if (isRevealed) {
      // Before the page is shown, so that every access leaves an entry.
      await recordAudit(database.prisma, {
        actor: actorOf(request),
        action: 'schedule.reveal',
        details: { dueFrom: range.from, dueTo: range.to, page: paging.page },
      });
    }
    const data = {
      view,
      date: date ?? today,
      today,
      isDateBad: date === null,
      range,
      schedule,
      paging,
      isRevealed,
      isMasked: !maySeePersonalData(request.principal?.role ?? 'viewer'),
    };
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('schedule.title'),
      active: '/schedule',
      body: <SchedulePage data={data} />,
    }));
  };
  server.get('/schedule', forPeople(EVERYBODY), (request, reply) => show(request, reply, false));
  server.post('/schedule', forPeople(STAFF), (request, reply) => show(request, reply, true));

  server.post('/schedule/file', forPeople(EVERYBODY), (request, reply) =>
    sendScheduleFile(request, reply, parts, {
      range: dueRangeParameters(request.body),
      format: fileFormatOf(request.body, FILE_FORMATS),
      language: pageContext(request, timeZone).language,
    }),
  );
}
