import type { CivilDate } from '../../../base/values/business-day.ts';
import type { Alert } from './alert.ts';
import { ANY_CAUSE, alertsByCause, inBoth, sumOf } from './dated-alerts.ts';

const HOUR_MS = 3_600_000;

export function bookingReceiptsAlerts(
  open: readonly { readonly date: CivilDate; readonly receipts: number }[],
): Alert[] {
  const dated = open.map((day) => ({ ...day, pullId: null }));
  return alertsByCause('booking_receipts', dated, ANY_CAUSE, ({ items, listed }, { text }) =>
    text('alertMessages.receipts', {
      receipts: sumOf(items, (day) => day.receipts),
      listed,
      days: items.length,
    }),
  );
}

export function unbookedChangeAlerts(changes: readonly { readonly date: CivilDate }[]): Alert[] {
  const dated = changes.map(({ date }) => ({ date, pullId: null }));
  return alertsByCause(
    'booking_waiting',
    dated,
    () => 'difference',
    ({ items, listed }, { text }) => text('alertMessages.unbooked', { listed, days: items.length }),
  );
}

export function failedLinesAlert(failed: {
  readonly lines: number;
  /** The smallest accepted date of them. */
  readonly date: CivilDate;
}): Alert {
  const { lines, date } = failed;
  return {
    kind: 'booking_failed',
    dedupeKey: 'booking_failed',
    ...inBoth(({ text, day }) => text('alertMessages.failedLines', { lines, date: day(date) })),
    date,
    pullId: null,
  };
}

/** Days after its release from which a line without an answer of the ERP is overdue. */
export const BOOKING_OVERDUE_DAYS = 2;

/** Days after the offer of a line from which a consumer that has not read the line is behind. */
export const CONSUMER_BEHIND_DAYS = 1;

export function overdueLinesAlert(overdue: {
  readonly lines: number;
  /** The smallest accepted date of them. */
  readonly date: CivilDate;
}): Alert {
  const { lines, date } = overdue;
  return {
    kind: 'booking_overdue',
    dedupeKey: 'booking_overdue',
    ...inBoth(({ text, day }) =>
      text('alertMessages.overdueLines', { lines, days: BOOKING_OVERDUE_DAYS, date: day(date) }),
    ),
    date,
    pullId: null,
  };
}

export function waitingDaysAlert({
  days,
  date,
}: {
  readonly days: number;
  /** The oldest of them. */
  readonly date: CivilDate;
}): Alert {
  return {
    kind: 'booking_waiting',
    dedupeKey: 'booking_waiting',
    ...inBoth(({ text, day }) => text('alertMessages.waitingDays', { days, date: day(date) })),
    date,
    pullId: null,
  };
}

export function consumerBehindAlert(consumer: {
  readonly name: string;
  readonly behind: number;
}): Alert {
  const { name, behind } = consumer;
  return {
    kind: 'booking_overdue',
    dedupeKey: `booking_overdue:${name}`,
    ...inBoth(({ text }) =>
      text('alertMessages.consumerBehind', { name, days: CONSUMER_BEHIND_DAYS, lines: behind }),
    ),
    date: null,
    pullId: null,
  };
}

/** The payables of the ERP and the age from which they count as stale. */
export interface PayableAge {
  /** When the payables were complete last; null: never. */
  readonly snapshotAt: Date | null;
  readonly maxAgeHours: number;
}

/** Whether payables are so old that nothing is concluded from them. */
export function isStale({ snapshotAt, maxAgeHours }: PayableAge, now: Date): boolean {
  return snapshotAt === null || now.getTime() - snapshotAt.getTime() >= maxAgeHours * HOUR_MS;
}

/** Returns the alert for urgent breaks between titles and payables; null: there are none. */
export function paidToSupplierAlert(breaks: number, dates: readonly CivilDate[]): Alert | null {
  const [first = null] = dates;
  if (breaks === 0) return null;
  return {
    kind: 'paid_to_supplier',
    dedupeKey: 'paid_to_supplier',
    ...inBoth(({ text, list }) =>
      text('alertMessages.urgentBreaks', { breaks, listed: list(dates) }),
    ),
    date: first,
    pullId: null,
  };
}

/** Returns the alert for payables that are stale. Null otherwise. */
export function stalePayablesAlert(
  { snapshotAt, maxAgeHours }: PayableAge,
  now: Date,
): Alert | null {
  if (!isStale({ snapshotAt, maxAgeHours }, now)) return null;
  return {
    kind: 'payables_stale',
    dedupeKey: 'payables_stale',
    ...inBoth(({ text }) =>
      snapshotAt === null
        ? text('alertMessages.noSnapshot')
        : text('alertMessages.oldSnapshot', { hours: maxAgeHours }),
    ),
    date: null,
    pullId: null,
  };
}
