import type { Language } from '../../../base/texts/texts.ts';
import { type CivilDate, parseCivilDate } from '../../../base/values/business-day.ts';
import { parseDecimal } from '../../../base/values/decimal.ts';
import { textParameter } from '../../../console/shell/page-context.ts';
import {
  parseTitleCursor,
  TITLE_SORTS,
  type TitleCursor,
  type TitleFilter,
  type TitleSearch,
  type TitleSort,
} from './title-list.sql.ts';

/** The valid part of the parameters of a list. */
export interface TitleQuery {
  readonly filter: TitleFilter;
  readonly sort: TitleSort;
  readonly isDescending: boolean;
  readonly cursor: TitleCursor | null;
  /** The parameters that could not be read. Such a parameter counts as absent. */
  readonly faults: readonly string[];
}

/**
 * Parses the parameters of a list. A sort is one of a few words; every other parameter is bound as a value.
 * @param day the one day whose titles are listed; null: the range of dates is a parameter too, and may be open
 * @param language of the amounts in the parameters
 */
export function parseTitleQuery(
  query: unknown,
  day: CivilDate | null,
  language: Language,
): TitleQuery {
  const faults: string[] = [];
  const read = <T>(name: string, parse: (text: string) => T | null): T | null => {
    const text = textParameter(query, name);
    if (text === null) return null;
    const value = parse(text);
    if (value === null) faults.push(name);
    return value;
  };
  const text = (value: string) => (value.length <= 200 ? value : null);
  const amount = (value: string) => parseAmount(value, language);
  const filter: TitleFilter = {
    from: day ?? read('from', parseCivilDate),
    to: day ?? read('to', parseCivilDate),
    search: search(textParameter(query, 'search'), language),
    order: read('order', text),
    provider: read('provider', text),
    providerId: null,
    agent: read('agent', text),
    status: read('status', (value) =>
      value === 'current' || value === 'withdrawn' ? value : null,
    ),
    dueFrom: read('dueFrom', parseCivilDate),
    dueTo: read('dueTo', parseCivilDate),
    isUndated: read('undated', (value) => (value === 'true' ? true : null)),
    payeeOf: read('payeeOf', (value) => (/^\d{1,15}$/.test(value) ? Number(value) : null)),
    minValue: read('minValue', amount),
    maxValue: read('maxValue', amount),
  };
  const sort =
    read('sort', (value) => TITLE_SORTS.find((known) => known === value) ?? null) ??
    (day === null ? 'accepted' : 'order');
  const cursor = read('at', (value) => parseTitleCursor(value, sort));
  const direction = textParameter(query, 'direction');
  // The newest dates first, unless the reader asks for another order.
  const isDescending = direction === null ? sort === 'accepted' : direction === 'descending';
  return { filter, sort, isDescending, cursor, faults };
}

/** What the one search box asks for: an order, a name, or a value. */
function search(text: string | null, language: Language): TitleSearch | null {
  if (text === null || text.length > 200) return null;
  return {
    text,
    order: text.replace(/\s/g, ''),
    value: parseAmount(text, language),
  };
}

/** Separators of thousands and decimals. */
const SEPARATORS: Readonly<Record<Language, readonly [string, string]>> = {
  en: [',', '.'],
  'pt-BR': ['.', ','],
};

/**
 * Parses an amount as a person writes it: `1.234,50` or `1.234` (one thousand two hundred thirty-four) in
 * Portuguese, `1,234.50` or `1,234` in English. Where the separators of thousands are not in their places,
 * the other language's notation counts: `1234.5` is the same in both.
 * @returns canonical decimal text; null: not an amount
 */
function parseAmount(written: string, language: Language): string | null {
  const text = written.replace(/^R\$\s*/i, '');
  const other = language === 'en' ? 'pt-BR' : 'en';
  for (const [group, point] of [SEPARATORS[language], SEPARATORS[other]]) {
    const pattern = new RegExp(
      `^\\d{1,3}(\\${group}\\d{3})*(\\${point}\\d+)?$|^\\d+(\\${point}\\d+)?$`,
    );
    if (!pattern.test(text)) continue;
    return parseDecimal(text.replaceAll(group, '').replace(point, '.'))?.canonical ?? null;
  }
  return null;
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
    ['search', filter.search?.text ?? null],
    ['order', filter.order],
    ['provider', filter.provider],
    ['agent', filter.agent],
    ['status', filter.status],
    ['dueFrom', filter.dueFrom],
    ['dueTo', filter.dueTo],
    ['undated', filter.isUndated === null ? null : 'true'],
    ['payeeOf', filter.payeeOf === null ? null : String(filter.payeeOf)],
    ['minValue', filter.minValue],
    ['maxValue', filter.maxValue],
    ['sort', changes.sort ?? query.sort],
    ['direction', isDescending ? 'descending' : 'ascending'],
    ['at', changes.at],
  ];
  const parameters = new URLSearchParams();
  for (const [name, value] of values) {
    if (value !== null && value !== undefined) parameters.set(name, value);
  }
  return `?${parameters}`;
}
