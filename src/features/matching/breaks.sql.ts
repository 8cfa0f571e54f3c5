/** Judges the pairs of titles and payables: what differs, and which titles wait for it. See docs/matching.md. */
import type { Transaction } from '../../base/database/database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import {
  BOOKING_OF_PAYABLE,
  FAR_DUE_DAYS,
  identityOf,
  SETTLING_BOOKING,
} from './asked-lines.sql.ts';
import {
  ALL,
  BUSINESS_DAY,
  CLAIM,
  CLOSED_DAY,
  DUE_PLACE,
  FITS_OPEN,
  IS_BOOKED,
  IS_NEAR,
  IS_NEAR_DUE,
  pairsOf,
  pairsOfSupplier,
  payablesOf,
  type Scope,
  SIDE,
  scopeOf,
  titlesOf,
} from './break-pairs.sql.ts';
import {
  DUE_DAYS,
  IS_COMPARED,
  PAYABLE_GROUND,
  PAYABLE_VALUE,
  SAME_DUE as SAME_DUE_BY_HASH,
  TITLE_GROUND,
  VALUE_TOLERANCE,
} from './candidates.sql.ts';
import {
  IS_PAID_TO_OTHER,
  KINDS,
  PAYEE,
  SEVERITY,
  SITUATION,
  STATED_AT,
  VERDICTS,
} from './judgement.sql.ts';

/** The title of a pair without a match; 0 for a match. */
const SOLE = Prisma.sql`(CASE WHEN source = 0 THEN 0 ELSE pair.title_id END)`;

/**
 * The severity of a pair. The far instalment of an order may be that of the title, and is rather another one: the title
 * waits for a person.
 */
const SEVERITY_OF_PAIR = Prisma.sql`least(${SEVERITY}, CASE WHEN is_far THEN 1 END)`;

/** The fewest days between two instalments of a document of which the ERP states no numbers. */
const INSTALMENT_DAYS = 7;

/** The breaks of the newest run. */
const KNOWN_BREAKS = Prisma.sql`(SELECT title_id, kind, erp_key FROM conciliation.erp_break)`;

/** The code of a decision that opens a resolved break again. */
export const REOPENED = 'reopened';

/**
 * The breaks of a scope, `broken`: kind, severity (1, or 2: urgent), waits (the title is not released), stays (the
 * line of the title is not changed), title_id, erp_key. For a statement with WITH.
 */
