import { DataTable, right } from '../../../console/shell/data-table.tsx';
import { usePage } from '../../../console/shell/page-context.ts';
import { Pager, type Paging } from '../../../console/shell/paging.tsx';
import { ActionForm, authorText, Card } from '../../../console/shell/parts.tsx';
import type { MovedTitles } from '../moved-titles.sql.ts';
import type { RestatedDay, RestatedTotals, SealedDifferences } from '../restated-days.sql.ts';
import { MovedTable } from './moved.tsx';
import { RESTATED_FILES } from './restated-export.ts';

export interface RestatedPageData {
  /** Whether only the days that the reader signed off are shown. */
  readonly isMine: boolean;
  /** The numbers of days. */
  readonly counts: { readonly all: number; readonly mine: number };
  readonly totals: RestatedTotals;
  readonly days: readonly (RestatedDay & { readonly moved: MovedTitles })[];
  readonly paging: Paging;
  readonly isMasked: boolean;
}

const hrefOf = (isMine: boolean, page = 1) => {
  const query = new URLSearchParams({
    ...(isMine && { mine: 'true' }),
    ...(page > 1 && { page: String(page) }),
  });
  return query.size === 0 ? '/restated' : `/restated?${query}`;
};

/** All days that changed after their sign-off: what was sealed, what is present, and the difference. */
export function RestatedPage({ data }: { readonly data: RestatedPageData }) {
  const { text, formats } = usePage();
  const tabs = [
    [false, text('restated.all'), data.counts.all],
    [true, text('restated.mine'), data.counts.mine],
  ] as const;
  return (
    <>
      <div>
        <h1>{text('restated.title')}</h1>
        <p class="quiet">{text('restated.intro')}</p>
      </div>
      <nav class="tabs" aria-label={text('restated.title')}>
        {tabs.map(([isMine, label, count]) => (
          <a
            key={label}
            href={hrefOf(isMine)}
            {...(data.isMine === isMine && { 'aria-current': 'page' })}
          >
            {label} ({formats.count(count)})
          </a>
        ))}
      </nav>
      {data.days.length === 0 ? (
        <p class="quiet">{text('restated.none')}</p>
      ) : (
        <>
          <Card title={text('restated.overall', { days: formats.count(data.totals.days) })}>
            <Differences label={text('restated.title')} differences={data.totals.differences} />
            <ActionForm action="/restated" class="buttons" isDownload>
              <input type="hidden" name="mine" value={String(data.isMine)} />
              {RESTATED_FILES.map((file) => (
                <button key={file} type="submit" name="file" value={file} class="button">
                  {text(`restated.files.${file}`)}
                </button>
              ))}
              <p class="quiet small">
                {data.isMasked ? text('exports.masked') : text('restated.personal')}
              </p>
            </ActionForm>
          </Card>
          {data.days.map((day) => (
            <DayCard key={day.date} day={day} />
          ))}
          <Pager
            label={text('restated.title')}
            paging={data.paging}
            hrefOf={(page) => hrefOf(data.isMine, page)}
          />
        </>
      )}
    </>
  );
}

function DayCard({ day }: { readonly day: RestatedPageData['days'][number] }) {
  const { text, formats } = usePage();
  const date = formats.date(day.date);
  return (
    <Card title={date} aside={<a href={`/days/${day.date}`}>{text('restated.openDay')}</a>}>
      <p>
        {text('day.signedBy', {
          name: authorText(text, day.signedOffBy),
          at: formats.instant(day.signedOffAt),
        })}
      </p>
      <Differences label={date} differences={day.differences} />
      <h3>{text('day.movedSinceSeal')}</h3>
      <MovedTable label={`${text('day.movedSinceSeal')}: ${date}`} moved={day.moved} />
    </Card>
  );
}

function Differences(props: { readonly label: string; readonly differences: SealedDifferences }) {
  const { differences } = props;
  const { text, formats } = usePage();
  const count = (value: string) => formats.amount(value).replace(/[.,]00$/, '');
  const rows = [
    ['title_count', text('days.titles'), count],
    ['withdrawn_count', text('days.withdrawn'), count],
    ['rejected_count', text('days.rejected'), count],
    ['original_value_sum', text('amounts.original_value'), formats.amount],
  ] as const;
  return (
    <DataTable
      label={props.label}
      heads={[
        text('day.amount'),
        right(text('restated.sealed')),
        right(text('restated.present')),
        right(text('restated.difference')),
      ]}
    >
      {rows.map(([measure, label, format]) => {
        const { sealed, present, difference } = differences[measure];
        const isEqual = /^-?0(?:\.0*)?$/.test(difference);
        return (
          <tr key={measure}>
            <th scope="row">{label}</th>
            <td class="right number">{format(sealed)}</td>
            <td class="right number">{format(present)}</td>
            <td class={`right number ${isEqual ? 'quiet' : ''}`}>
              {isEqual ? (
                format(difference)
              ) : (
                <strong>
                  {difference.startsWith('-') ? '' : '+'}
                  {format(difference)}
                </strong>
              )}
            </td>
          </tr>
        );
      })}
    </DataTable>
  );
}
