import type { Database } from '../../../base/database/database.ts';
import type { ExportColumn } from '../../../base/export/table.ts';
import type { CivilDate } from '../../../base/values/business-day.ts';
import { kindOf } from '../../../core/title/export-columns.ts';
import { VALUE_COLUMNS } from '../../../core/title/title.ts';
import { Prisma } from '../../../generated/prisma/client.ts';
import { BOOKING_OVERDUE_DAYS } from '../../alerts/messages/erp-alerts.ts';

/** `overdue`: not answered or failed, a number of days after the release. */
export const LINE_STATES = [
  'all',
  'released',
  'posted',
  'failed',
  'refused',
  'overdue',
  'superseded',
] as const;
export type LineState = (typeof LINE_STATES)[number];

/** Selects lines. All conditions must hold; null: no condition. */
export interface LineFilter {
  /** Accepted dates, both inclusive. */
  readonly from: CivilDate | null;
  readonly to: CivilDate | null;
  readonly state: LineState;
  /** Days after the release from which an unanswered or failed line is overdue. */
  readonly overdueDays: number;
}

export interface ListedLine {
  readonly id: number;
  readonly key: string;
  readonly date: CivilDate;
  readonly kind: 'book' | 'adjust' | 'reverse';
  readonly state: 'released' | 'posted' | 'failed' | 'refused' | 'superseded';
  readonly stateAt: Date;
  readonly releasedAt: Date;
  readonly isOverdue: boolean;
  readonly consumer: string;
  readonly document: string | null;
  readonly failure: string | null;
  readonly orderUid: string | null;
  /** Exact decimals; null: taken from a receipt. */
  readonly originalValue: string | null;
}

interface KindTotals {
  readonly kind: ListedLine['kind'];
  readonly lines: number;
  /** Sum of original_value of the lines, an exact decimal. */
  readonly originalValue: string;
}

export interface LineTotals {
  /** The number of lines in the range of dates, by state. */
  readonly states: Readonly<Record<LineState, number>>;
  /** The selected lines, in the order book, adjust, reverse. */
  readonly kinds: readonly KindTotals[];
  readonly lines: number;
}

const KEY = Prisma.sql`to_char(line.date, 'YYYY-MM-DD') || ':' || replace(line.identity_hash::text, '-', '') || ':'
  || line.occurrence || ':' || line.version`;
const FROM = Prisma.sql`conciliation.booking_line AS line
  JOIN conciliation.booking_batch AS batch ON batch.id = line.batch_id`;

const isOverdue = (days: number) => Prisma.sql`(line.state IN ('released', 'failed')
  AND batch.released_at < clock_timestamp() - make_interval(days => ${days}::int))`;

const inRange = ({ from, to }: LineFilter) => Prisma.sql`
  (${from}::date IS NULL OR line.date >= ${from}::date) AND (${to}::date IS NULL OR line.date <= ${to}::date)`;

function isSelected(filter: LineFilter): Prisma.Sql {
  const { state, overdueDays } = filter;
  if (state === 'all') return inRange(filter);
  if (state === 'overdue') return Prisma.sql`${inRange(filter)} AND ${isOverdue(overdueDays)}`;
  return Prisma.sql`${inRange(filter)} AND line.state = ${state}::text`;
}

const listed = (overdueDays: number) => Prisma.sql`
  line.id::int AS id, ${KEY} AS key, line.date::text AS date, line.kind, line.state, line.state_at AS "stateAt",
  batch.released_at AS "releasedAt", ${isOverdue(overdueDays)} AS "isOverdue", line.consumer, line.document,
  line.failure, line.order_uid AS "orderUid", line.original_value::text AS "originalValue"`;

/** Returns counts and sums over the whole filter. */
export async function readLineTotals(database: Database, filter: LineFilter): Promise<LineTotals> {
  const [counts, kinds] = await Promise.all([
    database.prisma.$queryRaw<[Record<LineState, number>]>`
      SELECT count(*)::int AS all,
             (count(*) FILTER (WHERE line.state = 'released'))::int AS released,
             (count(*) FILTER (WHERE line.state = 'posted'))::int AS posted,
             (count(*) FILTER (WHERE line.state = 'failed'))::int AS failed,
             (count(*) FILTER (WHERE line.state = 'refused'))::int AS refused,
             (count(*) FILTER (WHERE line.state = 'superseded'))::int AS superseded,
             (count(*) FILTER (WHERE ${isOverdue(filter.overdueDays)}))::int AS overdue
      FROM ${FROM} WHERE ${inRange(filter)}`,
    database.prisma.$queryRaw<KindTotals[]>`
      SELECT line.kind, count(*)::int AS lines, coalesce(sum(line.original_value), 0)::text AS "originalValue"
      FROM ${FROM} WHERE ${isSelected(filter)}
      GROUP BY line.kind ORDER BY array_position(ARRAY['book', 'adjust', 'reverse'], line.kind)`,
  ]);
  return { states: counts[0], kinds, lines: kinds.reduce((sum, { lines }) => sum + lines, 0) };
}

/** Returns a page of the selected lines, the newest first. */
export function readLines(
  database: Database,
  filter: LineFilter,
  page: { readonly offset: number; readonly limit: number },
): Promise<ListedLine[]> {
  return database.prisma.$queryRaw<ListedLine[]>`
    SELECT ${listed(filter.overdueDays)} FROM ${FROM} WHERE ${isSelected(filter)}
    ORDER BY line.id DESC OFFSET ${page.offset}::int LIMIT ${page.limit}::int`;
}

/** Returns all versions of the booking that a line belongs to, in their order; empty: there is no such line. */
export function readVersions(database: Database, lineId: bigint): Promise<ListedLine[]> {
  return database.prisma.$queryRaw<ListedLine[]>`
    SELECT ${listed(BOOKING_OVERDUE_DAYS)}
    FROM conciliation.booking_line AS wanted
    JOIN conciliation.booking_line AS line USING (date, identity_hash, occurrence)
    JOIN conciliation.booking_batch AS batch ON batch.id = line.batch_id
    WHERE wanted.id = ${lineId} ORDER BY line.version`;
}

const TITLE_VALUES = VALUE_COLUMNS.filter((name) => name !== 'accepted_date');

export const LINE_COLUMNS: readonly ExportColumn[] = [
  ...['key', 'kind', 'state', 'document', 'failure', 'erp_key', 'consumer'].map(
    (name) => ({ name, kind: 'text' }) as const,
  ),
  { name: 'date', kind: 'date' },
  ...TITLE_VALUES.map((name) => ({ name, kind: kindOf(name) })),
];

/** The selected lines in the columns of `LINE_COLUMNS`, as text. The names are constants of domain/. */
export const linesFile = (filter: LineFilter): Prisma.Sql => Prisma.sql`
  SELECT ${KEY}, line.kind, line.state, line.document, line.failure, line.erp_key, line.consumer, line.date::text,
         ${Prisma.raw(TITLE_VALUES.map((name) => `line.${name}::text`).join(', '))}
  FROM ${FROM} WHERE ${isSelected(filter)} ORDER BY line.id`;
