import type { Database, Transaction } from '../database/database.ts';
import { type CivilDate, daysBetween } from '../domain/business-day.ts';
import { Prisma } from '../generated/prisma/client.ts';
import {
  type Break,
  type BreakPayable,
  listBreaks,
  NEAR,
  PAYABLE_JSON,
  SAME_SUPPLIER,
} from './breaks.sql.ts';
import {
  COMPANY_NAME,
  COMPANY_SIDE,
  companyNames,
  DUE_TOLERANCE_DAYS,
  IS_COMPANY,
  IS_COMPARED,
  IS_OF_SUPPLIER,
  IS_SUPPLIER_OF_ORDER,
  MAY_BE_COMPANY,
  PARTY_NAMES,
  TITLE_SIDE,
} from './candidates.sql.ts';
import { readCompanyFacts } from './companies.sql.ts';
import type { MatchRule } from './match-reads.sql.ts';
import { MATCHING_ACTOR } from './run-matching.sql.ts';

/** A field on both sides. Amounts are decimal text, exact. */
export interface ComparedField {
  readonly field: 'orderUid' | 'supplier' | 'value' | 'dueDate';
  readonly title: string | null;
  readonly payable: string | null;
  readonly isEqual: boolean;
}

/**
 * Why a payable that resembles a title is not its match.
 * - `matched`: another title has it
 * - `not_open`: the ERP has paid, cancelled or closed it
 * - `not_compared`: a posting has made it, the supplier is the financial agent, or its currency is not BRL
 * - `value`: the open value differs
 * - `due_date`: the due date differs by more than the tolerance
 * - `supplier`: the supplier differs
 * - `company`: its company is another buyer, or is not known to be the title's
 * - `other_order`: it names another order
 * - `not_unique`: it fits, and so does another payable, open or not, or another title
 * - `undone`: a person has undone this match
 */
type NotTaken =
  | 'matched'
  | 'not_open'
  | 'not_compared'
  | 'value'
  | 'due_date'
  | 'supplier'
  | 'company'
  | 'other_order'
  | 'not_unique'
  | 'undone';

/** A payable of a title's match. */
interface MatchedPayable {
  readonly payable: BreakPayable;
  readonly compared: readonly ComparedField[];
}

/** A payable that shares the order, or the supplier and the value or the due date, with a title. */
interface ExplainedCandidate extends MatchedPayable {
  readonly notTaken: NotTaken;
}

/** A current title of a date: its match or its break, and the other payables that resemble it. */
export interface ExplainedTitle {
  readonly titleId: number;
  readonly orderUid: string;
  readonly supplier: string | null;
  readonly dueDate: CivilDate | null;
  readonly value: string;
  readonly match: {
    readonly rule: MatchRule;
    readonly version: number;
    readonly madeBy: string;
    readonly madeAt: string;
    readonly reason: string | null;
    /** Several where their sum is the value of the title. */
    readonly payables: readonly MatchedPayable[];
    /** The other titles of the payable. Not empty: the payable is the sum of the titles. */
    readonly otherTitles: readonly number[];
  } | null;
  readonly candidates: readonly ExplainedCandidate[];
}

export interface ExplainedDate {
  readonly titles: readonly ExplainedTitle[];
  /** The breaks of the date, the most urgent first. */
  readonly breaks: readonly Break[];
}

/** The candidates that are shown of a title. */
const CANDIDATES_SHOWN = 12;
const MAX_BREAKS = 1_000_000;

interface ComparedPayable {
  readonly payable: BreakPayable;
  readonly isSameSupplier: boolean;
}

interface TitleRow extends Omit<ExplainedTitle, 'match' | 'candidates'> {
  readonly match:
    | (Omit<NonNullable<ExplainedTitle['match']>, 'payables'> & {
        readonly payables: readonly ComparedPayable[];
      })
    | null;
  readonly candidates: readonly (ComparedPayable & {
    readonly isMatched: boolean;
    readonly isClosed: boolean;
    readonly isUndone: boolean;
    readonly isCompared: boolean;
    readonly isCompany: boolean;
  })[];
}

/** Explains the match or the break of each current title of a date. */
export async function explainDate(database: Database, date: CivilDate): Promise<ExplainedDate> {
  const [rows, { breaks }] = await Promise.all([
    database.prisma.$transaction((tx) => readTitles(tx, date)),
    listBreaks(database, { kind: null, date, supplier: null, offset: 0, limit: MAX_BREAKS }),
  ]);
  return { breaks, titles: rows.map(explainTitle) };
}

const COMPARED = Prisma.sql`
  'payable', ${PAYABLE_JSON}, 'isSameSupplier', coalesce(
    ${SAME_SUPPLIER} OR payable.order_uid = title.order_uid AND ${IS_SUPPLIER_OF_ORDER}, false)`;

