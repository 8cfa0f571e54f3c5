import { type Static, Type } from 'typebox';
import type { Database } from '../../../base/database/database.ts';
import type { Language, TextKey } from '../../../base/texts/texts.ts';
import { type CivilDate, parseCivilDate, toCivilDate } from '../../../base/values/business-day.ts';
import { parseDecimal } from '../../../base/values/decimal.ts';
import {
  amount,
  date,
  dateOrNull,
  id,
  instant,
  orNull,
  words,
} from '../../../console/api/schema-parts.ts';
import { anyOf, asHidden, readFilter, textField } from '../../../console/list/filter.tsx';
import { Prisma } from '../../../generated/prisma/client.ts';
import {
  acceptedDatesOf,
  type GroupFilter,
  readGroupTotals,
} from '../../schedule/read-schedule.sql.ts';
import { conditionsOf, TITLE_FILTER, type TitleFilter } from './title-filters.sql.ts';

const TITLE_SORTS = ['accepted', 'order', 'value', 'due', 'provider', 'agent'] as const;
export type TitleSort = (typeof TITLE_SORTS)[number];

export const TitleRow = Type.Object({
  id,
  status: words(['current', 'withdrawn']),
  acceptedDate: date,
  orderUid: Type.String(),
  occurrence: id,
  provider: orNull('string'),
  agent: orNull('string'),
  dueDate: dateOrNull,
  originalValue: amount,
  changedAt: instant,
});
type TitleRow = Readonly<Static<typeof TitleRow>>;

/** A position between two titles of a list; `cursorText` encodes it. */
interface TitleCursor {
  readonly direction: 'after' | 'before';
  readonly key: string;
  readonly id: string;
}

