import { Prisma } from '../generated/prisma/client.ts';

/** Stored with every match. A change of a rule raises the version. */
export const RULE_VERSION = 1;

/** The rules of the program, in their order. */
export const RULES = ['order', 'exact', 'tolerance'] as const;

/** Days between two due dates that the rule `tolerance` accepts. */
export const DUE_TOLERANCE_DAYS = 5;

/** The hash of the fields of a title that the rules and the breaks compare. */
export const TITLE_GROUND = Prisma.sql`
  md5(ROW(title.order_uid, trim_scale(title.original_value), title.anticipated_due_date,
          title.provider_external_id, title.provider_identification, title.status)::text)::uuid`;

/** The hash of the fields of a payable that the rules and the breaks compare. */
export const PAYABLE_GROUND = Prisma.sql`
  md5(ROW(payable.company, payable.supplier_external_id, payable.supplier_tax_id, payable.document,
          payable.instalment, payable.order_uid, payable.due_date, trim_scale(payable.open_value),
          payable.payee, payable.status = 'cancelled')::text)::uuid`;

/** Whether a title `title` and a payable `payable` have the same supplier. */
const PAIRS_BY_SUPPLIER = (columns: Prisma.Sql, condition: Prisma.Sql) => Prisma.sql`
  SELECT ${columns} FROM open_title AS title JOIN open_payable AS payable
    ON payable.supplier_external_id = title.provider_external_id AND ${condition}
  UNION
  SELECT ${columns} FROM open_title AS title JOIN open_payable AS payable
    ON payable.supplier_tax_id = title.provider_identification AND ${condition}
   AND (payable.supplier_external_id IS NULL OR title.provider_external_id IS NULL)
   -- Otherwise the rows without a tax identifier are compared with one another.
   AND title.provider_identification IS NOT NULL AND payable.supplier_tax_id IS NOT NULL`;

const PAIR = Prisma.sql`title.id AS title_id, payable.erp_key, title.content_hash::text AS title_text,
  payable.ground AS payable_text`;

const hasMatch = (column: string, key: string, condition: string) =>
  Prisma.raw(`EXISTS (SELECT FROM conciliation.title_match AS lasting
                      WHERE lasting.${column} = ${key} AND lasting.ended_at IS NULL ${condition})`);

/**
 * The current titles and the open payables that no person has matched, and for each rule all pairs that the rule
 * accepts. What the program has matched is among them: a match must not make the rest look unambiguous to a later
 * run. For a statement with WITH.
 */
export const CANDIDATES = Prisma.sql`
  open_title AS MATERIALIZED (
    SELECT id, order_uid, original_value, anticipated_due_date, provider_external_id,
           provider_identification, content_hash
    FROM conciliation.title
    WHERE status = 'current' AND NOT ${hasMatch('title_id', 'title.id', "AND lasting.rule = 'person'")}
  ), open_payable AS MATERIALIZED (
    SELECT payable.*, ${PAYABLE_GROUND}::text AS ground FROM conciliation.erp_payable AS payable
    WHERE status = 'open' AND closed_at IS NULL
      AND NOT ${hasMatch('erp_key', 'payable.erp_key', "AND lasting.rule = 'person'")}
  ), pair AS MATERIALIZED (
    SELECT 1 AS place, ${PAIR} FROM open_title AS title JOIN open_payable AS payable
      ON payable.order_uid = title.order_uid AND payable.open_value = title.original_value
    UNION ALL
    SELECT 2, exact.* FROM (${PAIRS_BY_SUPPLIER(
      PAIR,
      Prisma.sql`payable.open_value = title.original_value
        AND payable.due_date = title.anticipated_due_date`,
    )}) AS exact
    UNION ALL
    SELECT 3, near.* FROM (${PAIRS_BY_SUPPLIER(
      PAIR,
      Prisma.sql`payable.open_value = title.original_value
        AND payable.due_date BETWEEN title.anticipated_due_date - ${DUE_TOLERANCE_DAYS}::int
                                 AND title.anticipated_due_date + ${DUE_TOLERANCE_DAYS}::int`,
    )}) AS near
  )`;

/**
 * The pairs without doubt. A pair is taken only where the rule accepts no other payable for the title and no other
 * title for the payable. Titles that are equal in their whole content, and as many payables that are equal, are
 * paired in the order of their keys. A later rule leaves out what an earlier rule has taken, and no pair has a title
 * or a payable that is matched. For a statement with
 * WITH, after `CANDIDATES`.
 */
export const CERTAIN = Prisma.sql`
  counted AS (
    SELECT pair.*,
           count(*) OVER by_title AS payables, count(*) OVER by_payable AS titles,
           min(title_text) OVER by_payable = max(title_text) OVER by_payable AS equal_titles,
           min(payable_text) OVER by_title = max(payable_text) OVER by_title AS equal_payables,
           row_number() OVER (PARTITION BY place, erp_key ORDER BY title_id) AS title_copy,
           row_number() OVER (PARTITION BY place, title_id ORDER BY erp_key) AS payable_copy
    FROM pair
    WINDOW by_title AS (PARTITION BY place, title_id), by_payable AS (PARTITION BY place, erp_key)
  ), alone AS (
    SELECT place, title_id, erp_key FROM counted
    WHERE titles = payables AND equal_titles AND equal_payables AND title_copy = payable_copy
      -- The tolerance tells no copies apart, because their due dates may differ.
      AND (place < 3 OR titles = 1)
  ), certain AS (
    SELECT * FROM alone
    WHERE NOT EXISTS (SELECT FROM alone AS earlier
                      WHERE earlier.place < alone.place AND earlier.title_id = alone.title_id)
      AND NOT EXISTS (SELECT FROM alone AS earlier
                      WHERE earlier.place < alone.place AND earlier.erp_key = alone.erp_key)
      AND NOT ${hasMatch('title_id', 'alone.title_id', '')}
      AND NOT ${hasMatch('erp_key', 'alone.erp_key', '')}
  )`;
