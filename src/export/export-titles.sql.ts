import { recordAudit } from '../audit/audit.ts';
import type { Database } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { AMOUNT_COLUMNS } from '../domain/title.ts';
import { type ExportRow, type RowBatches, TITLE_EXPORT_COLUMNS } from './export-columns.ts';
import { withSnapshot } from './snapshot.sql.ts';

export interface TitleSelection {
  readonly from: CivilDate;
  readonly to: CivilDate;
  readonly includeWithdrawn: boolean;
}

export type AmountColumn = (typeof AMOUNT_COLUMNS)[number];

/** Counts and sums of selected titles. Sums are exact decimals, over current titles only. */
export interface TitleTotals {
  readonly current: number;
  /** Withdrawn titles among the selected ones; 0 unless they are selected too. */
  readonly withdrawn: number;
  readonly sums: Readonly<Record<AmountColumn, string>>;
}

export interface TitleSnapshot {
  readonly overall: TitleTotals;
  /** The dates with selected titles, in date order. */
  readonly days: readonly (TitleTotals & { readonly date: CivilDate })[];
  /**
   * The selected titles by accepted date, order uid and occurrence, in the columns of
   * `TITLE_EXPORT_COLUMNS`. Can be read once.
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
  SELECT ${TITLE_EXPORT_COLUMNS.map(({ name }) => `${name}::text`).join(', ')}
  FROM conciliation.title WHERE ${SELECTED}
  ORDER BY title.accepted_date, title.order_uid COLLATE "C", title.occurrence, title.id`;

const TOTALS_SQL = `
  SELECT accepted_date::text AS date,
         (count(*) FILTER (WHERE status = 'current'))::int AS current,
         (count(*) FILTER (WHERE status = 'withdrawn'))::int AS withdrawn,
         ${AMOUNT_COLUMNS.map((column) => `COALESCE(sum(${column}) FILTER (WHERE status = 'current'), 0)::text AS ${column}`).join(', ')}
  FROM conciliation.title WHERE ${SELECTED}
  GROUP BY GROUPING SETS ((accepted_date), ()) ORDER BY accepted_date NULLS FIRST`;

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
    return read({
      overall: toTotals(overall),
      days: days.flatMap((day) => (day.date === null ? [] : { date: day.date, ...toTotals(day) })),
      titles: snapshot.read<ExportRow>(TITLES_SQL, parameters, { rowMode: 'array' }),
    });
  });
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
