import type { Database, Transaction } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { Prisma } from '../generated/prisma/client.ts';
import {
  DUE_TOLERANCE_DAYS,
  PAYABLE_GROUND,
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

/** Whether a title `title` and a payable `payable` may have the same supplier. Branches of one company count as one. */
export const SAME_SUPPLIER = Prisma.sql`(payable.supplier_external_id = title.provider_external_id
  -- Branches of one company are near each other. left() has an index.
  OR left(payable.supplier_tax_id, 8) = left(${TITLE_TAX_ID}, 8)
     AND (payable.supplier_tax_id = ${TITLE_TAX_ID}
          OR length(payable.supplier_tax_id) = 14 AND length(${TITLE_TAX_ID}) = 14)
     AND (payable.supplier_external_id IS NULL OR title.provider_external_id IS NULL))`;

const isUnmatched = (column: Prisma.Sql, key: Prisma.Sql) => Prisma.sql`
  NOT EXISTS (SELECT FROM conciliation.title_match WHERE ${column} = ${key} AND ended_at IS NULL)`;

/** Payables that share the order, or the supplier and the value or the due date, with a title `title`. */
export const NEAR = Prisma.sql`
  SELECT payable.erp_key, payable.status, payable.document, payable.closed_at,
         ROW(payable.company, ltrim(payable.document, '0'), payable.instalment, payable.due_date) AS paper,
         payable.open_value = title.original_value AS same_value,
         payable.order_uid = title.order_uid AS same_order,
         payable.due_date = title.anticipated_due_date AS same_due,
         abs(payable.due_date - title.anticipated_due_date) AS days
  FROM conciliation.erp_payable AS payable
  WHERE (payable.order_uid = title.order_uid
         OR ${SAME_SUPPLIER} AND (payable.open_value = title.original_value
                                  OR payable.due_date = title.anticipated_due_date))`;

/** Those of them that no match has. */
const RELATED = Prisma.sql`${NEAR}
    AND payable.closed_at IS NULL AND payable.status <> 'cancelled'
    AND ${isUnmatched(Prisma.sql`erp_key`, Prisma.sql`payable.erp_key`)}`;

/** The payable of a title `title` that the ERP has paid to the supplier. */
const PAID_PAYABLE = Prisma.sql`
  (SELECT erp_key FROM (${RELATED}) AS related
   WHERE status = 'paid' AND same_value AND (same_order OR same_due)
   ORDER BY erp_key LIMIT 1)`;

/** All breaks: kind, title_id, erp_key. For a statement with WITH. */
const BREAKS = Prisma.sql`
  unmatched AS MATERIALIZED (
    SELECT title.* FROM conciliation.title AS title
    WHERE status = 'current' AND ${isUnmatched(Prisma.sql`title_id`, Prisma.sql`title.id`)}
  ), judged AS MATERIALIZED (
    SELECT title.id AS title_id,
           ${PAID_PAYABLE} AS paid,
           fitting.payable AS fit, fitting.is_doubled,
           (SELECT CASE WHEN count(*) FILTER (WHERE same_order) > 0
                        THEN min(erp_key) FILTER (WHERE same_order)
                        WHEN count(*) = 1 THEN min(erp_key) END
            FROM (${RELATED}) AS related
            WHERE status = 'open' AND NOT same_value) AS other_value,
           (SELECT erp_key FROM (${RELATED}) AS related
            WHERE status = 'open' AND same_value AND days > ${DUE_TOLERANCE_DAYS}
            ORDER BY days, erp_key LIMIT 1) AS other_due
    FROM unmatched AS title
    CROSS JOIN LATERAL (
      SELECT min(erp_key) AS payable,
             count(*) > 1 AND count(document) = count(*) AND count(DISTINCT paper) = 1 AS is_doubled
      FROM (${RELATED}) AS related
      WHERE status = 'open' AND same_value AND (same_order OR days <= ${DUE_TOLERANCE_DAYS})
    ) AS fitting
  ), ordered AS MATERIALIZED (
    SELECT erp_key,
           EXISTS (SELECT FROM conciliation.title
                   WHERE order_uid = payable.order_uid AND status = 'current') AS has_current,
           (SELECT id FROM conciliation.title
            WHERE order_uid = payable.order_uid AND status = 'withdrawn'
            ORDER BY original_value = payable.open_value DESC, id LIMIT 1) AS withdrawn
    FROM conciliation.erp_payable AS payable
    WHERE order_uid IS NOT NULL AND status = 'open' AND closed_at IS NULL
      AND ${isUnmatched(Prisma.sql`erp_key`, Prisma.sql`payable.erp_key`)}
  ), copy AS (
    SELECT erp_key, first_value(erp_key) OVER equal_payables AS first,
           row_number() OVER equal_payables AS number
    FROM conciliation.erp_payable
    WHERE status = 'open' AND closed_at IS NULL AND document IS NOT NULL
    WINDOW equal_payables AS (
      PARTITION BY company, supplier_external_id, supplier_tax_id, ltrim(document, '0'), instalment, due_date, open_value
      ORDER BY NOT EXISTS (SELECT FROM conciliation.title_match
                           WHERE title_match.erp_key = erp_payable.erp_key AND ended_at IS NULL), erp_key)
  ), found AS (
    SELECT CASE WHEN paid IS NOT NULL THEN 'paid_to_supplier'
                WHEN is_doubled THEN 'duplicated_in_erp'
                WHEN fit IS NOT NULL THEN 'in_doubt'
                WHEN other_value IS NOT NULL THEN 'value_differs'
                WHEN other_due IS NOT NULL THEN 'due_date_differs'
                ELSE 'missing_in_erp' END AS kind,
           title_id, coalesce(paid, fit, other_value, other_due) AS erp_key
    FROM judged
    UNION ALL
    SELECT CASE WHEN withdrawn IS NULL THEN 'missing_on_platform' ELSE 'withdrawn_open' END,
           withdrawn, erp_key
    FROM ordered WHERE NOT has_current
    UNION ALL
    -- The program ends its own matches of this kind.
    SELECT 'match_lost', title_id, match.erp_key
    FROM conciliation.title_match AS match
    JOIN conciliation.title AS title ON title.id = match.title_id
    JOIN conciliation.erp_payable AS payable ON payable.erp_key = match.erp_key
    WHERE ended_at IS NULL AND rule = 'person'
      AND (title.status = 'withdrawn' OR payable.status = 'cancelled')
    UNION ALL
    SELECT 'payee_changed', title_id, match.erp_key
    FROM conciliation.title_match AS match
    JOIN conciliation.erp_payable AS payable ON payable.erp_key = match.erp_key
    WHERE ended_at IS NULL AND payee IS NOT NULL AND payable.status = 'open'
    UNION ALL
    SELECT 'duplicated_in_erp', match.title_id, copy.erp_key
    FROM copy JOIN conciliation.title_match AS match
      ON match.erp_key = copy.first AND match.ended_at IS NULL
    WHERE number > 1 AND ${isUnmatched(Prisma.sql`erp_key`, Prisma.sql`copy.erp_key`)}
  ), stated AS MATERIALIZED (
    SELECT kind, array_position(${[...BREAK_KINDS]}::text[], kind) AS place, title_id,
           payable.erp_key AS erp_key, title.accepted_date,
           coalesce(title.provider_external_id, payable.supplier_external_id) AS supplier,
           coalesce(title.original_value, payable.open_value) AS value,
           md5(concat(${TITLE_GROUND}, payable.status, ${PAYABLE_GROUND}))::uuid AS ground
    FROM found
    LEFT JOIN conciliation.title AS title ON title.id = title_id
    LEFT JOIN conciliation.erp_payable AS payable ON payable.erp_key = found.erp_key
  ), broken AS MATERIALIZED (
    SELECT * FROM stated
    WHERE NOT EXISTS (
      SELECT FROM conciliation.break_decision AS decision
      WHERE decision.kind = stated.kind AND decision.title_id IS NOT DISTINCT FROM stated.title_id
        AND decision.erp_key IS NOT DISTINCT FROM stated.erp_key AND decision.ground = stated.ground)
  )`;

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
export async function listBreaks(
  database: Database,
  request: BreakFilter & { readonly offset: number; readonly limit: number },
): Promise<BreakList> {
  const { kind, offset, limit } = request;
  const [row] = await database.prisma.$queryRaw<[BreakList]>`
    WITH ${BREAKS}, filtered AS (SELECT * FROM broken WHERE ${isIn(request)}),
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
       FROM place LEFT JOIN conciliation.title AS title ON title.id = title_id
       LEFT JOIN conciliation.erp_payable AS payable ON payable.erp_key = place.erp_key) AS breaks`;
  return row;
}

/** The urgent breaks of the whole ledger. */
export interface UrgentBreaks {
  readonly breaks: number;
  /** Their accepted dates, in order. */
  readonly dates: readonly CivilDate[];
}

export async function readUrgentBreaks(
  client: Pick<Transaction, '$queryRaw'>,
): Promise<UrgentBreaks> {
  const [row] = await client.$queryRaw<[UrgentBreaks]>`
    WITH ${BREAKS}
    SELECT count(*)::int AS breaks,
           coalesce(array_agg(DISTINCT accepted_date::text) FILTER (WHERE accepted_date IS NOT NULL), '{}') AS dates
    FROM broken WHERE kind = ANY(${[...URGENT_BREAKS]}::text[])`;
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
  database: Pick<Database, 'prisma'>,
  { kind, titleId, erpKey }: BreakKey,
): Promise<Break | null> {
  const [row] = await database.prisma.$queryRaw<[Break?]>`
    WITH ${BREAKS}
    SELECT broken.kind, ground, ${TITLE_JSON} AS title, ${PAYABLE_JSON} AS payable
    FROM broken LEFT JOIN conciliation.title AS title ON title.id = title_id
    LEFT JOIN conciliation.erp_payable AS payable ON payable.erp_key = broken.erp_key
    WHERE broken.kind = ${kind} AND title_id IS NOT DISTINCT FROM ${titleId}::bigint
      AND broken.erp_key IS NOT DISTINCT FROM ${erpKey}::text`;
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
    FROM conciliation.title AS title CROSS JOIN LATERAL (${RELATED}) AS related
    JOIN conciliation.erp_payable AS payable ON payable.erp_key = related.erp_key
    WHERE title.id = ${titleId} AND related.status = 'open'
    ORDER BY same_order DESC NULLS LAST, same_value DESC, days, payable.erp_key
    LIMIT ${CANDIDATES_SHOWN}`;
}
