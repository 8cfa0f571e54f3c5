import { taxIdOf } from '../../base/database/expressions.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { isSameDue, joinClosedDay, joinedBusinessDay } from '../calendar/business-days.sql.ts';
import { SETTLING_BOOKING } from './asked-lines.sql.ts';

/** Stored with every match. A change of a rule raises the version. */
export const RULE_VERSION = 9;

/** The rules of the program, in their order. */
export const RULES = ['order', 'exact', 'tolerance', 'sum'] as const;

/** What counts until a person sets something else. */
export const DEFAULT_RULES = { dueDays: 5, valueTolerance: '0.01' };
const NEWEST = Prisma.sql`FROM conciliation.matching_rule ORDER BY id DESC LIMIT 1`;
/** Days between two due dates that the rules `order` and `tolerance` accept. */
export const DUE_DAYS = Prisma.sql`coalesce((SELECT due_days ${NEWEST}), ${DEFAULT_RULES.dueDays}::smallint)`;
/** The greatest difference in value of a proposal. The rules accept none. */
export const VALUE_TOLERANCE = Prisma.sql`
  coalesce((SELECT value_tolerance ${NEWEST}), ${DEFAULT_RULES.valueTolerance}::numeric)`;
/** A break that is not urgent raises an alert from this age and value on. */
export const OLD_DAYS = 30;
export const LARGE_VALUE = '10000.00';

const root = (taxId: Prisma.Sql) => Prisma.sql`left(${taxId}, 8)`;

/**
 * True where two tax identifiers in normal form name one financial agent: the same identifier, branches of one
 * company, or companies that a person has confirmed to be equivalent, such as a fund and its administrator. Null
 * counts as false.
 */
export const isAgent = (candidate: Prisma.Sql, agent: Prisma.Sql): Prisma.Sql => Prisma.sql`
  coalesce(${candidate} = ${agent}
   OR length(${candidate}) = 14 AND length(${agent}) = 14
      AND (${root(candidate)} = ${root(agent)}
           -- Not correlated, so that the few pairs are read once.
           OR (${root(candidate)}, ${root(agent)}) IN (
             SELECT ${root(Prisma.sql`one`)}, ${root(Prisma.sql`other`)}
             FROM conciliation.party_equivalent
             CROSS JOIN LATERAL (VALUES (tax_id, same_as), (same_as, tax_id)) AS either (one, other)
             WHERE ended_at IS NULL)), false)`;

/** The hash of the fields of a title that the rules and the breaks compare. */
export const TITLE_GROUND = Prisma.sql`
  md5(ROW(title.order_uid, trim_scale(title.original_value), title.anticipated_due_date,
          title.provider_external_id, title.provider_identification, title.buyer_identification,
          title.status)::text)::uuid`;

const groundWith = (value: Prisma.Sql) => Prisma.sql`
  md5(ROW(payable.company, payable.supplier_external_id, payable.supplier_tax_id, payable.document,
          payable.instalment, payable.order_uid, payable.due_date, trim_scale(${value}),
          payable.status = 'cancelled', coalesce(payable.currency, 'BRL'))::text)::uuid`;

/** The value that a match has compared: the whole value, or what is open where the ERP does not state the whole. */
export const PAYABLE_VALUE = Prisma.sql`coalesce(payable.total_value, payable.open_value)`;

/**
 * The hash of the fields of a payable that the rules compare. Not what lines of bookings change: the payee, and what is
 * left of a value of which the ERP states the whole.
 */
export const PAYABLE_GROUND = groundWith(PAYABLE_VALUE);

/** Of a match `match` and its payable: less is open than at the time of the match, and nothing else has changed. */
export const IS_REDUCED = Prisma.sql`
  (${PAYABLE_VALUE} < match.erp_value
   AND ${groundWith(Prisma.sql`match.erp_value`)} = match.erp_ground)`;

/** The tax identifier of a title's supplier without mask and with its leading zeros. Null: not stated. */
export const TITLE_TAX_ID = taxIdOf('title.provider_identification');

/** The ERP's code of a title's supplier without surrounding blanks. Null: not stated. */
export const TITLE_CODE = Prisma.sql`nullif(btrim(title.provider_external_id), '')`;

