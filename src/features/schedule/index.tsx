import { Type } from 'typebox';
import { type CivilDate, parseCivilDate } from '../../base/values/business-day.ts';
import { maySeePersonalData } from '../../base/values/role.ts';
import { DEFAULT_LIMIT, declareOperation } from '../../console/api/api-request.ts';
import { date, ledgerDate, pageOfList, words } from '../../console/api/schema-parts.ts';
import { ListTable } from '../../console/list/columns.tsx';
import { FILE_FORMATS } from '../../console/list/file.tsx';
import { asTabs, choice, dateField, type FilterOf } from '../../console/list/filter.tsx';
import { declareList, type ListTotal } from '../../console/list/list.tsx';
import { type Feature, todayOf } from '../../console/shell/console-parts.ts';
import { type PageContext, pageContext, usePage } from '../../console/shell/page-context.ts';
import { Card, Metric } from '../../console/shell/parts.tsx';
import { STAFF } from '../../console/shell/route-access.ts';
import { writeMergedTotals } from './payee.sql.ts';
import {
  DUE_VIEWS,
  type DueRange,
  dueRange,
  dueRangeOf,
  neighbour,
  readNextPayment,
  readSchedule,
  Schedule,
  type ScheduleFigures,
  ScheduleGroup,
} from './read-schedule.sql.ts';
import { dateColumns, groupColumns, maskGroup, sendScheduleFile } from './schedule-file.tsx';

const FILTER = {
  view: asTabs(
    choice('lists.schedule.title', DUE_VIEWS, 'month', (view) => `schedule.views.${view}`),
  ),
  date: {
    ...dateField('schedule.date'),
    // The page links to the spans before and after, which the first and the last date of the calendar lack.
    parse: (text: string) =>
      (text > '0002' && text < '9999' ? parseCivilDate(text) : null) ?? undefined,
  },
};

const rangeOf = ({ view, date }: FilterOf<typeof FILTER>): DueRange => {
  if (date === null) throw new Error('the date is not filled in');
  return dueRangeOf(view, date);
};

type Figures = ListTotal & ScheduleFigures;

/** Who is to be paid on the due dates of a span, and on which account. */
const SCHEDULE = declareList(ScheduleGroup, {
  name: 'schedule',
  path: '/schedule',
  active: '/schedule',
  filter: FILTER,
  fill: async ({ view, date }, parts) => ({
    view,
    date: date ?? (await readNextPayment(parts.database, todayOf(parts))),
  }),
  columns: (filter) => groupColumns((titleId) => titlesHref(rangeOf(filter), titleId)),
  together: async (tx, filter, place) => {
    const { groups, ...figures } = await readSchedule(tx, rangeOf(filter), place);
    const total: Figures = { ...figures, rows: figures.groupCount };
    return { total, rows: groups };
  },
  mask: maskGroup,
  reveal: {
    who: STAFF,
    entry: (groups, filter) => {
      const { from: dueFrom, to: dueTo } = rangeOf(filter);
      const details = { dueFrom, dueTo, titleIds: groups.map(({ titleId }) => titleId) };
      return { action: 'schedule.reveal', details };
    },
  },
  file: {
    formats: FILE_FORMATS,
    send: (request, reply, parts, filter, format) => {
      const { language } = pageContext(request, parts.timeZone);
      return sendScheduleFile(request, reply, parts, rangeOf(filter), format, language);
    },
  },
  layout: async (parts, { view, date }, request) => {
    const today = todayOf(parts);
    const range = rangeOf({ view, date });
    const isMasked = !maySeePersonalData(request.principal?.role ?? 'viewer');
    const hrefOf = (to: CivilDate) => SCHEDULE.href({ view, date: to });
    return ({ head, filter, table, total }) => (
      <>
        {head}
        {filter}
        <Span range={range} today={today} hrefOf={hrefOf} figures={total} />
        {total.dates.length > 0 && <DueDates dates={total.dates} />}
        {table}
        <Help isMasked={isMasked} />
      </>
    );
  },
});

const titlesHref = (range: DueRange, payeeOf: number | null) =>
  `/titles?${new URLSearchParams({
    dueFrom: range.from,
    dueTo: range.to,
    status: 'current',
    ...(payeeOf !== null && { payeeOf: String(payeeOf) }),
  })}`;

