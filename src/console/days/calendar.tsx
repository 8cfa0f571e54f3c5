import { addDays, type CivilDate, daysBetween, toCivilDate } from '../../domain/business-day.ts';
import type { LedgerDay } from '../../ledger/ledger-days.sql.ts';
import type { PageContext } from '../shell/page-context.ts';
import { type DayLook, lookOf, StateIcon } from '../shell/parts.tsx';

/** Months side by side, each day with the colour and shape of its state, and a legend. */
export function Calendar(props: {
  readonly context: PageContext;
  /** `YYYY-MM`, in order. */
  readonly months: readonly string[];
  readonly days: readonly LedgerDay[];
}) {
  const { context } = props;
  const byDate = new Map(props.days.map((day) => [day.date, day]));
  return (
    <>
      <div class="months">
        {props.months.map((month) => (
          <Month key={month} context={context} month={month} days={byDate} />
        ))}
      </div>
      <Legend context={context} />
    </>
  );
}

/** Weeks from Monday; null for days of another month. */
export function weeksOf(month: string): (CivilDate | null)[][] {
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

function Month(props: {
  readonly context: PageContext;
  readonly month: string;
  readonly days: ReadonlyMap<string, LedgerDay>;
}) {
  const { context, month } = props;
  const { formats, text } = context;
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
          <tr key={`${month} ${index}`}>
            {week.map((date, weekday) => {
              if (date === null) return <td key={`${index} ${weekday}`} />;
              const day = props.days.get(date);
              const look = lookOf(day);
              const number = Number(date.slice(8));
              return (
                <td key={date}>
                  {day === undefined ? (
                    <span class="cell is-absent">{number}</span>
                  ) : (
                    <a
                      class={`cell is-${look}`}
                      href={`/days/${date}`}
                      title={`${formats.date(date)}: ${text.states[look]}, ${formats.count(day.titles)} ${text.days.titles.toLowerCase()}`}
                    >
                      <span class="cell-day">{number}</span>
                      <StateIcon look={look} />
                      <span class="sr">
                        {text.states[look]}, {formats.count(day.titles)}{' '}
                        {text.days.titles.toLowerCase()}
                      </span>
                    </a>
                  )}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
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

function Legend({ context }: { context: PageContext }) {
  return (
    <ul class="legend">
      {LEGEND.map((look) => (
        <li key={look} class={`is-${look}`}>
          <StateIcon look={look} />
          {context.text.states[look]}
        </li>
      ))}
    </ul>
  );
}
