import type { Database } from '../../base/database/database.ts';
import { withSnapshot } from '../../base/export/snapshot.sql.ts';
import type { ExportColumn, ExportRow, RowBatches } from '../../base/export/table.ts';
import { type CivilDate, daysBetween } from '../../base/values/business-day.ts';
import type { DayState } from '../../core/ledger/states.ts';
import {
  AMOUNT_COLUMNS,
  type AmountColumn,
  COLUMN_KINDS,
  TITLE_COLUMNS,
} from '../../core/title/title.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { OPEN_HOLDS } from '../accounts/payment-holds.sql.ts';
import { PROMOTED_NOW, type PromotedNow } from '../fields/promoted-fields.sql.ts';

/** The columns of an exported title: its key and state, then the platform's columns. */
export const TITLE_EXPORT_COLUMNS: readonly ExportColumn[] = [
  { name: 'id', kind: 'integer' },
  { name: 'status', kind: 'text' },
  { name: 'order_uid', kind: 'text' },
  { name: 'occurrence', kind: 'integer' },
  ...TITLE_COLUMNS.filter((column) => column !== 'order_uid').map((column) => ({
    name: column,
    kind: COLUMN_KINDS[column],
  })),
];

export interface TitleSelection {
  /** The accepted dates, both inclusive; null: no bound. */
  readonly from: CivilDate | null;
  readonly to: CivilDate | null;
  readonly where: Prisma.Sql;
}

export const titlesAccepted = (range: {
  readonly from: CivilDate;
  readonly to: CivilDate;
  readonly includeWithdrawn: boolean;
}): TitleSelection => ({
  from: range.from,
  to: range.to,
  where: Prisma.sql`accepted_date BETWEEN ${range.from}::date AND ${range.to}::date
    AND (status = 'current' OR ${range.includeWithdrawn}::boolean)`,
});

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
  readonly contentDigest: string | null;
  /** Instant as text in ISO 8601, UTC. */
  readonly signedOffAt: string | null;
  readonly signedOffBy: string | null;
  readonly signedOffDigest: string | null;
  readonly isRestated: boolean;
}

export interface TitleSnapshot {
  /** The promoted fields, each of them a further column after those of `titles`. */
  readonly promoted: readonly PromotedNow[];
  readonly overall: TitleTotals;
  readonly ledger: readonly ExportedDay[];
  readonly days: readonly (TitleTotals & { readonly date: CivilDate })[];
  /**
   * The selected titles by accepted date, order uid and occurrence, in the columns of
   * `TITLE_EXPORT_COLUMNS` and `NOTE_COLUMNS`. Can be read once.
   */
  readonly titles: RowBatches;
}

const within = ({ from, to }: TitleSelection, column: Prisma.Sql) =>
  Prisma.sql`${column} BETWEEN coalesce(${from}::date, '-infinity') AND coalesce(${to}::date, 'infinity')`;

/**
 * All columns as text, so that no parser of the driver changes an amount or a date. ORDER BY names
 * the table, because a bare name would mean the text column of the result. Ordered by bytes, so
 * that every server has the same order.
 */
const titlesOf = (selection: TitleSelection, promoted: readonly PromotedNow[]) => Prisma.sql`
  SELECT ${Prisma.raw(TITLE_EXPORT_COLUMNS.map(({ name }) => `title.${name}::text`).join(', '))},
         (title.id IN (SELECT title_id FROM (${OPEN_HOLDS}) AS hold
                       WHERE ${within(selection, Prisma.sql`hold.accepted_date`)}))::text AS payment_hold,
         found.codes AS open_findings
         ${Prisma.join([Prisma.empty, ...promoted.map(({ path }) => Prisma.sql`title.extra #>> ${path}::text[]`)])}
  FROM conciliation.title
  LEFT JOIN (
    SELECT finding.title_id, string_agg(finding.code, ' ' ORDER BY finding.code) AS codes
    FROM conciliation.check_finding AS finding
    WHERE ${within(selection, Prisma.sql`finding.accepted_date`)}
      AND finding.closed_at IS NULL AND finding.resolved_at IS NULL
    GROUP BY finding.title_id
  ) AS found ON found.title_id = title.id
  WHERE ${selection.where}
  ORDER BY title.accepted_date, title.order_uid COLLATE "C", title.occurrence, title.id`;

const SUMS = Prisma.raw(
  AMOUNT_COLUMNS.map(
    (column) => `'${column}', COALESCE(sum(${column}) FILTER (WHERE status = 'current'), 0)::text`,
  ).join(', '),
);

const totalsOf = ({ where }: TitleSelection) => Prisma.sql`
  SELECT accepted_date::text AS date,
         (count(*) FILTER (WHERE status = 'current'))::int AS current,
         (count(*) FILTER (WHERE status = 'withdrawn'))::int AS withdrawn,
         jsonb_build_object(${SUMS}) AS sums
  FROM conciliation.title WHERE ${where}
  GROUP BY GROUPING SETS ((accepted_date), ()) ORDER BY accepted_date NULLS FIRST`;

const ledgerOf = (selection: TitleSelection) => Prisma.sql`
  SELECT date::text AS date, state, content_digest AS "contentDigest",
         to_char(signed_off_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS "signedOffAt",
         signed_off_by AS "signedOffBy", signed_off_digest AS "signedOffDigest",
         restated_after_sign_off AS "isRestated"
  FROM conciliation.day WHERE ${within(selection, Prisma.sql`date`)} ORDER BY date`;

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
    const query = <Row extends object>({ text, values }: Prisma.Sql) =>
      snapshot.query<Row>(text, values);
    const totals = await query<TitleTotals & { date: CivilDate | null }>(totalsOf(selection));
    // The first row is that of all dates.
    const [overall, ...days] = totals as [TitleTotals, ...TitleSnapshot['days']];
    const ledger = await query<ExportedDay>(ledgerOf(selection));
    const promoted = await query<PromotedNow>(PROMOTED_NOW);
    const { text, values } = titlesOf(selection, promoted);
    return read({
      promoted,
      ledger,
      overall,
      days,
      titles: snapshot.read<ExportRow>(text, values, { rowMode: 'array' }),
    });
  });
}

/** Returns the number of dates of a range whose titles may not be what the platform says: not reconciled, or never pulled. */
export const doubtfulDates = (
  range: { readonly from: CivilDate; readonly to: CivilDate },
  days: readonly Pick<ExportedDay, 'state'>[],
): number =>
  daysBetween(range.from, range.to) + 1 - days.filter(({ state }) => state === 'reconciled').length;

/** A row of a date that has not begun is a mistake. A file and a question say nothing about it. */
export function daysUntil(days: readonly ExportedDay[], today: CivilDate): ExportedDay[] {
  return days.filter(({ date }) => date <= today);
}

/**
 * Reads what `doubtfulDates` says about the dates of a selection until a date. A selection without a first date begins
 * with the ledger.
 */
export async function readDoubtfulDates(
  { prisma }: Database,
  { from, to }: Pick<TitleSelection, 'from' | 'to'>,
  until: CivilDate,
): Promise<number> {
  const days = await prisma.$queryRaw<{ date: CivilDate; state: DayState }[]>`
    SELECT date::text AS date, state FROM conciliation.day
    WHERE date BETWEEN coalesce(${from}::date, '-infinity') AND least(${to}::date, ${until}::date)
    ORDER BY date`;
  const first = from ?? days[0]?.date ?? until;
  const last = to ?? until;
  return first > last ? 0 : doubtfulDates({ from: first, to: last }, days);
}
