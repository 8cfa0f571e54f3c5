import type { CivilDate } from '../../../base/values/business-day.ts';
import { DataTable, right } from '../../../console/shell/data-table.tsx';
import { maskTaxId } from '../../../console/shell/masking.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import { AmountCell } from '../../../console/shell/parts.tsx';
import type { DayTotals, PartyTotals, TotalsBy } from '../../review/pages/day-totals.sql.ts';

/** A day's totals by party. The rows add up to the day's totals. */
export function PartyTable(props: {
  readonly by: TotalsBy;
  readonly totals: DayTotals;
  readonly date: CivilDate;
}) {
  const context = usePage();
  const { by, totals } = props;
  const { text, formats } = context;
  const { parties, rest } = totals;
  if (parties.length === 0) return <p class="quiet">{text('day.noTitles')}</p>;
  const numbers = (party: PartyTotals) => (
    <>
      <td class="right number">{formats.count(party.titles)}</td>
      <AmountCell value={party.originalValueSum} />
    </>
  );
  return (
    <DataTable
      label={by === 'agent' ? text('day.byAgent') : text('day.byProvider')}
      heads={[
        by === 'agent' ? text('day.agent') : text('day.provider'),
        right(text('days.titles')),
        right(text('amounts.original_value')),
      ]}
    >
      {parties.map((party) => (
        <tr key={`${party.party} ${party.identification}`}>
          <th scope="row">
            {party.party === null ? (
              <span class="quiet">{text('day.notStated')}</span>
            ) : (
              <a
                href={`/titles?${new URLSearchParams({ from: props.date, to: props.date, [by]: party.party })}`}
              >
                {party.party}
              </a>
            )}
            {party.identification !== null && (
              <span class="quiet small tight"> {maskTaxId(party.identification)}</span>
            )}
          </th>
          {numbers(party)}
        </tr>
      ))}
      {rest !== null && (
        <tr>
          <th scope="row" class="quiet">
            {text('day.others', { count: formats.count(rest.parties) })}
          </th>
          {numbers(rest.totals)}
        </tr>
      )}
    </DataTable>
  );
}
