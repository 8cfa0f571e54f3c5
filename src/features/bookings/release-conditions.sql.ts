/** What keeps a whole signed-off day from its release, beside what other features declare, and titles of it. */
import type { DayObstacle } from '../../console/day-obstacle.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { OPEN_HOLDS } from '../accounts/payment-holds.sql.ts';
import { waitingTitles } from '../matching/breaks.sql.ts';
import { areStale } from '../matching/payables/payable-state.sql.ts';
import { DOES_NOT_FIT } from './receipts.sql.ts';

export const bookingObstacles = {
  /** A receipt does not fit, and no person has decided. */
  receipts: {
    keeps: ['release'],
    rows: (date) => Prisma.sql`
      SELECT NULL, count(*), NULL, NULL FROM conciliation.booking_receipt AS receipt
      WHERE receipt.date = ${date} AND ${DOES_NOT_FIT} HAVING count(*) > 0`,
    href: () => '/booking-lines',
  },
  /**
   * The titles of the day were not matched with the ERP's payables since their newest change, or the payables are too
   * old to say what the ERP has paid.
   */
  not_matched: {
    keeps: ['release'],
    rows: (date, { payablesMaxAgeHours = null }) => Prisma.sql`
      SELECT NULL, NULL, NULL, NULL
      WHERE EXISTS (SELECT FROM conciliation.erp_payable) AND NOT (EXISTS (
        SELECT FROM conciliation.match_run AS run
        WHERE run.id = (SELECT max(id) FROM conciliation.match_run)
          -- The checks ran after the commit of the content. So the run has seen the content.
          AND run.started_at >= (
            SELECT done.checked_at FROM conciliation.day_check AS done
            JOIN conciliation.day AS checked USING (date, content_digest) WHERE done.date = ${date}))
        AND (${payablesMaxAgeHours}::int IS NULL OR NOT ${areStale(payablesMaxAgeHours)}))`,
  },
} as const satisfies Record<string, DayObstacle>;

/** The titles of a date that wait: for the payables, or because a person has refused their account after the sign-off. */
export const keptTitles = (date: Prisma.Sql): Prisma.Sql => Prisma.sql`
  SELECT title_id FROM (${waitingTitles(date)}) AS waiting
  UNION ALL
  SELECT title_id FROM (${OPEN_HOLDS}) AS held WHERE accepted_date = ${date}`;

/** The value that the ERP posts for a title `title` or its line: with the difference that a person has confirmed. Null: no match. */
export const postingValueOf = (titleId: Prisma.Sql, value: Prisma.Sql): Prisma.Sql => Prisma.sql`
  (SELECT ${value} + sum(match.difference) FROM conciliation.title_match AS match
   WHERE match.title_id = ${titleId} AND match.ended_at IS NULL)`;

/** The ERP's key of the payable that a title is matched with. */
export const erpKeyOf = (titleId: Prisma.Sql): Prisma.Sql => Prisma.sql`
  (SELECT string_agg(payable.erp_key, ',' ORDER BY payable.erp_key)
   FROM conciliation.title_payable AS payable WHERE payable.title_id = ${titleId})`;
