import type { Database, Transaction } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { Prisma } from '../generated/prisma/client.ts';
import {
  DUE_TOLERANCE_DAYS,
  PAYABLE_GROUND,
  TITLE_CODE,
  TITLE_GROUND,
  TITLE_TAX_ID,
} from './candidates.sql.ts';

/** The kinds of breaks, the most urgent first. A title without a match is in one break. */
export const BREAK_KINDS = [
  'paid_to_supplier',
  'withdrawn_open',
  'match_lost',
  'payee_changed',
  'duplicated_in_erp',
  'in_doubt',
  'value_differs',
  'due_date_differs',
  'missing_in_erp',
  'missing_on_platform',
] as const;
export type BreakKind = (typeof BREAK_KINDS)[number];

/** Money may be paid twice, or to the wrong party. */
export const URGENT_BREAKS: readonly BreakKind[] = ['paid_to_supplier'];

export interface BreakTitle {
  readonly id: number;
  readonly orderUid: string;
  readonly acceptedDate: CivilDate;
  readonly dueDate: CivilDate | null;
  readonly value: string;
  readonly supplier: string | null;
  readonly isWithdrawn: boolean;
}

export interface BreakPayable {
  readonly erpKey: string;
  readonly company: string | null;
  readonly supplier: string | null;
  readonly document: string | null;
  readonly instalment: string | null;
  readonly orderUid: string | null;
  readonly dueDate: CivilDate | null;
  readonly openValue: string;
  readonly status: string;
  readonly hasPayee: boolean;
}

export interface Break {
  readonly kind: BreakKind;
  readonly title: BreakTitle | null;
  readonly payable: BreakPayable | null;
  /** Hash of both sides as they are now. */
  readonly ground: string;
}

export interface BreakFilter {
  readonly kind: BreakKind | null;
  /** The accepted date of the title. */
  readonly date: CivilDate | null;
  /** The supplier's code in the ERP. */
  readonly supplier: string | null;
}

export interface BreakCount {
  readonly kind: BreakKind;
  readonly breaks: number;
  /** Sum of the titles' values, or of the payables' where a break has no title. Exact decimal. */
  readonly value: string;
}

export interface BreakList {
  /** Over the whole filter, without its kind. */
  readonly counts: readonly BreakCount[];
  /** Breaks of the filter. */
  readonly total: number;
  readonly breaks: readonly Break[];
}

const SAME_CODE = Prisma.sql`payable.supplier_external_id = ${TITLE_CODE}`;

/** Branches of one company are near each other. left() has an index. */
const sameParty = (taxId: Prisma.Sql) => Prisma.sql`
  left(payable.supplier_tax_id, 8) = left(${taxId}, 8)
  -- Otherwise the rows without a tax identifier are compared with one another.
  AND payable.supplier_tax_id IS NOT NULL AND ${taxId} IS NOT NULL
  AND (payable.supplier_tax_id = ${taxId}
       OR length(payable.supplier_tax_id) = 14 AND length(${taxId}) = 14)
  AND (payable.supplier_external_id IS NULL OR ${TITLE_CODE} IS NULL)`;

/** Whether a title `title` and a payable `payable` may have the same supplier. */
export const SAME_SUPPLIER = Prisma.sql`(${SAME_CODE} OR ${sameParty(TITLE_TAX_ID)})`;

const COMPARED = Prisma.sql`payable.erp_key, payable.status, payable.document,
  payable.open_value = title.original_value AS same_value,
  payable.order_uid = title.order_uid AS same_order,
  payable.due_date = title.anticipated_due_date AS same_due,
  abs(payable.due_date - title.anticipated_due_date) AS days`;

/** Payables that share the order, or the supplier and the value or the due date, with a title `title`. */
export const NEAR = Prisma.sql`
  SELECT ${COMPARED} FROM conciliation.erp_payable AS payable
  WHERE (payable.order_uid = title.order_uid
         OR ${SAME_SUPPLIER} AND (payable.open_value = title.original_value
                                  OR payable.due_date = title.anticipated_due_date))`;

const PAPER = Prisma.sql`
  ROW(payable.company, ltrim(payable.document, '0'), payable.instalment, payable.due_date)`;

/** Unmatched titles and free payables with the same supplier, on a further condition, each pair once. */
const pairsOfSupplier = (
  columns: Prisma.Sql,
  payables: Prisma.Sql,
  condition: Prisma.Sql,
) => Prisma.sql`
  SELECT ${columns} FROM unmatched AS title JOIN ${payables} AS payable ON ${SAME_CODE} AND ${condition}
  UNION ALL
  SELECT ${columns} FROM unmatched AS title JOIN ${payables} AS payable
    ON ${sameParty(Prisma.sql`title.tax_id`)} AND ${condition}`;