const breaksOf = (scope: Scope) => Prisma.sql`
  ${pairsOf(scope)}, paired AS MATERIALIZED (
    SELECT id, status, accepted_date, identity_hash, original_value, anticipated_due_date, ${BUSINESS_DAY} AS business_day,
           buyer_is_financial, financial_agent_identification, provider_identification
    FROM ${titlesOf(Prisma.sql`pair`, scope.isWhole)} AS title ${CLOSED_DAY} WHERE id IN (SELECT title_id FROM pair)
  ), demand AS MATERIALIZED (
    -- What the titles of a payable still ask for, and their bookings.
    SELECT erp_key, sum(original_value) FILTER (WHERE is_posted IS NOT TRUE) AS value,
           sum(original_value) FILTER (WHERE is_posted) AS posted,
           bool_or(is_posted IS FALSE) AS is_awaited
    FROM (SELECT DISTINCT title_id, erp_key FROM pair) AS pair
    JOIN paired ON id = title_id
    LEFT JOIN live USING (title_id)
    GROUP BY erp_key
  ), named AS MATERIALIZED (
    -- Of a title without a match, its own bookings. The titles of a match share the payable.
    SELECT erp_key, sole, array_agg(name) AS identities FROM (
      SELECT pair.erp_key, ${SOLE} AS sole, name FROM pair JOIN asked USING (title_id)
      UNION
      SELECT pair.erp_key, ${SOLE}, ${identityOf(Prisma.sql`accepted_date`)}
      FROM pair JOIN paired ON id = title_id
      UNION
      -- The next release reverses a booking that a person recorded after a restore and whose content no title has.
      SELECT pair.erp_key, ${SOLE}, name
      FROM left_over JOIN conciliation.erp_payable AS payable ON ${SETTLING_BOOKING} = booking_name
      JOIN pair ON pair.erp_key = payable.erp_key
      WHERE left_over.original_value IS NULL AND NOT is_undone
        AND pair.title_id NOT IN (SELECT title_id FROM live WHERE is_own)
    ) AS names GROUP BY erp_key, sole
  ), situated AS MATERIALIZED (
    SELECT pair.title_id, pair.erp_key, source, place, pair.days, source = 0 AS is_matched, rule,
           title.buyer_is_financial IS TRUE AS is_early, title.status = 'current' AS is_current,
           ${IS_BOOKED} AS is_booked, title.business_day AS title_due_date,
           payable.settled_on, payable.changed_at,
           source = 2 AND place IN (3, 4) AND pair.days > ${FAR_DUE_DAYS} AND payable.instalment IS NOT NULL AS is_far,
           ${STATED_AT} AS stated_at,
           -- Of a payable of several titles, the other ones may have left it.
           (source = 1 AND payable.total_value - payable.open_value >= demand.posted) IS TRUE AS is_written_off,
           -- The far instalment that the booking of a withdrawn title has settled is rather that of the withdrawn title.
           said.is_own AND (pair.days <= ${FAR_DUE_DAYS}
             OR (pair.title_id, ${SETTLING_BOOKING}) IN (SELECT title_id, booking FROM own_booking)) AS is_named,
           ${SITUATION} AS situation
    FROM run CROSS JOIN pair
    JOIN paired AS title ON title.id = pair.title_id
    JOIN ${payablesOf(Prisma.sql`pair`, scope.isWhole)} AS payable ON payable.erp_key = pair.erp_key
    LEFT JOIN demand ON demand.erp_key = pair.erp_key
    LEFT JOIN named ON named.erp_key = pair.erp_key AND sole = ${SOLE}
    LEFT JOIN booking AS undone ON undone.is_undone AND undone.booking_name = ${SETTLING_BOOKING}
    CROSS JOIN LATERAL (
      SELECT ${PAYEE} AS payee,
             (regexp_replace(payable.settled_by, ':[0-9]+:[0-9]+$', '') = ANY(named.identities)) IS TRUE AS is_own,
             -- A row that a snapshot lacks states nothing of its settlement any more.
             (undone.posted_at > CASE WHEN payable.closed_at IS NULL THEN ${STATED_AT} ELSE '-infinity' END) IS TRUE
               AS is_reversed,
             -- The bookings do not depend on the row, so that they are hashed once.
             payable.closed_at IS NOT NULL AND payable.erp_key NOT IN (
               SELECT unnest(string_to_array(erp_key, ',')) FROM booking
               WHERE is_undone AND posted_at > (SELECT snapshot_at FROM run)) AS is_gone,
             least(coalesce(demand.value, 0), greatest(payable.total_value, erp_value)) > payable.open_value
               -- Of a sum, the difference may be a line that the ERP has posted and not yet answered.
               AND (payable.total_value > payable.open_value
                    OR erp_value > payable.open_value AND (rule <> 'sum' OR is_awaited IS NOT TRUE)) AS is_part
    ) AS said
  ), judged AS MATERIALIZED (
    -- Where several results are possible, the least severe one counts.
    SELECT title_id, erp_key, source, place, days, situation, kind, rule, is_current, is_named,
           -- Without an answer, a booking that no title has any more explains a payment of which the ERP does not state
           -- the receiver only so far that the payment is not urgent: the ERP may have paid the supplier. Where the ERP
           -- has no line to answer but a reversal, the booking explains nothing.
           min(CASE WHEN is_own OR state <> 'released' OR situation NOT IN ('paid', 'gone') THEN ${SEVERITY_OF_PAIR}
                    WHEN is_offered AND only_keys IS NOT NULL AND title_id NOT IN (SELECT title_id FROM live WHERE is_own)
                      THEN greatest(1, ${SEVERITY_OF_PAIR}) END) AS severity
    FROM run CROSS JOIN situated
    JOIN (
      SELECT title_id, state, posted_at, begun_at, is_offered,
             CASE WHEN NOT is_own THEN string_to_array(erp_keys, ',') END AS only_keys, is_own
      -- What the ERP had posted before it refused the adjustment is not what the title asks for.
      FROM asked WHERE NOT (is_refused AND state = 'posted')
      UNION ALL
      SELECT DISTINCT title_id, CASE WHEN is_booked THEN 'before' ELSE 'unbooked' END,
             NULL::timestamptz, NULL::timestamptz, false, NULL::text[], true
      -- A withdrawn title asks for nothing.
      FROM situated WHERE is_current AND title_id NOT IN (SELECT title_id FROM asked WHERE is_own)
    ) AS status USING (title_id)
    JOIN ${VERDICTS} USING (is_early, situation, state)
    -- A booking that no title has any more explains its own payables only.
    WHERE (only_keys IS NULL OR erp_key = ANY(only_keys))
    GROUP BY title_id, erp_key, source, place, days, situation, kind, rule, is_current, is_named
  ), standing AS MATERIALIZED (
    -- Bookings that are not reversed, of no current title, or on a payable that is no longer that of their title.
    SELECT date, name, booking_name AS booking, kind, state, states, booking.original_value, key AS erp_key,
           booking.anticipated_due_date AS booked_due, own.title_id AS owner, booking.title_id AS booked_id,
           kind = 'reverse' AND state = 'refused' AS is_refused
    FROM booking LEFT JOIN own ON line_id = booking.id
    LEFT JOIN LATERAL unnest(string_to_array(booking.erp_key, ',')) AS key ON true
    LEFT JOIN held ON held.title_id = own.title_id AND held.erp_key = key
    WHERE NOT is_undone AND held.title_id IS NULL
  ), follower AS MATERIALIZED (
    SELECT standing.*, asked.title_id FROM asked JOIN standing USING (name)
    WHERE NOT is_own AND owner IS NULL
      -- The ERP has posted the title on another payable.
      AND NOT EXISTS (
        SELECT FROM asked AS posted
        WHERE posted.title_id = asked.title_id AND posted.is_own AND posted.state = 'posted'
          AND standing.erp_key <> ALL(string_to_array(posted.erp_keys, ',')))
  ), claim AS MATERIALIZED (
    -- The other titles of their payables, and the titles that continue a withdrawn one.
    SELECT standing.*, held.title_id, accepted_date, NULL::date AS due FROM standing JOIN held USING (erp_key)
    WHERE held.status = 'current' AND name <> ${identityOf(Prisma.sql`accepted_date`)}
    UNION ALL
    SELECT follower.*, accepted_date, anticipated_due_date FROM follower
    JOIN ${titlesOf(Prisma.sql`follower`)} AS title ON title.id = title_id
    WHERE title_id IN (SELECT id FROM unmatched)
      AND CASE WHEN is_refused THEN follower.original_value = title.original_value ELSE follower.erp_key IS NOT NULL END
  ), used AS MATERIALIZED (
    SELECT DISTINCT ON (title_id) title_id, erp_key, kind, severity
    FROM (
      SELECT title_id, claim.erp_key,
             CASE WHEN is_far THEN CASE WHEN title_id NOT IN (SELECT title_id FROM live WHERE is_own) THEN 'already_assigned' END
                  WHEN is_refused THEN 'reversal_refused'
                  WHEN owner IS NOT NULL OR is_paid OR 'posted' = ANY(states) AND title_id IN (
                    SELECT title_id FROM asked WHERE is_own AND state = 'posted') THEN 'anticipated_twice'
                  WHEN title_id NOT IN (SELECT title_id FROM live WHERE is_own) THEN 'already_assigned' END AS kind
      FROM claim LEFT JOIN ${payablesOf(Prisma.sql`claim`)} AS payable ON payable.erp_key = claim.erp_key
      CROSS JOIN LATERAL (
        -- What the own line of the title has asked for is no payment for another booking.
        SELECT coalesce(payable.status = 'paid' AND coalesce(payable.paid_to, payable.payee) IS NOT NULL, false)
                 AND title_id NOT IN (SELECT title_id FROM live WHERE is_own)
               OR booking IN (
                 SELECT ${BOOKING_OF_PAYABLE} FROM conciliation.erp_payable AS payable
                 WHERE status = 'paid' AND ${BOOKING_OF_PAYABLE} = ANY(ARRAY(SELECT booking FROM claim))) AS is_paid,
               -- The title is rather another instalment than that of the booking.
               (abs(CASE WHEN payable.erp_key IS NULL THEN booked_due
                         WHEN payable.instalment IS NOT NULL THEN payable.due_date END - due) > ${FAR_DUE_DAYS}) IS TRUE AS is_far
      ) AS agent
      WHERE owner IS NOT NULL OR is_paid
         -- A release offers the reversals of its date first, and a line that is offered later is read later.
         OR CASE WHEN kind = 'reverse' THEN state IN ('failed', 'refused') ELSE date <> accepted_date END
    ) AS use JOIN ${KINDS} USING (kind)
    ORDER BY title_id, severity DESC, erp_key
  ), best AS MATERIALIZED (
    SELECT DISTINCT ON (title_id) * FROM judged
    WHERE source > 0 AND title_id IN (SELECT id FROM unmatched)
      AND (severity > 0 OR situation = 'open' AND place > 0 OR title_id IN (SELECT title_id FROM live))
    -- The payable that the ERP says a booking of the title has settled is that of the title. It does not hide the urgent
    -- break of another one that was paid, which ends by a person or by the ERP.
    ORDER BY title_id,
             (severity > 1 AND situation <> 'open' AND (title_id, kind, erp_key) IN ${KNOWN_BREAKS}) IS TRUE DESC,
             source, is_named DESC, place, days, severity DESC, situation = 'open', erp_key
  ), doubt AS MATERIALIZED (
    SELECT title_id,
           min(erp_key) FILTER (WHERE fits) AS fit,
           array_agg(erp_key ORDER BY erp_key) FILTER (WHERE fits AND (same_order OR same_due)) AS exact,
           array_agg(erp_key ORDER BY erp_key) FILTER (
             WHERE fits OR status = 'open' AND same_order AND same_supplier AND ${IS_NEAR}) AS near,
           count(*) FILTER (WHERE fits) > 1
             AND count(document) FILTER (WHERE fits) = count(*) FILTER (WHERE fits)
             AND count(DISTINCT paper) FILTER (WHERE fits) = 1 AS is_doubled,
           min(erp_key) FILTER (WHERE status = 'open' AND NOT same_value) AS other_value,
           (array_agg(erp_key ORDER BY days, erp_key)
              FILTER (WHERE status = 'open' AND same_value AND NOT ${IS_NEAR_DUE}))[1] AS other_due
    FROM (SELECT *, ${FITS_OPEN} AS fits FROM related) AS related
    GROUP BY title_id
  ), in_doubt AS MATERIALIZED (
    SELECT * FROM unmatched WHERE id IN (SELECT title_id FROM doubt WHERE fit IS NOT NULL)
  ), claimant AS MATERIALIZED (
    SELECT ${SIDE}, buyer_identification FROM conciliation.title AS title ${CLOSED_DAY}
    WHERE status = 'current' AND ${scope.claimants}
      AND NOT EXISTS (SELECT FROM conciliation.title_payable AS match WHERE match.title_id = title.id)
  ), contested AS MATERIALIZED (
    -- Titles of one buyer that fit the same payables, and are more than the payables. A far instalment is rather that of
    -- another title, which the ERP may lack.
    SELECT unnest(array_agg(title_id)) AS title_id FROM (
      SELECT title_id, buyer_identification, array_agg(DISTINCT erp_key) AS payables FROM (
        SELECT ${CLAIM} FROM claimant AS title JOIN free AS payable ON payable.order_uid = title.order_uid
        UNION ALL
        ${pairsOfSupplier(
          CLAIM,
          Prisma.sql`free`,
          Prisma.sql`payable.open_value = title.original_value AND payable.order_uid IS NULL`,
          Prisma.sql`claimant`,
        )}
      ) AS claim WHERE ${FITS_OPEN} AND (instalment IS NULL OR days <= ${FAR_DUE_DAYS}) IS NOT FALSE GROUP BY 1, 2 HAVING bool_or(same_order IS TRUE OR same_due)
    ) AS claims GROUP BY buyer_identification, payables HAVING count(*) > cardinality(payables)
  ), value_of_due AS MATERIALIZED (
    -- Beside a payable of the title's value and due date, one of another value says nothing.
    SELECT supplier_external_id, supplier_tax_id, due_date, business_day, min(open_value) AS open_value,
           min(erp_key) AS erp_key, min(order_uid) AS order_uid, count(*) AS rows
    FROM free WHERE status = 'open' GROUP BY 1, 2, 3, 4
  ), due AS MATERIALIZED (
    SELECT title_id, min(erp_key) AS erp_key, min(order_uid) AS order_uid,
           CASE WHEN bool_or(is_day) THEN 2 ELSE 1 END AS place FROM (${pairsOfSupplier(
             Prisma.sql`title.id AS title_id, payable.erp_key, payable.rows, payable.order_uid,
        payable.due_date = title.anticipated_due_date AS is_day`,
             Prisma.sql`value_of_due`,
             Prisma.sql`${SAME_DUE_BY_HASH} AND (payable.rows > 1 OR payable.open_value <> title.original_value)`,
           )}) AS pair GROUP BY title_id HAVING sum(rows) = 1
  ), wrong_value AS MATERIALIZED (
    -- The open payable of another value that the order or the due date of a title names, where no payable of the title's
    -- value is as near. The order does not tell it from the payable of another title of the order; the due date does.
    SELECT DISTINCT ON (title_id) title_id, erp_key FROM (
      SELECT title_id, erp_key, true AS same_order, ${DUE_PLACE} AS place FROM related
      WHERE status = 'open' AND NOT same_value AND same_order AND same_supplier AND ${IS_NEAR}
      UNION ALL
      SELECT title_id, erp_key, false, place FROM due WHERE order_uid IS NULL
    ) AS other WHERE NOT EXISTS (
      SELECT FROM (
        SELECT title_id, same_order, is_of_order, place FROM taken_pair
        UNION ALL
        SELECT title_id, same_order IS TRUE, false, ${DUE_PLACE} FROM related WHERE ${FITS_OPEN}
      ) AS fitting
      WHERE fitting.title_id = other.title_id
        AND (fitting.same_order > other.same_order OR fitting.place > other.place
             OR fitting.place = other.place
                AND (fitting.same_order OR is_of_order OR NOT other.same_order)))
    ORDER BY title_id, same_order DESC, place DESC, erp_key
  ), ordered AS MATERIALIZED (
    SELECT payable.erp_key, coalesce(bool_or(title.status = 'current'), false) AS has_current,
           (array_agg(title.id ORDER BY original_value = open_value DESC, title.id)
              FILTER (WHERE title.status = 'withdrawn'))[1] AS withdrawn
    FROM alone AS payable
    LEFT JOIN (SELECT * FROM conciliation.title WHERE order_uid = ANY(ARRAY(SELECT order_uid FROM alone)))
      AS title ON title.order_uid = payable.order_uid
    WHERE payable.order_uid IS NOT NULL
    GROUP BY payable.erp_key
  ), twin AS MATERIALIZED (
    -- A document that was entered a second time, also after the first one was settled.
    SELECT copy.erp_key AS copy, copy.status AS copy_status, payable.erp_key
    FROM (
      SELECT *, ${PAYABLE_VALUE} AS value FROM free AS payable
      -- What a posting has written off is not paid.
      WHERE ${scope.alone} AND document IS NOT NULL AND settled_by IS NULL AND settled_as IS DISTINCT FROM 'assignment'
    ) AS copy
    JOIN (
      -- The documents of the payables without a match are hashed, and not all payables.
      SELECT payable.*, ${PAYABLE_VALUE} AS value FROM conciliation.erp_payable AS payable
      JOIN (SELECT DISTINCT ltrim(document, '0') AS bare FROM free WHERE document IS NOT NULL) AS wanted
        ON ltrim(document, '0') = bare
      WHERE document IS NOT NULL AND status <> 'cancelled' AND closed_at IS NULL AND ${IS_COMPARED}
    ) AS payable
      ON ltrim(payable.document, '0') = ltrim(copy.document, '0')
     AND coalesce(payable.supplier_external_id, '') = coalesce(copy.supplier_external_id, '')
     AND ROW(payable.company, payable.supplier_tax_id, payable.instalment)
         IS NOT DISTINCT FROM ROW(copy.company, copy.supplier_tax_id, copy.instalment)
     AND abs(payable.value - copy.value) <= ${VALUE_TOLERANCE}
     AND (abs(payable.due_date - copy.due_date) < ${INSTALMENT_DAYS}) IS NOT FALSE
    WHERE payable.erp_key <> copy.erp_key
  ), found AS MATERIALIZED (
    -- The severity is that of the kind, unless the pair was judged.
    SELECT result[1] AS kind, result[3]::int AS judged, id AS title_id, result[2] AS erp_key
    FROM (
      -- Of a title without a match, the first result that applies.
      SELECT id,
             CASE WHEN best.severity > 0 AND best.severity >= coalesce(used.severity, 0)
                    THEN ARRAY[best.kind, best.erp_key, best.severity::text]
                  WHEN used.kind IS NOT NULL THEN ARRAY[used.kind, used.erp_key]
                  -- What a line has asked for explains the payable.
                  WHEN live.title_id IS NOT NULL AND best.situation <> 'open' THEN NULL
                  -- A posting begins no break of this kind and ends none: the payable may still be open.
                  WHEN live.is_posted IS NOT TRUE OR (id, seen.result[1], seen.result[2]) IN ${KNOWN_BREAKS}
                    THEN seen.result END AS result
      FROM unmatched LEFT JOIN best ON best.title_id = id LEFT JOIN live ON live.title_id = id
      LEFT JOIN doubt ON doubt.title_id = id LEFT JOIN taken ON taken.title_id = id
      LEFT JOIN contested ON contested.title_id = id LEFT JOIN wrong_value ON wrong_value.title_id = id
      LEFT JOIN due ON due.title_id = id LEFT JOIN nearly ON nearly.title_id = id LEFT JOIN used ON used.title_id = id
      CROSS JOIN LATERAL (
        SELECT CASE WHEN wrong_value.title_id IS NOT NULL
                      THEN ARRAY['value_differs', wrong_value.erp_key]
                    WHEN contested.title_id IS NOT NULL
                      THEN ARRAY['anticipated_twice', coalesce(fit, taken.erp_key, other_value, due.erp_key, other_due)]
                    WHEN is_doubled THEN ARRAY['duplicated_in_erp', fit]
                    WHEN fit IS NOT NULL THEN ARRAY['in_doubt', fit]
                    WHEN taken.erp_key IS NOT NULL THEN ARRAY['anticipated_twice', taken.erp_key]
                    WHEN coalesce(other_value, due.erp_key, nearly.keys[1]) IS NOT NULL
                      THEN ARRAY['value_differs', coalesce(other_value, due.erp_key, nearly.keys[1])]
                    WHEN other_due IS NOT NULL THEN ARRAY['due_date_differs', other_due]
                    ELSE ARRAY['missing_in_erp', NULL] END AS result
      ) AS seen
    ) AS unmatched_title
    UNION ALL
    SELECT kind, NULL, title_id, erp_key FROM used
    WHERE title_id NOT IN (SELECT id FROM unmatched) AND NOT EXISTS (
      SELECT FROM judged
      WHERE judged.title_id = used.title_id AND source IN (0, 3) AND judged.severity >= used.severity)
    UNION ALL
    SELECT kind, severity, title_id, erp_key FROM judged
    WHERE severity > 0 AND (source IN (0, 3) OR NOT is_current)
    UNION ALL
    -- The open payable that a restated title has taken over is as the title was before, until a line for it is released.
    SELECT CASE WHEN open_value <> original_value THEN 'value_differs' ELSE 'due_date_differs' END, NULL, id, erp_key
    FROM matched JOIN live ON live.title_id = id
    WHERE rule = 'inherited' AND is_plain AND NOT is_own
      AND (open_value <> original_value OR own_days > ${DUE_DAYS} AND NOT own_due)
    UNION ALL
    SELECT 'due_before_release', NULL, title.id, title.erp_key
    FROM run CROSS JOIN held AS title
    WHERE title_part = 0 AND title.status = 'current' AND ${IS_BOOKED}
      AND title.business_day <= (now() AT TIME ZONE run.time_zone)::date
      AND title.id NOT IN (SELECT title_id FROM live WHERE is_own)
      AND title.id NOT IN (SELECT title_id FROM judged WHERE severity > 0)
    UNION ALL
    -- An older version that is stated later than the newest receipt was not undone. Nor was one that has been paid.
    SELECT 'posted_twice', NULL, min(booking.title_id), max(payable.erp_key)
    FROM run CROSS JOIN (
      SELECT *, ${BOOKING_OF_PAYABLE} AS booking FROM conciliation.erp_payable AS payable
      WHERE booking_key IS NOT NULL AND status <> 'cancelled' AND closed_at IS NULL AND ${scope.alone}
    ) AS payable LEFT JOIN booking ON payable.booking = booking_name
    CROSS JOIN LATERAL (
      SELECT ${STATED_AT} > posted_at AND (status = 'open' OR settled_as = 'payment') AS counts,
             -- The newest line asks that the supplier be paid, and this is the payable of an older line.
             asks_supplier AND booking_key <> booking_name || ':' || booking.version
               AND (booking.state = 'posted' OR settled_as = 'payment') AS is_over
    ) AS said
    GROUP BY payable.booking, is_undone
    HAVING count(*) > count(DISTINCT booking_key) OR bool_or(counts AND is_over)
        OR count(*) FILTER (WHERE counts) > CASE WHEN is_undone THEN 0 ELSE 1 END
    UNION ALL
    -- The agent of a withdrawn title was paid, and the supplier as well.
    SELECT 'paid_to_supplier', 2, booked_id, payable.erp_key
    FROM standing JOIN conciliation.erp_payable AS payable USING (erp_key)
    WHERE owner IS NULL AND status = 'paid' AND settled_as = 'payment'
      AND ${SETTLING_BOOKING} IS DISTINCT FROM booking AND booking IN (
        SELECT ${BOOKING_OF_PAYABLE} FROM conciliation.erp_payable AS payable
        WHERE booking_key IS NOT NULL AND status = 'paid' AND settled_as = 'payment')
    UNION ALL
    -- What a posting has made for the agent was paid to another party.
    SELECT 'paid_to_supplier', 2, title.id, payable.erp_key
    FROM conciliation.erp_payable AS payable JOIN booking ON booking_name = ${BOOKING_OF_PAYABLE}
    LEFT JOIN own ON line_id = booking.id
    JOIN conciliation.title ON title.id = coalesce(own.title_id, booking.title_id)
    WHERE booking_key IS NOT NULL AND ${scope.among(BOOKING_OF_PAYABLE, Prisma.sql`SELECT booking_name FROM booking`)}
      AND NOT is_undone AND buyer_is_financial IS NOT TRUE AND ${IS_PAID_TO_OTHER}
    UNION ALL
    SELECT 'reversal_refused', NULL, coalesce(own.title_id, booking.title_id), split_part(erp_key, ',', 1)
    FROM booking LEFT JOIN own ON line_id = booking.id WHERE kind = 'reverse' AND state = 'refused'
      -- Without payables, no person could resolve the break of a title that comes back, and the booking stands.
      AND EXISTS (SELECT FROM conciliation.erp_payable)
      -- A posting that a person recorded after a restore may name neither.
      AND coalesce(own.title_id::text, booking.title_id::text, erp_key) IS NOT NULL
    UNION ALL
    SELECT CASE WHEN withdrawn IS NULL THEN 'missing_on_platform' ELSE 'withdrawn_open' END, NULL,
           withdrawn, erp_key
    FROM ordered WHERE NOT has_current
    UNION ALL
    SELECT CASE copy_status WHEN 'open' THEN 'duplicated_in_erp' ELSE 'paid_to_supplier' END,
           CASE copy_status WHEN 'paid' THEN 2 END, title_id, copy
    FROM (SELECT copy, copy_status, title_id, erp_key, min(erp_key) OVER (PARTITION BY copy) AS first
          FROM twin JOIN (
            SELECT title_id, erp_key FROM conciliation.title_payable WHERE erp_key = ANY(ARRAY(SELECT erp_key FROM twin))
            UNION
            -- Of a title without a match, the payable that a line has settled.
            SELECT title_id, erp_key FROM best WHERE severity = 0 AND situation <> 'open'
          ) AS match USING (erp_key)
         ) AS matched WHERE erp_key = first
  ), rated AS MATERIALIZED (
    SELECT kind, coalesce(judged, severity) AS severity, keeps, keeps_line, title_id, erp_key
    FROM found JOIN ${KINDS} USING (kind)
  ), stated AS MATERIALIZED (
    SELECT kind, severity, title_id, payable.erp_key,
           -- What a break names is not to be paid before a person has looked, nor what the title had before. A payable of
           -- another value may be that of another invoice.
           ARRAY(SELECT DISTINCT key FROM unnest(
             CASE WHEN payable.status = 'open' AND payable.closed_at IS NULL
                    THEN CASE WHEN kind = 'value_differs' AND (payable.order_uid = title.order_uid) IS NOT TRUE
                                THEN coalesce(exact, near, nearly.keys)
                              ELSE coalesce(exact, near, '{}') || payable.erp_key END
                  WHEN payable.status = 'cancelled'
                       OR (title.original_value IN (payable.open_value, payable.total_value)) IS NOT TRUE THEN exact
             END || former_keys) AS key
             WHERE key IS NOT NULL ORDER BY key) AS candidates,
           title.accepted_date,
           -- A withdrawn title waits only for the answer to its reversal.
           keeps AND (title.status = 'current' OR kind = 'reversal_refused') AND ${IS_BOOKED}
             AND title_id NOT IN (SELECT title_id FROM live WHERE is_own) AS waits,
           severity > 1 AND keeps_line AND title.status = 'current' AS stays,
           coalesce(title.original_value, payable.open_value) AS value,
           coalesce(title.accepted_date, (payable.created_at AT TIME ZONE time_zone)::date) AS since,
           md5(ROW(kind, title_id, payable.erp_key, ${TITLE_GROUND}, ${STATED_GROUND}, ${PAYABLE_GROUND})::text)::uuid
             AS ground
    FROM run CROSS JOIN rated LEFT JOIN doubt USING (title_id) LEFT JOIN nearly USING (title_id)
    LEFT JOIN (SELECT title_id, array_agg(erp_key) AS former_keys FROM had GROUP BY 1) AS had USING (title_id)
    LEFT JOIN ${titlesOf(Prisma.sql`rated`)} AS title ON title.id = title_id
    LEFT JOIN ${payablesOf(Prisma.sql`rated`)} AS payable ON payable.erp_key = rated.erp_key
  ), broken AS MATERIALIZED (
    SELECT * FROM stated
    WHERE ground NOT IN (SELECT ground FROM conciliation.break_resolution)
  )`;