export interface TitlePage {
  readonly rows: readonly TitleRow[];
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
const FIRST_DATE = toCivilDate('0001-01-01');
const LAST_DATE = toCivilDate('9999-12-31');

/** The possible sorts. A request names one of these keys. */
const SORT_KEYS: Readonly<Record<TitleSort, SortKey>> = {
  // The order of the index title_identity_key, so that any page is an index lookup.
  accepted: {
    expression: Prisma.sql`accepted_date`,
    type: Prisma.sql`date`,
    isValid: (key) => parseCivilDate(key) !== null,
  },
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
};

/** The order and the place of a list. */
export const TITLE_PLACE = {
  sort: asHidden(anyOf('titles.sort', TITLE_SORTS, () => 'titles.sort')),
  direction: asHidden(anyOf('titles.sort', ['ascending', 'descending'], () => 'titles.sort')),
  at: asHidden(textField('titles.pages', 2000)),
};

/** The valid part of the parameters of a list. */
export interface TitleQuery {
  readonly filter: TitleFilter;
  readonly sort: TitleSort;
  readonly isDescending: boolean;
  /** Null: the first page. */
  readonly cursor: TitleCursor | null;
  /** The labels of parameters that could not be read. Such a parameter counts as absent. */
  readonly faults: readonly TextKey[];
}

/**
 * Parses the parameters of a list.
 * @param day the one day whose titles are listed; null: the range of dates is a parameter too, and may be open
 * @param language of the amounts in the parameters
 */
export function parseTitleQuery(
  source: unknown,
  day: CivilDate | null,
  language: Language,
): TitleQuery {
  const { filter, faults } = readFilter(TITLE_FILTER, source, language);
  const place = readFilter(TITLE_PLACE, source);
  const { at, direction } = place.filter;
  const sort = place.filter.sort ?? (day === null ? 'accepted' : 'order');
  const cursor = at === null ? null : parseTitleCursor(at, sort);
  return {
    filter: day === null ? filter : { ...filter, from: day, to: day },
    sort,
    // The newest dates first, unless the reader asks for another order.
    isDescending: direction === null ? sort === 'accepted' : direction === 'descending',
    cursor,
    faults: [
      ...faults,
      ...place.faults,
      ...(at !== null && cursor === null ? [TITLE_PLACE.at.label] : []),
    ],
  };
}

/**
 * Returns one page of titles. The page begins after a given title, not at an offset. The cost
 * therefore does not depend on the position, and a merge between two pages neither repeats nor
 * hides a title that keeps its place.
 */
export async function readTitlePage(
  database: Database,
  request: Omit<TitleQuery, 'faults'> & { readonly limit: number },
): Promise<TitlePage> {
  const { filter, limit, cursor, sort } = request;
  const key = SORT_KEYS[sort];
  const isByDate = sort === 'accepted';
  const isBackward = cursor?.direction === 'before';
  const isDescending = request.isDescending !== isBackward;
  const order = isDescending ? Prisma.sql`DESC` : Prisma.sql`ASC`;
  const beyond = isDescending ? Prisma.sql`<` : Prisma.sql`>`;
  const place = isByDate
    ? Prisma.sql`accepted_date, identity_hash, occurrence`
    : Prisma.sql`${key.expression}, id`;
  const from =
    cursor === null
      ? Prisma.sql`true`
      : isByDate
        ? Prisma.sql`(${place}) ${beyond} (
          SELECT accepted_date, identity_hash, occurrence FROM conciliation.title
          WHERE id = ${cursor.id}::bigint)`
        : Prisma.sql`(${place}) ${beyond} (${cursor.key}::${key.type}, ${cursor.id}::bigint)`;
  const orderBy = isByDate
    ? Prisma.sql`accepted_date ${order}, identity_hash ${order}, occurrence ${order}`
    : Prisma.sql`${key.expression} ${order}, id ${order}`;
  const where = await whereOf(database, filter);

  const rows = await database.prisma.$queryRaw<(TitleRow & { key: string })[]>`
    SELECT id::float8 AS id, status, accepted_date::text AS "acceptedDate",
           order_uid AS "orderUid", occurrence, provider_external_id AS provider,
           financial_agent_name AS agent, anticipated_due_date::text AS "dueDate",
           original_value::text AS "originalValue",
           changed_at AS "changedAt", (${key.expression})::text AS key
    FROM conciliation.title
    WHERE ${where} AND ${from}
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
 * Returns the number of selected titles, and the sums of the current ones as decimal text. For
 * whole days the values come from the ledger.
 * @param today no later row of the ledger counts
 */
export async function readTitleCount(
  database: Database,
  filter: TitleFilter,
  today: CivilDate,
): Promise<{ readonly titles: number; readonly originalValueSum: string }> {
  const group = groupOf(filter);
  if (group !== null) return readGroupTotals(database, group);
  const { from, to, ...narrowing } = filter;
  const areWholeDays = Object.values(narrowing).every((value) => value === null);
  const [row] = await database.prisma.$queryRaw<[{ titles: number; originalValueSum: string }]>(
    areWholeDays
      ? Prisma.sql`
        SELECT coalesce(sum(title_count + withdrawn_count), 0)::float8 AS titles,
               coalesce(sum(original_value_sum), 0)::text AS "originalValueSum"
        FROM conciliation.day
        WHERE date >= coalesce(${from}::date, '-infinity') AND date <= least(${to}::date, ${today}::date)`
      : Prisma.sql`
        SELECT count(*)::float8 AS titles,
               coalesce(sum(original_value) FILTER (WHERE status = 'current'), 0)::text AS "originalValueSum"
        FROM conciliation.title WHERE ${await whereOf(database, filter)}`,
  );
  return row;
}

/** Returns the due dates and the payee that the filter asks for; null: it does not ask for current titles by due date. */
function dueOf(filter: TitleFilter): GroupFilter | null {
  const { status, dueFrom, dueTo, undated, payeeOf } = filter;
  if (status !== 'current') return null;
  const payee = payeeOf === null ? null : Number(payeeOf);
  if (dueFrom === null && dueTo === null)
    return undated === null ? null : { range: null, payeeOf: payee };
  const range = { from: dueFrom ?? FIRST_DATE, to: dueTo ?? LAST_DATE };
  return undated === null ? { range, payeeOf: payee } : null;
}

/** Returns the group of the payment schedule that the filter selects; null: the filter has other conditions. */
function groupOf(filter: TitleFilter): GroupFilter | null {
  const { status: _, dueFrom: __, dueTo: ___, undated: ____, payeeOf: _____, ...others } = filter;
  return Object.values(others).every((value) => value === null) ? dueOf(filter) : null;
}

async function whereOf(database: Database, filter: TitleFilter): Promise<Prisma.Sql> {
  const due = dueOf(filter);
  const conditions = [
    // `title` has no index by due date, which every merge would pay for. The schedule knows the accepted dates.
    ...(due === null ? [] : [Prisma.sql`accepted_date = ANY(${acceptedDatesOf(due)})`]),
    ...(await conditionsOf(database, filter)),
  ];
  return conditions.length === 0 ? Prisma.sql`true` : Prisma.join(conditions, ' AND ');
}

function cursorText(direction: TitleCursor['direction'], row: { id: number; key: string }): string {
  return Buffer.from(JSON.stringify([direction, row.key, String(row.id)])).toString('base64url');
}

/** Returns null for a text that no page of this sort has produced. */
function parseTitleCursor(cursor: string, sort: TitleSort): TitleCursor | null {
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
  return SORT_KEYS[sort].isValid(key) ? { direction, key, id } : null;
}
