import { TableCard } from '../../../console/list/columns.tsx';
import { maskErpTexts } from '../../../console/shell/masking.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import { Card } from '../../../console/shell/parts.tsx';
import type { DayBookings, ListedLine } from './booking-list.sql.ts';
import { LINE_COLUMNS } from './bookings.tsx';

const OF_TITLE = ['key', 'kind', 'state', 'answer', 'accounting_date', 'released_at'];
const TITLE_COLUMNS = LINE_COLUMNS.filter(({ name }) => OF_TITLE.includes(name));

/** The newest line of a title, where one is released. */
export function TitleBooking({ lines }: { readonly lines: readonly ListedLine[] }) {
  const { principal } = usePage();
  const rows = lines.map((line) => maskErpTexts(line, principal));
  return <TableCard head="bookings.ofTitle" columns={TITLE_COLUMNS} rows={rows} />;
}

/** What is released of a day, and how much of it is posted. */
export function DayBookingsCard(props: { readonly date: string; readonly bookings: DayBookings }) {
  const { date, bookings } = props;
  const { text } = usePage();
  const href = `/booking-lines?${new URLSearchParams({ from: date, to: date })}`;
  return (
    <Card
      title={text('bookings.dayTitle')}
      aside={bookings.lines > 0 ? <a href={href}>{text('bookings.dayOpen')}</a> : undefined}
    >
      <Released date={date} bookings={bookings} />
    </Card>
  );
}

/** What went to the ERP, and what waits and why. */
export function Released(props: {
  readonly date: string;
  readonly bookings: DayBookings | undefined;
}) {
  const { date, bookings } = props;
  const { text, formats } = usePage();
  if (bookings === undefined) return null;
  const { lines, posted, failed, waiting, isWaiting, isBefore, fault } = bookings;
  const breaks = `/breaks?${new URLSearchParams({ date })}`;
  return (
    <>
      <p class={lines === 0 ? 'quiet' : ''}>
        {lines === 0
          ? text(isBefore ? 'bookings.dayBefore' : 'bookings.dayNone')
          : text('bookings.dayReleased', {
              lines: formats.count(lines),
              posted: formats.count(posted),
              failed: formats.count(failed),
            })}
      </p>
      {isWaiting && (
        <p>
          {waiting > 0 && `${text('bookings.dayWaiting', { titles: waiting })} `}
          {text(`bookings.waitingReasons.${fault ?? 'none'}`)}{' '}
          {fault !== null && (
            <a href={fault === 'titles' ? breaks : '/booking-lines'}>
              {text('bookings.dayResolve')}
            </a>
          )}
        </p>
      )}
    </>
  );
}
