import { addDays, type CivilDate, daysBetween, toCivilDate } from '../../domain/business-day.ts';
import type { LedgerDay, Need, NeedCounts } from '../../staging/ledger-days.ts';
import type { CheckpointRow } from '../../staging/reads.ts';
import type { PageContext } from '../page-context.ts';
import type { Badges } from './layout.tsx';
import {
  Amount,
  Banner,
  Card,
  DayLink,
  type DayLook,
  lookOf,
  Metric,
  StateBadge,
  StateIcon,
  TableFrame,
} from './parts.tsx';

export interface DaysPageData {
  readonly checkpoint: CheckpointRow | null;
  /** The last date that is over. */
  readonly closedDate: CivilDate;
  /** `YYYY-MM`, the months shown, in order. */
  readonly months: readonly string[];
  readonly days: readonly LedgerDay[];
  readonly needs: NeedCounts;
  readonly badges: Badges;
  readonly earlier: string | null;
  readonly later: string | null;
}

const NEED_LOOKS: Readonly<Record<Need, DayLook>> = {
  failed: 'failed',
  restated: 'restated',
  held: 'held',
  attention: 'attention',
  sign_off: 'reconciled',
};

export function DaysPage({ context, data }: { context: PageContext; data: DaysPageData }) {
  const { days } = context.text;
  const byDate = new Map(data.days.map((day) => [day.date, day]));
  return (
    <>
      <Headline context={context} data={data} />
      {data.badges.accountChanges > 0 && (
        <Banner
          look="attention"
          title={days.accountChanges(context.formats.count(data.badges.accountChanges))}
        >
          <p>
            {days.accountChangesHelp} <a href="/providers">{context.text.nav.providers}</a>
          </p>
        </Banner>
      )}
      {data.needs.days.length > 0 && <Needs context={context} needs={data.needs} />}
      <Card
        title={days.calendar}
        aside={
          <nav class="pager" aria-label={days.calendar}>
            {data.earlier !== null && <a href={`/?to=${data.earlier}`}>← {days.earlier}</a>}
            {data.later !== null && <a href={`/?to=${data.later}`}>{days.later} →</a>}
          </nav>
        }
      >
        <div class="months">
          {data.months.map((month) => (
            <Month key={month} context={context} month={month} days={byDate} />
          ))}
        </div>
        <Legend context={context} />
      </Card>
      {data.days.length > 0 && <SumsChart context={context} days={data.days} />}
      {data.days.length > 0 && <DaysTable context={context} days={data.days} />}
    </>
  );
}

function Headline({ context, data }: { context: PageContext; data: DaysPageData }) {
  const { text, formats } = context;
  const { days } = text;
  const { checkpoint, needs, closedDate } = data;
  const reached = checkpoint?.lastReconciledDate ?? null;
  const from = reached ?? (checkpoint === null ? null : addDays(checkpoint.startDate, -1));
  const lagDays = from === null ? 0 : Math.max(0, daysBetween(from, closedDate));
  const urgent =
    needs.counts.failed + needs.counts.restated + needs.counts.held + needs.counts.attention;
  const toSign = needs.counts.sign_off;
  const isGood = reached !== null && urgent === 0 && toSign === 0 && lagDays === 0;
  const parts = [
    urgent > 0 ? days.needsYou(formats.count(urgent)) : null,
    toSign > 0 ? days.toSign(formats.count(toSign)) : null,
    lagDays > 0
      ? days.behind(lagDays === 1 ? days.lagDay : days.lagDays(formats.count(lagDays)))
      : null,
  ].filter((part) => part !== null);
  return (
    <section class="headline">
      <div>
        <h1>{isGood ? days.allGood : parts.length > 0 ? parts.join(' · ') : days.title}</h1>
        <p class="quiet">
          {checkpoint === null
            ? days.emptyLedger
            : reached === null
              ? days.nothingYet
              : isGood
                ? days.allGoodHelp(formats.date(reached))
                : days.reconciledTo(formats.date(reached))}
        </p>
      </div>
      <dl class="metrics">
        <Metric label={days.checkpoint} value={reached === null ? '–' : formats.date(reached)} />
        <Metric
          label={days.lag}
          class={lagDays > 0 ? 'is-warning' : ''}
          value={
            lagDays === 0
              ? days.noLag
              : lagDays === 1
                ? days.lagDay
                : days.lagDays(formats.count(lagDays))
          }
        />
        <Metric label={days.waitingToSign} value={formats.count(toSign)} />
        <Metric
          label={days.openAlerts}
          class={data.badges.alerts > 0 ? 'is-warning' : ''}
          value={formats.count(data.badges.alerts)}
          href="/alerts"
        />
      </dl>
    </section>
  );
}