const PAIR = Prisma.sql`title.id AS title_id, ${COMPARED}, ${PAPER} AS paper`;

/** The titles that `rows` name, read by index regardless of the planner's estimates. */
const titlesOf = (rows: Prisma.Sql) => Prisma.sql`
  (SELECT * FROM conciliation.title WHERE id = ANY(ARRAY(SELECT title_id FROM ${rows})))`;

const payablesOf = (rows: Prisma.Sql) => Prisma.sql`
  (SELECT * FROM conciliation.erp_payable WHERE erp_key = ANY(ARRAY(SELECT erp_key FROM ${rows})))`;

/** The rows that a statement reads. A break is complete if all rows of the break are read. */
interface Scope {
  /** Of `title`. */
  readonly titles: Prisma.Sql;
  /** Of `payable`: payables without a match. */
  readonly free: Prisma.Sql;
  /** Of `free`: those that may be breaks without an unmatched title. */
  readonly alone: Prisma.Sql;
  /** Of `title_match`. */
  readonly matches: Prisma.Sql;
}

const ALL = Prisma.sql`true`;

/** The break of a title, a payable or both. */
const scopeOf = ({ titleId, erpKey }: Omit<BreakKey, 'kind'>): Scope => {
  const named = (column: Prisma.Sql) => Prisma.sql`ARRAY(SELECT ${column} FROM unmatched)`;
  return {
    titles: Prisma.sql`title.id = ${titleId}::bigint`,
    free: Prisma.sql`(payable.erp_key = ${erpKey}::text
      OR payable.order_uid = ANY(${named(Prisma.sql`order_uid`)})
      OR payable.supplier_external_id = ANY(${named(Prisma.sql`provider_external_id`)})
      OR left(payable.supplier_tax_id, 8) = ANY(${named(Prisma.sql`left(tax_id, 8)`)}))`,
    alone: Prisma.sql`erp_key = ${erpKey}::text`,
    matches: Prisma.sql`title_match.title_id = ${titleId}::bigint`,
  };
};

