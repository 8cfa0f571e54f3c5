/** The pairs of titles and payables that are judged. See docs/matching.md. */
import { Prisma } from '../../generated/prisma/client.ts';
import { joinClosedDay, joinedBusinessDay, MAX_MOVE_DAYS } from '../calendar/business-days.sql.ts';
import { askedLines, FAR_DUE_DAYS, SETTLING_BOOKING } from './asked-lines.sql.ts';
import {
  DUE_DAYS,
  IS_COMPARED,
  IS_SETTLED,
  isEnteredAgain,
  PAYABLE_VALUE,
  SAME_DUE as SAME_DUE_BY_HASH,
  TITLE_CODE,
  TITLE_TAX_ID,
  VALUE_TOLERANCE,
} from './candidates.sql.ts';
import { IS_PLAIN } from './judgement.sql.ts';

const SAME_CODE = Prisma.sql`payable.supplier_external_id = title.provider_external_id`;

/** Branches of one company are near each other. left() has an index. */
const SAME_PARTY = Prisma.sql`
  left(payable.supplier_tax_id, 8) = left(title.tax_id, 8)
  -- Otherwise the rows without a tax identifier are compared with one another.
  AND payable.supplier_tax_id IS NOT NULL AND title.tax_id IS NOT NULL
  AND (payable.supplier_tax_id = title.tax_id
       OR length(payable.supplier_tax_id) = 14 AND length(title.tax_id) = 14)
  AND (payable.supplier_external_id IS NULL OR title.provider_external_id IS NULL)`;

/** The value of a payable that a title may have: what is open, and the whole value. */
const SAME_VALUE = Prisma.sql`
  (payable.open_value = title.original_value OR (payable.total_value = title.original_value) IS TRUE)`;

const PAYABLE_DUE = Prisma.sql`payable.due_date`;
const TITLE_DUE = Prisma.sql`title.anticipated_due_date`;
/** The business day of a title of a relation with `CLOSED_DAY`. */
export const BUSINESS_DAY = joinedBusinessDay(TITLE_DUE);
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

/** Titles with the columns of `SIDE` and payables with the same supplier, on a further condition, each pair once. */
export const pairsOfSupplier = (
  columns: Prisma.Sql,
  payables: Prisma.Sql,
  condition: Prisma.Sql,
  titles = Prisma.sql`unmatched`,
) => Prisma.sql`
  SELECT ${columns} FROM ${titles} AS title JOIN ${payables} AS payable ON ${SAME_CODE} AND ${condition}
  UNION ALL
  SELECT ${columns} FROM ${titles} AS title JOIN ${payables} AS payable ON ${SAME_PARTY} AND ${condition}`;

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

const PAIR = Prisma.sql`title.id AS title_id, ${COMPARED}, ${PAPER} AS paper, payable.order_uid AS erp_order,
  payable.due_date AS erp_due, payable.total_value AS erp_total, ${SETTLING_BOOKING} AS settling_booking,
  (${SAME_CODE} OR ${SAME_PARTY}) IS TRUE AS same_supplier,
  payable.supplier_external_id, payable.supplier_tax_id, payable.instalment`;

/** The columns of a title `title` with `CLOSED_DAY` that are compared with payables. */
export const SIDE = Prisma.sql`title.id, title.order_uid, title.original_value, title.anticipated_due_date,
  ${BUSINESS_DAY} AS business_day, ${TITLE_CODE} AS provider_external_id, ${TITLE_TAX_ID} AS tax_id`;

const RIVAL = Prisma.sql`${PAIR}, title.order_uid AS title_order, title.rule, title.made_at, title.place, title.own_days, title.own_due,
  title.own_document, title.own_instalment, payable.is_settled, payable.changed_at`;