/** The order of a title without surrounding blanks. Null: blank. */
const TITLE_ORDER = Prisma.sql`nullif(btrim(title.order_uid), '')`;

/** The payables that titles may have: not one that a posting has made for the agent, and only in the currency of the titles. */
export const IS_COMPARED = Prisma.sql`
  (payable.booking_key IS NULL AND (payable.currency IS NULL OR payable.currency = 'BRL'))`;

/** False where the company of a payable is that of another buyer. Branches of one CNPJ differ where both sides name both. */
export const MAY_BE_COMPANY = Prisma.sql`
  (CASE WHEN title.buyer IS NULL OR payable.buyers IS NULL OR title.buyer = ANY(payable.buyers) THEN true
        WHEN left(title.buyer, 8) = ANY(payable.roots) THEN NOT (title.is_claimed AND payable.is_named)
        ELSE false END)`;

/** `isSameDue` of a title and a payable with their business days, which are compared too because a hash finds them. */
export const SAME_DUE = Prisma.sql`
  (payable.business_day = title.business_day
   AND payable.due_date IN (title.anticipated_due_date, title.business_day))`;

/**
 * Whether the company of a payable is known to be that of the title, as far as `MAY_BE_COMPANY` is true. A payable
 * without company, or with a code that is no CNPJ and that no person has mapped, belongs to the title by the order and
 * the due date, or because there is a single company and a single buyer.
 */
export const IS_COMPANY = Prisma.sql`
  ((title.buyer IS NOT NULL AND payable.buyers IS NOT NULL OR payable.is_single
    OR payable.order_uid = title.order_uid AND ${SAME_DUE}) IS TRUE)`;

/** False where the supplier is the financial agent of the title: the payable is what a posting has made. */
export const IS_OF_SUPPLIER = Prisma.sql`
  ${isAgent(Prisma.sql`payable.supplier_tax_id`, Prisma.sql`title.agent`)} IS NOT TRUE`;

/**
 * The pairs with the same supplier and no other company, of the relations `titles` and `payables`. Where both sides
 * have the ERP's code of the supplier, only the code counts.
 */
export const pairsBySupplier = (
  columns: Prisma.Sql,
  condition: Prisma.Sql,
  { titles = Prisma.sql`open_title`, payables = Prisma.sql`open_payable` } = {},
) => Prisma.sql`
  SELECT ${columns} FROM ${titles} AS title JOIN ${payables} AS payable
    ON payable.supplier_external_id = title.provider_external_id AND ${condition}
   AND ${MAY_BE_COMPANY} AND ${IS_OF_SUPPLIER}
  UNION ALL
  SELECT ${columns} FROM ${titles} AS title JOIN ${payables} AS payable
    ON payable.party = title.party AND ${condition}
   AND (payable.supplier_external_id IS NULL OR title.provider_external_id IS NULL)
   -- Otherwise the rows without a tax identifier are compared with one another.
   AND title.party IS NOT NULL AND payable.party IS NOT NULL
   AND ${MAY_BE_COMPANY} AND ${IS_OF_SUPPLIER}`;

/** Whether the supplier of a pair of one order is the same: by the code, the tax identifier or the root of the CNPJ. */
const IS_SUPPLIER_OF_ORDER = Prisma.sql`
  (payable.supplier_external_id = title.provider_external_id OR payable.supplier_tax_id = title.tax_id
   OR length(payable.supplier_tax_id) = 14 AND length(title.tax_id) = 14
      AND left(payable.supplier_tax_id, 8) = left(title.tax_id, 8))`;

/** A due date within the tolerance, or the same one. */
const NEAR_DUE = Prisma.sql`
  (abs(payable.due_date - title.anticipated_due_date) <= ${DUE_DAYS} OR ${SAME_DUE})`;

const SAME_ORDER = Prisma.sql`payable.order_uid = title.order_uid`;

/** A document without the blanks around it and the zeros in front. Null: blank. */
const documentOf = (text: Prisma.Sql) => Prisma.sql`nullif(ltrim(btrim(${text}), '0'), '')`;
const SAME_DOCUMENT = Prisma.sql`${documentOf(Prisma.sql`payable.document`)} = title.document`;

