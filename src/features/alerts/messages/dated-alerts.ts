import { type Language, type Text, textOf } from '../../../base/texts/texts.ts';
import { type CivilDate, daysBetween } from '../../../base/values/business-day.ts';
import type { Alert, AlertKind } from './alert.ts';

/** A date with a condition, and the pull that the condition is about. */
export interface AlertDate {
  readonly date: CivilDate;
  readonly pullId: bigint | null;
}

/** The dates that one cause hits, for a message. */
interface Hit<T> {
  /** In date order. */
  readonly items: readonly T[];
  readonly oldest: T;
  /** The dates in words. */
  readonly listed: string;
}

/** The words of one language. */
export interface Words {
  readonly language: Language;
  readonly text: Text;
  /** A date or a month. */
  day(date: string): string;
  /** @param dates in order */
  list(dates: readonly CivilDate[]): string;
}

const wordsOf = (language: Language): Words => ({
  language,
  text: textOf(language),
  day: (date) => dayIn(date, language),
  list: (dates) => listDates(dates, language),
});
const [EN, PT] = [wordsOf('en'), wordsOf('pt-BR')];

/** The message of an alert in both languages. */
export function inBoth(tell: (words: Words) => string): Pick<Alert, 'message' | 'messagePt'> {
  return { message: tell(EN), messagePt: tell(PT) };
}

/**
 * Raises one alert for each cause, for any number of dates, because one action usually corrects all of them.
 * Date and pull are those of the oldest date.
 * @param causeOf the cause of an item, which identifies the alert of the kind; null: the kind is one cause
 */
export function alertsByCause<T extends AlertDate>(
  kind: AlertKind,
  found: readonly T[],
  causeOf: (item: T) => string | null,
  tell: (hit: Hit<T>, words: Words) => string,
): Alert[] {
  return [...new Set(found.map(causeOf))].flatMap((cause) => {
    const items = found
      .filter((item) => causeOf(item) === cause)
      .toSorted((a, b) => daysBetween(b.date, a.date));
    const [oldest] = items;
    if (oldest === undefined) return [];
    const dates = items.map(({ date }) => date);
    return {
      kind,
      dedupeKey: cause === null ? kind : `${kind}:${cause}`,
      ...inBoth((words) => tell({ items, oldest, listed: words.list(dates) }, words)),
      date: oldest.date,
      pullId: oldest.pullId,
    };
  });
}

/** The kind is one cause. */
export const ANY_CAUSE = () => null;

export function sumOf<T>(items: readonly T[], countOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + countOf(item), 0);
}

/** Dates and ranges of dates that a message names. */
const RANGES_NAMED = 3;

/** @param dates in order */
export function listDates(dates: readonly CivilDate[], language: Language): string {
  const ranges: { from: CivilDate; to: CivilDate; dates: number }[] = [];
  for (const date of dates) {
    const last = ranges.at(-1);
    if (last !== undefined && daysBetween(last.to, date) === 1) {
      last.to = date;
      last.dates += 1;
    } else ranges.push({ from: date, to: date, dates: 1 });
  }
  const named = ranges.slice(0, RANGES_NAMED);
  const more = dates.length - named.reduce((sum, range) => sum + range.dates, 0);
  const text = textOf(language);
  const texts = named.map(({ from, to }) => {
    const [first, last] = [dayIn(from, language), dayIn(to, language)];
    return from === to ? first : text('alertMessages.range', { first, last });
  });
  const listed = texts.join(', ');
  return more === 0 ? listed : text('alertMessages.more', { listed, more });
}

/** A date or a month as readers of the language write it. */
function dayIn(date: string, language: Language): string {
  return language === 'en' ? date : date.split('-').reverse().join('/');
}
