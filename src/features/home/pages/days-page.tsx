import { usePage } from '../../../console/shell/page-context.ts';
import { Card, DayLink, type DayLook, StateIcon } from '../../../console/shell/parts.tsx';
import type { LedgerDay } from '../../review/ledger-days.sql.ts';
import { headlineOf, moneyText, taskText } from '../headline.ts';
import type { OpenItems, Task, TaskKey } from '../open-items.sql.ts';
import { Calendar } from './calendar.tsx';

export interface DaysPageData {
  readonly items: OpenItems;
  /** `YYYY-MM`: the shown months, in order. */
  readonly months: readonly string[];
  readonly days: readonly LedgerDay[];
  readonly earlier: string | null;
  readonly later: string | null;
}

/** Yesterday, the tasks and the calendar. */
export function DaysPage({ data }: { data: DaysPageData }) {
  const { text, language } = usePage();
  const { items } = data;
  const { title, lines } = headlineOf(items, language);
  const isKnown = items.startDate !== null && items.startDate <= items.yesterday.date;
  return (
    <>
      <h1>{isKnown ? <a href={`/days/${items.yesterday.date}`}>{title}</a> : title}</h1>
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
        aside={
          <nav class="pager" aria-label={text('days.calendar')}>
            {data.earlier !== null && <a href={`/?to=${data.earlier}`}>← {text('days.earlier')}</a>}
            {data.later !== null && <a href={`/?to=${data.later}`}>{text('days.later')} →</a>}
            <a href="/months">{text('months.title')}</a>
          </nav>
        }
      >
        <Calendar months={data.months} days={data.days} />
      </Card>
    </>
  );
}

const LOOKS: Readonly<Record<TaskKey, DayLook>> = {
  urgent_breaks: 'failed',
  account_changes: 'failed',
  held: 'held',
  failed: 'failed',
  missing: 'pending',
  attention: 'attention',
  breaks: 'attention',
  unmapped_companies: 'attention',
  restated: 'restated',
  equal_titles: 'attention',
  findings: 'attention',
  sign_off: 'reconciled',
  waiting: 'held',
  alert: 'attention',
  providers_locked: 'pending',
};

const DATES_SHOWN = 8;

function TaskLine({ task }: { readonly task: Task }) {
  const { text, language, formats } = usePage();
  const { dates, value } = task;
  return (
    <li class={`task is-${LOOKS[task.key]}`}>
      <StateIcon look={LOOKS[task.key]} />
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
        {text(`tasks.do.${task.key}`)}
      </a>
    </li>
  );
}