/** The named field of a title that is the document of its payable. The path is read once for all titles. */
const TITLE_DOCUMENT = documentOf(Prisma.sql`extra #>> (
  SELECT path FROM conciliation.promoted_fields(conciliation.content_version()) WHERE role = 'document')`);

/** The open payables, or none where no title names a document. */
const BY_DOCUMENT = Prisma.sql`
  (SELECT * FROM open_payable WHERE EXISTS (SELECT FROM open_title WHERE document IS NOT NULL))`;

/** The pairs of the rule `order`, by the order or by the document, except for the value. */
const ofOrder = (titles: Prisma.Sql, payables: Prisma.Sql, key: Prisma.Sql) => Prisma.sql`
  FROM ${titles} AS title JOIN ${payables} AS payable
    ON ${key} AND ${IS_SUPPLIER_OF_ORDER}
   AND (${NEAR_DUE}) IS NOT FALSE
   AND ${MAY_BE_COMPANY} AND ${IS_OF_SUPPLIER}`;

const SAME_VALUE = Prisma.sql`payable.open_value = title.original_value`;

const PAIR = Prisma.sql`title.id AS title_id, payable.erp_key, title.content_hash AS title_hash, payable.ground,
  title.is_fixed AS title_is_fixed, payable.is_fixed AS payable_is_fixed,
  title.match_id AS title_match, payable.match_id AS payable_match,
  (payable.order_uid <> title.order_uid) IS NOT TRUE AND ${IS_COMPANY} AS is_permitted, (${SAME_DUE}) IS TRUE AS is_due,
  (payable.due_date = title.anticipated_due_date) IS TRUE AS is_day`;

const TITLE_DUE = Prisma.sql`title.anticipated_due_date`;
const PAYABLE_DUE = Prisma.sql`payable.due_date`;

/** The columns of a title that the rules compare, without surrounding blanks, with `PARTY_NAMES` and `joinClosedDay`. */
const TITLE_SIDE = Prisma.sql`title.id, ${TITLE_ORDER} AS order_uid, ${TITLE_DOCUMENT} AS document, original_value, anticipated_due_date,
  ${joinedBusinessDay(TITLE_DUE)} AS business_day, ${TITLE_CODE} AS provider_external_id, ${TITLE_TAX_ID} AS tax_id, agent, buyer, is_claimed`;
/** What the company of a payable says, with `COMPANY_NAME`. */
const COMPANY_SIDE = Prisma.sql`company_name.buyers, company_name.roots, company_name.is_named,
  (SELECT is_single FROM company_fact) AS is_single`;

/** The columns of a payable that pairs are made of, with `COMPANY_NAME` and `joinClosedDay`. */
const STATED_PAYABLE = Prisma.sql`payable.erp_key, supplier_external_id, supplier_tax_id, document, order_uid,
  due_date, ${joinedBusinessDay(PAYABLE_DUE)} AS business_day,
  open_value, ${COMPANY_SIDE}`;
/** Joins the buyers of a payable's company. */
export const COMPANY_NAME = Prisma.sql`
  LEFT JOIN company_name ON company_name.company = coalesce(payable.company, '')`;
/** Joins the buyer of a title. */
export const BUYER_NAME = Prisma.sql`
  LEFT JOIN buyer_name ON buyer_name.name = title.buyer_identification`;
/** Joins the buyer and the financial agent of a title. */
const PARTY_NAMES = Prisma.sql`${BUYER_NAME}
  LEFT JOIN agent_name ON agent_name.name = title.financial_agent_identification`;

/** The few financial agents of titles, which are brought into their normal form once, and not for each title. */
const AGENT_NAMES = Prisma.sql`
  agent_name AS MATERIALIZED (
    SELECT name, ${taxIdOf('name')} AS agent FROM (
      SELECT DISTINCT financial_agent_identification AS name FROM conciliation.title WHERE status = 'current'
    ) AS stated
  )`;

/** The match of one title and one payable. */
const MATCH_ID = Prisma.sql`CASE WHEN rows = 1 THEN lasting.id END AS match_id`;

