import type { Database } from '../../database/database.ts';
import { type CivilDate, parseCivilDate } from '../../domain/business-day.ts';
import { parseDecimal } from '../../domain/decimal.ts';
import { Prisma } from '../../generated/prisma/client.ts';

/** Selects titles. All conditions must hold; null: no condition. */
export interface TitleFilter {
  readonly from: CivilDate;
  readonly to: CivilDate;
  readonly status: 'current' | 'withdrawn' | null;
  readonly orderUid: string | null;
  readonly provider: string | null;
  /** A part of the agent's name, case-insensitive. */
  readonly agent: string | null;
  readonly dueFrom: CivilDate | null;
  readonly dueTo: CivilDate | null;
  /** Decimal text. */
  readonly minValue: string | null;
  readonly maxValue: string | null;
}

/** The orders for the titles of one day. The titles of several days are ordered by date. */
export const TITLE_SORTS = ['order', 'value', 'due', 'provider', 'agent', 'changed'] as const;
export type TitleSort = (typeof TITLE_SORTS)[number];

interface TitleListRow {
  readonly id: number;
  readonly status: 'current' | 'withdrawn';
  readonly acceptedDate: CivilDate;
  readonly orderUid: string;
  readonly occurrence: number;
  readonly provider: string | null;
  readonly agent: string | null;
  readonly dueDate: CivilDate | null;
  readonly originalValue: string;
  readonly platformDiscountedValue: string | null;
  readonly financialDiscountedValue: string | null;
  readonly changedAt: Date;
}

/** A position between two titles of a list; `cursorText` encodes it. */
export interface TitleCursor {
  readonly direction: 'after' | 'before';
  readonly key: string;
  readonly id: string;
}

export interface TitlePage {
  readonly rows: readonly TitleListRow[];
  readonly previous: string | null;
  readonly next: string | null;
}

interface SortKey {
  /** Never null: a row comparison with null yields null. */
  readonly expression: Prisma.Sql;
  readonly type: Prisma.Sql;
  readonly isValid: (key: string) => boolean;
}

const text = (expression: Prisma.Sql): SortKey => ({
  expression: Prisma.sql`coalesce(${expression}, '') COLLATE "C"`,
  type: Prisma.sql`text`,
  isValid: (key) => !key.includes('\u0000'),
});
const LAST_DATE = '9999-12-31';

/** The possible sorts. A request names one of these keys. */
const SORT_KEYS: Readonly<Record<TitleSort, SortKey>> = {
  order: text(Prisma.sql`order_uid`),
  value: {
    expression: Prisma.sql`original_value`,
    type: Prisma.sql`numeric`,
    isValid: (key) => parseDecimal(key) !== null,
  },
  due: {
    expression: Prisma.sql`coalesce(anticipated_due_date, ${LAST_DATE}::date)`,
    type: Prisma.sql`date`,
    isValid: (key) => parseCivilDate(key) !== null,
  },
  provider: text(Prisma.sql`provider_external_id`),
  agent: text(Prisma.sql`financial_agent_name`),
  changed: {
    expression: Prisma.sql`last_change_pull_id`,
    type: Prisma.sql`bigint`,
    isValid: (key) => /^\d{1,18}$/.test(key),
  },
};

/** The order of the index on the date, so that any page of several days is an index lookup. */
const BY_DATE: SortKey = {
  expression: Prisma.sql`accepted_date`,
  type: Prisma.sql`date`,
  isValid: (key) => parseCivilDate(key) !== null,
};

export interface TitleListRequest {
  readonly filter: TitleFilter;
  readonly sort: TitleSort;
  readonly isDescending: boolean;
  /** Null: the first page. */
  readonly cursor: TitleCursor | null;
  readonly limit: number;
}

/**
 * Returns one page of titles. The page begins after a given title, not at an offset. The cost
 * therefore does not depend on the position, and a merge between two pages neither repeats nor
 * hides a title that keeps its place.
 */