/** The breaks of a scope: kind, title_id, erp_key. For a statement with WITH. */
const breaksOf = (scope: Scope) => Prisma.sql`
  unmatched AS MATERIALIZED (
    SELECT id, order_uid, original_value, anticipated_due_date, ${TITLE_CODE} AS provider_external_id,
           ${TITLE_TAX_ID} AS tax_id
    FROM conciliation.title AS title
    WHERE status = 'current' AND ${scope.titles} AND NOT EXISTS (
      SELECT FROM conciliation.title_match WHERE title_id = title.id AND ended_at IS NULL)
  ), free AS MATERIALIZED (
    SELECT * FROM conciliation.erp_payable AS payable
    WHERE closed_at IS NULL AND status <> 'cancelled' AND ${scope.free} AND NOT EXISTS (
      SELECT FROM conciliation.title_match WHERE erp_key = payable.erp_key AND ended_at IS NULL)
  ), alone AS (
    SELECT * FROM free WHERE status = 'open' AND ${scope.alone}
  ), related AS (
    SELECT ${PAIR} FROM unmatched AS title JOIN free AS payable ON payable.order_uid = title.order_uid
    UNION ALL
    ${pairsOfSupplier(
      PAIR,
      Prisma.sql`free`,
      Prisma.sql`payable.open_value = title.original_value
        AND payable.order_uid IS DISTINCT FROM title.order_uid`,
    )}
  ), judged AS MATERIALIZED (
    SELECT title_id,
           min(erp_key) FILTER (WHERE status = 'paid' AND same_value AND (same_order OR same_due)) AS paid,
           min(erp_key) FILTER (WHERE fits) AS fit,
           count(*) FILTER (WHERE fits) > 1
             AND count(document) FILTER (WHERE fits) = count(*) FILTER (WHERE fits)
             AND count(DISTINCT paper) FILTER (WHERE fits) = 1 AS is_doubled,
           min(erp_key) FILTER (WHERE status = 'open' AND NOT same_value) AS other_value,
           (array_agg(erp_key ORDER BY days, erp_key)
              FILTER (WHERE status = 'open' AND same_value AND days > ${DUE_TOLERANCE_DAYS}))[1] AS other_due
    FROM (SELECT *, status = 'open' AND same_value AND (same_order OR days <= ${DUE_TOLERANCE_DAYS}) AS fits
          FROM related) AS related
    GROUP BY title_id
  ), value_of_due AS MATERIALIZED (
    -- Three values of a supplier and due date suffice to decide whether exactly one payable has another value.
    SELECT * FROM (
      SELECT supplier_external_id, supplier_tax_id, due_date, open_value, min(erp_key) AS erp_key, count(*) AS rows,
             row_number() OVER (PARTITION BY supplier_external_id, supplier_tax_id, due_date) AS place
      FROM free WHERE status = 'open' GROUP BY 1, 2, 3, 4
    ) AS valued WHERE place <= 3
  ), due AS MATERIALIZED (
    SELECT title_id, min(erp_key) AS erp_key FROM (${pairsOfSupplier(
      Prisma.sql`title.id AS title_id, payable.erp_key, payable.rows`,
      Prisma.sql`value_of_due`,
      Prisma.sql`payable.due_date = title.anticipated_due_date
        AND payable.open_value <> title.original_value`,
    )}) AS pair GROUP BY title_id HAVING sum(rows) = 1
  ), ordered AS MATERIALIZED (
    SELECT payable.erp_key, coalesce(bool_or(title.status = 'current'), false) AS has_current,
           (array_agg(title.id ORDER BY original_value = open_value DESC, title.id)
              FILTER (WHERE title.status = 'withdrawn'))[1] AS withdrawn
    FROM alone AS payable
    LEFT JOIN (SELECT * FROM conciliation.title WHERE order_uid = ANY(ARRAY(SELECT order_uid FROM alone)))
      AS title ON title.order_uid = payable.order_uid
    WHERE payable.order_uid IS NOT NULL
    GROUP BY payable.erp_key
  ), by_person AS MATERIALIZED (
    SELECT title_id, erp_key FROM conciliation.title_match
    WHERE ended_at IS NULL AND rule = 'person' AND ${scope.matches}
  ), twin AS MATERIALIZED (
    SELECT copy.erp_key AS copy, payable.erp_key FROM alone AS copy JOIN (
      -- The few documents of the payables without a match are hashed, and not all payables.
      SELECT erp_payable.* FROM conciliation.erp_payable
      JOIN (SELECT DISTINCT ltrim(document, '0') AS bare FROM alone WHERE document IS NOT NULL) AS wanted
        ON ltrim(document, '0') = bare
      WHERE document IS NOT NULL AND status = 'open' AND closed_at IS NULL
    ) AS payable
      ON ltrim(payable.document, '0') = ltrim(copy.document, '0') AND payable.open_value = copy.open_value
     AND ROW(payable.company, payable.supplier_external_id, payable.supplier_tax_id, payable.instalment,
             payable.due_date)
         IS NOT DISTINCT FROM
         ROW(copy.company, copy.supplier_external_id, copy.supplier_tax_id, copy.instalment, copy.due_date)
    WHERE copy.document IS NOT NULL AND payable.erp_key <> copy.erp_key
  ), found AS MATERIALIZED (
    SELECT CASE WHEN paid IS NOT NULL THEN 'paid_to_supplier'
                WHEN is_doubled THEN 'duplicated_in_erp'
                WHEN fit IS NOT NULL THEN 'in_doubt'
                WHEN coalesce(other_value, due.erp_key) IS NOT NULL THEN 'value_differs'
                WHEN other_due IS NOT NULL THEN 'due_date_differs'
                ELSE 'missing_in_erp' END AS kind,
           id AS title_id, coalesce(paid, fit, other_value, due.erp_key, other_due) AS erp_key
    FROM unmatched LEFT JOIN judged ON judged.title_id = id LEFT JOIN due ON due.title_id = id
    UNION ALL
    SELECT CASE WHEN withdrawn IS NULL THEN 'missing_on_platform' ELSE 'withdrawn_open' END,
           withdrawn, erp_key
    FROM ordered WHERE NOT has_current
    UNION ALL
    -- The program ends its own matches of this kind.
    SELECT 'match_lost', title_id, by_person.erp_key
    FROM by_person JOIN ${titlesOf(Prisma.sql`by_person`)} AS title ON title.id = title_id
    JOIN ${payablesOf(Prisma.sql`by_person`)} AS payable ON payable.erp_key = by_person.erp_key
    WHERE title.status = 'withdrawn' OR payable.status = 'cancelled'
    UNION ALL
    SELECT 'payee_changed', title_id, erp_key
    FROM conciliation.title_match JOIN conciliation.erp_payable AS payable USING (erp_key)
    WHERE ended_at IS NULL AND payee IS NOT NULL AND payable.status = 'open' AND ${scope.matches}
    UNION ALL
    SELECT 'duplicated_in_erp', title_id, copy
    FROM (SELECT copy, title_id, erp_key, min(erp_key) OVER (PARTITION BY copy) AS first
          FROM twin JOIN (
            SELECT title_id, erp_key FROM conciliation.title_match
            WHERE ended_at IS NULL AND erp_key = ANY(ARRAY(SELECT erp_key FROM twin))) AS match USING (erp_key)
         ) AS matched WHERE erp_key = first
  ), stated AS MATERIALIZED (
    SELECT kind, array_position(${[...BREAK_KINDS]}::text[], kind) AS place, title_id,
           payable.erp_key AS erp_key, title.accepted_date,
           coalesce(title.provider_external_id, payable.supplier_external_id) AS supplier,
           coalesce(title.original_value, payable.open_value) AS value,
           md5(concat(${TITLE_GROUND}, payable.status, ${PAYABLE_GROUND}))::uuid AS ground
    FROM found
    LEFT JOIN ${titlesOf(Prisma.sql`found`)} AS title ON title.id = title_id
    LEFT JOIN ${payablesOf(Prisma.sql`found`)} AS payable ON payable.erp_key = found.erp_key
  ), broken AS MATERIALIZED (
    SELECT * FROM stated
    WHERE NOT EXISTS (
      SELECT FROM conciliation.break_decision AS decision
      WHERE decision.kind = stated.kind AND decision.title_id IS NOT DISTINCT FROM stated.title_id
        AND decision.erp_key IS NOT DISTINCT FROM stated.erp_key AND decision.ground = stated.ground)
  )`;