async function readTitles(tx: Transaction, date: CivilDate): Promise<TitleRow[]> {
  const companies = await readCompanyFacts(tx);
  return tx.$queryRaw<TitleRow[]>`
    WITH ${companyNames(companies)}
    SELECT title.id::float8 AS "titleId", title.order_uid AS "orderUid",
           title.provider_external_id AS supplier, title.anticipated_due_date::text AS "dueDate",
           title.original_value::text AS value, matched.match, coalesce(candidates, '[]') AS candidates
    FROM (SELECT ${TITLE_SIDE}, accepted_date, status, provider_identification, financial_agent_identification
          FROM conciliation.title ${PARTY_NAMES}) AS title
    LEFT JOIN LATERAL (
      SELECT array_agg(payable.erp_key) AS erp_keys,
             -- The rows of one match differ in the payable only.
             jsonb_build_object(
               'rule', min(rule), 'version', min(rule_version), 'madeBy', min(made_by),
               'madeAt', min(made_at), 'reason', min(reason),
               'payables', jsonb_agg(jsonb_build_object(${COMPARED}) ORDER BY title_part),
               'otherTitles', to_jsonb(ARRAY(
                 SELECT other.title_id FROM conciliation.title_match AS other
                 WHERE other.sum_id = min(match.sum_id) AND other.title_id <> title.id
                 ORDER BY other.title_id))) AS match
      FROM conciliation.title_match AS match
      JOIN conciliation.erp_payable AS payable ON payable.erp_key = match.erp_key
      WHERE match.title_id = title.id AND match.ended_at IS NULL
      HAVING count(*) > 0
    ) AS matched ON true
    LEFT JOIN LATERAL (
      SELECT jsonb_agg(jsonb_build_object(
               ${COMPARED}, 'isClosed', payable.closed_at IS NOT NULL,
               'isCompared', ${IS_COMPARED} AND ${IS_OF_SUPPLIER},
               'isCompany', ${MAY_BE_COMPANY} AND ${IS_COMPANY},
               'isMatched', EXISTS (
                 SELECT FROM conciliation.title_match AS other
                 WHERE other.erp_key = payable.erp_key AND other.ended_at IS NULL),
               'isUndone', EXISTS (
                 SELECT FROM conciliation.title_match AS undone
                 WHERE undone.erp_key = payable.erp_key AND undone.title_id = title.id
                   AND undone.ended_by <> ${MATCHING_ACTOR})) ORDER BY near.place) AS candidates
      FROM (
        SELECT erp_key, row_number() OVER (
                 ORDER BY same_order DESC NULLS LAST, same_value DESC, days, erp_key) AS place
        FROM (${NEAR}) AS all_near WHERE erp_key = ANY(matched.erp_keys) IS NOT TRUE
      ) AS near JOIN (
        SELECT payable.*, ${COMPANY_SIDE} FROM conciliation.erp_payable AS payable ${COMPANY_NAME}
      ) AS payable ON payable.erp_key = near.erp_key
      WHERE near.place <= ${CANDIDATES_SHOWN}::int
    ) AS near ON true
    WHERE title.accepted_date = ${date}::date AND title.status = 'current'
    ORDER BY title.order_uid COLLATE "C", title.id`;
}

function explainTitle(row: TitleRow): ExplainedTitle {
  const { match, candidates, ...title } = row;
  const explain = ({ payable, isSameSupplier }: ComparedPayable): MatchedPayable => ({
    payable,
    compared: compare(row, payable, isSameSupplier),
  });
  return {
    ...title,
    match: match === null ? null : { ...match, payables: match.payables.map(explain) },
    candidates: candidates.map((candidate) => {
      const { payable, compared } = explain(candidate);
      return { payable, compared, notTaken: notTaken(candidate, compared) };
    }),
  };
}

/** The tax identifier of the supplier is compared, and not shown. */
function compare(title: TitleRow, payable: BreakPayable, isSameSupplier: boolean): ComparedField[] {
  const field = (
    name: ComparedField['field'],
    ofTitle: string | null,
    ofPayable: string | null,
    isEqual: boolean,
  ): ComparedField => ({ field: name, title: ofTitle, payable: ofPayable, isEqual });
  return [
    field('orderUid', title.orderUid, payable.orderUid, title.orderUid === payable.orderUid),
    field('supplier', title.supplier, payable.supplier, isSameSupplier),
    field('value', title.value, payable.openValue, isSameAmount(title.value, payable.openValue)),
    field(
      'dueDate',
      title.dueDate,
      payable.dueDate,
      title.dueDate !== null && title.dueDate === payable.dueDate,
    ),
  ];
}

/** Decimal texts of PostgreSQL, which may differ in their scale. */
function isSameAmount(first: string, second: string): boolean {
  const bare = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);
  return bare(first) === bare(second);
}

function notTaken(
  candidate: TitleRow['candidates'][number],
  compared: readonly ComparedField[],
): NotTaken {
  const isEqual = (name: ComparedField['field']) =>
    compared.some(({ field, isEqual: equal }) => field === name && equal);
  if (candidate.isMatched) return 'matched';
  if (candidate.isClosed || candidate.payable.status !== 'open') return 'not_open';
  if (!candidate.isCompared) return 'not_compared';
  if (!isEqual('value')) return 'value';
  if (!isEqual('supplier')) return 'supplier';
  if (!candidate.isCompany) return 'company';
  const due = compared.find(({ field }) => field === 'dueDate');
  const isUnknown = due?.title == null || due.payable == null;
  if (
    !(isUnknown && isEqual('orderUid')) &&
    daysApart(due?.title, due?.payable) > DUE_TOLERANCE_DAYS
  ) {
    return 'due_date';
  }
  if (!isEqual('orderUid') && candidate.payable.orderUid !== null) return 'other_order';
  return candidate.isUndone ? 'undone' : 'not_unique';
}

/** Infinite where one of the dates is not known. */
function daysApart(first: string | null | undefined, second: string | null | undefined): number {
  if (first == null || second == null) return Number.POSITIVE_INFINITY;
  return Math.abs(daysBetween(first as CivilDate, second as CivilDate));
}
