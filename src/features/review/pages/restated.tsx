import type { FastifyInstance, FastifyRequest } from 'fastify';
import { InputError } from '../../../base/runtime/errors.ts';
import { type Language, textOf } from '../../../base/texts/texts.ts';
import { type CivilDate, dateIn } from '../../../base/values/business-day.ts';
import { maySeePersonalData } from '../../../base/values/role.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { DataTable, right } from '../../../console/shell/data-table.tsx';
import { pageContext, textParameter, usePage } from '../../../console/shell/page-context.ts';
import { Pager, type Paging, pagingOf } from '../../../console/shell/paging.tsx';
import { ActionForm, authorText, Card } from '../../../console/shell/parts.tsx';
import { actorOf } from '../../../console/shell/path-parameters.ts';
import { EVERYBODY, forPeople } from '../../../console/shell/route-access.ts';
import { sendFile } from '../../../console/shell/send-file.ts';
import { sendPage } from '../../../console/shell/send-page.ts';
import { type MovedTitles, readMovedTitles } from '../moved-titles.sql.ts';
import {
  type Differences as Compared,
  type RestatedDay,
  type RestatedTotals,
  readRestatedDays,
  readRestatedTotals,
} from '../restated-days.sql.ts';
import { MovedTable } from './moved.tsx';
import { exportRestated, RESTATED_FILES, type RestatedFile } from './restated-export.ts';

const DAYS_A_PAGE = 10;
const MOVED_A_DAY = 50;

/** Routes of the days that changed after their sign-off. */
export function addRestatedRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database, logger, timeZone } = parts;
  const filterOf = (request: FastifyRequest, isMine: boolean) => ({
    signedBy: isMine ? actorOf(request) : null,
    today: dateIn(timeZone, parts.now?.() ?? new Date()),
  });
  const isMasked = ({ principal }: FastifyRequest) =>
    !maySeePersonalData(principal?.role ?? 'viewer');

  server.get('/restated', forPeople(EVERYBODY), async (request, reply) => {
    const isMine = textParameter(request.query, 'mine') === 'true';
    const filter = filterOf(request, isMine);
    const [all, mine] = await Promise.all([
      readRestatedTotals(database, filterOf(request, false)),
      readRestatedTotals(database, filterOf(request, true)),
    ]);
    const totals = isMine ? mine : all;
    const paging = pagingOf(request.query, 'page', totals.days, DAYS_A_PAGE);
    const days = await readRestatedDays(database, filter, paging);
    const withMoved = await Promise.all(
      days.map(async (day) => ({
        ...day,
        moved: await readMovedTitles(database, day.date, BigInt(day.fence), MOVED_A_DAY),
      })),
    );
    const data = {
      isMine,
      counts: { all: all.days, mine: mine.days },
      totals,
      days: withMoved,
      paging,
      isMasked: isMasked(request),
    };
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('restated.title'),
      active: '/restated',
      body: <RestatedPage data={data} />,
    }));
  });

  server.post('/restated', forPeople(EVERYBODY), async (request, reply) => {
    const wanted = textParameter(request.body, 'file');
    const file = RESTATED_FILES.find((known) => known === wanted);
    if (file === undefined) {
      throw new InputError(`file: expected one of ${RESTATED_FILES.join(', ')}`, {
        context: { fault: 'file_format' },
      });
    }
    const { language } = pageContext(request, timeZone);
    const filter = filterOf(request, textParameter(request.body, 'mine') === 'true');
    return sendFile(reply, logger, (signal, send) =>
      exportRestated(
        database,
        {
          file,
          filter,
          actor: actorOf(request),
          locale: language,
          isMasked: isMasked(request),
        },
        signal,
        (bytes) =>
          send({
            name: fileName(file, filter.today, language),
            type: 'text/csv; charset=utf-8',
            bytes,
          }),
      ),
    );
  });
}

function fileName(file: RestatedFile, today: CivilDate, language: Language): string {
  return `${textOf(language)(`fileNames.restated.${file}`)}-${today}.csv`;
}

interface RestatedPageData {
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
function RestatedPage({ data }: { readonly data: RestatedPageData }) {
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

function Differences(props: { readonly label: string; readonly differences: Compared }) {
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
