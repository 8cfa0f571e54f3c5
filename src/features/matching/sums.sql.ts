import { Prisma } from '../../generated/prisma/client.ts';
import { IS_COMPANY, pairsBySupplier, SAME_DUE } from './candidates.sql.ts';

/** The most candidates of a title or a payable among which the rule `sum` looks for items. */
export const SUM_CANDIDATES = 12;

/** The most items of a sum. */
export const SUM_ITEMS = 5;

const NEAR = Prisma.sql`title.id AS title_id, title.order_uid AS title_order, title.original_value,
  payable.erp_key, payable.order_uid AS payable_order, payable.open_value,
  ltrim(payable.document, '0') AS document, title.candidates AS payables, payable.candidates AS titles,
  ${IS_COMPANY} AS is_company, title.is_fixed OR payable.is_fixed AS is_fixed`;

/** The rows of each supplier and business day: by code, and by party with those that have no code. */
const ROWS = Prisma.sql`
  open_row AS (
    SELECT true AS is_title, code, party, business_day AS due FROM open_title
    UNION ALL SELECT false, code, party, business_day FROM open_payable
  ), by_code AS MATERIALIZED (
    SELECT is_title, code, due, count(*) AS rows FROM open_row WHERE code IS NOT NULL GROUP BY 1, 2, 3
  ), by_party AS MATERIALIZED (
    SELECT is_title, party, due, count(*) AS rows, count(*) FILTER (WHERE code IS NULL) AS without_code
    FROM open_row WHERE party IS NOT NULL GROUP BY 1, 2, 3
  )`;

/** Rows of `table` with the number of their candidates on the other side, without making the pairs. */
const counted = (table: Prisma.Sql, isTitle: boolean, among: Prisma.Sql) => Prisma.sql`
  (SELECT own.*, (coalesce(by_code.rows, 0)
           + coalesce(CASE WHEN own.code IS NULL THEN by_party.rows ELSE by_party.without_code END, 0)) AS candidates
   FROM (SELECT * FROM ${table} AS own WHERE ${among}) AS own
   LEFT JOIN by_code ON by_code.is_title <> ${isTitle} AND by_code.code = own.code AND by_code.due = own.business_day
   LEFT JOIN by_party ON by_party.is_title <> ${isTitle} AND by_party.party = own.party AND by_party.due = own.business_day)`;

const countedTitles = (among: Prisma.Sql) => counted(Prisma.sql`open_title`, true, among);
const countedPayables = (among: Prisma.Sql) => counted(Prisma.sql`open_payable`, false, among);

/** Of open payables: those of the supplier and business day of `titles`. */
const payablesNear = (titles: Prisma.Sql) => Prisma.sql`erp_key IN (
  ${pairsBySupplier(Prisma.sql`payable.erp_key`, SAME_DUE, { titles })})`;

/**
 * All combinations of the items of each owner that add up to the owner's value, as `walk` (owner, items, total): also
 * those that are not there yet, and those that miss the value by `slack` at most.
 * @param items a relation with owner, item, target (the value of the owner) and value (that of the item)
 */
export const combinations = (
  items: Prisma.Sql,
  { most, slack = Prisma.sql`0` }: { readonly most: number; readonly slack?: Prisma.Sql },
) => Prisma.sql`
  candidate AS MATERIALIZED (
    -- With later candidates, a total grows by at least "least" and at most "most". Others cannot reach the target.
    SELECT *, value + coalesce(sum(least(value, 0)) OVER later, 0) AS least,
           value + coalesce(sum(greatest(value, 0)) OVER later, 0) AS most
    FROM ${items} AS stated
    WINDOW later AS (PARTITION BY owner ORDER BY item ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)
  ), walk AS (
    SELECT owner, target, ARRAY[item] AS items, item AS last, value AS total
    FROM candidate WHERE target BETWEEN least - ${slack} AND most + ${slack}
    UNION ALL
    SELECT owner, walk.target, items || item, item, total + value
    FROM walk JOIN candidate USING (owner)
    WHERE item > last AND cardinality(items) < ${most}::int
      AND walk.target BETWEEN total + least - ${slack} AND total + most + ${slack}
  )`;

/**
 * The sums without doubt: one title and 2 to 5 payables, or one payable and 2 to 5 titles, of one supplier and due
 * date. A sum is taken only where its rows share the order or the document, where all its payables are of the titles'
 * company, where none of its titles and payables is in a pair of another rule or in another sum, and where all
 * candidates could be looked at. Looks only near titles and payables that no other rule accepts, and never at more pairs
 * than `SUM_CANDIDATES` for each row. For a statement with WITH RECURSIVE, after `CANDIDATES`.
 */
