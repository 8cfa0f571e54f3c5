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
  /** For the audit log. */
  readonly noted: { readonly includeWithdrawn: boolean; readonly isPart?: boolean };
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
  noted: { includeWithdrawn: range.includeWithdrawn },
});

/** Counts and sums of selected titles. Sums are exact decimals, over current titles only. */
export interface TitleTotals {
  readonly current: number;
  /** Withdrawn titles among the selected ones; 0 unless they are selected too. */
  readonly withdrawn: number;
  readonly sums: Readonly<Record<AmountColumn, string>>;
}

/** What a file says of a title beside its own columns: the open decisions, and the day of its accepted date. */
const OTHER_COLUMNS: readonly ExportColumn[] = [
  { name: 'payment_hold', kind: 'boolean' },
  { name: 'open_findings', kind: 'text' },
  { name: 'day_state', kind: 'text' },
  { name: 'day_signed_off_at', kind: 'text' },
  { name: 'day_signed_off_digest', kind: 'text' },
  { name: 'day_content_digest', kind: 'text' },
];

export interface TitleSnapshot {
  /** The columns of a title, then the promoted fields. */
  readonly columns: readonly (ExportColumn & { readonly promoted?: PromotedNow })[];
  readonly totals: TitleTotals;
  /** The selected titles by accepted date, order uid and occurrence. Can be read once. */
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
                       WHERE ${within(selection, Prisma.sql`hold.accepted_date`)}))::text,
         found.codes, CASE WHEN day.restated_after_sign_off THEN 'restated' ELSE day.state END,
         to_char(day.signed_off_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
         day.signed_off_digest, day.content_digest
         ${Prisma.join([Prisma.empty, ...promoted.map(({ path }) => Prisma.sql`title.extra #>> ${path}::text[]`)])}
  FROM (SELECT * FROM conciliation.title WHERE ${selection.where}) AS title
  LEFT JOIN conciliation.day ON day.date = title.accepted_date
  LEFT JOIN (
    SELECT finding.title_id, string_agg(finding.code, ' ' ORDER BY finding.code) AS codes
    FROM conciliation.check_finding AS finding
    WHERE ${within(selection, Prisma.sql`finding.accepted_date`)}
      AND finding.closed_at IS NULL AND finding.resolved_at IS NULL
    GROUP BY finding.title_id
  ) AS found ON found.title_id = title.id
  ORDER BY title.accepted_date, title.order_uid COLLATE "C", title.occurrence, title.id`;

const SUMS = Prisma.raw(
  AMOUNT_COLUMNS.map(
    (column) => `'${column}', COALESCE(sum(${column}) FILTER (WHERE status = 'current'), 0)::text`,
  ).join(', '),
);

const totalsOf = ({ where }: TitleSelection) => Prisma.sql`
  SELECT (count(*) FILTER (WHERE status = 'current'))::int AS current,
         (count(*) FILTER (WHERE status = 'withdrawn'))::int AS withdrawn,
         jsonb_build_object(${SUMS}) AS sums
  FROM conciliation.title WHERE ${where}`;

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
    const [totals] = (await query<TitleTotals>(totalsOf(selection))) as [TitleTotals];
    const promoted = await query<PromotedNow>(PROMOTED_NOW);
    const { text, values } = titlesOf(selection, promoted);
    return read({
      totals,
      columns: [
        ...TITLE_EXPORT_COLUMNS,
        ...OTHER_COLUMNS,
        ...promoted.map((field) => ({ name: field.name, kind: 'text' as const, promoted: field })),
      ],
      titles: snapshot.read<ExportRow>(text, values, { rowMode: 'array' }),
    });
  });
}

/**
 * Reads the number of dates of a selection until a date whose titles may not be what the platform says: not reconciled,
 * or never pulled. A selection without a first date begins with the ledger.
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
  const reconciled = days.filter(({ state }) => state === 'reconciled').length;
  return first > last ? 0 : daysBetween(first, last) + 1 - reconciled;
}
