/** Judges titles and payables: what differs between them, and which titles wait for it. See docs/matching.md. */
import type { Transaction } from '../../base/database/database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { joinClosedDay, joinedBusinessDay } from '../calendar/business-days.sql.ts';
import { MAX_MOVE_DAYS } from '../calendar/holidays.ts';
import { askedLines, identityOf } from './asked-lines.sql.ts';
import {
  DUE_DAYS,
  IS_COMPARED,
  IS_SETTLED,
  isEnteredAgain,
  PAYABLE_GROUND,
  PAYABLE_VALUE,
  SAME_DUE as SAME_DUE_BY_HASH,
  TITLE_CODE,
  TITLE_GROUND,
  TITLE_TAX_ID,
} from './candidates.sql.ts';
import { IS_PLAIN, KINDS, PAYEE, SEVERITY, SITUATION, VERDICTS } from './judgement.sql.ts';

const SAME_CODE = Prisma.sql`payable.supplier_external_id = ${TITLE_CODE}`;

/** Branches of one company are near each other. left() has an index. */
const sameParty = (taxId: Prisma.Sql) => Prisma.sql`
  left(payable.supplier_tax_id, 8) = left(${taxId}, 8)
  -- Otherwise the rows without a tax identifier are compared with one another.
  AND payable.supplier_tax_id IS NOT NULL AND ${taxId} IS NOT NULL
  AND (payable.supplier_tax_id = ${taxId}
       OR length(payable.supplier_tax_id) = 14 AND length(${taxId}) = 14)
  AND (payable.supplier_external_id IS NULL OR ${TITLE_CODE} IS NULL)`;

/** The value of a payable that a title may have: what is open, and the whole value. */
const SAME_VALUE = Prisma.sql`
  (payable.open_value = title.original_value OR (payable.total_value = title.original_value) IS TRUE)`;

const PAYABLE_DUE = Prisma.sql`payable.due_date`;
const TITLE_DUE = Prisma.sql`title.anticipated_due_date`;
/** The business day of a title of a relation with `CLOSED_DAY`. */
const BUSINESS_DAY = joinedBusinessDay(TITLE_DUE);
export const CLOSED_DAY = joinClosedDay(TITLE_DUE);

/** Whether a title and its payable have the same due date, with `CLOSED_DAY`. */
const OWN_DUE = Prisma.sql`(payable.due_date IN (title.anticipated_due_date, ${BUSINESS_DAY}))`;

/** `isSameDue` of a title that has its business day as a column. */
export const SAME_DUE = Prisma.sql`(payable.due_date IN (title.anticipated_due_date, title.business_day))`;

const COMPARED = Prisma.sql`payable.erp_key, payable.status, payable.document, payable.closed_at IS NOT NULL AS is_closed,
  ${SAME_VALUE} AS same_value, payable.open_value = 0 AND payable.total_value IS NULL AS is_empty,
  payable.order_uid = title.order_uid AS same_order,
  ${SAME_DUE} AS same_due,
  abs(payable.due_date - title.anticipated_due_date) AS days`;

const PAPER = Prisma.sql`
  ROW(payable.company, ltrim(payable.document, '0'), payable.instalment, payable.due_date)`;

/** Titles and payables with the same supplier, on a further condition, each pair once. */
export const pairsOfSupplier = (
  columns: Prisma.Sql,
  payables: Prisma.Sql,
  condition: Prisma.Sql,
  titles = Prisma.sql`unmatched`,
) => Prisma.sql`
  SELECT ${columns} FROM ${titles} AS title JOIN ${payables} AS payable ON ${SAME_CODE} AND ${condition}
  UNION ALL
  SELECT ${columns} FROM ${titles} AS title JOIN ${payables} AS payable
    ON ${sameParty(Prisma.sql`title.tax_id`)} AND ${condition}`;

/** Titles and payables of one order, and those with the same supplier and value and no common order, each pair once. */
const pairsOfOrderOrValue = (
  columns: Prisma.Sql,
  payables: Prisma.Sql,
  value: Prisma.Sql,
  titles = Prisma.sql`unmatched`,
) => Prisma.sql`
  SELECT ${columns} FROM ${titles} AS title JOIN ${payables} AS payable ON payable.order_uid = title.order_uid
  UNION ALL
  ${pairsOfSupplier(
    columns,
    payables,
    Prisma.sql`${value} = title.original_value AND payable.order_uid IS DISTINCT FROM title.order_uid`,
    titles,
  )}`;

/** The booking of a line's key: the key without its version, because an adjustment posts the booking again. */
const bookingOf = (key: Prisma.Sql) => Prisma.sql`regexp_replace(${key}, ':[0-9]+$', '')`;

/** The booking of the line that made a payable. */
export const BOOKING_OF_PAYABLE = bookingOf(Prisma.sql`payable.booking_key`);

/** The booking of the line that settled a payable. */
const SETTLING_BOOKING = bookingOf(Prisma.sql`payable.settled_by`);

const PAIR = Prisma.sql`title.id AS title_id, ${COMPARED}, ${PAPER} AS paper, payable.order_uid AS erp_order,
  payable.due_date AS erp_due, payable.total_value AS erp_total, ${SETTLING_BOOKING} AS settling_booking,
  (${SAME_CODE} OR ${sameParty(Prisma.sql`title.tax_id`)}) IS TRUE AS same_supplier`;