/**
 * The current titles and the open payables that no person has matched, and for each rule all pairs that the rule
 * accepts. What the program has matched is among them: a match must not make the rest look unambiguous to a later
 * run. A match is fixed if a line asks for one of its titles, or if one of its payables is settled, wholly or
 * in part, and not by the booking of another order. Every other match of the program is chosen again. For a statement
 * with WITH, after `COMPANY_NAMES` and `askedLines`.
 */
export const CANDIDATES = Prisma.sql`
  ${AGENT_NAMES}, lasting AS MATERIALIZED (
    SELECT match.id, match.title_id, match.erp_key, rule, title_part, erp_part, coalesce(sum_id, match.id) AS key,
           count(*) OVER whole AS rows,
           bool_or(rule = 'person' OR live.title_id IS NOT NULL OR NOT ${IS_COMPARED} OR settling.id IS NULL AND (
                     payable.status <> 'open' OR closed_at IS NOT NULL OR open_value < erp_value)) OVER whole AS is_fixed
    FROM conciliation.title_match AS match
    JOIN conciliation.title AS title ON title.id = match.title_id
    JOIN conciliation.erp_payable AS payable ON payable.erp_key = match.erp_key
    LEFT JOIN booking AS settling ON settling.booking_name = ${SETTLING_BOOKING} AND NOT settling.is_undone
     AND btrim(settling.order_uid) <> btrim(title.order_uid)
    LEFT JOIN live ON live.title_id = match.title_id
    WHERE ended_at IS NULL
    WINDOW whole AS (PARTITION BY coalesce(sum_id, match.id))
  ), stated_title AS MATERIALIZED (
    SELECT ${TITLE_SIDE}, content_hash, rule, is_fixed IS TRUE AS is_fixed, ${MATCH_ID}
    FROM conciliation.title AS title ${PARTY_NAMES} ${joinClosedDay(TITLE_DUE)}
    LEFT JOIN lasting ON lasting.title_id = title.id AND title_part = 0
    WHERE status = 'current'
  ), stated_payable AS MATERIALIZED (
    SELECT ${STATED_PAYABLE}, ${PAYABLE_GROUND} AS ground, ${PAYABLE_VALUE} AS erp_value, rule, is_fixed IS TRUE AS is_fixed, ${MATCH_ID}
    FROM conciliation.erp_payable AS payable ${COMPANY_NAME} ${joinClosedDay(PAYABLE_DUE)}
    LEFT JOIN lasting ON lasting.erp_key = payable.erp_key AND erp_part = 0
    WHERE status = 'open' AND closed_at IS NULL AND ${IS_COMPARED}
  ), single_root AS MATERIALIZED (
    -- Branches of one company that neither side divides: one CNPJ on each side. Rows that a person has matched count too.
    SELECT left(tax_id, 8) AS root FROM (
      SELECT tax_id, true AS is_title FROM stated_title
      UNION ALL SELECT supplier_tax_id, false FROM stated_payable
    ) AS party WHERE length(tax_id) = 14 GROUP BY 1
    HAVING count(DISTINCT tax_id) FILTER (WHERE is_title) = 1
       AND count(DISTINCT tax_id) FILTER (WHERE NOT is_title) = 1
  ), open_title AS MATERIALIZED (
    SELECT title.*, provider_external_id AS code, coalesce(root, tax_id) AS party FROM stated_title AS title
    LEFT JOIN single_root ON length(tax_id) = 14 AND root = left(tax_id, 8)
    WHERE rule IS DISTINCT FROM 'person'
  ), open_payable AS MATERIALIZED (
    SELECT payable.*, supplier_external_id AS code, coalesce(root, supplier_tax_id) AS party
    FROM stated_payable AS payable
    LEFT JOIN single_root ON length(supplier_tax_id) = 14 AND root = left(supplier_tax_id, 8)
    WHERE rule IS DISTINCT FROM 'person'
  ), near AS MATERIALIZED (
    ${pairsBySupplier(PAIR, Prisma.sql`${SAME_VALUE} AND ${NEAR_DUE}`)}
  ), of_both AS MATERIALIZED (
    SELECT title.id AS title_id, payable.erp_key
    ${ofOrder(Prisma.sql`open_title`, BY_DOCUMENT, Prisma.sql`${SAME_ORDER} AND ${SAME_DOCUMENT}`)} AND ${SAME_VALUE}
  ), pair AS MATERIALIZED (
    SELECT 1 AS place, ${PAIR} ${ofOrder(Prisma.sql`open_title`, BY_DOCUMENT, SAME_DOCUMENT)} AND ${SAME_VALUE}
    -- Among the instalments of an order, the document decides.
    UNION ALL SELECT 1, ${PAIR} ${ofOrder(Prisma.sql`open_title`, Prisma.sql`open_payable`, SAME_ORDER)} AND ${SAME_VALUE}
      AND title.id NOT IN (SELECT title_id FROM of_both) AND payable.erp_key NOT IN (SELECT erp_key FROM of_both)
    -- Beside a payable of the title's own due date, one of another date with the same business day does not count.
    UNION ALL SELECT 2, near.* FROM near
    WHERE is_due AND (is_day OR title_id NOT IN (SELECT title_id FROM near WHERE is_day))
    UNION ALL SELECT 3, near.* FROM near
  )`;