export async function readTitlePage(
  database: Database,
  request: TitleListRequest,
): Promise<TitlePage> {
  const { filter, limit, cursor } = request;
  const isOneDay = filter.from === filter.to;
  const key = isOneDay ? SORT_KEYS[request.sort] : BY_DATE;
  const isBackward = cursor?.direction === 'before';
  const isDescending = request.isDescending !== isBackward;
  const order = isDescending ? Prisma.sql`DESC` : Prisma.sql`ASC`;
  const beyond = isDescending ? Prisma.sql`<` : Prisma.sql`>`;
  // Within a date the index title_identity_key orders by identity_hash; within one day the id is enough.
  const place = isOneDay
    ? Prisma.sql`${key.expression}, id`
    : Prisma.sql`accepted_date, identity_hash, occurrence`;
  const from =
    cursor === null
      ? Prisma.sql`true`
      : isOneDay
        ? Prisma.sql`(${place}) ${beyond} (${cursor.key}::${key.type}, ${cursor.id}::bigint)`
        : Prisma.sql`(${place}) ${beyond} (
          SELECT accepted_date, identity_hash, occurrence FROM conciliation.title
          WHERE id = ${cursor.id}::bigint)`;
  const orderBy = isOneDay
    ? Prisma.sql`${key.expression} ${order}, id ${order}`
    : Prisma.sql`accepted_date ${order}, identity_hash ${order}, occurrence ${order}`;

  const rows = await database.prisma.$queryRaw<(TitleListRow & { key: string })[]>`
    SELECT id::float8 AS id, status, accepted_date::text AS "acceptedDate",
           order_uid AS "orderUid", occurrence, provider_external_id AS provider,
           financial_agent_name AS agent, anticipated_due_date::text AS "dueDate",
           original_value::text AS "originalValue",
           platform_discounted_value::text AS "platformDiscountedValue",
           financial_discounted_value::text AS "financialDiscountedValue",
           changed_at AS "changedAt", (${key.expression})::text AS key
    FROM conciliation.title
    WHERE ${whereOf(filter)} AND ${from}
    ORDER BY ${orderBy} LIMIT ${limit + 1}`;
  const hasMore = rows.length > limit;
  const shown = rows.slice(0, limit);
  if (isBackward) shown.reverse();
  const [first, last] = [shown.at(0), shown.at(-1)];
  const hasPrevious = isBackward ? hasMore : cursor !== null;
  const hasNext = isBackward || hasMore;
  return {
    rows: shown.map(({ key: _, ...row }) => row),
    previous: hasPrevious && first !== undefined ? cursorText('before', first) : null,
    next: hasNext && last !== undefined ? cursorText('after', last) : null,
  };
}

/**
 * Returns the number of selected titles, and the sums of the current ones as decimal text. For a
 * whole day the values come from the ledger.
 */
export async function readTitleCount(
  database: Database,
  filter: TitleFilter,
): Promise<{ readonly titles: number; readonly originalValueSum: string }> {
  const { from, to, ...narrowing } = filter;
  const isWholeDay = from === to && Object.values(narrowing).every((value) => value === null);

  const [row] = await database.prisma.$queryRaw<[{ titles: number; originalValueSum: string }?]>(
    isWholeDay
      ? Prisma.sql`
        SELECT title_count + withdrawn_count AS titles, original_value_sum::text AS "originalValueSum"
        FROM conciliation.day WHERE date = ${from}::date`
      : Prisma.sql`
        SELECT count(*)::int AS titles,
               coalesce(sum(original_value) FILTER (WHERE status = 'current'), 0)::text AS "originalValueSum"
        FROM conciliation.title WHERE ${whereOf(filter)}`,
  );
  return row ?? { titles: 0, originalValueSum: '0' };
}

function whereOf(filter: TitleFilter): Prisma.Sql {
  const parts = [
    Prisma.sql`accepted_date BETWEEN ${filter.from}::date AND ${filter.to}::date`,
    filter.status === null ? null : Prisma.sql`status = ${filter.status}`,
    filter.orderUid === null ? null : Prisma.sql`order_uid = ${filter.orderUid}`,
    filter.provider === null ? null : Prisma.sql`provider_external_id = ${filter.provider}`,
    // Not LIKE, because the text may hold pattern characters.
    filter.agent === null
      ? null
      : Prisma.sql`strpos(lower(financial_agent_name), lower(${filter.agent})) > 0`,
    filter.dueFrom === null ? null : Prisma.sql`anticipated_due_date >= ${filter.dueFrom}::date`,
    filter.dueTo === null ? null : Prisma.sql`anticipated_due_date <= ${filter.dueTo}::date`,
    filter.minValue === null ? null : Prisma.sql`original_value >= ${filter.minValue}::numeric`,
    filter.maxValue === null ? null : Prisma.sql`original_value <= ${filter.maxValue}::numeric`,
  ];
  return Prisma.join(
    parts.filter((part) => part !== null),
    ' AND ',
  );
}

function cursorText(direction: TitleCursor['direction'], row: { id: number; key: string }): string {
  return Buffer.from(JSON.stringify([direction, row.key, String(row.id)])).toString('base64url');
}

/** Returns null for a text that no page of this sort has produced. */
export function parseTitleCursor(
  cursor: string,
  sort: TitleSort,
  isOneDay: boolean,
): TitleCursor | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
  if (!Array.isArray(parsed) || parsed.length !== 3) return null;
  const [direction, key, id]: unknown[] = parsed;
  if (direction !== 'after' && direction !== 'before') return null;
  if (typeof key !== 'string' || typeof id !== 'string' || !/^\d{1,18}$/.test(id)) return null;
  return (isOneDay ? SORT_KEYS[sort] : BY_DATE).isValid(key) ? { direction, key, id } : null;
}