export const ALL = Prisma.sql`true`;

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
export const IS_BOOKED = Prisma.sql`
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
    unlessWhole,
    /** Whether a column has a value of `rows`. */
    among: (column: Prisma.Sql, rows: Prisma.Sql) =>
      isWhole ? Prisma.sql`${column} IN (${rows})` : Prisma.sql`${column} = ANY(ARRAY(${rows}))`,
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

export const IS_NEAR_DUE = Prisma.sql`(days <= ${DUE_DAYS} OR same_due)`;
/** The same due date, or one within the tolerance; of one order also a due date that the ERP does not state. */
export const IS_NEAR = Prisma.sql`(${IS_NEAR_DUE} OR days IS NULL AND same_order)`;

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

export const CLAIM = Prisma.sql`title.id AS title_id, title.buyer_identification, payable.instalment, ${COMPARED}`;

/** How well the due dates of a pair agree. */
export const DUE_PLACE = Prisma.sql`CASE WHEN days = 0 THEN 2 WHEN same_due THEN 1 ELSE 0 END`;

/** Whether a pair fits, and the payable is open. */
export const FITS_OPEN = Prisma.sql`(status = 'open' AND same_value AND (same_order OR ${IS_NEAR_DUE}))`;

/** The author of a run that no person requested, and of the ends of its matches. */
export const MATCHING_ACTOR = 'matching';

/** Why a match ended whose title was withdrawn. */
export const WITHDRAWN = 'the title is withdrawn';

/** Why a match ended whose payable changed in a field that the rules compare. */
export const CHANGED = 'the payable has changed';

/** Why a match ended whose payable was cancelled. */
export const CANCELLED = 'the payable is cancelled';

/**
 * Whether the payable of a pair `rival` fits a title at least as well as the payable of the title's match, which
 * `place` and `own_days` describe: it names the order, also on a nearer due date than that of an equal instalment, or is
 * settled and fits by an earlier rule, or by the same rule on a due date that is not farther away. A document that was entered again is no rival. A person has seen the
 * payables as they were when the person made the match.
 */
const IS_RIVAL = Prisma.sql`
  (same_order AND place IN (2, 3) AND status <> 'cancelled' AND (same_value OR same_supplier AND ${IS_NEAR})
   OR same_order AND place = 1 AND status = 'open' AND same_value AND days < own_days
   OR is_settled AND (same_value OR same_order AND is_empty AND status = 'paid') AND ${IS_NEAR}
      AND (rival_place < place OR rival_place = place AND (days <= own_days) IS NOT FALSE
           OR rival_place = 2 AND place = 1 AND own_due IS NOT TRUE))
  AND (rule <> 'person' OR changed_at > made_at)
  AND ((status = 'cancelled' OR is_closed AND status <> 'paid')
       AND ltrim(document, '0') = ltrim(own_document, '0') AND instalment IS NOT DISTINCT FROM own_instalment
       AND same_supplier) IS NOT TRUE`;

/** The width of the classes of values in which pairs are looked for. */
const WIDTH = Prisma.sql`greatest(${VALUE_TOLERANCE}, 0.01)`;

/** Payables with the supplier and the due date, and nearly the value, of titles `unmatched`, that no booking has settled. */
const NEAR_VALUES = pairsOfSupplier(
  Prisma.sql`title.id AS title_id, payable.erp_key, payable.status, abs(payable.value - title.original_value) AS difference`,
  Prisma.sql`(SELECT valued.*, floor(value / ${WIDTH}) AS class FROM (
    SELECT payable.*, CASE status WHEN 'open' THEN open_value ELSE ${PAYABLE_VALUE} END AS value
    FROM free AS payable WHERE settled_by IS NULL) AS valued)`,
  Prisma.sql`payable.class = title.class AND ${SAME_DUE_BY_HASH} AND payable.value <> title.original_value
             AND (payable.order_uid = title.order_uid) IS NOT FALSE`,
  Prisma.sql`(SELECT unmatched.*, floor(original_value / ${WIDTH}) + step AS class
              FROM unmatched CROSS JOIN generate_series(-1, 1) AS step
              -- No payable has a greater value, and the quotient of a greater one may exceed a numeric.
              WHERE abs(original_value) < 1e18)`,
);

/**
 * The payables with which each title is compared. For a statement with WITH:
 * - `held`: the titles that have a payable, with it; `unmatched`: the others
 * - `related`, `other_pair`: the payables near the titles of `unmatched`; those that another title has, or that are gone
 * - `nearly`: `keys` of the open payables with the supplier and the due date, and nearly the value, the nearest first
 * - `had`: the payables of the matches that the program has ended, of the title and of those that it continues
 * - `pair`: the pairs that are judged, with `source`: 0 a match, 1 what a line has named, 2 the payable that an unmatched
 *   title had or that fits it, 3 a payable that fits a matched title at least as well as that of its match
 */
export const pairsOf = (scope: Scope) => Prisma.sql`
  run AS MATERIALIZED (
    SELECT coalesce(time_zone, 'America/Sao_Paulo') AS time_zone, coalesce(states_paid, false) AS states_paid,
           bookings_from,
           (SELECT max(started_at) FROM conciliation.erp_payable_import
            WHERE kind = 'snapshot' AND is_complete) AS snapshot_at
    FROM (SELECT) AS one LEFT JOIN (SELECT * FROM conciliation.match_run ORDER BY id DESC LIMIT 1) AS newest ON true
  ), lasting AS NOT MATERIALIZED (
    SELECT * FROM conciliation.title_match WHERE ended_at IS NULL AND ${scope.matches}
  ), held AS MATERIALIZED (
    SELECT ${SIDE}, title_id, title.status, title.accepted_date, title.identity_hash, rule, made_at, erp_value, title_part,
           lasting.erp_key, open_value, ${IS_PLAIN} AS is_plain,
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
  ), lone AS MATERIALIZED (
    -- Of the orders of unmatched titles: the titles without a payable, and the withdrawn ones that no merge has linked.
    SELECT id, status, order_uid, buyer_identification, provider_external_id, original_value, anticipated_due_date
    FROM conciliation.title AS title
    WHERE ${scope.among(Prisma.sql`order_uid`, Prisma.sql`SELECT order_uid FROM unmatched`)}
      -- By index: as joins, all matches and links would be hashed.
      AND CASE status WHEN 'current'
            THEN (SELECT count(*) FROM conciliation.title_payable AS match WHERE match.title_id = title.id)
            ELSE (SELECT count(*) FROM conciliation.title_succession WHERE predecessor_id = title.id) END = 0
  ), moved AS MATERIALIZED (
    -- The title that continues a withdrawn one: of those with its due date or value, that with the nearest due date. One
    -- that is farther away is rather another instalment.
    SELECT DISTINCT ON (gone.id) title.id AS title_id, gone.id AS predecessor_id
    FROM lone AS title JOIN lone AS gone USING (order_uid)
    WHERE title.status = 'current' AND gone.status = 'withdrawn'
      AND ROW(title.buyer_identification, title.provider_external_id)
          IS NOT DISTINCT FROM ROW(gone.buyer_identification, gone.provider_external_id)
      AND abs(title.anticipated_due_date - gone.anticipated_due_date)
          <= CASE WHEN title.original_value = gone.original_value THEN ${FAR_DUE_DAYS} ELSE 0 END
    ORDER BY gone.id, abs(title.anticipated_due_date - gone.anticipated_due_date),
             title.original_value <> gone.original_value, title.id
  ), heir AS MATERIALIZED (
    SELECT link.title_id, gone.id AS gone_id, place
    FROM (
      SELECT title_id, predecessor_id, 0 AS place FROM conciliation.title_succession
      WHERE title_id = ANY(ARRAY(SELECT id FROM unmatched))
      UNION ALL
      SELECT title_id, predecessor_id, 5 FROM moved WHERE title_id IN (SELECT id FROM unmatched)
    ) AS link
    CROSS JOIN LATERAL (
      WITH RECURSIVE gone AS (
        SELECT link.predecessor_id AS id
        UNION
        SELECT predecessor_id FROM gone JOIN conciliation.title_succession AS earlier ON earlier.title_id = gone.id
      ) SELECT id FROM gone
    ) AS gone
    UNION ALL
    SELECT id, id, 0 FROM unmatched
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
      WHERE ${scope.among(Prisma.sql`order_uid`, Prisma.sql`SELECT order_uid FROM unmatched`)} AND ${IS_COMPARED}
      GROUP BY order_uid HAVING count(*) = 1 OR count(*) FILTER (WHERE status <> 'cancelled' AND closed_at IS NULL) = 1
    ) AS single USING (order_uid)
  ), free AS MATERIALIZED (
    SELECT payable.*, ${joinedBusinessDay(PAYABLE_DUE)} AS business_day
    FROM conciliation.erp_payable AS payable ${joinClosedDay(PAYABLE_DUE)}
    WHERE closed_at IS NULL AND status <> 'cancelled' AND ${IS_COMPARED}
      AND ${scope.unlessWhole(scope.near)}
      AND NOT EXISTS (
        SELECT FROM (
          SELECT erp_key FROM conciliation.title_payable WHERE ${scope.unlessWhole(Prisma.sql`
            erp_key = ANY(ARRAY(SELECT erp_key FROM conciliation.erp_payable AS payable WHERE ${scope.near}))`)}
        ) AS match WHERE match.erp_key = payable.erp_key)
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
        Prisma.sql`${PAIR}, payable.holder`,
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
  ), near_value AS MATERIALIZED (
    SELECT * FROM (${NEAR_VALUES}) AS near WHERE difference <= ${VALUE_TOLERANCE}
  ), ended AS MATERIALIZED (
    SELECT heir.title_id, gone_id, match.erp_key, CASE WHEN end_reason = ${CANCELLED} THEN 5 ELSE place END AS place,
           (ended_at IS NULL OR end_reason IN (${WITHDRAWN}, ${CHANGED}, ${CANCELLED})) AS is_judged
    FROM heir JOIN ${
      scope.isWhole
        ? Prisma.sql`conciliation.title_match`
        : Prisma.sql`(SELECT * FROM conciliation.title_match WHERE title_id = ANY(ARRAY(SELECT gone_id FROM heir)))`
    } AS match ON match.title_id = gone_id AND (ended_at IS NULL OR ended_by = ${MATCHING_ACTOR})
  ), had AS MATERIALIZED (
    -- The payables of the title, and of those that it continues, and what their documents were entered as again.
    SELECT * FROM ended
    UNION ALL
    SELECT title_id, gone_id, free.erp_key, 0, true FROM ended JOIN conciliation.erp_payable AS gone USING (erp_key)
    JOIN free ON ${isEnteredAgain(Prisma.sql`free`)} AND (gone.status = 'cancelled' OR gone.closed_at IS NOT NULL)
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
                      -- The payable is that of another title, or a later booking is still to be reversed on it.
                      OR state = 'withdrawn' AND named NOT IN (
                        SELECT erp_key FROM held UNION ALL
                        SELECT unnest(string_to_array(erp_key, ',')) FROM booking WHERE NOT is_undone))
    UNION ALL
    -- The ERP has settled the payable that the title had before the payable changed, or that of the withdrawn title
    -- that the title continues. A cancelled one, which need not fit, counts after all that fit.
    SELECT DISTINCT title_id, erp_key, 2, place, 0, NULL, NULL::numeric
    FROM had JOIN conciliation.erp_payable AS payable USING (erp_key)
    WHERE is_judged AND NOT ${IS_PLAIN} AND NOT EXISTS (
      SELECT FROM conciliation.title_payable AS other
      WHERE other.erp_key = had.erp_key AND other.title_id <> gone_id)
      AND NOT EXISTS (
        SELECT FROM free WHERE status = 'open' AND payable.status = 'cancelled'
          AND ${isEnteredAgain(Prisma.sql`free`, Prisma.sql`payable`)})
    UNION ALL
    SELECT title_id, erp_key, 2,
           -- A payable of the order with another due date may be that of another instalment: an open one does not come
           -- before one of the title's due date.
           CASE WHEN same_order AND ${IS_NEAR} THEN CASE WHEN status <> 'open' OR same_due IS NOT FALSE THEN 1 ELSE 2 END
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
      Prisma.sql`${PAIR}, title.heir_id`,
      Prisma.sql`settled`,
      Prisma.sql`payable.value`,
      Prisma.sql`former`,
    )}) AS gone
    WHERE (same_value OR same_order AND is_empty) AND ${IS_NEAR} AND NOT EXISTS (
      SELECT FROM free WHERE status = 'open' AND ${isEnteredAgain(Prisma.sql`free`)})
    UNION ALL
    -- The ERP has settled a payable that has nearly the value of the title, and the value of no other title.
    SELECT title_id, erp_key, 2, 6, 0, NULL, NULL FROM near_value
    WHERE status <> 'open' AND erp_key NOT IN (SELECT erp_key FROM related WHERE same_value)
      AND (SELECT count(*) FROM conciliation.title_match AS taken
           WHERE taken.title_id = near_value.title_id AND taken.erp_key = near_value.erp_key
             AND ended_by <> ${MATCHING_ACTOR}) = 0
  ), nearly AS MATERIALIZED (
    SELECT title_id, array_agg(erp_key ORDER BY difference, erp_key) AS keys
    FROM near_value WHERE status = 'open' GROUP BY title_id
  )`;