/** What a payable states about its settlement, which no rule of the matching compares. */
const STATED_GROUND = Prisma.sql`
  ROW(payable.status, payable.closed_at IS NOT NULL, trim_scale(payable.open_value), payable.payee, payable.settled_as,
      payable.settled_by, payable.paid_to)::text`;

/**
 * The current titles of an accepted date whose lines must not be released now, judged against the payables as they are
 * at that instant: a subquery with the column `title_id`. Reads by index. To be run with the settings of
 * `joinWholeSets`, because its joins are of sets.
 * @param date an expression of SQL of the type date
 */
export const waitingTitles = (date: Prisma.Sql): Prisma.Sql => Prisma.sql`
  (WITH ${breaksOf(scopeOf(Prisma.sql`title.accepted_date = ${date} AND title.status = 'current'`))}
   SELECT DISTINCT title_id FROM broken WHERE (waits OR stays) AND accepted_date = ${date})`;

/** Configures the planner for the statements of a transaction that join whole sets, so that the plan does not depend on statistics. */
export async function joinWholeSets(tx: Transaction): Promise<void> {
  await tx.$executeRaw`
    SELECT set_config('enable_nestloop', 'off', true), set_config('enable_mergejoin', 'off', true),
           set_config('work_mem', '64MB', true)`;
}

