import { datesBetween } from '../../domain/business-day.ts';
import type { LedgerDay } from '../../ledger/ledger-days.sql.ts';
import { usePage } from '../shell/page-context.ts';
import { Card, lookOf, TableFrame } from '../shell/parts.tsx';

const PLOT_HEIGHT = 120;
/** Room above the highest line, for its label. */
const TOP = 12;
/** Room below the bars, for the dates. */
const AXIS_HEIGHT = 18;
const CHART_WIDTH = 1160;
/** Minimum width of a bar: a quarter fits, and a bar can be clicked. */
const MIN_BAR_STEP = 12;
const MAX_BAR_STEP = 40;
/** Room for a date under the bars. */
const LABEL_WIDTH = 46;
const DIGIT_WIDTH = 7;

/**
 * A place for each date from the first to the last day, with a bar and a link for each day, a scale,
 * and dates. A date without a day keeps its place.
 */
export function SumsChart({ days }: { days: readonly LedgerDay[] }) {
  const { text, formats } = usePage();
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return null;
  const dates = datesBetween(first.date, last.date);
  const byDate = new Map(days.map((day) => [day.date, day]));
  // Only the heights are approximate; every written figure is exact.
  const heightOf = (day: LedgerDay) => Math.max(0, Number(day.sums.original_value));
  const top = scaleOver(Math.max(...days.map(heightOf)));
  const lines = [top, top / 2].map((value) => ({ value, label: formats.count(value) }));
  const left = Math.max(...lines.map(({ label }) => label.length)) * DIGIT_WIDTH + 8;
  const step = Math.min(
    MAX_BAR_STEP,
    Math.max(MIN_BAR_STEP, Math.floor((CHART_WIDTH - left) / dates.length)),
  );
  const barWidth = Math.round(step * 0.7);
  const width = left + Math.max(dates.length * step, LABEL_WIDTH);
  const base = TOP + PLOT_HEIGHT;
  const labelEvery = Math.ceil(LABEL_WIDTH / step);
  return (
    <Card title={text.days.chart} aside={<p class="quiet small">{text.days.chartHelp}</p>}>
      <TableFrame label={text.days.chart}>
        {/* biome-ignore lint/a11y/noSvgWithoutTitle: the group around it and each bar have names */}
        <svg
          class="chart"
          viewBox={`0 0 ${width} ${base + AXIS_HEIGHT}`}
          width={width}
          height={base + AXIS_HEIGHT}
        >
          {lines.map(({ value, label }) => {
            const y = base - (value / top) * PLOT_HEIGHT;
            return (
              <g key={label}>
                <line class="chart-line" x1={left} x2={width} y1={y} y2={y} />
                <text class="chart-label" x={left - 6} y={y + 4} text-anchor="end">
                  {label}
                </text>
              </g>
            );
          })}
          <line class="chart-base" x1={left} x2={width} y1={base - 0.5} y2={base - 0.5} />
          {dates.map((date, index) => {
            const x = left + index * step;
            const day = byDate.get(date);
            return (
              <g key={date}>
                {day === undefined ? (
                  <rect class="chart-gap" x={x} y={TOP} width={step} height={PLOT_HEIGHT}>
                    <title>{`${formats.date(date)}: ${text.states.absent}`}</title>
                  </rect>
                ) : (
                  <Bar
                    day={day}
                    place={{ x, step, barWidth, base }}
                    height={Math.max(2, (heightOf(day) / top) * PLOT_HEIGHT)}
                  />
                )}
                {index % labelEvery === 0 && (
                  <text class="chart-label" x={x} y={base + 13}>
                    {formats.dayMonth(date)}
                  </text>
                )}
              </g>
            );
          })}
        </svg>
      </TableFrame>
    </Card>
  );
}

function Bar(props: {
  readonly day: LedgerDay;
  readonly place: { readonly x: number; step: number; barWidth: number; base: number };
  readonly height: number;
}) {
  const context = usePage();
  const { day, height } = props;
  const { x, step, barWidth, base } = props.place;
  const { formats } = context;
  const label = `${formats.date(day.date)}: ${formats.amount(day.sums.original_value)}`;
  return (
    <a href={`/days/${day.date}`} aria-label={label}>
      <rect class="chart-hit" x={x} y={TOP} width={step} height={PLOT_HEIGHT} />
      <rect
        class={`bar is-${lookOf(day)}`}
        x={x + (step - barWidth) / 2}
        y={base - height}
        width={barWidth}
        height={height}
        rx="1.5"
      >
        <title>{label}</title>
      </rect>
    </a>
  );
}

/** The next of 2, 4, 6, 10, 20, 40 … that is not below the value, so that half of it is whole too. */
function scaleOver(value: number): number {
  let unit = 1;
  while (unit * 10 < value) unit *= 10;
  return unit * ([2, 4, 6, 10].find((times) => times * unit >= value) ?? 10);
}