/** Configures the planner for the statements of a transaction that join whole sets, so that the plan does not depend on statistics. */
export async function joinWholeSets(tx: Transaction): Promise<void> {
  await tx.$executeRaw`
    SELECT set_config('enable_nestloop', 'off', true), set_config('enable_mergejoin', 'off', true),
           set_config('jit', 'off', true), set_config('work_mem', '64MB', true)`;
}

const TITLE_JSON = Prisma.sql`
  CASE WHEN title.id IS NOT NULL THEN jsonb_build_object(
    'id', title.id, 'orderUid', title.order_uid, 'acceptedDate', title.accepted_date,
    'dueDate', title.anticipated_due_date, 'value', title.original_value::text,
    'supplier', title.provider_external_id, 'isWithdrawn', title.status = 'withdrawn') END`;

export const PAYABLE_JSON = Prisma.sql`
  CASE WHEN payable.erp_key IS NOT NULL THEN jsonb_build_object(
    'erpKey', payable.erp_key, 'company', payable.company,
    'supplier', payable.supplier_external_id, 'document', payable.document,
    'instalment', payable.instalment, 'orderUid', payable.order_uid, 'dueDate', payable.due_date,
    'openValue', payable.open_value::text, 'status', payable.status,
    'hasPayee', payable.payee IS NOT NULL) END`;

const isIn = ({ date, supplier }: BreakFilter) => Prisma.sql`
  (${date}::date IS NULL OR accepted_date = ${date}::date)
  AND (${supplier}::text IS NULL OR supplier = ${supplier}::text)`;

/** Returns the breaks of a filter, the most urgent first, then by the greatest value. */
export function listBreaks(
  database: Database,
  request: BreakFilter & { readonly offset: number; readonly limit: number },
): Promise<BreakList> {
  const { kind, date, offset, limit } = request;
  const ofDate = date === null ? ALL : Prisma.sql`title.accepted_date = ${date}::date`;
  return database.prisma.$transaction(async (tx) => {
    await joinWholeSets(tx);
    const [row] = await tx.$queryRaw<[BreakList]>`
    WITH ${breaksOf({ titles: ofDate, free: ALL, alone: ALL, matches: ALL })}, filtered AS (SELECT * FROM broken WHERE ${isIn(request)}),
    place AS (
      SELECT * FROM filtered WHERE ${kind}::text IS NULL OR kind = ${kind}::text
      ORDER BY place, value DESC, title_id, erp_key OFFSET ${offset} LIMIT ${limit}
    )
    SELECT
      (SELECT coalesce(jsonb_agg(counted), '[]') FROM (
         SELECT kind, count(*) AS breaks, sum(value)::text AS value
         FROM filtered GROUP BY kind, place ORDER BY place) AS counted) AS counts,
      (SELECT count(*)::float8 FROM filtered WHERE ${kind}::text IS NULL OR kind = ${kind}::text)
        AS total,
      (SELECT coalesce(jsonb_agg(jsonb_build_object(
                'kind', place.kind, 'ground', place.ground, 'title', ${TITLE_JSON},
                'payable', ${PAYABLE_JSON})
              ORDER BY place.place, place.value DESC, title_id, place.erp_key), '[]')
       FROM place LEFT JOIN ${titlesOf(Prisma.sql`place`)} AS title ON title.id = title_id
       LEFT JOIN ${payablesOf(Prisma.sql`place`)} AS payable ON payable.erp_key = place.erp_key) AS breaks`;
    return row;
  });
}

