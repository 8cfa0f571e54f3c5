import type { Language } from '../../base/texts/texts.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { isPlainDecimal } from '../../base/values/decimal.ts';
import { amountText, capitalised } from '../../base/values/display-text.ts';

/** Formats numbers, dates and instants for a reader. */
export interface Formats {
  /** Every digit of an exact decimal, and at least two decimal places: `1.234.567,50`. */
  amount(decimal: string): string;
  /** Text whose unit is unknown: a plain decimal with the decimal separator, every digit and no other; other text as it is. */
  decimalText(text: string): string;
  count(count: number): string;
  /** `02/03/2026` or `2 Mar 2026`. */
  date(date: CivilDate): string;
  /** The same in words, preceded by the day of the week: `Segunda-feira, 2 de março de 2026`. */
  longDate(date: CivilDate): string;
  /** `Março de 2026`. */
  month(yearMonth: string): string;
  /** In the configured time zone. */
  instant(at: Date): string;
  /** Monday first. */
  readonly weekdays: readonly string[];
}

const LOCALES: Readonly<Record<Language, string>> = { en: 'en-GB', 'pt-BR': 'pt-BR' };
/** A Monday, used only for the names of the days. */
const SOME_MONDAY_MS = Date.UTC(2024, 0, 1);
const DAY_MS = 86_400_000;

const made = new Map<string, Formats>();

export function formatsOf(language: Language, timeZone: string): Formats {
  const key = `${language} ${timeZone}`;
  const known = made.get(key) ?? createFormats(language, timeZone);
  made.set(key, known);
  return known;
}

function createFormats(language: Language, timeZone: string): Formats {
  const locale = LOCALES[language];
  const [group, point] = language === 'en' ? [',', '.'] : ['.', ','];
  const civil = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' });
    return (date: string) => format.format(new Date(`${date}T00:00:00Z`));
  };
  const instant = new Intl.DateTimeFormat(locale, {
    // Beside `date`, so that one page has one notation.
    dateStyle: language === 'en' ? 'medium' : 'short',
    timeStyle: 'short',
    timeZone,
  });
  const weekday = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' });
  const grouped = (digits: string) => digits.replace(/\B(?=(\d{3})+$)/g, group);
  const date = civil(
    language === 'en'
      ? { day: 'numeric', month: 'short', year: 'numeric' }
      : { day: '2-digit', month: '2-digit', year: 'numeric' },
  );
  const month = civil({ month: 'long', year: 'numeric' });
  const longDate = civil({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
  return {
    amount: (decimal) => amountText(decimal, language),
    decimalText: (text) => (isPlainDecimal(text) ? text.replace('.', point) : text),
    count: (count) => grouped(String(count)),
    date,
    longDate: (date) => capitalised(longDate(date)),
    month: (yearMonth) => capitalised(month(`${yearMonth}-01`)),
    instant: (at) => instant.format(at),
    weekdays: Array.from({ length: 7 }, (_, day) =>
      weekday.format(new Date(SOME_MONDAY_MS + day * DAY_MS)).replace('.', ''),
    ),
  };
}
