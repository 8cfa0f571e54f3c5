import type { VNode } from 'preact';
import {
  addDays,
  type CivilDate,
  daysBetween,
  toCivilDate,
} from '../../../base/values/business-day.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import { type DayLook, lookOf, StateIcon } from '../../../console/shell/parts.tsx';
import type { LedgerDay } from '../../review/ledger-days.sql.ts';

/** Months side by side, each day with the colour and shape of its state, and a legend. */
export function Calendar(props: {
  /** `YYYY-MM`, in order. */
  readonly months: readonly string[];
  readonly days: readonly LedgerDay[];
}) {
  const byDate = new Map(props.days.map((day) => [day.date, day]));
  return (
    <>
      <div class="months">
        {props.months.map((month) => (
          <MonthTable
            key={month}
            month={month}
            cellOf={(date) => <DayCell date={date} day={byDate.get(date)} />}
          />
        ))}
      </div>
      <Legend />
    </>
  );
}

/** Weeks from Monday; null for days of another month. */
function weeksOf(month: string): (CivilDate | null)[][] {
  const first = toCivilDate(`${month}-01`);
  // 1970-01-05 was a Monday.
  const monday = toCivilDate('1970-01-05');
  const offset = ((daysBetween(monday, first) % 7) + 7) % 7;
  const weeks: (CivilDate | null)[][] = [];
  for (let start = addDays(first, -offset); start.slice(0, 7) <= month; start = addDays(start, 7)) {
    const week = Array.from({ length: 7 }, (_, day) => addDays(start, day));
    weeks.push(week.map((date) => (date.startsWith(month) ? date : null)));
  }
  return weeks;
}

/** A month as a table of weeks, each date with the cell that `cellOf` returns. */
function MonthTable(props: {
  /** `YYYY-MM`. */
  readonly month: string;
  readonly cellOf: (date: CivilDate) => VNode;
}) {
  const { formats } = usePage();
  return (
    <table class="month">
      <caption>{formats.month(props.month)}</caption>
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
        {weeksOf(props.month).map((week, index) => (
          <tr key={`${props.month} ${index}`}>
            {week.map((date, weekday) => (
              <td key={date ?? `${index} ${weekday}`}>{date !== null && props.cellOf(date)}</td>
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

const LEGEND: readonly DayLook[] = [
  'signed',
  'reconciled',
  'restated',
  'attention',
  'held',
  'failed',
  'pending',
];

function Legend() {
  const { text } = usePage();
  return (
    <ul class="legend">
      {LEGEND.map((look) => (
        <li key={look} class={`is-${look}`}>
          <StateIcon look={look} />
          {text(`states.${look}`)}
        </li>
      ))}
    </ul>
  );
}
