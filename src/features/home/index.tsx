import { Temporal } from 'temporal-polyfill';
import { Type } from 'typebox';
import { LANGUAGES } from '../../base/texts/texts.ts';
import { addDays, type CivilDate, dateIn, lastClosedDate } from '../../base/values/business-day.ts';
import { declareOperation } from '../../console/api/api-request.ts';
import { count, dateOrNull, orNull } from '../../console/api/schema-parts.ts';
import { declarePage } from '../../console/declare.tsx';
import type { ConsoleParts, Feature } from '../../console/shell/console-parts.ts';
import { usePage } from '../../console/shell/page-context.ts';
import { Card, DAY_LOOKS, DayLink, lookOf, StateIcon } from '../../console/shell/parts.tsx';
import { mayUse } from '../../console/shell/route-access.ts';
import { type LedgerDay, readLedgerDays } from '../review/ledger-days.sql.ts';
import {
  type CivilMonth,
  firstDateOf,
  lastDateOf,
  monthOf,
} from '../review/months/month-seal.sql.ts';
import { headlineOf, moneyText, readOpenItems, TASKS, Task, taskText } from './open-items.sql.ts';

/** The start page: yesterday, the tasks and the calendar. */
const START = declarePage({
  path: '/',
  active: '/',
  input: {},
  read: readDaysPage,
  title: (context) => context.text('days.title'),
  body: (data) => <DaysPage data={data} />,
});

async function readDaysPage(parts: ConsoleParts) {
  const { database, timeZone } = parts;
  const now = parts.now?.() ?? new Date();
  const today = dateIn(timeZone, now);
  const closed = lastClosedDate(timeZone, now);
  const latest = await database.prisma.day.findFirst({
    where: { date: { lte: today } },
    orderBy: { date: 'desc' },
  });
  const newest = monthOf(latest?.date ?? closed);
  const months = [addMonths(newest, -2), addMonths(newest, -1), newest] as const;
  const [items, days] = await Promise.all([
    readOpenItems(database, { now, policy: parts }),
    readLedgerDays(database, { from: firstDateOf(months[0]), to: lastDateOf(newest) }, today),
  ]);
  const begin = monthOf(items.startDate ?? closed);
  return {
    items,
    days,
    /** The newest months of the ledger. The pages of the months list the days of the earlier ones. */
    months: months.filter((month) => month === newest || month >= begin),
  };
}

/** Weeks from Monday; null for days of another month. */
function weeksOf(month: CivilMonth): (CivilDate | null)[][] {
  const first = firstDateOf(month);
  const offset = (new Date(first).getUTCDay() + 6) % 7;
  const weeks: (CivilDate | null)[][] = [];
  for (let start = addDays(first, -offset); start.slice(0, 7) <= month; start = addDays(start, 7)) {
    const week = Array.from({ length: 7 }, (_, day) => addDays(start, day));
    weeks.push(week.map((date) => (date.startsWith(month) ? date : null)));
  }
  return weeks;
}

