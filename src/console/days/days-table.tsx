import { Fragment } from 'preact';
import { type CivilDate, datesBetween } from '../../domain/business-day.ts';
import type { LedgerDay } from '../../ledger/ledger-days.sql.ts';
import { DataTable, right } from '../shell/data-table.tsx';
import { usePage } from '../shell/page-context.ts';
import { AmountCell, Author, Card, DayLink, lookOf, StateBadge } from '../shell/parts.tsx';

/** The days as a table, newest first. A row names the dates without a day between two days. */
export function DaysTable({ days }: { days: readonly LedgerDay[] }) {
  const context = usePage();
  const { text, formats } = context;
  const gaps = gapsBetween(days);
  const head = [
    text.days.date,
    text.days.state,
    right(text.days.titles),
    right(text.amounts.original_value),
    right(text.days.withdrawn),
    right(text.days.rejected),
    text.days.signedBy,
  ];
  return (
    <Card title={text.days.table}>
      <DataTable label={text.days.table} heads={head}>
        {days.toReversed().map((day) => (
          <Fragment key={day.date}>
            <GapRow gap={gaps.get(day.date)} columns={head.length} />
            <tr>
              <th scope="row">
                <DayLink date={day.date} />
              </th>
              <td>
                <StateBadge look={lookOf(day)} />
              </td>
              <td class="right number">{formats.count(day.titles)}</td>
              <AmountCell value={day.sums.original_value} />
              <td class={`right number ${day.withdrawn === 0 ? 'quiet' : ''}`}>
                {formats.count(day.withdrawn)}
              </td>
              <td class={`right number ${day.rejected === 0 ? 'quiet' : ''}`}>
                {formats.count(day.rejected)}
              </td>
              <td>
                {day.signedOffBy === null ? (
                  <span class="quiet">–</span>
                ) : (
                  <Author name={day.signedOffBy} />
                )}
              </td>
            </tr>
          </Fragment>
        ))}
      </DataTable>
    </Card>
  );
}

interface Gap {
  readonly from: CivilDate;
  readonly to: CivilDate;
  readonly dates: number;
}

function GapRow(props: { readonly gap: Gap | undefined; readonly columns: number }) {
  const context = usePage();
  const { gap } = props;
  if (gap === undefined) return null;
  const { text, formats } = context;
  const range =
    gap.dates === 1
      ? formats.date(gap.from)
      : `${formats.date(gap.from)} – ${formats.date(gap.to)} (${formats.count(gap.dates)})`;
  return (
    <tr class="gap">
      <td colSpan={props.columns}>
        {text.states.absent}: {range}
      </td>
    </tr>
  );
}

/** The dates without a day that follow a day and come before the next one, by the day before. */
function gapsBetween(days: readonly LedgerDay[]): ReadonlyMap<CivilDate, Gap> {
  const gaps = new Map<CivilDate, Gap>();
  for (const [index, day] of days.entries()) {
    const next = days[index + 1];
    const missing = next === undefined ? [] : datesBetween(day.date, next.date).slice(1, -1);
    const [from, to] = [missing[0], missing.at(-1)];
    if (from !== undefined && to !== undefined) {
      gaps.set(day.date, { from, to, dates: missing.length });
    }
  }
  return gaps;
}