function Needs({ context, needs }: { context: PageContext; needs: NeedCounts }) {
  const { text, formats } = context;
  const shown = new Map<Need, number>();
  for (const { need } of needs.days) shown.set(need, (shown.get(need) ?? 0) + 1);
  const kinds = [...shown.keys()];
  return (
    <Card title={text.days.needs}>
      <ul class="needs">
        {kinds.map((need) => (
          <li key={need} class={`need is-${NEED_LOOKS[need]}`}>
            <p class="need-what">
              <StateIcon look={NEED_LOOKS[need]} />
              {text.days.need[need]}
            </p>
            <p class="need-days">
              {needs.days
                .filter((day) => day.need === need)
                .map((day) => (
                  <DayLink key={day.date} context={context} date={day.date} />
                ))}
              {needs.counts[need] > (shown.get(need) ?? 0) && (
                <span class="quiet">
                  {text.days.more(formats.count(needs.counts[need] - (shown.get(need) ?? 0)))}
                </span>
              )}
            </p>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Weeks from Monday; null where a week has days of another month. */
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

const CHART_HEIGHT = 120;
const CHART_WIDTH = 1160;
/** Narrow enough for a quarter, wide enough to be hit. */
const MIN_BAR_STEP = 12;
const MAX_BAR_STEP = 40;

function SumsChart({ context, days }: { context: PageContext; days: readonly LedgerDay[] }) {
  const { text, formats } = context;
  // Heights alone are approximate; every figure that is written stays exact.
  const values = days.map((day) => Math.max(0, Number(day.sums.original_value)));
  const top = Math.max(...values, 1);
  const step = Math.min(
    MAX_BAR_STEP,
    Math.max(MIN_BAR_STEP, Math.floor(CHART_WIDTH / days.length)),
  );
  const barWidth = Math.round(step * 0.7);
  const width = days.length * step;
  return (
    <Card title={text.days.chart} aside={<p class="quiet small">{text.days.chartHelp}</p>}>
      <TableFrame label={text.days.chart}>
        {/* biome-ignore lint/a11y/noSvgWithoutTitle: the group around it and each bar have names */}
        <svg
          class="chart"
          viewBox={`0 0 ${width} ${CHART_HEIGHT}`}
          width={width}
          height={CHART_HEIGHT}
          preserveAspectRatio="xMinYMax meet"
        >
          <line
            class="chart-base"
            x1="0"
            x2={width}
            y1={CHART_HEIGHT - 0.5}
            y2={CHART_HEIGHT - 0.5}
          />
          {days.map((day, index) => {
            const height = Math.max(2, ((values[index] ?? 0) / top) * (CHART_HEIGHT - 8));
            const label = `${formats.date(day.date)}: ${formats.amount(day.sums.original_value)}`;
            return (
              <a key={day.date} href={`/days/${day.date}`} aria-label={label}>
                <rect class="chart-hit" x={index * step} y="0" width={step} height={CHART_HEIGHT} />
                <rect
                  class={`bar is-${lookOf(day)}`}
                  x={index * step + (step - barWidth) / 2}
                  y={CHART_HEIGHT - height}
                  width={barWidth}
                  height={height}
                  rx="1.5"
                >
                  <title>{label}</title>
                </rect>
              </a>
            );
          })}
        </svg>
      </TableFrame>
    </Card>
  );
}

function DaysTable({ context, days }: { context: PageContext; days: readonly LedgerDay[] }) {
  const { text, formats } = context;
  return (
    <Card title={text.days.table}>
      <TableFrame label={text.days.table}>
        <table class="data">
          <thead>
            <tr>
              <th scope="col">{text.days.date}</th>
              <th scope="col">{text.days.state}</th>
              <th scope="col" class="right">
                {text.days.titles}
              </th>
              <th scope="col" class="right">
                {text.amounts.original_value}
              </th>
              <th scope="col" class="right">
                {text.amounts.platform_discounted_value}
              </th>
              <th scope="col" class="right">
                {text.amounts.financial_discounted_value}
              </th>
              <th scope="col" class="right">
                {text.days.withdrawn}
              </th>
              <th scope="col" class="right">
                {text.days.rejected}
              </th>
              <th scope="col">{text.days.signedBy}</th>
            </tr>
          </thead>
          <tbody>
            {days.toReversed().map((day) => (
              <tr key={day.date}>
                <th scope="row">
                  <DayLink context={context} date={day.date} />
                </th>
                <td>
                  <StateBadge context={context} look={lookOf(day)} />
                </td>
                <td class="right number">{formats.count(day.titles)}</td>
                <td class="right">
                  <Amount context={context} value={day.sums.original_value} />
                </td>
                <td class="right">
                  <Amount context={context} value={day.sums.platform_discounted_value} />
                </td>
                <td class="right">
                  <Amount context={context} value={day.sums.financial_discounted_value} />
                </td>
                <td class={`right number ${day.withdrawn === 0 ? 'quiet' : ''}`}>
                  {formats.count(day.withdrawn)}
                </td>
                <td class={`right number ${day.rejected === 0 ? 'quiet' : ''}`}>
                  {formats.count(day.rejected)}
                </td>
                <td>{day.signedOffBy ?? <span class="quiet">–</span>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableFrame>
    </Card>
  );
}