function MonthTable(props: { readonly month: CivilMonth; readonly days: readonly LedgerDay[] }) {
  const { month, days } = props;
  const { formats } = usePage();
  return (
    <table class="month">
      <caption>{formats.month(month)}</caption>
      <thead>
        <tr>
          {formats.weekdays.map((weekday) => (
            <th key={weekday} scope="col">
              {weekday}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeksOf(month).map((week, index) => (
          <tr key={index}>
            {week.map((date, weekday) => (
              <td key={weekday}>
                {date !== null && (
                  <DayCell date={date} day={days.find((day) => day.date === date)} />
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function DayCell({ date, day }: { readonly date: CivilDate; readonly day: LedgerDay | undefined }) {
  const { formats, text } = usePage();
  const number = Number(date.slice(8));
  if (day === undefined) return <span class="cell is-absent">{number}</span>;
  const look = lookOf(day);
  const content = text('schedule.titlesAndValue', {
    titles: text('schedule.titleCount', { count: day.titles }),
    value: formats.amount(day.sums.original_value),
  });
  return (
    <a
      class={`cell is-${look}`}
      href={`/days/${date}`}
      title={`${formats.date(date)}: ${text(`states.${look}`)}, ${content}`}
    >
      <span class="cell-day">{number}</span>
      <StateIcon look={look} />
      <span class="sr">
        {text(`states.${look}`)}, {content}
      </span>
    </a>
  );
}

function DaysPage({ data }: { data: Awaited<ReturnType<typeof readDaysPage>> }) {
  const { text, language } = usePage();
  const { items } = data;
  const { title, lines } = headlineOf(items, language);
  return (
    <>
      <h1>
        <a href={`/days/${items.yesterday.date}`}>{title}</a>
      </h1>
      <Card title={text('tasks.title')}>
        {items.tasks.length === 0 ? (
          <p class="quiet">{lines[0] ?? text('headline.nothing')}</p>
        ) : (
          <ol class="tasks">
            {items.tasks.map((task, index) => (
              <TaskLine key={index} task={task} />
            ))}
          </ol>
        )}
      </Card>
      <Card
        title={text('days.calendar')}
        aside={<a href="/months">{text('lists.months.title')}</a>}
      >
        <div class="months">
          {data.months.map((month) => (
            <MonthTable key={month} month={month} days={data.days} />
          ))}
        </div>
        <ul class="legend">
          {DAY_LOOKS.map((look) => (
            <li key={look} class={`is-${look}`}>
              <StateIcon look={look} />
              {text(`states.${look}`)}
            </li>
          ))}
        </ul>
      </Card>
    </>
  );
}

const DATES_SHOWN = 8;

function TaskLine({ task }: { readonly task: Task }) {
  const { text, language, formats, principal } = usePage();
  const { dates, value } = task;
  const { look, decision } = TASKS[task.key];
  const decides = decision !== undefined && mayUse(principal?.role ?? 'viewer', 'POST', decision);
  return (
    <li class={`task is-${look}`}>
      <StateIcon look={look} />
      <p>
        {taskText(task, language)}
        {dates.slice(0, DATES_SHOWN).map((date) => (
          <>
            {' '}
            <DayLink key={date} date={date} />
          </>
        ))}
        {dates.length > DATES_SHOWN &&
          ` ${text('days.more', { count: formats.count(dates.length - DATES_SHOWN) })}`}
      </p>
      <span class="number">{value !== null && moneyText(value, language)}</span>
      <a class="button" href={task.href}>
        {(decides ? text.find(`tasks.do.${task.key}`) : null) ?? text('tasks.see')}
      </a>
    </li>
  );
}

const addMonths = (month: CivilMonth, months: number) =>
  Temporal.PlainYearMonth.from(month).add({ months }).toString() as CivilMonth;

const Status = Type.Object({
  startDate: dateOrNull,
  lastReconciledDate: dateOrNull,
  lagDays: orNull('integer', { description: 'Dates that are over and have no data.' }),
  openAlerts: count,
  tasks: Type.Array(Task, { description: 'What waits for a person, the greatest risk first.' }),
  headline: Type.Object(
    Object.fromEntries(
      LANGUAGES.map((language) => [
        language,
        Type.Object({
          inOrder: Type.Boolean({ description: 'Whether nothing waits for a person.' }),
          title: Type.String(),
          lines: Type.Array(Type.String()),
        }),
      ]),
    ),
    { description: 'The state of the ledger in the words of the start page.' },
  ),
});

const STATUS = declareOperation({
  path: '/status',
  scope: 'read',
  tag: 'status',
  operationId: 'getStatus',
  summary: 'The progress of the ledger, and the decisions that are open',
  input: {},
  answer: Status,
  run: async (parts) => {
    const { database } = parts;
    const now = parts.now?.() ?? new Date();
    const [items, openAlerts] = await Promise.all([
      readOpenItems(database, { now, policy: parts }),
      database.prisma.alert.count({ where: { resolvedAt: null } }),
    ]);
    const { yesterday: _, ...progress } = items;
    return {
      ...progress,
      openAlerts,
      headline: Object.fromEntries(
        LANGUAGES.map((language) => [language, headlineOf(items, language)]),
      ),
    };
  },
});

export const home: Feature = {
  name: 'home',
  pages: [START],
  api: [STATUS],
};
