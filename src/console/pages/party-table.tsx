import type { CivilDate } from '../../domain/business-day.ts';
import type { DayTotals, PartyTotals, TotalsBy } from '../../staging/day-totals.ts';
import { maskTaxId } from '../masking.ts';
import type { PageContext } from '../page-context.ts';
import { Amount, TableFrame } from './parts.tsx';

/** A day's totals by party; the lines add up to the day's own totals. */
export function PartyTable(props: {
  readonly context: PageContext;
  readonly by: TotalsBy;
  readonly totals: DayTotals;
  readonly date: CivilDate;
}) {
  const { context, by, totals } = props;
  const { text, formats } = context;
  const { parties, rest } = totals;
  const numbers = (party: PartyTotals) => (
    <>
      <td class="right number">{formats.count(party.titles)}</td>
      {(['original_value', 'platform_discounted_value', 'financial_discounted_value'] as const).map(
        (column) => (
          <td key={column} class="right">
            <Amount context={context} value={party.sums[column]} />
          </td>
        ),
      )}
    </>
  );
  return (
    <TableFrame label={by === 'agent' ? text.day.byAgent : text.day.byProvider}>
      <table class="data">
        <thead>
          <tr>
            <th scope="col">{by === 'agent' ? text.day.agent : text.day.provider}</th>
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
          </tr>
        </thead>
        <tbody>
          {parties.map((party) => (
            <tr key={`${party.party} ${party.identification}`}>
              <th scope="row">
                {party.party === null ? (
                  <span class="quiet">{text.day.notStated}</span>
                ) : (
                  <a
                    href={`/days/${props.date}/titles?${new URLSearchParams({ [by]: party.party })}`}
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
                {text.day.others(formats.count(rest.parties))}
              </th>
              {numbers(rest.totals)}
            </tr>
          )}
        </tbody>
      </table>
    </TableFrame>
  );
}