const OTHER_PAIR = Prisma.sql`${PAIR}, payable.supplier_external_id, payable.supplier_tax_id, payable.instalment`;

/** The columns of a title `title` with `CLOSED_DAY` that are compared with payables. */
export const SIDE = Prisma.sql`title.id, title.order_uid, title.original_value, title.anticipated_due_date,
  ${BUSINESS_DAY} AS business_day, ${TITLE_CODE} AS provider_external_id, ${TITLE_TAX_ID} AS tax_id`;

const RIVAL = Prisma.sql`${PAIR}, title.order_uid AS title_order, title.rule, title.made_at, title.place, title.own_days, title.own_due,
  title.own_document, title.own_instalment, payable.is_settled, payable.instalment, payable.changed_at`;

const ALL = Prisma.sql`true`;

/** The titles that `rows` name. */
export const titlesOf = (rows: Prisma.Sql, isWhole = false) =>
  isWhole
    ? Prisma.sql`conciliation.title`
    : Prisma.sql`(SELECT * FROM conciliation.title WHERE id = ANY(ARRAY(SELECT title_id FROM ${rows})))`;

export const payablesOf = (rows: Prisma.Sql, isWhole = false) =>
  isWhole
    ? Prisma.sql`conciliation.erp_payable`
    : Prisma.sql`(SELECT * FROM conciliation.erp_payable WHERE erp_key = ANY(ARRAY(SELECT erp_key FROM ${rows})))`;

/** Whether the date of a title `title` has bookings. */
const IS_BOOKED = Prisma.sql`
  (title.accepted_date >= (SELECT bookings_from FROM run)
   OR title.accepted_date >= (SELECT bookings_from FROM conciliation.booking_start)) IS TRUE`;

/** A window of due dates and a supplier, or an order. */
const RIVALS_BY_INDEX = Prisma.sql`
  (payable.order_uid = ANY(ARRAY(SELECT order_uid FROM matched))
   OR (payable.supplier_external_id = ANY(ARRAY(SELECT provider_external_id FROM matched))
       OR left(payable.supplier_tax_id, 8) = ANY(ARRAY(SELECT left(tax_id, 8) FROM matched)))
      AND payable.due_date BETWEEN (SELECT min(anticipated_due_date) - ${MAX_MOVE_DAYS}::int FROM matched)
                               AND (SELECT max(anticipated_due_date) + ${MAX_MOVE_DAYS}::int FROM matched))`;

export type Scope = ReturnType<typeof scopeOf>;

/**
 * The rows that a statement reads. A break is complete if all rows of the break are read. All rows are joined as sets;
 * otherwise an index finds the rows, whatever the estimates.
 * @param among of `title`: the titles whose breaks are wanted. Absent: the breaks of all titles and payables
 */
export const scopeOf = (among?: Prisma.Sql) => {
  const isWhole = among === undefined;
  const unlessWhole = (part: Prisma.Sql) => (isWhole ? ALL : part);
  const ofNearDate = Prisma.sql`ANY(ARRAY(SELECT date FROM near_date))`;
  const named = (column: Prisma.Sql) => Prisma.sql`ANY(ARRAY(SELECT ${column} FROM unmatched))`;
  const chosen = (column: Prisma.Sql) =>
    Prisma.sql`ANY(ARRAY(SELECT ${column} FROM conciliation.title AS title WHERE ${among}))`;
  return {
    isWhole,
    /** Of `title`. */
    unmatched: among ?? ALL,
    /** Of `payable`: payables near the unmatched titles. */
    near: isWhole
      ? Prisma.sql`(payable.order_uid IN (SELECT order_uid FROM unmatched)
          OR (payable.supplier_external_id, ${PAYABLE_VALUE})
             IN (SELECT provider_external_id, original_value FROM unmatched
                 UNION SELECT provider_external_id, original_value FROM former)
          OR (left(payable.supplier_tax_id, 8), ${PAYABLE_VALUE})
             IN (SELECT left(tax_id, 8), original_value FROM unmatched UNION SELECT left(tax_id, 8), original_value FROM former))`
      : Prisma.sql`(payable.order_uid = ${named(Prisma.sql`order_uid`)}
          OR payable.supplier_external_id = ${named(Prisma.sql`provider_external_id`)}
          OR left(payable.supplier_tax_id, 8) = ${named(Prisma.sql`left(tax_id, 8)`)})`,
    /** Of `payable`: payables near the titles that are matched. */
    rivals: unlessWhole(RIVALS_BY_INDEX),
    /** Of `title`: titles of the suppliers and values of titles in doubt. */
    claimants: isWhole
      ? Prisma.sql`
        (coalesce(title.provider_external_id, title.provider_identification), title.original_value)
          IN (SELECT coalesce(stated_code, stated_tax_id), original_value FROM in_doubt)`
      : Prisma.sql`
        (title.provider_external_id = ANY(ARRAY(SELECT stated_code FROM in_doubt))
         OR title.provider_external_id IS NULL AND title.provider_identification = ANY(ARRAY(SELECT stated_tax_id FROM in_doubt)))
        AND title.original_value = ANY(ARRAY(SELECT original_value FROM in_doubt))`,
    /** Whether payables without a title are judged, and two payables of one booking. */
    alone: isWhole ? ALL : Prisma.sql`false`,
    /** The dates of the titles, of titles of the same orders, and of the other titles that the payables have or had. */
    dates: isWhole
      ? Prisma.sql`SELECT NULL::date AS date`
      : Prisma.sql`
        SELECT accepted_date AS date FROM conciliation.title WHERE order_uid = ${chosen(Prisma.sql`order_uid`)}
        UNION SELECT accepted_date FROM held
        UNION SELECT accepted_date FROM conciliation.title WHERE id = ANY(ARRAY(
          SELECT title_id FROM conciliation.title_match
          WHERE ended_at IS NOT NULL AND erp_key = ANY(ARRAY(SELECT erp_key FROM held))))
        UNION SELECT date FROM conciliation.booking_line WHERE erp_key = ANY(ARRAY(SELECT erp_key FROM rival))`,
    lines: unlessWhole(Prisma.sql`line.date = ${ofNearDate}`),
    titles: unlessWhole(Prisma.sql`title.accepted_date = ${ofNearDate}`),
    /** Of `title_match`. */
    matches: unlessWhole(Prisma.sql`title_match.erp_key = ANY(ARRAY(
      SELECT erp_key FROM conciliation.title_payable WHERE title_id = ${chosen(Prisma.sql`id`)}))`),
  };
};

