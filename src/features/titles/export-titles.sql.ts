import { recordAudit } from '../../base/audit/audit.ts';
import type { Database } from '../../base/database/database.ts';
import { withSnapshot } from '../../base/export/snapshot.sql.ts';
import type { ExportRow, RowBatches } from '../../base/export/table.ts';
import { type CivilDate, daysBetween } from '../../base/values/business-day.ts';
import type { DayState } from '../../core/ledger/day-state.ts';
import { AMOUNT_COLUMNS, type AmountColumn, TITLE_EXPORT_COLUMNS } from '../../core/title/title.ts';

export interface TitleSelection {
  readonly from: CivilDate;
  readonly to: CivilDate;
  readonly includeWithdrawn: boolean;
}

/** Counts and sums of selected titles. Sums are exact decimals, over current titles only. */
export interface TitleTotals {
  readonly current: number;
  /** Withdrawn titles among the selected ones; 0 unless they are selected too. */
  readonly withdrawn: number;
  readonly sums: Readonly<Record<AmountColumn, string>>;
}

/** The state and the seal of a day, beside the titles of the same instant. */
export interface ExportedDay {
  readonly date: CivilDate;
  readonly state: DayState;
  /** The digest of the present titles. */
  readonly contentDigest: string | null;
  /** Instant as text in ISO 8601, UTC. */
  readonly signedOffAt: string | null;
  readonly signedOffBy: string | null;
  readonly signedOffDigest: string | null;
  readonly isRestated: boolean;
}

export interface TitleSnapshot {
  readonly overall: TitleTotals;
  /** The days of the range that the ledger has, in date order. */
  readonly ledger: readonly ExportedDay[];
  /** The dates with selected titles, in date order. */
  readonly days: readonly (TitleTotals & { readonly date: CivilDate })[];
  /**
   * The selected titles by accepted date, order uid and occurrence, in the columns of
   * `TITLE_EXPORT_COLUMNS` and `NOTE_COLUMNS`. Can be read once.
   */
  readonly titles: RowBatches;
}

const SELECTED = `accepted_date BETWEEN $1::date AND $2::date AND (status = 'current' OR $3::boolean)`;

/**
 * All columns as text, so that no parser of the driver changes an amount or a date. ORDER BY names
 * the table, because a bare name would mean the text column of the result. Ordered by bytes, so
 * that every server has the same order.
 */
const TITLES_SQL = `
  SELECT ${TITLE_EXPORT_COLUMNS.map(({ name }) => `title.${name}::text`).join(', ')},
         (held.title_id IS NOT NULL)::text AS payment_hold, found.codes AS open_findings
  FROM conciliation.title
  LEFT JOIN (
    SELECT DISTINCT hold.title_id, hold.pull_id
    FROM conciliation.payment_hold AS hold
    JOIN conciliation.account_change AS change ON change.id = hold.account_change_id
    WHERE hold.accepted_date BETWEEN $1::date AND $2::date AND change.state IN ('open', 'refused')
  ) AS held ON held.title_id = title.id AND held.pull_id = title.last_change_pull_id
  LEFT JOIN (
    SELECT finding.title_id, string_agg(finding.code, ' ' ORDER BY finding.code) AS codes
    FROM conciliation.check_finding AS finding
    WHERE finding.accepted_date BETWEEN $1::date AND $2::date
      AND finding.closed_at IS NULL AND finding.resolved_at IS NULL
    GROUP BY finding.title_id
  ) AS found ON found.title_id = title.id
  WHERE ${SELECTED}
  ORDER BY title.accepted_date, title.order_uid COLLATE "C", title.occurrence, title.id`;

const TOTALS_SQL = `
  SELECT accepted_date::text AS date,
         (count(*) FILTER (WHERE status = 'current'))::int AS current,
         (count(*) FILTER (WHERE status = 'withdrawn'))::int AS withdrawn,
         ${AMOUNT_COLUMNS.map((column) => `COALESCE(sum(${column}) FILTER (WHERE status = 'current'), 0)::text AS ${column}`).join(', ')}
  FROM conciliation.title WHERE ${SELECTED}
  GROUP BY GROUPING SETS ((accepted_date), ()) ORDER BY accepted_date NULLS FIRST`;

