/** What keeps a whole signed-off day from its release, beside what other features declare, and titles of it. */
import type { DayObstacle } from '../../console/day-obstacle.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { OPEN_HOLDS } from '../accounts/payment-holds.sql.ts';
import { waitingTitles } from '../matching/breaks.sql.ts';
import { areStale } from '../matching/payables/payable-state.sql.ts';

/** Of a receipt: it does not fit, and a person has to answer. */
export const DOES_NOT_FIT = Prisma.sql`outcome IN ('unknown_key', 'other_content', 'other_document', 'after_refusal')`;

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

/**
 * The titles of a date that wait: for the payables, or because a person has refused their account after the sign-off.
 * @param date what `=` compares with the accepted date: a date, or ANY of an array
 */
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

/**
 * Whether the payable or the value of a row `line` of booking_version is not that of the present match of its title.
 * What stands in the ERP keeps its payable where the title has no match.
 */
export const HAS_OTHER_PAYABLE: Prisma.Sql = Prisma.sql`
  ((line.erp_key, line.posting_value) IS DISTINCT FROM (
    coalesce(${erpKeyOf(Prisma.sql`line.title_id`)}, CASE WHEN line.stands THEN line.erp_key END),
    coalesce(${postingValueOf(Prisma.sql`line.title_id`, Prisma.sql`line.original_value`)},
             CASE WHEN line.stands THEN line.posting_value END, line.original_value)))`;

/**
 * The lines that the release replaces by a next version with the same content, `id` and `date`: a failed line that has
 * another payable or value by now, or that was not offered again because its title waited; a line that the ERP had
 * refused before a person signed the day off again; and a line that has another payable or value by a match that a
 * person made between the release and the sign-off.
 * @param date as of `keptTitles`
 */
export const linesToRepeat = (date: Prisma.Sql): Prisma.Sql => Prisma.sql`
  SELECT line.id, line.date FROM conciliation.booking_version AS line
  JOIN conciliation.title ON title.id = line.title_id AND title.status = 'current'
  JOIN conciliation.sign_off AS seal ON seal.date = line.date AND seal.ended_at IS NULL
  WHERE line.date = ${date} AND is_newest AND posted_hash IS NULL AND line.content_hash = title.content_hash
    AND CASE line.state
          WHEN 'failed' THEN ${HAS_OTHER_PAYABLE} OR NOT EXISTS (
            SELECT FROM conciliation.booking_offer AS offer
            WHERE offer.line_id = line.id AND offer.offered_at >= line.state_at)
          WHEN 'refused' THEN line.state_at < seal.signed_off_at
          ELSE EXISTS (
            SELECT FROM conciliation.title_match AS match JOIN conciliation.booking_batch AS batch ON batch.id = line.batch_id
            WHERE match.title_id = line.title_id AND match.ended_at IS NULL AND rule = 'person'
              AND made_at BETWEEN released_at AND seal.signed_off_at) AND ${HAS_OTHER_PAYABLE} END`;
