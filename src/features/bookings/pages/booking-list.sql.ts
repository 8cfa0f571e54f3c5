import { type Static, Type } from 'typebox';
import type { Database } from '../../../base/database/database.ts';
import type { ExportColumn } from '../../../base/export/table.ts';
import { type CivilDate, parseCivilDate } from '../../../base/values/business-day.ts';
import {
  amount,
  count,
  date,
  id,
  instant,
  orNull,
  text,
  textOrNull,
  words,
} from '../../../console/api/schema-parts.ts';
import { textParameter } from '../../../console/shell/page-context.ts';
import { COLUMN_KINDS, VALUE_COLUMNS } from '../../../core/title/title.ts';
import { Prisma } from '../../../generated/prisma/client.ts';
import { BOOKING_OVERDUE_DAYS } from '../booking-alerts.sql.ts';
import { ANSWERS, keyOf, LINE_KINDS } from '../feed.sql.ts';

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

/** Returns the filter of a query. A parameter that cannot be read is left out, and the page says so. */
export function filterOf(query: unknown): {
  readonly filter: LineFilter;
  readonly isFilterBad: boolean;
} {
  const [from, to] = ['from', 'to'].map((name) => dateOf(textParameter(query, name)));
  const wantedState = textParameter(query, 'state');
  const wantedDays = daysOf(query) ?? String(BOOKING_OVERDUE_DAYS);
  const areDaysBad = !/^\d{1,4}$/.test(wantedDays) || Number(wantedDays) > 3_650;
  return {
    filter: {
      from: from ?? null,
      to: to ?? null,
      state: LINE_STATES.find((state) => state === wantedState) ?? 'all',
      overdueDays: areDaysBad ? BOOKING_OVERDUE_DAYS : Number(wantedDays),
    },
    isFilterBad: from === undefined || to === undefined || areDaysBad,
  };
}

/** Returns null for no date, and undefined for a text that is no date. */
function dateOf(text: string | null): CivilDate | null | undefined {
  return text === null ? null : (parseCivilDate(text) ?? undefined);
}

/** A page has the number as text; a schema of the API has converted the text to a number. */
function daysOf(query: unknown): string | null {
  const days: unknown =
    query === null || typeof query !== 'object' ? null : Reflect.get(query, 'days');
  if (typeof days === 'number') return String(days);
  return textParameter(query, 'days');
}

const ListedLine = Type.Object({
  id,
  key: text,
  date,
  kind: words(LINE_KINDS),
  state: words(ANSWERS),
  stateAt: instant,
  releasedAt: instant,
  isOverdue: Type.Boolean(),
  consumer: text,
  document: textOrNull,
  failure: textOrNull,
  orderUid: textOrNull,
  originalValue: orNull('string', { description: 'Exact decimal. Null: taken from a receipt.' }),
});
export type ListedLine = Static<typeof ListedLine>;

const LineTotals = Type.Object({
  states: Type.Unsafe<Readonly<Record<LineState, number>>>(
    Type.Object(Object.fromEntries(LINE_STATES.map((state) => [state, count])), {
      description: 'Lines of the range of dates.',
    }),
  ),
  kinds: Type.Array(Type.Object({ kind: words(LINE_KINDS), lines: count, originalValue: amount }), {
    description: 'Of the selected lines, in the order book, adjust, reverse.',
  }),
  lines: count,
});
export type LineTotals = Static<typeof LineTotals>;

export const Lines = Type.Object({ totals: LineTotals, lines: Type.Array(ListedLine) });

const KEY = keyOf('line');
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
    database.prisma.$queryRaw<LineTotals['kinds']>`
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
  ...TITLE_VALUES.map((name) => ({ name, kind: COLUMN_KINDS[name] })),
];

/** The selected lines in the columns of `LINE_COLUMNS`, as text. The names are constants of domain/. */
export const linesFile = (filter: LineFilter): Prisma.Sql => Prisma.sql`
  SELECT ${KEY}, line.kind, line.state, line.document, line.failure, line.erp_key, line.consumer, line.date::text,
         ${Prisma.raw(TITLE_VALUES.map((name) => `line.${name}::text`).join(', '))}
  FROM ${FROM} WHERE ${isSelected(filter)} ORDER BY line.id`;
