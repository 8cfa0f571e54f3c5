import type { Database } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { Prisma } from '../generated/prisma/client.ts';
import {
  type BreakKind,
  type BreakPayable,
  type BreakTitle,
  listBreaks,
  NEAR,
  PAYABLE_JSON,
  TITLE_JSON,
} from './breaks.sql.ts';
import { DUE_TOLERANCE_DAYS } from './candidates.sql.ts';
import type { MatchRule } from './match-reads.sql.ts';
import { MATCHING_ACTOR } from './run-matching.sql.ts';

/** A field of both sides. */
export interface Comparison {
  readonly field: 'order' | 'supplier' | 'dueDate' | 'value';
  readonly title: string | null;
  readonly payable: string | null;
  readonly isSame: boolean;
}

/** A payable that is near a title and is not matched with the title. */
export interface OtherCandidate {
  readonly erpKey: string;
  readonly compared: readonly Comparison[];
  readonly notTaken: string;
}

export interface ExplainedMatch {
  readonly matchId: number;
  readonly titleId: number;
  readonly erpKey: string;
  readonly rule: MatchRule;
  readonly ruleVersion: number;
  /** Null: a person made the match. */
  readonly runId: number | null;
  readonly madeBy: string;
  readonly reason: string | null;
  readonly compared: readonly Comparison[];
  readonly otherCandidates: readonly OtherCandidate[];
}

export interface ExplainedBreak {
  readonly kind: BreakKind;
  readonly titleId: number | null;
  readonly erpKey: string | null;
  readonly compared: readonly Comparison[];
  readonly otherCandidates: readonly OtherCandidate[];
}

export interface ExplainedDate {
  readonly matches: readonly ExplainedMatch[];
  readonly breaks: readonly ExplainedBreak[];
}

interface MatchRow
  extends Omit<ExplainedMatch, 'titleId' | 'erpKey' | 'compared' | 'otherCandidates'> {
  readonly title: BreakTitle;
  readonly payable: BreakPayable;
  readonly sameSupplier: boolean;
}

interface NearRow {
  readonly title: BreakTitle;
  readonly payable: BreakPayable;
  readonly sameSupplier: boolean;
  readonly sameValue: boolean;
  readonly sameOrder: boolean;
  readonly days: number | null;
  readonly isClosed: boolean;
  readonly matchedTitleId: number | null;
  readonly hasMatch: boolean;
  readonly isUndone: boolean;
}

/** The nearest payables of a title that are listed. */
const CANDIDATES_LISTED = 12;
const MAX_BREAKS = 1_000_000;

/** Explains the matches that last and the open breaks of the titles of an accepted date. Changes nothing. */
export async function explainDate(database: Database, date: CivilDate): Promise<ExplainedDate> {
  const matches = await readMatches(database, date);
  const near = byTitle(await readNear(database, date));
  const { breaks } = await listBreaks(database, {
    kind: null,
    date,
    supplier: null,
    offset: 0,
    limit: MAX_BREAKS,
  });
  const others = (title: BreakTitle | null, own: readonly (string | undefined)[]) =>
    (near.get(title?.id ?? -1) ?? [])
      .filter(({ payable }) => !own.includes(payable.erpKey))
      .map(otherCandidate);
  const ownKeys = byTitle(matches);
  return {
    matches: matches.map(({ title, payable, sameSupplier, ...match }) => ({
      ...match,
      titleId: title.id,
      erpKey: payable.erpKey,
      compared: compare(title, payable, sameSupplier),
      otherCandidates: others(
        title,
        (ownKeys.get(title.id) ?? []).map((own) => own.payable.erpKey),
      ),
    })),
    breaks: breaks.map(({ kind, title, payable }) => {
      const row = near
        .get(title?.id ?? -1)
        ?.find((candidate) => candidate.payable.erpKey === payable?.erpKey);
      return {
        kind,
        titleId: title?.id ?? null,
        erpKey: payable?.erpKey ?? null,
        compared:
          title === null || payable === null
            ? []
            : compare(
                title,
                payable,
                row?.sameSupplier ??
                  (title.supplier !== null && title.supplier === payable.supplier),
              ),
        otherCandidates: others(title, [payable?.erpKey]),
      };
    }),
  };
}

function byTitle<Row extends { readonly title: BreakTitle }>(rows: readonly Row[]) {
  const groups = new Map<number, Row[]>();
  for (const row of rows) groups.set(row.title.id, [...(groups.get(row.title.id) ?? []), row]);
  return groups;
}

