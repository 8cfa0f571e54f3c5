import { taxIdOf } from '../database/tax-id.sql.ts';
import { Prisma } from '../generated/prisma/client.ts';

/** Stored with every match. A change of a rule raises the version. */
export const RULE_VERSION = 3;

/** The rules of the program, in their order. */
export const RULES = ['order', 'exact', 'tolerance', 'sum'] as const;

/** Days between two due dates that the rule `tolerance` accepts. */
export const DUE_TOLERANCE_DAYS = 5;

/** The hash of the fields of a title that the rules and the breaks compare. */
export const TITLE_GROUND = Prisma.sql`
  md5(ROW(title.order_uid, trim_scale(title.original_value), title.anticipated_due_date,
          title.provider_external_id, title.provider_identification, title.status)::text)::uuid`;

/**
 * The hash of the fields of a payable that the rules compare. Not what lines of bookings change: the payee, and what is
 * left of a value of which the ERP states the whole.
 */
export const PAYABLE_GROUND = Prisma.sql`
  md5(ROW(payable.company, payable.supplier_external_id, payable.supplier_tax_id, payable.document,
          payable.instalment, payable.order_uid, payable.due_date,
          trim_scale(coalesce(payable.total_value, payable.open_value)),
          payable.status = 'cancelled')::text)::uuid`;

/** The tax identifier of a title's supplier without mask and with its leading zeros. Null: not stated. */
export const TITLE_TAX_ID = taxIdOf('title.provider_identification');

/** The ERP's code of a title's supplier without surrounding blanks. Null: not stated. */
export const TITLE_CODE = Prisma.sql`nullif(btrim(title.provider_external_id), '')`;

/**
 * The pairs with the same supplier, of the relations `titles` and `payables`. Where both sides have the ERP's code of
 * the supplier, only the code counts.
 */
export const pairsBySupplier = (
  columns: Prisma.Sql,
  condition: Prisma.Sql,
  { titles = Prisma.sql`open_title`, payables = Prisma.sql`open_payable` } = {},
) => Prisma.sql`
  SELECT ${columns} FROM ${titles} AS title JOIN ${payables} AS payable
    ON payable.supplier_external_id = title.provider_external_id AND ${condition}
  UNION ALL
  SELECT ${columns} FROM ${titles} AS title JOIN ${payables} AS payable
    ON payable.party = title.party AND ${condition}
   AND (payable.supplier_external_id IS NULL OR title.provider_external_id IS NULL)
   -- Otherwise the rows without a tax identifier are compared with one another.
   AND title.party IS NOT NULL AND payable.party IS NOT NULL`;

const PAIR = Prisma.sql`title.id AS title_id, payable.erp_key, title.content_hash::text AS title_text,
  payable.ground AS payable_text, title.is_matched AS title_is_matched, payable.is_matched AS payable_is_matched,
  payable.order_uid <> title.order_uid IS TRUE AS is_of_other_order`;

/**
 * The current titles and the open payables that no person has matched, and for each rule all pairs that the rule
 * accepts. What the program has matched is among them: a match must not make the rest look unambiguous to a later
 * run. For a statement with WITH.
 */