const LEDGER_SQL = `
  SELECT date::text AS date, state, content_digest AS "contentDigest",
         to_char(signed_off_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS "signedOffAt",
         signed_off_by AS "signedOffBy", signed_off_digest AS "signedOffDigest",
         restated_after_sign_off AS "isRestated"
  FROM conciliation.day WHERE date BETWEEN $1::date AND $2::date ORDER BY date`;

type TotalsRow = {
  readonly date: CivilDate | null;
  readonly current: number;
  readonly withdrawn: number;
} & Readonly<Record<AmountColumn, string>>;

/**
 * Calls `read` with the selected titles and their totals in one snapshot. Concurrent merges change
 * neither. Rows come through a cursor, so memory does not grow with their number.
 * @throws StagingUnavailableError when the connection to the database is lost
 * @throws ShutdownError when `signal` is aborted
 * @throws the errors of `read`
 */
export function readTitleSnapshot<T>(
  database: Database,
  selection: TitleSelection,
  signal: AbortSignal,
  read: (snapshot: TitleSnapshot) => Promise<T>,
): Promise<T> {
  return withSnapshot(database, signal, async (snapshot) => {
    const parameters = parametersOf(selection);
    const rows: TotalsRow[] = await snapshot.query(TOTALS_SQL, parameters);
    const [overall, ...days] = rows;
    if (overall === undefined || overall.date !== null) throw new Error('the totals are missing');
    const ledger = await snapshot.query<ExportedDay>(LEDGER_SQL, [selection.from, selection.to]);
    return read({
      ledger,
      overall: toTotals(overall),
      days: days.flatMap((day) => (day.date === null ? [] : { date: day.date, ...toTotals(day) })),
      titles: snapshot.read<ExportRow>(TITLES_SQL, parameters, { rowMode: 'array' }),
    });
  });
}

/** The dates of an export whose titles may not be what the platform says, by the reason. */
export interface DoubtfulDates {
  /** Dates without a row in the ledger: they were never pulled. */
  readonly absent: number;
  /** Days that are not reconciled, by state. */
  readonly states: Readonly<Partial<Record<DayState, number>>>;
}

/** Returns null when every date of the range is reconciled. */
export function doubtfulDates(
  range: { readonly from: CivilDate; readonly to: CivilDate },
  days: readonly Pick<ExportedDay, 'state'>[],
): DoubtfulDates | null {
  const absent = daysBetween(range.from, range.to) + 1 - days.length;
  const states: Partial<Record<DayState, number>> = {};
  for (const { state } of days) {
    if (state !== 'reconciled') states[state] = (states[state] ?? 0) + 1;
  }
  return absent === 0 && Object.keys(states).length === 0 ? null : { absent, states };
}

/** A row of a date that has not begun is a mistake. A file and a question say nothing about it. */
export function daysUntil(days: readonly ExportedDay[], today: CivilDate): ExportedDay[] {
  return days.filter(({ date }) => date <= today);
}

/** Reads what `doubtfulDates` says about a range, for a question before an export. */
export async function readDoubtfulDates(
  database: Database,
  range: { readonly from: CivilDate; readonly to: CivilDate },
  today: CivilDate,
): Promise<DoubtfulDates | null> {
  const days = await database.prisma.$queryRaw<{ state: DayState }[]>`
    SELECT state FROM conciliation.day
    WHERE date BETWEEN ${range.from}::date
AND least(${range.to}::date, ${today}::date)`;
  return doubtfulDates(range, days);
}

function toTotals(row: TotalsRow): TitleTotals {
  const sums = Object.fromEntries(AMOUNT_COLUMNS.map((column) => [column, row[column]]));
  return {
    current: row.current,
    withdrawn: row.withdrawn,
    sums: sums as Record<AmountColumn, string>,
  };
}

function parametersOf({ from, to, includeWithdrawn }: TitleSelection): unknown[] {
  return [from, to, includeWithdrawn];
}

/** Writes an entry of the audit log about an export. */
export async function recordExport(
  database: Database,
  actor: string,
  exported: TitleSelection & { readonly format: string; readonly rows: number },
): Promise<void> {
  const { from, to, format, rows, includeWithdrawn } = exported;
  const details = { from, to, format, rows, includeWithdrawn };
  await recordAudit(database.prisma, { actor, action: 'export', details });
}