/**
 * Writes the breaks of the whole ledger, or those of some titles and of their payables. A row that stays is not written
 * again.
 */
export async function writeBreaks(tx: Transaction, titleIds?: readonly bigint[]): Promise<void> {
  await joinWholeSets(tx);
  const ids = Prisma.sql`ANY(${titleIds}::bigint[])`;
  const scope = scopeOf(titleIds && Prisma.sql`title.id = ${ids}`);
  const among = scope.isWhole
    ? ALL
    : Prisma.sql`(title_id = ${ids} OR erp_key IN (
        SELECT erp_key FROM conciliation.title_payable WHERE title_id = ${ids}))`;
  await tx.$executeRaw`
    WITH ${breaksOf(scope)}, hashed AS MATERIALIZED (
      SELECT DISTINCT md5(ROW(kind, severity, waits, title_id, erp_key, candidates, accepted_date, since, value, ground)::text)::uuid AS id,
             kind, severity, waits, title_id, erp_key, candidates, accepted_date, since, value, ground
      FROM stated
    ), gone AS (
      DELETE FROM conciliation.erp_break WHERE id NOT IN (SELECT id FROM hashed) AND ${among}
    )
    INSERT INTO conciliation.erp_break SELECT * FROM hashed ON CONFLICT (id) DO NOTHING`;
}