/** Payables without a match, once for each of their values. */
const settledPayables = (condition: Prisma.Sql) => Prisma.sql`
  SELECT payable.*, ${IS_SETTLED} AS is_settled, value
  FROM conciliation.erp_payable AS payable
  CROSS JOIN LATERAL (SELECT DISTINCT unnest(ARRAY[open_value, total_value]) AS value) AS stated
  WHERE value IS NOT NULL AND ${IS_COMPARED} AND ${condition}
    AND NOT EXISTS (SELECT FROM conciliation.title_payable AS match WHERE match.erp_key = payable.erp_key)`;

/** The matches that last, of the payables near the unmatched titles. */
const nearMatches = ({ isWhole, near }: Scope) => Prisma.sql`
  (SELECT erp_key, title_id FROM conciliation.title_payable
   WHERE ${
     isWhole
       ? ALL
       : Prisma.sql`erp_key = ANY(ARRAY(SELECT erp_key FROM conciliation.erp_payable AS payable WHERE ${near}))`
   })`;

/** Instalments that are paid by the month have due dates farther apart. */
const FAR_DUE_DAYS = Prisma.sql`20`;

const IS_NEAR_DUE = Prisma.sql`(days <= ${DUE_DAYS} OR same_due)`;
/** The same due date, or one within the tolerance; of one order also a due date that the ERP does not state. */
const IS_NEAR = Prisma.sql`(${IS_NEAR_DUE} OR days IS NULL AND same_order)`;

/**
 * Whether a pair fits: the value, and the order or the due date. A payable of the order that the ERP has settled may
 * have any value: what is left or was deducted. The due date excludes the other instalments, if the order has several.
 */
const FITS = Prisma.sql`
  (same_value AND (same_order OR ${IS_NEAR})
   OR same_order AND same_supplier AND (status <> 'open' OR is_empty OR is_closed)
      AND (${IS_NEAR} OR title_id IN (SELECT title_id FROM of_lone_payable)))`;

/**
 * Whether the payable of a pair is that of another instalment of the order: its due date is far from that of the title,
 * and is that of a title without a match, or the own booking of another title has settled the payable.
 */
const IS_OF_SIBLING = Prisma.sql`
  (same_order AND NOT ${IS_NEAR} AND (
    settling_booking IN (SELECT booking FROM own_booking)
      AND (settling_booking, title_id) NOT IN (SELECT booking, title_id FROM own_booking)
    OR EXISTS (
      SELECT FROM conciliation.title AS sibling
      WHERE sibling.order_uid = erp_order AND sibling.id <> title_id AND sibling.status = 'current'
        AND abs(sibling.anticipated_due_date - erp_due) <= ${DUE_DAYS}
        AND (sibling.original_value = erp_total) IS NOT FALSE
        -- By index: as a join, all matches would be hashed for each pair.
        AND (SELECT count(*) FROM conciliation.title_payable AS match WHERE match.title_id = sibling.id) = 0))) IS TRUE`;

const CLAIM = Prisma.sql`title.id AS title_id, title.buyer_identification, payable.instalment, ${COMPARED}`;

/** How well the due dates of a pair agree. */
const DUE_PLACE = Prisma.sql`CASE WHEN days = 0 THEN 2 WHEN same_due THEN 1 ELSE 0 END`;

/** Whether a pair fits, and the payable is open. */
const FITS_OPEN = Prisma.sql`(status = 'open' AND same_value AND (same_order OR ${IS_NEAR_DUE}))`;

/** Why a match ended whose title was withdrawn. */
export const WITHDRAWN = 'the title is withdrawn';

/** Why a match ended whose payable changed in a field that the rules compare. */
export const CHANGED = 'the payable has changed';

/**
 * Whether the payable of a pair `rival` fits a title at least as well as the payable of the title's match, which
 * `place` and `own_days` describe: it names the order, or is settled and fits by an earlier rule, or by the same rule
 * on a due date that is not farther away. A document that was entered again is no rival. A person has seen the
 * payables as they were when the person made the match.
 */
