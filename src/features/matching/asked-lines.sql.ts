/** What the booking lines of titles have asked for. */
import { Prisma } from '../../generated/prisma/client.ts';

/** Instalments that are paid by the month have due dates farther apart. */
export const FAR_DUE_DAYS = Prisma.sql`20`;

/** The first two parts of the keys of a booking's lines: the date and the identity. @param date of the same row */
export const identityOf = (date: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`to_char(${date}, 'YYYY-MM-DD') || ':' || replace(identity_hash::text, '-', '')`;

/** The booking of a line's key: the key without its version, because an adjustment posts the booking again. */
const bookingOf = (key: Prisma.Sql) => Prisma.sql`regexp_replace(${key}, ':[0-9]+$', '')`;

/** The booking of the line that made a payable. */
export const BOOKING_OF_PAYABLE = bookingOf(Prisma.sql`payable.booking_key`);

/** The booking of the line that settled a payable. */
export const SETTLING_BOOKING = bookingOf(Prisma.sql`payable.settled_by`);

/** The rows that are read. A title is read with all titles and bookings of its date and identity. */
interface AskedScope {
  /** Of `line`. */
  readonly lines: Prisma.Sql;
  /** Of `title`. */
  readonly titles: Prisma.Sql;
}

/**
 * For a statement with WITH:
 * - `booking`: the newest line of each booking, with `booking_name` (the key without the version), `is_undone` (its reversal is posted), `is_offered` (a line that
 *   is no reversal has no answer) and the states that its lines ask for: a newer line without an answer leaves what an
 *   older one has posted
 * - `own`: the booking of each current title. Contents pair first, as in a release, then a booking and the title
 *   that the booking names; the rest in their order
 * - `asked`: what was asked for each title (`title_id`, `state`; `is_refused`: the ERP has refused to adjust it). The bookings that no current title has any more and
 *   that are not undone count for current titles of the order, buyer and provider, because a restated or moved title
 *   continues them: for those with the value and due date of the line, otherwise for those without a booking, otherwise
 *   for all. `is_own` is false then. A withdrawn title whose reversal is posted has the state `withdrawn`.
 */
export const askedLines = ({ lines, titles }: AskedScope): Prisma.Sql => Prisma.sql`
  booking AS MATERIALIZED (
    SELECT newest.*, ${identityOf(Prisma.sql`date`)} AS name,
           ${identityOf(Prisma.sql`date`)} || ':' || occurrence AS booking_name,
           (SELECT released_at FROM conciliation.booking_batch WHERE id = begun) AS begun_at,
           CASE WHEN is_undone THEN ARRAY['reversed'] ELSE array_remove(ARRAY[
             CASE WHEN state IN ('released', 'posted') THEN state ELSE 'failed' END,
             CASE WHEN stands THEN 'posted' END], NULL) END AS states
    FROM (
      SELECT line.id, date, identity_hash, occurrence, version, kind, state, original_value, is_newest, posted_version, stands,
             NOT has_content AND state = 'posted' AS is_undone,
             coalesce(posted_hash, content_hash) AS content_hash, erp_key, title_id, order_uid, buyer_identification,
             provider_external_id, anticipated_due_date,
             kind <> 'reverse' AND state IN ('released', 'posted') AND buyer_is_financial IS TRUE AS asks_supplier,
             max(state_at) FILTER (WHERE state = 'posted') OVER booking AS posted_at,
             max(batch_id) FILTER (WHERE kind = 'book') OVER booking AS begun,
             bool_or(state = 'released' AND kind <> 'reverse') OVER booking AS is_offered
      FROM conciliation.booking_version AS line WHERE ${lines}
      WINDOW booking AS (PARTITION BY date, identity_hash, occurrence)
    ) AS newest WHERE is_newest
  ), held_title AS MATERIALIZED (
    SELECT id, accepted_date AS date, identity_hash, content_hash, occurrence
    FROM conciliation.title AS title
    WHERE status = 'current' AND ${titles}
      AND (accepted_date, identity_hash) IN (SELECT date, identity_hash FROM booking)
  ), named_title AS MATERIALIZED (
    -- Among equal contents, a title has the booking that names the title: the other one may be that of a title that waits.
    SELECT held_title.id AS title_id, min(booking.id) AS line_id, min(booking.occurrence) AS occurrence
    FROM booking JOIN held_title ON held_title.id = booking.title_id AND held_title.content_hash = booking.content_hash
    WHERE NOT is_undone GROUP BY held_title.id
  ), titled AS MATERIALIZED (
    SELECT id, date, identity_hash, content_hash,
           row_number() OVER (PARTITION BY date, identity_hash, content_hash
                              ORDER BY named_title.occurrence NULLS LAST, held_title.occurrence, id) AS copy
    FROM held_title LEFT JOIN named_title ON named_title.title_id = id
  ), equal AS MATERIALIZED (
    SELECT titled.id AS title_id, copied.id AS line_id FROM titled JOIN (
      SELECT id, date, identity_hash, content_hash,
             row_number() OVER (PARTITION BY date, identity_hash, content_hash
                                ORDER BY id NOT IN (SELECT line_id FROM named_title), occurrence) AS copy
      FROM booking WHERE NOT is_undone
    ) AS copied USING (date, identity_hash, content_hash, copy)
  ), kept_line AS MATERIALIZED (
    SELECT title_id, line_id FROM equal
    UNION ALL
    -- A restated title keeps the booking that names the title: a title of the same identity may wait, and has none.
    SELECT held_title.id, min(booking.id) FROM booking JOIN held_title
      ON held_title.id = booking.title_id AND held_title.date = booking.date
     AND held_title.identity_hash = booking.identity_hash
    WHERE NOT is_undone AND held_title.id NOT IN (SELECT title_id FROM equal)
      AND booking.id NOT IN (SELECT line_id FROM equal)
    GROUP BY held_title.id
  ), own AS MATERIALIZED (
    SELECT title_id, line_id FROM kept_line
    UNION ALL
    SELECT title_id, line_id FROM (
      SELECT id AS title_id, date, identity_hash,
             row_number() OVER (PARTITION BY date, identity_hash ORDER BY content_hash, id) AS place
      FROM titled WHERE id NOT IN (SELECT title_id FROM kept_line)
    ) AS titles JOIN (
      SELECT id AS line_id, date, identity_hash,
             row_number() OVER (PARTITION BY date, identity_hash ORDER BY is_undone, occurrence) AS place
      FROM booking WHERE id NOT IN (SELECT line_id FROM kept_line)
    ) AS bookings USING (date, identity_hash, place)
  ), left_over AS MATERIALIZED (
    SELECT * FROM booking WHERE id NOT IN (SELECT line_id FROM own)
  ), continued AS MATERIALIZED (
    SELECT left_over.*, title.id AS current_id, title.anticipated_due_date AS current_due,
           rank() OVER (PARTITION BY left_over.id ORDER BY
             (title.original_value, title.anticipated_due_date)
               IS DISTINCT FROM (left_over.original_value, left_over.anticipated_due_date),
             title.id IN (SELECT own.title_id FROM own JOIN booking ON booking.id = line_id WHERE NOT is_undone)) AS place
    FROM left_over JOIN (
      SELECT * FROM conciliation.title
      WHERE status = 'current' AND order_uid = ANY(ARRAY(SELECT order_uid FROM left_over WHERE NOT is_undone))
    ) AS title ON title.order_uid = left_over.order_uid
     AND title.buyer_identification IS NOT DISTINCT FROM left_over.buyer_identification
     AND title.provider_external_id IS NOT DISTINCT FROM left_over.provider_external_id
    WHERE NOT is_undone
  ), asked AS MATERIALIZED (
    SELECT title_id, is_own, unnest(states) AS state, is_refused, posted_at, begun_at, is_offered, name, erp_keys FROM (
      SELECT own.title_id, true AS is_own, states, kind = 'adjust' AND state = 'refused' AS is_refused, posted_at, begun_at,
             is_offered, name, erp_key AS erp_keys
      FROM own JOIN booking ON booking.id = line_id
      UNION ALL
      -- The booking of a far instalment that names no payable explains none.
      SELECT current_id, false, states, false, posted_at, begun_at, is_offered, name,
             coalesce(erp_key, CASE WHEN abs(current_due - anticipated_due_date) > ${FAR_DUE_DAYS} THEN '' END)
      FROM continued WHERE place = 1
      UNION ALL
      -- What the ERP states before the last reversal on a payable may be the result of the booking before.
      SELECT title_id, true, ARRAY['withdrawn'], false, max(posted_at) OVER (PARTITION BY coalesce(erp_key, booking_name)),
             begun_at, is_offered, name, erp_key AS erp_keys
      FROM left_over WHERE is_undone AND title_id IS NOT NULL
    ) AS lines
  ), live AS MATERIALIZED (
    SELECT title_id, bool_or(state = 'posted') AS is_posted, bool_or(is_own) AS is_own
    FROM asked WHERE state NOT IN ('reversed', 'withdrawn') GROUP BY title_id
  )`;
