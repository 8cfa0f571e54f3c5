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

/** A list without an order or a provider, which have indexes, reads every title of its dates. */
export const MAX_LIST_DAYS = 31;

/** The valid part of the parameters of a list. */
export interface TitleQuery {
  readonly filter: TitleFilter;
  readonly sort: TitleSort;
  readonly isDescending: boolean;
  readonly cursor: TitleCursor | null;
  /** Whether a parameter was not a valid date, number or position. Such a parameter counts as absent. */
  readonly hasFault: boolean;
  /** Whether the range was cut to `MAX_LIST_DAYS`. */
  readonly isCut: boolean;
}

/**
 * Parses the parameters of a list. A sort is one of a few words; every other parameter is bound as a value.
 * @param day the one day whose titles are listed; null: the range is a parameter too
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

/** The date is far enough from the ends of the calendar for a range around it. */
function parseRangeDate(text: string): CivilDate | null {
  const date = parseCivilDate(text);
  return date !== null && date > '0010-01-01' && date < '9990-01-01' ? date : null;
}

/** Accepts `1234.5` and the Brazilian notation `1.234,50`. */
function parseAmount(text: string): string | null {
  const plain = text.includes(',') ? text.replaceAll('.', '').replace(',', '.') : text;
  return parseDecimal(plain)?.canonical ?? null;
}

/** Returns the query string of the same list at another position or in another order. */
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