const IS_RIVAL = Prisma.sql`
  (same_order AND place IN (2, 3) AND status <> 'cancelled' AND (same_value OR same_supplier AND ${IS_NEAR})
   OR is_settled AND (same_value OR same_order AND is_empty AND status = 'paid') AND ${IS_NEAR}
      AND (rival_place < place OR rival_place = place AND (days <= own_days) IS NOT FALSE
           OR rival_place = 2 AND place = 1 AND own_due IS NOT TRUE))
  AND (rule <> 'person' OR changed_at > made_at)
  AND ((status = 'cancelled' OR is_closed AND status <> 'paid')
       AND ltrim(document, '0') = ltrim(own_document, '0') AND instalment IS NOT DISTINCT FROM own_instalment
       AND same_supplier) IS NOT TRUE`;

/** The title of a pair without a match; 0 for a match. */
const SOLE = Prisma.sql`(CASE WHEN source = 0 THEN 0 ELSE pair.title_id END)`;

/**
 * The severity of a pair. The far instalment of an order may be that of the title, and is rather another one: the title
 * waits for a person.
 */
const SEVERITY_OF_PAIR = Prisma.sql`least(${SEVERITY}, CASE WHEN is_far THEN 1 END)`;

/** When a payable was stated last. A payable that SQL wrote is stated by each later statement. */
const STATED_AT = Prisma.sql`
  (CASE WHEN payable.import_id IS NULL THEN greatest(payable.stated_at, run.sql_at) ELSE payable.stated_at END)`;

/** The code of a decision that opens a resolved break again. */
export const REOPENED = 'reopened';

/** The newest decision about each state of a break, if the decision has resolved the break. */
export const DECISIONS = Prisma.sql`
  (SELECT * FROM (
     SELECT DISTINCT ON (kind, title_id, erp_key, ground) * FROM conciliation.break_decision
     ORDER BY kind, title_id, erp_key, ground, id DESC
   ) AS newest WHERE code <> ${REOPENED})`;

/** Whether a decision `decision` counts for a break `stated`. */
export const IS_DECIDED = Prisma.sql`
  decision.kind = stated.kind AND decision.title_id IS NOT DISTINCT FROM stated.title_id
  AND decision.erp_key IS NOT DISTINCT FROM stated.erp_key AND decision.ground = stated.ground`;

/**
 * The breaks of a scope, `broken`: kind, severity (1, or 2: urgent), waits (the title is not released), title_id,
 * erp_key. For a statement with WITH.
 */
