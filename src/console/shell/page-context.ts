import type { FastifyRequest } from 'fastify';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import {
  amountText,
  capitalised,
  dateText,
  LANGUAGES,
  type Language,
  textOf,
} from '../../base/texts/texts.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { isPlainDecimal } from '../../base/values/decimal.ts';
import { csrfTokenOf } from './guard.ts';

/** Formats numbers, dates and instants for a reader. */
type Formats = ReturnType<typeof createFormats>;

/** A Monday, used only for the names of the days. */
const SOME_MONDAY_MS = Date.UTC(2024, 0, 1);
const DAY_MS = 86_400_000;

const made = new Map<string, Formats>();

/** What texts, numbers and dates are written with. */
export function wordsOf(language: Language, timeZone: string) {
  const key = `${language} ${timeZone}`;
  const formats = made.get(key) ?? createFormats(language, timeZone);
  made.set(key, formats);
  return { text: textOf(language), language, formats };
}

function createFormats(language: Language, timeZone: string) {
  const locale = language === 'en' ? 'en-GB' : language;
  const [group, point] = language === 'en' ? [',', '.'] : ['.', ','];
  const civil = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' });
    return (date: string) => format.format(new Date(`${date}T00:00:00Z`));
  };
  // Swedish dates are those of ISO 8601, as `date`, so that one page has one notation.
  const instant = new Intl.DateTimeFormat(language === 'en' ? 'sv-SE' : locale, {
    dateStyle: 'short',
    timeStyle: 'short',
    timeZone,
  });
  const weekday = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' });
  const grouped = (digits: string) => digits.replace(/\B(?=(\d{3})+$)/g, group);
  const month = civil({ month: 'long', year: 'numeric' });
  const longDate = civil({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
  return {
    /** Every digit of an exact decimal, and at least two decimal places: `1.234.567,50`. */
    amount: (decimal: string) => amountText(decimal, language),
    /** Text whose unit is unknown: a plain decimal with the decimal separator, every digit and no other; other text as it is. */
    decimalText: (text: string) => (isPlainDecimal(text) ? text.replace('.', point) : text),
    count: (count: number) => grouped(String(count)),
    /** `02/03/2026` or `2026-03-02`. */
    date: (date: string) => dateText(date, language),
    /** The same in words, preceded by the day of the week: `Segunda-feira, 2 de março de 2026`. */
    longDate: (date: CivilDate) => capitalised(longDate(date)),
    /** `Março de 2026`. */
    month: (yearMonth: string) => capitalised(month(`${yearMonth}-01`)),
    /** In the configured time zone. */
    instant: (at: Date) => instant.format(at),
    /** Monday first. */
    weekdays: Array.from({ length: 7 }, (_, day) =>
      weekday.format(new Date(SOME_MONDAY_MS + day * DAY_MS)).replace('.', ''),
    ),
  };
}

export const LANGUAGE_COOKIE = 'conciliation-language';

/** The reader-specific data of a page. */
export type PageContext = ReturnType<typeof pageContext>;

const CurrentPage = createContext<PageContext | null>(null);
export const PageProvider = CurrentPage.Provider;

/**
 * Returns the context of the page that a component belongs to.
 * @throws Error outside of `PageProvider`
 */
export function usePage(): PageContext {
  const context = useContext(CurrentPage);
  if (context === null) throw new Error('a component is rendered outside of a page');
  return context;
}

export function pageContext(request: FastifyRequest, timeZone: string) {
  const language =
    LANGUAGES.find((known) => known === request.cookies[LANGUAGE_COOKIE]) ??
    languageOf(request.headers['accept-language']);
  const words = wordsOf(language, timeZone);
  const notice = textParameter(request.query, 'notice');
  return {
    ...words,
    principal: request.principal,
    csrf: csrfTokenOf(request.visit),
    /** The path and query of this page. */
    url: request.method === 'GET' ? request.url : '/',
    /** A sentence about the last action; null: none. A request can select only one of the defined notices. */
    notice: notice === null ? null : words.text.find(`notices.${notice}`),
  };
}

/** Returns a parameter of a query or a form; null when it is absent, empty or repeated. */
export function textParameter(source: unknown, name: string): string | null {
  const [text = null, ...others] = textParameters(source, name);
  return others.length === 0 ? text : null;
}

/** Returns every value of a parameter that may be repeated, without blanks at the ends, and without the empty ones. */
export function textParameters(source: unknown, name: string): string[] {
  if (typeof source !== 'object' || source === null || !Object.hasOwn(source, name)) return [];
  return [Reflect.get(source, name)].flat().flatMap((value: unknown) => {
    // PostgreSQL's text type cannot hold U+0000.
    const text = typeof value === 'string' ? value.replaceAll('\u0000', '').trim() : '';
    return text === '' ? [] : [text];
  });
}

/** Returns the first supported language of the browser's list: Portuguese of any country, otherwise English. */
function languageOf(acceptLanguage = ''): Language {
  const [, first] = /(?:^|,)\s*(pt|en)\b/i.exec(acceptLanguage) ?? [];
  return first?.toLowerCase() === 'pt' ? 'pt-BR' : 'en';
}
