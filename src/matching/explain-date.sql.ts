import type { Database } from '../database/database.ts';
import { type CivilDate, daysBetween } from '../domain/business-day.ts';
import { type Break, type BreakPayable, listBreaks, PAYABLE_JSON } from './breaks.sql.ts';
import { DUE_TOLERANCE_DAYS } from './candidates.sql.ts';
import type { MatchRule } from './match-reads.sql.ts';

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
 * - `value`: the open value differs
 * - `due_date`: the due date differs by more than the tolerance, and the order is not the same
 * - `supplier`: neither order nor supplier is the same
 * - `not_unique`: it fits, and so does another payable or another title
 * - `undone`: a person has undone this match
 */
type NotTaken =
  | 'matched'
  | 'not_open'
  | 'value'
  | 'due_date'
  | 'supplier'
  | 'not_unique'
  | 'undone';

/** A payable that shares the order, the value or the due date with a title. */
interface ExplainedCandidate {
  readonly payable: BreakPayable;
  readonly compared: readonly ComparedField[];
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
    readonly payable: BreakPayable;
    readonly compared: readonly ComparedField[];
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

interface TitleRow extends Omit<ExplainedTitle, 'match' | 'candidates'> {
  readonly taxId: string | null;
  readonly match: Omit<NonNullable<ExplainedTitle['match']>, 'compared'> | null;
  readonly matchTaxId: string | null;
  readonly candidates:
    | readonly {
        readonly payable: BreakPayable;
        readonly taxId: string | null;
        readonly isMatched: boolean;
        readonly isClosed: boolean;
        readonly isUndone: boolean;
      }[]
    | null;
}

/** Explains the match or the break of each current title of a date. */
export async function explainDate(database: Database, date: CivilDate): Promise<ExplainedDate> {
  const [rows, { breaks }] = await Promise.all([
    readTitles(database, date),
    listBreaks(database, { kind: null, date, supplier: null, offset: 0, limit: MAX_BREAKS }),
  ]);
  return { breaks, titles: rows.map(explainTitle) };
}

function readTitles(database: Database, date: CivilDate): Promise<TitleRow[]> {
  return database.prisma.$queryRaw<TitleRow[]>`
    SELECT title.id::float8 AS "titleId", title.order_uid AS "orderUid",
           title.provider_external_id AS supplier, title.provider_identification AS "taxId",
           title.anticipated_due_date::text AS "dueDate", title.original_value::text AS value,
           matched.match, matched.tax_id AS "matchTaxId",
           (SELECT jsonb_agg(jsonb_build_object(
                     'payable', candidate.payable, 'taxId', candidate.tax_id,
                     'isMatched', candidate.is_matched, 'isClosed', candidate.is_closed,
                     'isUndone', candidate.is_undone) ORDER BY candidate.place)
            FROM (
              SELECT ${PAYABLE_JSON} AS payable, payable.supplier_tax_id AS tax_id,
                     payable.closed_at IS NOT NULL AS is_closed,
                     EXISTS (SELECT FROM conciliation.title_match AS other
                             WHERE other.erp_key = payable.erp_key AND other.ended_at IS NULL) AS is_matched,
                     EXISTS (SELECT FROM conciliation.title_match AS undone
                             WHERE undone.erp_key = payable.erp_key AND undone.title_id = title.id
                               AND undone.ended_at IS NOT NULL) AS is_undone,
                     row_number() OVER (
                       ORDER BY payable.order_uid = title.order_uid DESC NULLS LAST,
                                payable.open_value = title.original_value DESC,
                                abs(payable.due_date - title.anticipated_due_date), payable.erp_key) AS place
              FROM conciliation.erp_payable AS payable
              WHERE payable.erp_key IS DISTINCT FROM matched.erp_key
                AND (payable.order_uid = title.order_uid
                     OR (payable.supplier_external_id = title.provider_external_id
                         OR payable.supplier_tax_id = title.provider_identification)
                        AND (payable.open_value = title.original_value
                             OR payable.due_date = title.anticipated_due_date))
            ) AS candidate WHERE candidate.place <= ${CANDIDATES_SHOWN}::int) AS candidates
    FROM conciliation.title
    LEFT JOIN LATERAL (
      SELECT match.erp_key, payable.supplier_tax_id AS tax_id,
             jsonb_build_object('rule', rule, 'version', rule_version, 'madeBy', made_by, 'madeAt', made_at,
                                'reason', reason, 'payable', ${PAYABLE_JSON}) AS match
      FROM conciliation.title_match AS match
      JOIN conciliation.erp_payable AS payable ON payable.erp_key = match.erp_key
      WHERE match.title_id = title.id AND match.ended_at IS NULL
    ) AS matched ON true
    WHERE title.accepted_date = ${date}::date AND title.status = 'current'
    ORDER BY title.order_uid COLLATE "C", title.id`;
}

function explainTitle(row: TitleRow): ExplainedTitle {
  const { match, matchTaxId, candidates, taxId: _, ...title } = row;
  return {
    ...title,
    match: match === null ? null : { ...match, compared: compare(row, match.payable, matchTaxId) },
    candidates: (candidates ?? []).map((candidate) => {
      const compared = compare(row, candidate.payable, candidate.taxId);
      return { payable: candidate.payable, compared, notTaken: notTaken(candidate, compared) };
    }),
  };
}

/** A supplier is the same by the code, or by the tax identifier, which is not shown. */
function compare(
  title: TitleRow,
  payable: BreakPayable,
  payableTaxId: string | null,
): ComparedField[] {
  const isSameCode = title.supplier !== null && title.supplier === payable.supplier;
  const isSameTaxId =
    (title.supplier === null || payable.supplier === null) &&
    title.taxId !== null &&
    title.taxId === payableTaxId;
  const field = (
    name: ComparedField['field'],
    ofTitle: string | null,
    ofPayable: string | null,
    isEqual: boolean,
  ): ComparedField => ({ field: name, title: ofTitle, payable: ofPayable, isEqual });
  return [
    field('orderUid', title.orderUid, payable.orderUid, title.orderUid === payable.orderUid),
    field('supplier', title.supplier, payable.supplier, isSameCode || isSameTaxId),
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
  candidate: NonNullable<TitleRow['candidates']>[number],
  compared: readonly ComparedField[],
): NotTaken {
  const isEqual = (name: ComparedField['field']) =>
    compared.some(({ field, isEqual: equal }) => field === name && equal);
  if (candidate.isMatched) return 'matched';
  if (candidate.isClosed || candidate.payable.status !== 'open') return 'not_open';
  if (!isEqual('value')) return 'value';
  if (!isEqual('orderUid') && !isEqual('supplier')) return 'supplier';
  const due = compared.find(({ field }) => field === 'dueDate');
  if (!isEqual('orderUid') && daysApart(due?.title, due?.payable) > DUE_TOLERANCE_DAYS) {
    return 'due_date';
  }
  return candidate.isUndone ? 'undone' : 'not_unique';
}

/** Infinite where one of the dates is not known. */
function daysApart(first: string | null | undefined, second: string | null | undefined): number {
  if (first == null || second == null) return Number.POSITIVE_INFINITY;
  return Math.abs(daysBetween(first as CivilDate, second as CivilDate));
}