/**
 * The pairs without doubt. A pair is taken only where the rule accepts no other payable for the title and no other
 * title for the payable. Titles that are equal in their whole content, and as many payables that are equal, are
 * paired in the order of their keys, those that an earlier run has matched as that run did. A later rule leaves
 * out rows that an earlier rule has taken, and no pair has a title or a payable of a fixed match. A payable that names an
 * order is matched with a title of that order only, and one of an unknown company is not matched by supplier, value and
 * due date alone; both remain alternatives. An order alone does not
 * decide: where the due date of its payable differs, no other payable may have supplier, value and due date of the
 * title. For a statement with WITH, after `CANDIDATES`.
 */
export const CERTAIN = Prisma.sql`
  several AS MATERIALIZED (
    SELECT *, (place, title_id) IN (SELECT place, title_id FROM pair GROUP BY 1, 2 HAVING count(*) > 1)
              OR (place, erp_key) IN (SELECT place, erp_key FROM pair GROUP BY 1, 2 HAVING count(*) > 1) AS is_several
    FROM pair
  ), counted AS (
    -- The other rows, which are most, need no windows.
    SELECT several.*,
           count(*) OVER by_title AS payables, count(*) OVER by_payable AS titles,
           min(title_hash::text) OVER by_payable = max(title_hash::text) OVER by_payable AS equal_titles,
           min(ground::text) OVER by_title = max(ground::text) OVER by_title AS equal_payables,
           row_number() OVER (PARTITION BY place, erp_key ORDER BY title_is_fixed, title_match, title_id) AS title_copy,
           row_number() OVER (PARTITION BY place, title_id ORDER BY payable_is_fixed, payable_match, erp_key)
             AS payable_copy
    FROM several WHERE is_several
    WINDOW by_title AS (PARTITION BY place, title_id), by_payable AS (PARTITION BY place, erp_key)
  ), alone AS (
    SELECT place, title_id, erp_key, is_due, title_is_fixed OR payable_is_fixed AS is_fixed FROM several
    WHERE is_permitted AND NOT is_several
    UNION ALL
    SELECT place, title_id, erp_key, is_due, title_is_fixed OR payable_is_fixed FROM counted
    WHERE is_permitted AND equal_payables
      AND (titles = payables AND equal_titles AND title_copy = payable_copy
           -- The tolerance does not distinguish copies, because their due dates may differ.
           AND (place < 3 OR titles = 1)
           -- A title that comes later takes no payable away: it may be the same anticipation.
           OR title_match = payable_match AND titles > payables)
  ), certain AS (
    SELECT place, title_id, erp_key FROM alone
    WHERE NOT is_fixed
      AND (place > 1 OR is_due OR title_id NOT IN (SELECT title_id FROM pair WHERE place = 2))
      -- As subqueries that are hashed, because the rows are estimated to be few.
      AND (place = 1 OR title_id NOT IN (SELECT title_id FROM alone WHERE place = 1)
                        AND erp_key NOT IN (SELECT erp_key FROM alone WHERE place = 1))
      AND (place < 3 OR title_id NOT IN (SELECT title_id FROM alone WHERE place = 2)
                        AND erp_key NOT IN (SELECT erp_key FROM alone WHERE place = 2))
  )`;

