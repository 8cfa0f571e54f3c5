import type { LedgerDay } from '../../ledger/ledger-days.sql.ts';
import type { PageContext } from '../shell/page-context.ts';
import { Card, lookOf, TableFrame } from '../shell/parts.tsx';

const CHART_HEIGHT = 120;
const CHART_WIDTH = 1160;
/** Minimum width of a bar: a quarter fits, and a bar can be clicked. */
const MIN_BAR_STEP = 12;
const MAX_BAR_STEP = 40;

/** A bar for each day, with a link to the day. */
export function SumsChart({ context, days }: { context: PageContext; days: readonly LedgerDay[] }) {
  const { text, formats } = context;
  // Only the heights are approximate; every written figure is exact.
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