export const SUMS = Prisma.sql`
  ${ROWS}, lone_title AS MATERIALIZED (
    SELECT * FROM ${countedTitles(Prisma.sql`id NOT IN (SELECT title_id FROM pair)`)} AS title
    WHERE candidates <= ${SUM_CANDIDATES}
  ), lone_payable AS MATERIALIZED (
    SELECT * FROM ${countedPayables(Prisma.sql`erp_key NOT IN (SELECT erp_key FROM pair)`)} AS payable
    WHERE candidates <= ${SUM_CANDIDATES}
  ), lone_pair AS MATERIALIZED (
    ${pairsBySupplier(NEAR, SAME_DUE, { titles: Prisma.sql`lone_title`, payables: Prisma.sql`lone_payable` })}
  ), near_title AS MATERIALIZED (
    SELECT * FROM lone_title WHERE id IN (
      SELECT title_id FROM lone_pair GROUP BY title_id
      HAVING count(*) FILTER (WHERE payable_order = title_order) > 1
          OR count(document) > count(DISTINCT document)
      UNION
      SELECT title_id FROM lone_pair WHERE erp_key IN (
        SELECT erp_key FROM lone_pair GROUP BY erp_key HAVING count(*) > count(DISTINCT title_order)))
  ), near_payable AS MATERIALIZED (
    SELECT * FROM ${countedPayables(payablesNear(Prisma.sql`near_title`))} AS payable WHERE candidates <= ${SUM_CANDIDATES}
  ), rival_title AS MATERIALIZED (
    SELECT * FROM ${countedTitles(Prisma.sql`id IN (
      ${pairsBySupplier(Prisma.sql`title.id`, SAME_DUE, { payables: Prisma.sql`near_payable` })})`)} AS title
  ), near_by_due AS MATERIALIZED (
    SELECT *, max(titles) OVER (PARTITION BY title_id) > ${SUM_CANDIDATES}
           OR max(payables) OVER (PARTITION BY erp_key) > ${SUM_CANDIDATES} AS is_large,
           title_id NOT IN (SELECT title_id FROM pair) AND erp_key NOT IN (SELECT erp_key FROM pair) AS fits_none
    FROM (${pairsBySupplier(
      NEAR,
      Prisma.sql`${SAME_DUE}
        AND (title.candidates <= ${SUM_CANDIDATES} OR payable.candidates <= ${SUM_CANDIDATES})`,
      {
        titles: Prisma.sql`rival_title`,
        payables: countedPayables(payablesNear(Prisma.sql`rival_title`)),
      },
    )}) AS near
  ), ${combinations(
    Prisma.sql`(
    SELECT title_id, erp_key, true AS is_of_payables, 'title ' || title_id AS owner, erp_key AS item,
           original_value AS target, open_value AS value
    FROM near_by_due WHERE payables <= ${SUM_CANDIDATES}
    UNION ALL
    SELECT title_id, erp_key, false, 'payable ' || erp_key, title_id::text, open_value, original_value
    FROM near_by_due WHERE titles <= ${SUM_CANDIDATES} AND erp_key IN (SELECT erp_key FROM near_payable))`,
    { most: SUM_ITEMS },
  )}, sum_row AS (
    SELECT *, min(sum) OVER by_title = max(sum) OVER by_title
              AND min(sum) OVER by_payable = max(sum) OVER by_payable AS is_only
    FROM (
      SELECT sum, title_id, erp_key, is_of_payables FROM (
        SELECT owner, owner || ' ' || items::text AS sum, unnest(items) AS item FROM walk
        WHERE total = target AND cardinality(items) > 1
      ) AS found JOIN candidate USING (owner, item)
    ) AS rows
    WINDOW by_title AS (PARTITION BY title_id), by_payable AS (PARTITION BY erp_key)
  ), certain_sum AS MATERIALIZED (
    SELECT sum, nextval('conciliation.title_match_id_seq') AS sum_id FROM (
      SELECT sum FROM sum_row JOIN near_by_due AS near USING (title_id, erp_key)
      GROUP BY sum, is_of_payables
      HAVING bool_and(is_only AND NOT is_large)
         AND bool_and(payable_order IS NULL OR payable_order = title_order)
         AND (count(payable_order) = count(*)
              OR is_of_payables AND count(document) = count(*) AND count(DISTINCT document) = 1
              OR NOT is_of_payables AND count(DISTINCT title_order) = 1)
         AND bool_and(is_company AND fits_none AND NOT is_fixed)
    ) AS found
  ), certain_row AS (
    SELECT sum_row.title_id, sum_row.erp_key, sum_id, count(*) OVER (PARTITION BY sum) AS rows,
           CASE WHEN is_of_payables THEN row_number() OVER (PARTITION BY sum ORDER BY erp_key) - 1 ELSE 0 END AS title_part,
           CASE WHEN is_of_payables THEN 0 ELSE row_number() OVER (PARTITION BY sum ORDER BY title_id) - 1 END AS erp_part
    FROM certain_sum JOIN sum_row USING (sum)
  )`;