/** The values of a payable that is not open. What is left of a paid payable may be stated as zero. */
const HAD_VALUE = Prisma.sql`
  (payable.open_value = title.original_value OR payable.total_value = title.original_value
   OR payable.status = 'paid' AND payable.open_value = 0 AND payable.total_value IS NULL
      AND payable.order_uid = title.order_uid)`;

/** A paid payable of the title's due date without any value and order may be the title's own. */
const MAY_HAVE_HAD_VALUE = Prisma.sql`
  (payable.status = 'paid' AND payable.open_value = 0 AND payable.total_value IS NULL
   AND payable.order_uid IS NULL AND ${SAME_DUE})`;

/** Whether a payable `fresh` has the supplier, the document and the instalment of a payable `gone`. */
export const isEnteredAgain = (fresh: Prisma.Sql, gone = Prisma.sql`gone`) => Prisma.sql`
  (${fresh}.document = ${gone}.document
   AND ROW(${fresh}.supplier_external_id, ${fresh}.supplier_tax_id, ${fresh}.instalment)
       IS NOT DISTINCT FROM ROW(${gone}.supplier_external_id, ${gone}.supplier_tax_id, ${gone}.instalment))`;

/** Some of the value is settled, or all of it. */
export const IS_SETTLED = Prisma.sql`
  (status <> 'open' OR closed_at IS NOT NULL OR open_value = 0 OR (total_value > open_value) IS TRUE)`;

const DAYS = Prisma.sql`abs(payable.due_date - title.anticipated_due_date)`;
const SETTLED_PAIR = Prisma.sql`title.id AS title_id, title.order_uid, title.anticipated_due_date, payable.erp_key,
  ${DAYS} AS days, ${SAME_DUE} AS is_due`;
const FREE_TITLE = Prisma.sql`(SELECT * FROM open_title WHERE NOT is_fixed)`;

/** The place of a payable of the title's order that has another value or another due date. */
const ORDER_PLACE = 1.5;

/** The place of an open payable of the title's due date that nothing takes. */
const OWN_DUE_PLACE = 2.5;

/**
 * The chosen pairs that another payable contradicts, as `vetoed` (title_id, erp_key): the payable fits the title at
 * least as well, and neither a match nor a booking of another title explains the payable. Such a payable is settled,
 * wholly or in part, or it names the order of the title, and has the value or nearly the due date. A pair of
 * another due date is also contradicted by each open payable of the title's own due date that nothing takes: the
 * payable of the title may have another value there, or be in parts. An invoice that was
 * cancelled, or has vanished, and was entered again is no contradiction. For a statement with WITH, after
 * `CANDIDATES` and the relation `chosen` (place, title_id, erp_key).
 */