export const breaksOf = (scope: Scope) => Prisma.sql`
  run AS MATERIALIZED (
    SELECT coalesce(time_zone, 'America/Sao_Paulo') AS time_zone, coalesce(states_paid, false) AS states_paid,
           bookings_from,
           (SELECT max(started_at) FROM conciliation.erp_payable_import WHERE kind = 'sql') AS sql_at,
           (SELECT max(started_at) FROM conciliation.erp_payable_import
            WHERE kind = 'snapshot' AND is_complete) AS snapshot_at
    FROM (SELECT) AS one LEFT JOIN (SELECT * FROM conciliation.match_run ORDER BY id DESC LIMIT 1) AS newest ON true
  ), lasting AS NOT MATERIALIZED (
    SELECT * FROM conciliation.title_match WHERE ended_at IS NULL AND ${scope.matches}
  ), held AS MATERIALIZED (
    SELECT ${SIDE}, title_id, title.status, title.accepted_date, title.identity_hash, rule, made_at, erp_value, title_part,
           lasting.erp_key, open_value, payable.status = 'cancelled' AS is_cancelled, ${IS_PLAIN} AS is_plain,
           document AS own_document, instalment AS own_instalment,
           abs(payable.due_date - title.anticipated_due_date) AS own_days, ${OWN_DUE} AS own_due,
           CASE WHEN rule = 'sum' THEN 4 WHEN payable.order_uid = title.order_uid THEN 1
                WHEN ${OWN_DUE} THEN 2 ELSE 3 END AS place,
           title.status = 'current' AND ${scope.unmatched} AS is_wanted
    FROM lasting
    JOIN ${titlesOf(Prisma.sql`lasting`, scope.isWhole)} AS title ON title.id = title_id ${CLOSED_DAY}
    JOIN ${payablesOf(Prisma.sql`lasting`, scope.isWhole)} AS payable ON payable.erp_key = lasting.erp_key
  ), matched AS NOT MATERIALIZED (
    SELECT * FROM held WHERE is_wanted
  ), rival_payable AS MATERIALIZED (
    ${settledPayables(Prisma.sql`(${IS_SETTLED} OR payable.order_uid IS NOT NULL) AND ${scope.rivals}`)}
  ), rival AS MATERIALIZED (
    SELECT DISTINCT title_id, erp_key, rival_place AS place, coalesce(days, 0) AS days, title_order FROM (
      SELECT *, CASE WHEN same_order THEN 1 WHEN same_due THEN 2 ELSE 3 END AS rival_place FROM (
        ${pairsOfOrderOrValue(RIVAL, Prisma.sql`rival_payable`, Prisma.sql`payable.value`, Prisma.sql`matched`)}
      ) AS stated
    ) AS rival WHERE ${IS_RIVAL}
  ), near_date AS MATERIALIZED (${scope.dates}), ${askedLines(scope)}, unmatched AS MATERIALIZED (
    SELECT ${SIDE}, title.provider_external_id AS stated_code, provider_identification AS stated_tax_id
    FROM conciliation.title AS title ${CLOSED_DAY}
    WHERE status = 'current' AND ${scope.unmatched}
      AND NOT EXISTS (SELECT FROM held WHERE held.title_id = title.id)
  ), heir AS MATERIALIZED (
    SELECT link.title_id, gone.id AS gone_id
    FROM (SELECT title_id FROM conciliation.title_succession WHERE title_id = ANY(ARRAY(SELECT id FROM unmatched))) AS link
    CROSS JOIN LATERAL (
      WITH RECURSIVE gone AS (
        SELECT predecessor_id AS id FROM conciliation.title_succession AS first WHERE first.title_id = link.title_id
        UNION
        SELECT predecessor_id FROM gone JOIN conciliation.title_succession AS earlier ON earlier.title_id = gone.id
      ) SELECT id FROM gone
    ) AS gone
    UNION ALL
    SELECT id, id FROM unmatched
  ), own_booking AS MATERIALIZED (
    SELECT own.title_id, booking_name AS booking FROM own JOIN booking ON id = line_id
  ), former AS MATERIALIZED (
    -- The titles as they were before they were restated.
    SELECT ${SIDE}, heir.title_id AS heir_id
    FROM heir JOIN (SELECT * FROM conciliation.title WHERE id = ANY(ARRAY(SELECT gone_id FROM heir))) AS title
      ON title.id = gone_id AND gone_id <> heir.title_id ${CLOSED_DAY}
  ), of_lone_payable AS MATERIALIZED (
    SELECT id AS title_id FROM unmatched JOIN (
      SELECT order_uid FROM conciliation.erp_payable AS payable
      WHERE ${
        scope.isWhole
          ? Prisma.sql`order_uid IN (SELECT order_uid FROM unmatched)`
          : Prisma.sql`order_uid = ANY(ARRAY(SELECT order_uid FROM unmatched))`
      } AND ${IS_COMPARED}
      GROUP BY order_uid HAVING count(*) = 1
    ) AS single USING (order_uid)
  ), free AS MATERIALIZED (
    SELECT payable.*, ${joinedBusinessDay(PAYABLE_DUE)} AS business_day
    FROM conciliation.erp_payable AS payable ${joinClosedDay(PAYABLE_DUE)}
    WHERE closed_at IS NULL AND status <> 'cancelled' AND ${IS_COMPARED}
      AND ${scope.isWhole ? ALL : scope.near}
      AND NOT EXISTS (SELECT FROM ${nearMatches(scope)} AS match WHERE match.erp_key = payable.erp_key)
  ), alone AS (
    SELECT * FROM free WHERE status = 'open' AND ${scope.alone}
  ), settled AS MATERIALIZED (
    ${settledPayables(Prisma.sql`${IS_SETTLED} AND EXISTS (SELECT FROM former) AND ${scope.near}`)}
  ), related AS MATERIALIZED (
    ${pairsOfOrderOrValue(PAIR, Prisma.sql`free`, Prisma.sql`payable.open_value`)}
    UNION ALL
    ${pairsOfSupplier(
      PAIR,
      Prisma.sql`free`,
      Prisma.sql`payable.total_value = title.original_value AND payable.open_value <> title.original_value
        AND payable.order_uid IS DISTINCT FROM title.order_uid`,
    )}
  ), other AS MATERIALIZED (
    -- Payables that another title has, or that were cancelled or closed.
    SELECT * FROM (
      SELECT payable.*, ${PAYABLE_VALUE} AS value,
             (SELECT min(title_id) FROM conciliation.title_payable AS match
              WHERE match.erp_key = payable.erp_key) AS holder
      FROM conciliation.erp_payable AS payable WHERE ${IS_COMPARED} AND ${scope.near}
    ) AS near WHERE holder IS NOT NULL OR closed_at IS NOT NULL OR status = 'cancelled'
  ), other_pair AS MATERIALIZED (
    SELECT * FROM (
      ${pairsOfOrderOrValue(
        Prisma.sql`${OTHER_PAIR}, payable.holder`,
        Prisma.sql`other`,
        Prisma.sql`payable.value`,
      )}
    ) AS near WHERE ${FITS}
  ), taken_pair AS MATERIALIZED (
    SELECT near.title_id, erp_key, same_order IS TRUE AS same_order,
           holding.order_uid = title.order_uid AS is_of_order, ${DUE_PLACE} AS place
    FROM other_pair AS near JOIN unmatched AS title ON title.id = near.title_id
    JOIN (SELECT * FROM conciliation.title WHERE id = ANY(ARRAY(SELECT holder FROM other_pair))) AS holding
      ON holding.id = holder
    WHERE holding.status = 'current' AND (same_value OR is_empty) AND ${IS_NEAR} AND (same_order OR same_due OR holding.order_uid = title.order_uid)
  ), taken AS (
    SELECT title_id, min(erp_key) AS erp_key FROM taken_pair GROUP BY title_id
  ), pair AS MATERIALIZED (
    SELECT title_id, erp_key, 0 AS source, 0 AS place, 0 AS days, rule, erp_value FROM held
    WHERE NOT is_plain OR open_value < erp_value OR title_id IN (SELECT title_id FROM asked)
    UNION ALL
    SELECT title_id, erp_key, 3, place, days, NULL, NULL::numeric FROM rival
    -- A booking of another order explains the payable.
    WHERE NOT EXISTS (SELECT FROM booking WHERE booking.erp_key = rival.erp_key AND NOT is_undone
                        AND btrim(booking.order_uid) <> btrim(title_order))
    UNION ALL
    SELECT DISTINCT title_id, named, 1, 0, 0, NULL, NULL::numeric
    FROM asked CROSS JOIN LATERAL unnest(string_to_array(erp_keys, ',')) AS named
    WHERE is_own AND (title_id IN (SELECT id FROM unmatched) AND state <> 'reversed'
                      OR state = 'withdrawn' AND named NOT IN (SELECT erp_key FROM held))
    UNION ALL
    -- The ERP has settled the payable that the title had before the payable changed, or that of the withdrawn title
    -- that the title continues.
    SELECT DISTINCT heir.title_id, match.erp_key, 2, 0, 0, NULL, NULL::numeric
    FROM heir JOIN ${
      scope.isWhole
        ? Prisma.sql`conciliation.title_match`
        : Prisma.sql`(SELECT * FROM conciliation.title_match WHERE title_id = ANY(ARRAY(SELECT gone_id FROM heir)))`
    } AS match
      ON match.title_id = heir.gone_id AND (match.ended_at IS NULL OR match.end_reason IN (${WITHDRAWN}, ${CHANGED}))
    JOIN conciliation.erp_payable AS payable ON payable.erp_key = match.erp_key
    WHERE NOT ${IS_PLAIN} AND NOT EXISTS (
      SELECT FROM conciliation.title_payable AS other
      WHERE other.erp_key = match.erp_key AND other.title_id <> heir.gone_id)
    UNION ALL
    SELECT title_id, erp_key, 2,
           -- A payable of the order with a far due date may be that of another instalment.
           CASE WHEN same_order AND ${IS_NEAR} THEN 1
                WHEN same_due AND (status <> 'open' OR same_order IS NULL) THEN 2
                WHEN same_order AND status <> 'open' THEN 3 ELSE 4 END,
           coalesce(days, 0), NULL, NULL
    FROM (
      SELECT title_id, erp_key, same_order, same_due, days, status FROM related
      WHERE ${FITS} AND NOT ${IS_OF_SIBLING}
      UNION ALL
      SELECT title_id, erp_key, same_order, same_due, days, status FROM other_pair AS gone
      WHERE holder IS NULL AND NOT ${IS_OF_SIBLING}
        -- The ERP has entered the document again.
        AND NOT EXISTS (
          SELECT FROM free WHERE status = 'open' AND ${isEnteredAgain(Prisma.sql`free`)})
    ) AS fitting
    UNION ALL
    -- The ERP has settled a payable of the title as it was, which had no match.
    SELECT heir_id, erp_key, 2, 5, coalesce(days, 0), NULL, NULL
    FROM (${pairsOfOrderOrValue(
      Prisma.sql`${OTHER_PAIR}, title.heir_id`,
      Prisma.sql`settled`,
      Prisma.sql`payable.value`,
      Prisma.sql`former`,
    )}) AS gone
    WHERE (same_value OR same_order AND is_empty) AND ${IS_NEAR} AND NOT EXISTS (
      SELECT FROM free WHERE status = 'open' AND ${isEnteredAgain(Prisma.sql`free`)})
  ), paired AS MATERIALIZED (
    SELECT id, status, accepted_date, identity_hash, original_value, anticipated_due_date, ${BUSINESS_DAY} AS business_day,
           buyer_is_financial, financial_agent_identification, provider_identification
    FROM ${titlesOf(Prisma.sql`pair`, scope.isWhole)} AS title ${CLOSED_DAY} WHERE id IN (SELECT title_id FROM pair)
  ), demand AS MATERIALIZED (
    -- What the titles of a payable still ask for, and their bookings.
    SELECT erp_key, sum(original_value) FILTER (WHERE is_posted IS NOT TRUE) AS value,
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
    SELECT title_id, erp_key, source, place, days, situation, kind, rule, is_current,
           -- Without an answer, a booking that no title has any more explains a payment of which the ERP does not state
           -- the receiver only so far that the payment is not urgent: the ERP may have paid the supplier. Where the ERP
           -- has no line to answer but a reversal, the booking explains nothing.
           min(CASE WHEN is_own OR state <> 'released' OR situation NOT IN ('paid', 'gone') THEN ${SEVERITY_OF_PAIR}
                    WHEN is_offered AND only_keys IS NOT NULL AND title_id NOT IN (SELECT title_id FROM live WHERE is_own)
                      THEN greatest(1, ${SEVERITY_OF_PAIR}) END) AS severity
    FROM run CROSS JOIN situated
    JOIN (
      SELECT title_id, state, posted_at, begun_at, is_offered,
             CASE WHEN NOT is_own THEN string_to_array(erp_keys, ',') END AS only_keys, is_own FROM asked
      UNION ALL
      SELECT DISTINCT title_id, CASE WHEN is_booked THEN 'before' ELSE 'unbooked' END,
             NULL::timestamptz, NULL::timestamptz, false, NULL::text[], true
      -- A withdrawn title asks for nothing.
      FROM situated WHERE is_current AND title_id NOT IN (SELECT title_id FROM asked WHERE is_own)
    ) AS status USING (title_id)
    JOIN ${VERDICTS} USING (is_early, situation, state)
    -- A booking that no title has any more explains its own payables only.
    WHERE (only_keys IS NULL OR erp_key = ANY(only_keys))
    GROUP BY title_id, erp_key, source, place, days, situation, kind, rule, is_current
  ), standing AS MATERIALIZED (
    -- Bookings that are not reversed, of no current title, or on a payable that is no longer that of their title.
    SELECT date, name, booking_name AS booking, kind, state, states, booking.original_value, key AS erp_key,
           own.title_id AS owner, kind = 'reverse' AND state = 'refused' AS is_refused
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
               (payable.instalment IS NOT NULL AND abs(payable.due_date - due) > ${FAR_DUE_DAYS}) IS TRUE AS is_far
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
    ORDER BY title_id, source, place, days, severity DESC, erp_key
  ), doubt AS MATERIALIZED (
    SELECT title_id,
           min(erp_key) FILTER (WHERE fits) AS fit,
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
    -- Three values of a supplier and due date suffice to decide whether exactly one payable has another value.
    SELECT * FROM (
      SELECT supplier_external_id, supplier_tax_id, due_date, business_day, open_value, min(erp_key) AS erp_key,
             min(order_uid) AS order_uid, count(*) AS rows, row_number() OVER (PARTITION BY supplier_external_id, supplier_tax_id, due_date) AS place
      FROM free WHERE status = 'open' GROUP BY 1, 2, 3, 4, 5
    ) AS valued WHERE place <= 3
  ), due AS MATERIALIZED (
    SELECT title_id, min(erp_key) AS erp_key, min(order_uid) AS order_uid,
           CASE WHEN bool_or(is_day) THEN 2 ELSE 1 END AS place FROM (${pairsOfSupplier(
             Prisma.sql`title.id AS title_id, payable.erp_key, payable.rows, payable.order_uid,
        payable.due_date = title.anticipated_due_date AS is_day`,
             Prisma.sql`value_of_due`,
             Prisma.sql`${SAME_DUE_BY_HASH} AND payable.open_value <> title.original_value`,
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
    SELECT copy.erp_key AS copy, payable.erp_key FROM alone AS copy JOIN (
      -- The few documents of the payables without a match are hashed, and not all payables.
      SELECT payable.* FROM conciliation.erp_payable AS payable
      JOIN (SELECT DISTINCT ltrim(document, '0') AS bare FROM alone WHERE document IS NOT NULL) AS wanted
        ON ltrim(document, '0') = bare
      WHERE document IS NOT NULL AND status = 'open' AND closed_at IS NULL AND ${IS_COMPARED}
    ) AS payable
      ON ltrim(payable.document, '0') = ltrim(copy.document, '0') AND payable.open_value = copy.open_value
     AND ROW(payable.company, payable.supplier_external_id, payable.supplier_tax_id, payable.instalment,
             payable.due_date)
         IS NOT DISTINCT FROM
         ROW(copy.company, copy.supplier_external_id, copy.supplier_tax_id, copy.instalment, copy.due_date)
    WHERE copy.document IS NOT NULL AND payable.erp_key <> copy.erp_key
  ), found AS MATERIALIZED (
    -- The severity is that of the kind, unless the pair was judged.
    SELECT result[1] AS kind, result[3]::int AS judged, id AS title_id, result[2] AS erp_key
    FROM (
      -- Of a title without a match, the first result that applies.
      SELECT id,
             CASE WHEN best.severity > 0 AND best.severity >= coalesce(used.severity, 0)
                    THEN ARRAY[best.kind, best.erp_key, best.severity::text]
                  WHEN used.kind IS NOT NULL THEN ARRAY[used.kind, used.erp_key]
                  -- What a line has asked for explains the payable, or its receipt does.
                  WHEN live.is_posted OR live.title_id IS NOT NULL AND best.situation <> 'open' THEN NULL
                  WHEN wrong_value.title_id IS NOT NULL
                    THEN ARRAY['value_differs', wrong_value.erp_key]
                  WHEN contested.title_id IS NOT NULL
                    THEN ARRAY['anticipated_twice', coalesce(fit, taken.erp_key, other_value, due.erp_key, other_due)]
                  WHEN is_doubled THEN ARRAY['duplicated_in_erp', fit]
                  WHEN fit IS NOT NULL THEN ARRAY['in_doubt', fit]
                  WHEN taken.erp_key IS NOT NULL THEN ARRAY['anticipated_twice', taken.erp_key]
                  WHEN coalesce(other_value, due.erp_key) IS NOT NULL
                    THEN ARRAY['value_differs', coalesce(other_value, due.erp_key)]
                  WHEN other_due IS NOT NULL THEN ARRAY['due_date_differs', other_due]
                  ELSE ARRAY['missing_in_erp', NULL] END AS result
      FROM unmatched LEFT JOIN best ON best.title_id = id LEFT JOIN live ON live.title_id = id
      LEFT JOIN doubt ON doubt.title_id = id LEFT JOIN taken ON taken.title_id = id
      LEFT JOIN contested ON contested.title_id = id LEFT JOIN wrong_value ON wrong_value.title_id = id
      LEFT JOIN due ON due.title_id = id LEFT JOIN used ON used.title_id = id
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
    WHERE rule = 'inherited' AND is_plain AND NOT is_own AND NOT is_posted
      AND (open_value <> original_value OR own_days > ${DUE_DAYS} AND NOT own_due)
    UNION ALL
    SELECT 'due_before_release', NULL, title.id, title.erp_key
    FROM run CROSS JOIN held AS title
    WHERE title_part = 0 AND title.status = 'current' AND ${IS_BOOKED}
      AND title.business_day <= (now() AT TIME ZONE run.time_zone)::date
      AND title.id NOT IN (SELECT title_id FROM live WHERE is_own)
      AND title.id NOT IN (SELECT title_id FROM judged WHERE severity > 0)
    UNION ALL
    -- An older version that is stated later than the newest receipt was not undone.
    SELECT 'posted_twice', NULL, min(booking.title_id), max(payable.erp_key)
    FROM run CROSS JOIN (
      SELECT *, ${BOOKING_OF_PAYABLE} AS booking FROM conciliation.erp_payable AS payable
      WHERE booking_key IS NOT NULL AND status <> 'cancelled' AND closed_at IS NULL AND ${scope.alone}
    ) AS payable LEFT JOIN booking ON payable.booking = booking_name
    GROUP BY payable.booking, is_undone
    HAVING count(*) > count(DISTINCT booking_key)
        OR count(*) FILTER (WHERE status = 'open' AND ${STATED_AT} > posted_at)
           > CASE WHEN is_undone THEN 0 ELSE 1 END
    UNION ALL
    SELECT 'reversal_refused', NULL, coalesce(own.title_id, booking.title_id), split_part(erp_key, ',', 1)
    FROM booking LEFT JOIN own ON line_id = booking.id WHERE kind = 'reverse' AND state = 'refused'
    UNION ALL
    SELECT CASE WHEN withdrawn IS NULL THEN 'missing_on_platform' ELSE 'withdrawn_open' END, NULL,
           withdrawn, erp_key
    FROM ordered WHERE NOT has_current
    UNION ALL
    -- The program ends its own matches of this kind.
    SELECT 'match_lost', NULL, title_id, erp_key FROM held AS title
    WHERE rule = 'person' AND (status = 'withdrawn' OR is_cancelled AND NOT ${IS_BOOKED})
    UNION ALL
    SELECT 'duplicated_in_erp', NULL, title_id, copy
    FROM (SELECT copy, title_id, erp_key, min(erp_key) OVER (PARTITION BY copy) AS first
          FROM twin JOIN (
            SELECT title_id, erp_key FROM conciliation.title_payable WHERE erp_key = ANY(ARRAY(SELECT erp_key FROM twin))) AS match USING (erp_key)
         ) AS matched WHERE erp_key = first
  ), rated AS MATERIALIZED (
    SELECT kind, coalesce(judged, severity) AS severity, keeps, keeps_line, title_id, erp_key
    FROM found JOIN ${KINDS} USING (kind)
  ), stated AS MATERIALIZED (
    SELECT kind, severity, title_id, payable.erp_key, title.accepted_date,
           -- A withdrawn title waits only for the answer to its reversal.
           keeps AND (title.status = 'current' OR kind = 'reversal_refused') AND ${IS_BOOKED}
             AND (title_id NOT IN (SELECT title_id FROM live WHERE is_own) OR severity > 1 AND keeps_line) AS waits,
           coalesce(title.original_value, payable.open_value) AS value,
           coalesce(title.accepted_date, (payable.created_at AT TIME ZONE time_zone)::date) AS since,
           md5(concat(${TITLE_GROUND}, ${STATED_GROUND}, ${PAYABLE_GROUND}))::uuid AS ground
    FROM run CROSS JOIN rated
    LEFT JOIN ${titlesOf(Prisma.sql`rated`)} AS title ON title.id = title_id
    LEFT JOIN ${payablesOf(Prisma.sql`rated`)} AS payable ON payable.erp_key = rated.erp_key
  ), broken AS MATERIALIZED (
    SELECT * FROM stated
    WHERE NOT EXISTS (SELECT FROM ${DECISIONS} AS decision WHERE ${IS_DECIDED})
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
   SELECT DISTINCT title_id FROM broken WHERE waits AND accepted_date = ${date})`;

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
      SELECT DISTINCT md5(ROW(kind, severity, waits, title_id, erp_key, accepted_date, since, value, ground)::text)::uuid AS id,
             kind, severity, waits, title_id, erp_key, accepted_date, since, value, ground
      FROM stated
    ), gone AS (
      DELETE FROM conciliation.erp_break WHERE id NOT IN (SELECT id FROM hashed) AND ${among}
    )
    INSERT INTO conciliation.erp_break SELECT * FROM hashed ON CONFLICT (id) DO NOTHING`;
}