const figure = ({ text, formats }: PageContext, titles: number, value: string) =>
  text('schedule.titlesAndValue', {
    titles: text('schedule.titleCount', { count: titles }),
    value: formats.amount(value),
  });

/** The figures of the span, and the way to its neighbours. */
function Span(props: {
  readonly range: DueRange;
  readonly today: CivilDate;
  readonly hrefOf: (date: CivilDate) => string;
  readonly figures: ScheduleFigures;
}) {
  const { range, hrefOf, figures } = props;
  const context = usePage();
  const { text, formats } = context;
  const { overall, paid, changed, undated } = figures;
  const isAlarming = (titles: number) => (titles > 0 ? 'is-warning' : '');
  const title =
    range.from === range.to ? formats.longDate(range.from) : formats.month(range.from.slice(0, 7));
  return (
    <Card title={title} class="stack">
      <nav class="pager" aria-label={text('schedule.date')}>
        <a rel="prev" href={hrefOf(neighbour(range, 'previous'))}>
          ← {text('schedule.previous')}
        </a>
        <a href={hrefOf(props.today)}>{text('schedule.today')}</a>
        <a rel="next" href={hrefOf(neighbour(range, 'next'))}>
          {text('schedule.next')} →
        </a>
      </nav>
      <dl class="metrics">
        <Metric
          label={text('schedule.value')}
          value={figure(context, overall.titles, overall.originalValue)}
          {...(overall.titles > 0 && { href: titlesHref(range, null) })}
        />
        <Metric
          label={text('schedule.paid')}
          value={figure(context, paid.titles, paid.originalValue)}
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
    </Card>
  );
}

function DueDates({ dates }: Pick<ScheduleFigures, 'dates'>) {
  const { text } = usePage();
  return (
    <Card title={text('schedule.dueDates')}>
      <ListTable
        label={text('schedule.dueDates')}
        columns={dateColumns((date) => SCHEDULE.href({ view: 'day', date }))}
        rows={dates}
      />
    </Card>
  );
}

function Help({ isMasked }: { readonly isMasked: boolean }) {
  const { text } = usePage();
  return (
    <>
      <p class="quiet small">
        {text('schedule.exportHelp')} {text(isMasked ? 'exports.masked' : 'exports.personal')}
      </p>
      <Card title={text('schedule.helpHead')}>
        <p>{text('schedule.help')}</p>
        <p>{text('schedule.helpTitles')}</p>
      </Card>
    </>
  );
}

const range = { dueFrom: ledgerDate, dueTo: ledgerDate };

const SCHEDULE_API = [
  declareOperation({
    path: '/payment-schedule',
    scope: 'read',
    tag: 'titles',
    operationId: 'getPaymentSchedule',
    summary:
      'Who is to be paid on the due dates of a range, and on which account, over all accepted dates',
    input: { ...range, ...pageOfList },
    answer: Type.Object({ dueFrom: date, dueTo: date, ...Schedule.properties }),
    run: async ({ database }, { dueFrom, dueTo, offset = 0, limit = DEFAULT_LIMIT }) => {
      const due = dueRange(dueFrom, dueTo);
      const schedule = await database.prisma.$transaction(
        (tx) => readSchedule(tx, due, { offset, limit }),
        // All values are those of one instant.
        { isolationLevel: 'RepeatableRead' },
      );
      return { dueFrom, dueTo, ...schedule, groups: schedule.groups.map(maskGroup) };
    },
  }),
  declareOperation({
    path: '/payment-schedule/export',
    scope: 'export',
    tag: 'titles',
    operationId: 'exportPaymentSchedule',
    summary: 'The payment schedule of a range as a file',
    input: {
      ...range,
      format: words(FILE_FORMATS),
      locale: Type.Optional(words(['pt-BR', 'en'])),
    },
    answer: Type.Unsafe<string>({ type: 'string', format: 'binary' }),
    run: (parts, { dueFrom, dueTo, format, locale: language = 'pt-BR' }, request, reply) => {
      return sendScheduleFile(request, reply, parts, dueRange(dueFrom, dueTo), format, language);
    },
  }),
];

export const schedule: Feature = {
  name: 'schedule',
  engine: {
    // After those of the accounts, because the totals compare accounts in any writing.
    inOwnDate: writeMergedTotals,
  },
  lists: [SCHEDULE],
  api: SCHEDULE_API,
};