/** The amounts are compared as numbers by the rules; here as texts without trailing zeros. */
function compare(title: BreakTitle, payable: BreakPayable, isSameSupplier: boolean): Comparison[] {
  const field = (
    name: Comparison['field'],
    own: string | null,
    other: string | null,
    isSame = own !== null && own === other,
  ): Comparison => ({ field: name, title: own, payable: other, isSame });
  return [
    field('order', title.orderUid, payable.orderUid),
    field('supplier', title.supplier, payable.supplier, isSameSupplier),
    field('dueDate', title.dueDate, payable.dueDate),
    field(
      'value',
      title.value,
      payable.openValue,
      trimZeros(title.value) === trimZeros(payable.openValue),
    ),
  ];
}

const trimZeros = (amount: string) =>
  amount.includes('.') ? amount.replace(/\.?0+$/, '') : amount;

function otherCandidate(row: NearRow): OtherCandidate {
  const { title, payable, sameSupplier } = row;
  return {
    erpKey: payable.erpKey,
    compared: compare(title, payable, sameSupplier),
    notTaken: reasonOf(row),
  };
}

function reasonOf(row: NearRow): string {
  if (row.isClosed) return 'the last complete snapshot lacks the payable';
  if (row.payable.status !== 'open') return `the payable is ${row.payable.status}`;
  if (row.matchedTitleId !== null) return `the payable is matched with title ${row.matchedTitleId}`;
  if (row.isUndone) return 'a person has undone the match with this payable';
  if (!row.sameValue) return 'the value differs';
  if (!row.sameOrder && !row.sameSupplier) return 'the supplier differs';
  if (!row.sameOrder && (row.days === null || row.days > DUE_TOLERANCE_DAYS)) {
    return `the due dates are not within ${DUE_TOLERANCE_DAYS} days`;
  }
  return row.hasMatch
    ? 'an earlier rule, or a person, matched the title'
    : 'more than one title or payable fits';
}

const SAME_SUPPLIER = `coalesce(payable.supplier_external_id = title.provider_external_id,
  payable.supplier_tax_id = title.provider_identification, false)`;

function readMatches(database: Database, date: CivilDate): Promise<MatchRow[]> {
  return database.prisma.$queryRaw<MatchRow[]>`
    SELECT match.id::float8 AS "matchId", rule, rule_version::int AS "ruleVersion",
           run_id::float8 AS "runId", made_by AS "madeBy", reason, ${TITLE_JSON} AS title,
           ${PAYABLE_JSON} AS payable, ${Prisma.raw(SAME_SUPPLIER)} AS "sameSupplier"
    FROM conciliation.title JOIN conciliation.title_match AS match
      ON match.title_id = title.id AND ended_at IS NULL
    JOIN conciliation.erp_payable AS payable ON payable.erp_key = match.erp_key
    WHERE accepted_date = ${date}::date ORDER BY title.id, payable.erp_key`;
}

function readNear(database: Database, date: CivilDate): Promise<NearRow[]> {
  return database.prisma.$queryRaw<NearRow[]>`
    SELECT ${TITLE_JSON} AS title, ${PAYABLE_JSON} AS payable,
           ${Prisma.raw(SAME_SUPPLIER)} AS "sameSupplier", same_value AS "sameValue",
           coalesce(same_order, false) AS "sameOrder", days, near.closed_at IS NOT NULL AS "isClosed",
           (SELECT title_id::float8 FROM conciliation.title_match AS lasting
            WHERE lasting.erp_key = near.erp_key AND ended_at IS NULL LIMIT 1) AS "matchedTitleId",
           EXISTS (SELECT FROM conciliation.title_match AS lasting
                   WHERE lasting.title_id = title.id AND ended_at IS NULL) AS "hasMatch",
           EXISTS (SELECT FROM conciliation.title_match AS undone
                   WHERE undone.title_id = title.id AND undone.erp_key = near.erp_key
                     AND ended_by <> ${MATCHING_ACTOR}) AS "isUndone"
    FROM conciliation.title CROSS JOIN LATERAL (
      ${NEAR} ORDER BY same_order DESC NULLS LAST, same_value DESC, days, payable.erp_key
      LIMIT ${CANDIDATES_LISTED}) AS near
    JOIN conciliation.erp_payable AS payable ON payable.erp_key = near.erp_key
    WHERE title.accepted_date = ${date}::date AND title.status = 'current'
    ORDER BY title.id, same_order DESC NULLS LAST, same_value DESC, days, payable.erp_key`;
}
