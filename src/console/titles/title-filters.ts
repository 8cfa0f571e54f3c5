import { addDays, type CivilDate, daysBetween, parseCivilDate } from '../../domain/business-day.ts';
import { parseDecimal } from '../../domain/decimal.ts';
import { textParameter } from '../shell/page-context.ts';
import {
  parseTitleCursor,
  TITLE_SORTS,
  type TitleCursor,
  type TitleFilter,
  type TitleSort,
} from './title-list.sql.ts';

/** Without an order or a provider, which have indexes, a list reads every title of its dates. */
export const MAX_LIST_DAYS = 31;

/** What a list of titles was asked for, as far as it could be read. */
export interface TitleQuery {
  readonly filter: TitleFilter;
  readonly sort: TitleSort;
  readonly isDescending: boolean;
  readonly cursor: TitleCursor | null;
  /** Something was asked for that is no date, number or place; it counts as not asked for. */
  readonly hasFault: boolean;
  /** The range was cut to `MAX_LIST_DAYS`. */
  readonly isCut: boolean;
}

/**
 * Reads the parameters of a list. Nothing in them can be more than a value: a sort is one of a few
 * words, everything else is bound.
 *
 * @param day the one day whose titles are listed; null: the range is asked for too
 */
export function parseTitleQuery(
  query: unknown,
  day: CivilDate | null,
  today: CivilDate,
): TitleQuery {
  let hasFault = false;
  const read = <T>(name: string, parse: (text: string) => T | null): T | null => {
    const text = textParameter(query, name);
    if (text === null) return null;
    const value = parse(text);
    if (value === null) hasFault = true;
    return value;
  };
  const text = (value: string) => (value.length <= 200 ? value : null);
  const orderUid = read('order', text);
  const provider = read('provider', text);
  const { from, to, isCut } = rangeOf(
    day ?? read('from', parseRangeDate),
    day ?? read('to', parseRangeDate),
    today,
    orderUid === null && provider === null,
  );
  const filter: TitleFilter = {
    from,
    to,
    orderUid,
    provider,
    agent: read('agent', text),
    status: read('status', (value) =>
      value === 'current' || value === 'withdrawn' ? value : null,
    ),
    dueFrom: read('dueFrom', parseCivilDate),
    dueTo: read('dueTo', parseCivilDate),
    minValue: read('minValue', parseAmount),
    maxValue: read('maxValue', parseAmount),
  };
  const sort = read('sort', (value) => TITLE_SORTS.find((known) => known === value) ?? null);
  const cursor = read('at', (value) =>
    parseTitleCursor(value, sort ?? 'order', filter.from === filter.to),
  );
  const isDescending = textParameter(query, 'direction') === 'descending';
  return { filter, sort: sort ?? 'order', isDescending, cursor, hasFault, isCut };
}

function rangeOf(
  from: CivilDate | null,
  to: CivilDate | null,
  today: CivilDate,
  isBounded: boolean,
): { from: CivilDate; to: CivilDate; isCut: boolean } {
  const last = to ?? (from === null ? today : addDays(from, MAX_LIST_DAYS - 1));
  const first = from ?? addDays(last, 1 - MAX_LIST_DAYS);
  const [begin, end] = first <= last ? [first, last] : [last, first];
  const isCut = isBounded && daysBetween(begin, end) >= MAX_LIST_DAYS;
  return { from: isCut ? addDays(end, 1 - MAX_LIST_DAYS) : begin, to: end, isCut };
}

/** Far enough from the ends of the calendar for a range to be laid around it. */
function parseRangeDate(text: string): CivilDate | null {
  const date = parseCivilDate(text);
  return date !== null && date > '0010-01-01' && date < '9990-01-01' ? date : null;
}

/** `1234.5`, or as Brazilians write it, `1.234,50`. */
function parseAmount(text: string): string | null {
  const plain = text.includes(',') ? text.replaceAll('.', '').replace(',', '.') : text;
  return parseDecimal(plain)?.canonical ?? null;
}

/** The query that asks for the same list at another place or in another order. */
export function titleQueryText(
  query: TitleQuery,
  day: CivilDate | null,
  changes: {
    readonly at?: string;
    readonly sort?: TitleSort;
    readonly isDescending?: boolean;
  } = {},
): string {
  const { filter } = query;
  const isDescending = changes.isDescending ?? query.isDescending;
  const values: readonly (readonly [string, string | null | undefined])[] = [
    ['from', day === null ? filter.from : null],
    ['to', day === null ? filter.to : null],
    ['order', filter.orderUid],
    ['provider', filter.provider],
    ['agent', filter.agent],
    ['status', filter.status],
    ['dueFrom', filter.dueFrom],
    ['dueTo', filter.dueTo],
    ['minValue', filter.minValue],
    ['maxValue', filter.maxValue],
    ['sort', changes.sort ?? query.sort],
    ['direction', isDescending ? 'descending' : null],
    ['at', changes.at],
  ];
  const parameters = new URLSearchParams();
  for (const [name, value] of values) {
    if (value !== null && value !== undefined) parameters.set(name, value);
  }
  return `?${parameters}`;
}