export const CANDIDATES = Prisma.sql`
  stated_title AS MATERIALIZED (
    SELECT id, order_uid, original_value, anticipated_due_date, ${TITLE_CODE} AS provider_external_id,
           ${TITLE_TAX_ID} AS tax_id, content_hash, rule
    FROM conciliation.title AS title
    LEFT JOIN (SELECT title_id, rule FROM conciliation.title_match WHERE ended_at IS NULL AND title_part = 0)
      AS lasting ON lasting.title_id = title.id
    WHERE status = 'current'
  ), stated_payable AS MATERIALIZED (
    SELECT payable.erp_key, supplier_external_id, supplier_tax_id, document, order_uid, due_date, open_value,
           ${PAYABLE_GROUND}::text AS ground, rule
    FROM conciliation.erp_payable AS payable
    LEFT JOIN (SELECT erp_key, rule FROM conciliation.title_match WHERE ended_at IS NULL AND erp_part = 0)
      AS lasting ON lasting.erp_key = payable.erp_key
    WHERE status = 'open' AND closed_at IS NULL
  ), single_root AS MATERIALIZED (
    -- Branches of one company that neither side divides: one CNPJ on each side. Rows that a person has matched count too.
    SELECT left(tax_id, 8) AS root FROM (
      SELECT tax_id, true AS is_title FROM stated_title
      UNION ALL SELECT supplier_tax_id, false FROM stated_payable
    ) AS party WHERE length(tax_id) = 14 GROUP BY 1
    HAVING count(DISTINCT tax_id) FILTER (WHERE is_title) = 1
       AND count(DISTINCT tax_id) FILTER (WHERE NOT is_title) = 1
  ), open_title AS MATERIALIZED (
    SELECT title.*, rule IS NOT NULL AS is_matched, coalesce(root, tax_id) AS party FROM stated_title AS title
    LEFT JOIN single_root ON length(tax_id) = 14 AND root = left(tax_id, 8)
    WHERE rule IS DISTINCT FROM 'person'
  ), open_payable AS MATERIALIZED (
    SELECT payable.*, rule IS NOT NULL AS is_matched, coalesce(root, supplier_tax_id) AS party
    FROM stated_payable AS payable
    LEFT JOIN single_root ON length(supplier_tax_id) = 14 AND root = left(supplier_tax_id, 8)
    WHERE rule IS DISTINCT FROM 'person'
  ), pair AS MATERIALIZED (
    SELECT 1 AS place, ${PAIR} FROM open_title AS title JOIN open_payable AS payable
      ON payable.order_uid = title.order_uid AND payable.open_value = title.original_value
    UNION ALL
    SELECT 2, exact.* FROM (${pairsBySupplier(
      PAIR,
      Prisma.sql`payable.open_value = title.original_value
        AND payable.due_date = title.anticipated_due_date`,
    )}) AS exact
    UNION ALL
    SELECT 3, near.* FROM (${pairsBySupplier(
      PAIR,
      Prisma.sql`payable.open_value = title.original_value
        AND payable.due_date BETWEEN title.anticipated_due_date - ${DUE_TOLERANCE_DAYS}::int
                                 AND title.anticipated_due_date + ${DUE_TOLERANCE_DAYS}::int`,
    )}) AS near
  )`;

/**
 * The pairs without doubt. A pair is taken only where the rule accepts no other payable for the title and no other
 * title for the payable. Titles that are equal in their whole content, and as many payables that are equal, are
 * paired in the order of their keys, those that an earlier run has matched apart from the others. A later rule leaves
 * out rows that an earlier rule has taken, and no pair has a title or a payable that is matched. A payable that names an
 * order is matched with a title of that order only, and remains an alternative for others. For a statement with WITH,
 * after `CANDIDATES`.
 */
export const CERTAIN = Prisma.sql`
  counted AS (
    SELECT pair.*,
           count(*) OVER by_title AS payables, count(*) OVER by_payable AS titles,
           min(title_text) OVER by_payable = max(title_text) OVER by_payable AS equal_titles,
           min(payable_text) OVER by_title = max(payable_text) OVER by_title AS equal_payables,
           row_number() OVER (PARTITION BY place, erp_key ORDER BY title_is_matched DESC, title_id) AS title_copy,
           row_number() OVER (PARTITION BY place, title_id ORDER BY payable_is_matched DESC, erp_key) AS payable_copy
    FROM pair
    WINDOW by_title AS (PARTITION BY place, title_id), by_payable AS (PARTITION BY place, erp_key)
  ), alone AS (
    SELECT place, title_id, erp_key, title_is_matched OR payable_is_matched AS is_matched FROM counted
    WHERE titles = payables AND equal_titles AND equal_payables AND title_copy = payable_copy
      AND NOT is_of_other_order
      -- The tolerance does not distinguish copies, because their due dates may differ.
      AND (place < 3 OR titles = 1)
  ), certain AS (
    SELECT place, title_id, erp_key FROM alone
    WHERE NOT is_matched
      AND NOT EXISTS (SELECT FROM alone AS earlier
                      WHERE earlier.place < alone.place AND earlier.title_id = alone.title_id)
      AND NOT EXISTS (SELECT FROM alone AS earlier
                      WHERE earlier.place < alone.place AND earlier.erp_key = alone.erp_key)
  )`;
