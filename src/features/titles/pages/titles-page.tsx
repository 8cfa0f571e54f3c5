import { type CivilDate, lastClosedDate } from '../../../base/values/business-day.ts';
import { maySeePersonalData } from '../../../base/values/role.ts';
import type { Column } from '../../../console/list/columns.tsx';
import { declareList, inTwo } from '../../../console/list/list.tsx';
import { maskPromoted } from '../../../console/shell/masking.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import { maskPayee, PayeeAccount, PayeeName } from '../../schedule/index.tsx';
import { readPayee } from '../../schedule/schedule.sql.ts';
import { readDoubtfulDates } from '../export-titles.sql.ts';
import { EXPORT_FORMATS, sendTitleFile } from '../title-file.ts';
import {
  countTitles,
  readTitles,
  TITLE_FILTER,
  TitleRow,
  titleOrder,
  whereOf,
} from './title-list.sql.ts';

/** A due date, and the business day on which the payment is made, where that is another day. */
export function DueDate(props: {
  readonly date: CivilDate | null;
  readonly businessDay: CivilDate | null;
}) {
  const { date, businessDay } = props;
  const { text, formats } = usePage();
  if (date === null) return null;
  return (
    <>
      {formats.date(date)}
      {businessDay !== null && businessDay !== date && (
        <span class="quiet small">
          {' '}
          {text('calendar.paidOn', { date: formats.date(businessDay) })}
        </span>
      )}
    </>
  );
}

const COLUMNS: readonly Column<TitleRow>[] = [
  {
    name: 'order_uid',
    head: 'titles.order',
    sort: 'order',
    cell: ({ id, orderUid, occurrence, promoted }, { text, formats }) => (
      <>
        <a href={`/titles/${id}`}>{orderUid}</a>
        {occurrence > 1 && (
          <span class="quiet small">
            {' '}
            {text('title.copy', { number: formats.count(occurrence) })}
          </span>
        )}
        {promoted.map(({ name, value }) => (
          <span key={name} class="quiet small">
            <br />
            {name} {value}
          </span>
        ))}
      </>
    ),
    isHead: true,
  },
  {
    name: 'accepted_date',
    head: 'titles.accepted',
    kind: 'day',
    sort: 'accepted',
  },
  {
    name: 'due_date',
    head: 'titles.due',
    kind: 'date',
    sort: 'due',
    cell: ({ dueDate, businessDay }) => <DueDate date={dueDate} businessDay={businessDay} />,
  },
  {
    name: 'provider',
    head: 'titles.provider',
    sort: 'provider',
  },
  {
    name: 'agent',
    head: 'title.groups.agent',
    sort: 'agent',
  },
  {
    name: 'original_value',
    head: 'titles.value',
    kind: 'amount',
    sort: 'value',
  },
  {
    name: 'status',
    head: 'titles.status',
    word: ({ status }) => `title.status.${status}`,
    cell: ({ status }, { text }) =>
      status === 'withdrawn' && (
        <span class="tag is-withdrawn">{text('title.status.withdrawn')}</span>
      ),
  },
];

/** The titles of one day, of a range, or of all dates. Their files have all columns of a title. */
export const TITLES = declareList(TitleRow, {
  name: 'titles',
  path: '/titles',
  active: '/titles',
  filter: TITLE_FILTER,
  columns: COLUMNS,
  rowClass: ({ status }) => (status === 'withdrawn' ? 'is-withdrawn-row' : undefined),
  order: titleOrder,
  read: inTwo(countTitles, readTitles),
  mask: (title) => ({ ...title, promoted: title.promoted.map(maskPromoted) }),
  api: { tag: 'titles', operationId: 'listTitles', summary: 'Titles that a filter selects' },
  file: {
    formats: EXPORT_FORMATS,
    send: async (request, reply, parts, filter, format) => {
      const { from, to, status, sort: _, ...others } = filter;
      const isPart =
        status === 'withdrawn' || Object.values(others).some((value) => value !== null);
      const where = await whereOf(parts.database.prisma, filter);
      const noted = { includeWithdrawn: status !== 'current', ...(isPart && { isPart }) };
      return sendTitleFile(request, reply, parts, { from, to, where, noted }, format);
    },
  },
  layout: async (parts, filter, request) => {
    const { database, timeZone } = parts;
    const now = parts.now?.() ?? new Date();
    const { payeeOf } = filter;
    const [stated, doubtful] = await Promise.all([
      payeeOf === null ? null : readPayee(database, Number(payeeOf)),
      readDoubtfulDates(database, filter, lastClosedDate(timeZone, now)),
    ]);
    const payee = stated && maskPayee(stated);
    const isMasked = !maySeePersonalData(request.principal?.role ?? 'viewer');
    return ({ page: { text }, head, filter, table }) => (
      <>
        {head}
        {payee !== null && (
          <p>
            {text('titles.payee')}: <PayeeName payee={payee} />, <PayeeAccount payee={payee} />
          </p>
        )}
        {filter}
        {table}
        <p class="quiet small">{text(isMasked ? 'exports.masked' : 'exports.personal')}</p>
        {doubtful > 0 && <p class="error">{text('exports.doubtful', { dates: doubtful })}</p>}
      </>
    );
  },
});
