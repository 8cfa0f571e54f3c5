import { DataTable } from '../../../console/shell/data-table.tsx';
import { usePage } from '../../../console/shell/page-context.ts';
import { Author, InstantCell } from '../../../console/shell/parts.tsx';
import type { DayPull } from '../../../core/ledger/day-pulls.ts';

/** The pulls of a day and their effects. */
export function PullsTable({ pulls }: { pulls: readonly DayPull[] }) {
  const { text, formats } = usePage();
  if (pulls.length === 0) return <p class="quiet">{text('day.pullsEmpty')}</p>;
  const countsOf = ({ inserted, changed, withdrawn, restored }: DayPull) =>
    [inserted, changed, withdrawn, restored]
      .map((count) => (count === null ? '–' : formats.count(count)))
      .join(' · ');
  return (
    <DataTable
      label={text('day.pulls')}
      heads={[
        text('day.pullNumber'),
        text('day.origin'),
        text('day.fetched'),
        text('day.outcome'),
        text('day.counts'),
        text('day.by'),
      ]}
    >
      {pulls.map((pull) => (
        <tr key={pull.id}>
          <th scope="row" class="number">
            {pull.id}
          </th>
          <td>{text(`day.origins.${pull.origin}`)}</td>
          <InstantCell at={pull.fetchedAt ?? pull.createdAt} />
          <td>
            {text(`day.outcomes.${pull.isReleased ? 'released' : pull.state}`)}
            {pull.errorCode !== null && <span class="quiet small"> {pull.errorCode}</span>}
          </td>
          <td class="number">
            {pull.inserted === null
              ? '–'
              : pull.state === 'held'
                ? text('day.wouldBe', { counts: countsOf(pull) })
                : countsOf(pull)}
          </td>
          <td>
            <Author name={pull.decidedBy ?? pull.requestedBy} />
            {pull.reason !== null && <p class="quiet small">{pull.reason}</p>}
          </td>
        </tr>
      ))}
    </DataTable>
  );
}
