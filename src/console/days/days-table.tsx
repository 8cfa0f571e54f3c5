import type { LedgerDay } from '../../ledger/ledger-days.sql.ts';
import { DataTable, MainAmountCells, mainAmountHeads, right } from '../shell/data-table.tsx';
import type { PageContext } from '../shell/page-context.ts';
import { Card, DayLink, lookOf, StateBadge } from '../shell/parts.tsx';

/** The days as a table, newest first. */
export function DaysTable({ context, days }: { context: PageContext; days: readonly LedgerDay[] }) {
  const { text, formats } = context;
  return (
    <Card title={text.days.table}>
      <DataTable
        label={text.days.table}
        heads={[
          text.days.date,
          text.days.state,
          right(text.days.titles),
          ...mainAmountHeads(context),
          right(text.days.withdrawn),
          right(text.days.rejected),
          text.days.signedBy,
        ]}
      >
        {days.toReversed().map((day) => (
          <tr key={day.date}>
            <th scope="row">
              <DayLink context={context} date={day.date} />
            </th>
            <td>
              <StateBadge context={context} look={lookOf(day)} />
            </td>
            <td class="right number">{formats.count(day.titles)}</td>
            <MainAmountCells context={context} sums={day.sums} />
            <td class={`right number ${day.withdrawn === 0 ? 'quiet' : ''}`}>
              {formats.count(day.withdrawn)}
            </td>
            <td class={`right number ${day.rejected === 0 ? 'quiet' : ''}`}>
              {formats.count(day.rejected)}
            </td>
            <td>{day.signedOffBy ?? <span class="quiet">–</span>}</td>
          </tr>
        ))}
      </DataTable>
    </Card>
  );
}