export const VETOED = Prisma.sql`
  stated_rival AS MATERIALIZED (
    SELECT ${STATED_PAYABLE}, status, total_value, coalesce(root, supplier_tax_id) AS party, ${IS_SETTLED} AS is_settled
    FROM conciliation.erp_payable AS payable ${COMPANY_NAME} ${joinClosedDay(PAYABLE_DUE)}
    LEFT JOIN single_root ON length(supplier_tax_id) = 14 AND root = left(supplier_tax_id, 8)
    WHERE ${IS_COMPARED}
      AND (order_uid IN (SELECT order_uid FROM open_title WHERE NOT is_fixed)
           OR ${IS_SETTLED} AND (
             supplier_external_id IN (SELECT provider_external_id FROM open_title WHERE NOT is_fixed)
             OR left(supplier_tax_id, 8) IN (SELECT left(tax_id, 8) FROM open_title WHERE NOT is_fixed)))
  ), settled_payable AS (
    SELECT * FROM stated_rival WHERE is_settled
  ), settled_pair AS MATERIALIZED (
    SELECT 1 AS place, ${SETTLED_PAIR} ${ofOrder(FREE_TITLE, Prisma.sql`settled_payable`, SAME_ORDER)} AND ${HAD_VALUE}
    UNION ALL
    SELECT 1, ${SETTLED_PAIR} ${ofOrder(FREE_TITLE, Prisma.sql`settled_payable`, SAME_DOCUMENT)} AND ${HAD_VALUE}
    UNION ALL
    SELECT ${ORDER_PLACE}::numeric, ${SETTLED_PAIR} FROM ${FREE_TITLE} AS title JOIN stated_rival AS payable
      ON payable.order_uid = title.order_uid AND ${IS_SUPPLIER_OF_ORDER} AND (${NEAR_DUE} OR ${HAD_VALUE})
     AND status <> 'cancelled' AND erp_key NOT IN (SELECT erp_key FROM chosen)
    UNION ALL
    SELECT CASE WHEN is_due THEN 2 ELSE 3 END, near.* FROM (${pairsBySupplier(
      SETTLED_PAIR,
      Prisma.sql`${NEAR_DUE} AND (${HAD_VALUE} OR ${MAY_HAVE_HAD_VALUE})`,
      { titles: FREE_TITLE, payables: Prisma.sql`settled_payable` },
    )}) AS near
    UNION ALL
    SELECT ${OWN_DUE_PLACE}, near.* FROM (${pairsBySupplier(
      SETTLED_PAIR,
      Prisma.sql`${SAME_DUE} AND (payable.order_uid <> title.order_uid) IS NOT TRUE`,
      {
        titles: Prisma.sql`(SELECT * FROM ${FREE_TITLE} AS free WHERE id IN (SELECT title_id FROM chosen WHERE place = 3))`,
        payables: Prisma.sql`(SELECT * FROM open_payable WHERE NOT is_fixed AND erp_key NOT IN (SELECT erp_key FROM chosen))`,
      },
    )}) AS near
  ), unexplained AS MATERIALIZED (
    SELECT settled_pair.* FROM settled_pair
    WHERE NOT EXISTS (SELECT FROM lasting WHERE lasting.erp_key = settled_pair.erp_key AND is_fixed)
      -- A line of the order may be that of the same title before a restatement, and explains nothing.
      AND NOT EXISTS (
        SELECT FROM conciliation.booking_line AS line
        WHERE line.erp_key = settled_pair.erp_key AND line.kind <> 'reverse' AND line.state NOT IN ('failed', 'refused')
          AND btrim(line.order_uid) <> settled_pair.order_uid
          AND (SELECT bool_or(later.state = 'posted' AND NOT later.has_content)
               FROM conciliation.booking_version AS later
               WHERE later.date = line.date AND later.identity_hash = line.identity_hash
                 AND later.occurrence = line.occurrence AND later.version > line.version) IS NOT TRUE)
  ), vetoed AS MATERIALIZED (
    SELECT chosen.title_id, chosen.erp_key
    FROM chosen
    JOIN unexplained AS rival ON rival.title_id = chosen.title_id
    JOIN conciliation.erp_payable AS payable ON payable.erp_key = chosen.erp_key
    JOIN conciliation.erp_payable AS settled ON settled.erp_key = rival.erp_key
    WHERE (rival.place < chosen.place
             AND (rival.place NOT IN (${ORDER_PLACE}::numeric, ${OWN_DUE_PLACE}::numeric) OR chosen.place < 4)
           -- Due dates that are not stated may be equal.
           OR rival.place = chosen.place
              AND (rival.days <= abs(payable.due_date - rival.anticipated_due_date)) IS NOT FALSE
           OR rival.place = 2 AND chosen.place = 1
              AND ${isSameDue(Prisma.sql`payable.due_date`, Prisma.sql`rival.anticipated_due_date`)} IS NOT TRUE)
      AND ((settled.status = 'cancelled' OR settled.closed_at IS NOT NULL AND settled.status <> 'paid')
           AND ltrim(settled.document, '0') = ltrim(payable.document, '0')
           AND settled.instalment IS NOT DISTINCT FROM payable.instalment
           AND (settled.supplier_external_id = payable.supplier_external_id
                OR settled.supplier_tax_id = payable.supplier_tax_id)) IS NOT TRUE
  )`;