/** The breaks of the whole ledger. */
export interface CountedBreaks {
  readonly breaks: number;
  /** Their accepted dates, in order. */
  readonly dates: readonly CivilDate[];
  readonly urgent: number;
  readonly urgentDates: readonly CivilDate[];
}

export async function countBreaks(tx: Transaction): Promise<CountedBreaks> {
  const isUrgent = Prisma.sql`kind = ANY(${[...URGENT_BREAKS]}::text[])`;
  const [row] = await tx.$queryRaw<[CountedBreaks]>`
    WITH ${breaksOf({ titles: ALL, free: ALL, alone: ALL, matches: ALL })}
    SELECT count(*)::int AS breaks, (count(*) FILTER (WHERE ${isUrgent}))::int AS urgent,
           coalesce(array_agg(DISTINCT accepted_date::text) FILTER (WHERE accepted_date IS NOT NULL), '{}') AS dates,
           coalesce(array_agg(DISTINCT accepted_date::text)
                    FILTER (WHERE accepted_date IS NOT NULL AND ${isUrgent}), '{}') AS "urgentDates"
    FROM broken`;
  return row;
}

/** A break by its kind and its sides. */
export interface BreakKey {
  readonly kind: BreakKind;
  readonly titleId: bigint | null;
  readonly erpKey: string | null;
}

/** Returns a break; null: it does not exist, or no longer. */
export async function readBreak(
  client: Pick<Transaction, '$queryRaw'>,
  { kind, titleId, erpKey }: BreakKey,
): Promise<Break | null> {
  const [row] = await client.$queryRaw<[Break?]>`
    WITH ${breaksOf(scopeOf({ titleId, erpKey }))}
    SELECT broken.kind, ground, ${TITLE_JSON} AS title, ${PAYABLE_JSON} AS payable
    FROM (SELECT * FROM broken WHERE kind = ${kind} AND title_id IS NOT DISTINCT FROM ${titleId}::bigint
            AND erp_key IS NOT DISTINCT FROM ${erpKey}::text) AS broken
    LEFT JOIN conciliation.title AS title ON title.id = ${titleId}::bigint
    LEFT JOIN conciliation.erp_payable AS payable ON payable.erp_key = ${erpKey}::text`;
  return row ?? null;
}

/** A payable that a person may match with a title, and what both have in common. */
export interface Candidate {
  readonly payable: BreakPayable;
  readonly sameOrder: boolean;
  readonly sameValue: boolean;
  readonly sameDue: boolean;
}

const CANDIDATES_SHOWN = 12;

/** Returns the payables that no match has and that share the order, the value or the due date with a title. */
export async function readCandidates(database: Database, titleId: bigint): Promise<Candidate[]> {
  return database.prisma.$queryRaw<Candidate[]>`
    SELECT ${PAYABLE_JSON} AS payable, coalesce(same_order, false) AS "sameOrder",
           same_value AS "sameValue", coalesce(same_due, false) AS "sameDue"
    FROM conciliation.title AS title CROSS JOIN LATERAL (
      ${NEAR} AND payable.status = 'open' AND payable.closed_at IS NULL
    ) AS near
    JOIN conciliation.erp_payable AS payable ON payable.erp_key = near.erp_key
    WHERE title.id = ${titleId} AND NOT EXISTS (
      SELECT FROM conciliation.title_match WHERE erp_key = near.erp_key AND ended_at IS NULL)
    ORDER BY same_order DESC NULLS LAST, same_value DESC, days, payable.erp_key
    LIMIT ${CANDIDATES_SHOWN}`;
}
