import { usePage } from '../shell/page-context.ts';
import { Card } from '../shell/parts.tsx';
import type { ListedLine } from './booking-list.sql.ts';
import type { DayBookings, ListedReceipt } from './booking-receipts.sql.ts';
import { LinesTable, ReceiptsTable } from './bookings-page.tsx';

/** The versions and the receipts of one booking. */
export function BookingPage(props: {
  readonly versions: readonly ListedLine[];
  readonly receipts: readonly ListedReceipt[];
}) {
  const { versions, receipts } = props;
  const { text } = usePage();
  return (
    <>
      <nav class="crumbs" aria-label={text('bookings.title')}>
        <a href="/bookings">← {text('bookings.title')}</a>
      </nav>
      <div>
        <h1>{text('bookings.history')}</h1>
        <p class="quiet">{text('bookings.historyHelp')}</p>
        <p class="mono anywhere">{versions.at(-1)?.key}</p>
      </div>
      <Card title={text('bookings.lines')}>
        <LinesTable lines={versions} />
      </Card>
      <Card title={text('bookings.receipts')}>
        {receipts.length === 0 ? (
          <p class="quiet">{text('bookings.noReceipts')}</p>
        ) : (
          <ReceiptsTable receipts={receipts} />
        )}
      </Card>
    </>
  );
}

/** What is released of a day, and how much of it is posted. */
export function DayBookingsCard(props: { readonly date: string; readonly bookings: DayBookings }) {
  const { date, bookings } = props;
  const { text, formats } = usePage();
  const href = `/bookings?${new URLSearchParams({ from: date, to: date })}`;
  return (
    <Card
      title={text('bookings.dayTitle')}
      aside={bookings.lines > 0 ? <a href={href}>{text('bookings.dayOpen')}</a> : undefined}
    >
      {bookings.releasedAt === null ? (
        <p class="quiet">{text('bookings.dayNone')}</p>
      ) : (
        <p>
          {text('bookings.dayReleased', {
            lines: formats.count(bookings.lines),
            posted: formats.count(bookings.posted),
            failed: formats.count(bookings.failed),
          })}
        </p>
      )}
      {bookings.waiting > 0 && (
        <p>
          {text('bookings.dayWaiting', { titles: bookings.waiting })}{' '}
          <a href={`/breaks?${new URLSearchParams({ date })}`}>{text('bookings.dayBreaks')}</a>
        </p>
      )}
    </Card>
  );
}
