import type { AlertEntry } from '../../console/alert-entry.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { CONSUMER_LAGS } from './feed.sql.ts';
import { RECEIPT_QUESTIONS } from './receipts.sql.ts';
import { overdueReleases } from './release.sql.ts';
import { UNBOOKED_CHANGES } from './unbooked-changes.sql.ts';

/** Days after its release from which a line without an answer of the ERP is overdue. */
export const BOOKING_OVERDUE_DAYS = 2;

/** Days after the offer of a line from which a consumer that has not read the line is behind. */
const CONSUMER_BEHIND_DAYS = 1;

const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * 86_400_000);

export const bookingAlerts = {
  booking_failed: {
    severity: 'warning',
    page: '/booking-lines',
    causes: () => [
      Prisma.sql`
        SELECT count(*) AS lines, min(date) AS date
        FROM conciliation.booking_line WHERE state IN ('failed', 'refused') HAVING count(*) > 0`,
    ],
  },
  /** Lines that the ERP has not answered, and consumers that do not read. */
  booking_overdue: {
    severity: 'warning',
    page: '/booking-lines',
    causes: ({ now }) => [
      Prisma.sql`
        SELECT count(*) AS lines, min(line.date) AS date, ${BOOKING_OVERDUE_DAYS}::int AS after,
               false AS "isConsumer"
        FROM conciliation.booking_line AS line JOIN conciliation.booking_batch AS batch ON batch.id = line.batch_id
        WHERE line.state = 'released' AND batch.released_at < ${daysBefore(now, BOOKING_OVERDUE_DAYS)}::timestamptz
        HAVING count(*) > 0`,
      Prisma.sql`
        SELECT name AS cause, name, behind AS lines, ${CONSUMER_BEHIND_DAYS}::int AS after, true AS "isConsumer"
        FROM (${CONSUMER_LAGS}) AS consumer
        WHERE "behindSince" < ${daysBefore(now, CONSUMER_BEHIND_DAYS)}::timestamptz`,
    ],
  },
  booking_receipts: {
    severity: 'warning',
    page: '/booking-lines',
    hasTask: true,
    causes: () => [
      Prisma.sql`
        SELECT date, sum(receipts) OVER () AS receipts FROM (${RECEIPT_QUESTIONS}) AS question`,
    ],
  },
  /** Days that wait for their release for long, and differences of days before BOOKINGS_FROM. */
  booking_waiting: {
    severity: 'warning',
    page: '/booking-lines',
    hasTask: true,
    causes: ({ now, payablesMaxAgeHours }) => [
      overdueReleases(daysBefore(now, CONSUMER_BEHIND_DAYS), { payablesMaxAgeHours }),
      Prisma.sql`SELECT 'difference' AS cause, date FROM (${UNBOOKED_CHANGES}) AS change`,
    ],
  },
} satisfies Record<string, AlertEntry>;
