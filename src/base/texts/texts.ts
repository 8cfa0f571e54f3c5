import { readFileSync } from 'node:fs';
import { IntlMessageFormat } from 'intl-messageformat';
import type en from '../../../locales/en.json';
import { InputError } from '../runtime/errors.ts';
import { type CivilDate, daysBetween } from '../values/business-day.ts';
import { parseDecimal } from '../values/decimal.ts';

export const LANGUAGES = ['pt-BR', 'en'] as const;
export type Language = (typeof LANGUAGES)[number];

export type TextKey = keyof typeof en;
/** The arguments of a message, by name: a number for a plural, and text that is formatted for the reader already. */
type Values = Readonly<Record<string, string | number>>;

/** The messages of `locales/` in one language. */
export interface Text {
  /** @throws Error if the message has an argument that `values` lacks */
  (key: TextKey, values?: Values): string;
  /** Returns the message of a key with a part from outside of the program; null: no message has the key. */
  find(key: string, values?: Values): string | null;
}

/** The messages in the form of ICU MessageFormat, by key. */
export const MESSAGES: Readonly<Record<Language, ReadonlyMap<string, string>>> = {
  en: readMessages('en'),
  'pt-BR': readMessages('pt-BR'),
};

const TEXTS: Readonly<Record<Language, Text>> = {
  en: createText('en'),
  'pt-BR': createText('pt-BR'),
};

export function textOf(language: Language): Text {
  return TEXTS[language];
}

/** Returns what follows `group.` in the keys that begin with it, in the order of the file. */
export function namesIn(group: string): string[] {
  return [...MESSAGES.en.keys()]
    .filter((key) => key.startsWith(`${group}.`))
    .map((key) => key.slice(group.length + 1));
}

function readMessages(language: Language): ReadonlyMap<string, string> {
  const file = new URL(`../../../locales/${language}.json`, import.meta.url);
  return new Map(Object.entries<string>(JSON.parse(readFileSync(file, 'utf8'))));
}

function createText(language: Language): Text {
  const messages = MESSAGES[language];
  // Each message is parsed at its first use.
  const parsed = new Map<string, IntlMessageFormat>();
  const find = (key: string, values?: Values): string | null => {
    const known = parsed.get(key);
    if (known !== undefined) return String(known.format(values));
    const message = messages.get(key);
    if (message === undefined) return null;
    parsed.set(key, new IntlMessageFormat(message, language, undefined, { ignoreTag: true }));
    return find(key, values);
  };
  const text = (key: TextKey, values?: Values) => {
    const message = find(key, values);
    if (message === null) throw new Error(`no message has the key ${key}`);
    return message;
  };
  return Object.assign(text, { find });
}

type FaultIn<Key> = Key extends `faults.${infer Fault}` ? Fault : never;
export type Fault = FaultIn<TextKey>;

/** Returns the error of a request that cannot be carried out. Its message is English; pages show the reader's language. */
export const refusal = (fault: Fault, values: Values = {}): InputError =>
  new InputError(faultText(textOf('en'), fault, values) ?? fault, {
    context: { fault, ...values },
  });

/** Returns the sentence of a fault; null: it has none. */
export const faultText = (text: Text, fault: unknown, values: Values): string | null =>
  text.find(`faults.${fault}`, values);

/** A date or a month as readers of the language write it. */
export function dateText(date: string, language: Language): string {
  return language === 'en' ? date : date.split('-').reverse().join('/');
}

/** Every digit of an exact decimal, and at least two decimal places: `1.234.567,50` or `1,234,567.50`. */
export function amountText(decimal: string, language: Language): string {
  const [group, point] = language === 'en' ? [',', '.'] : ['.', ','];
  const [whole = '', fraction = ''] = decimal.replace('-', '').split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, group);
  const sign = decimal.startsWith('-') ? '−' : '';
  return `${sign}${grouped}${point}${fraction.replace(/0+$/, '').padEnd(2, '0')}`;
}

/** The text with a capital first letter, as the beginning of a sentence or a heading. */
export function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
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
    const [first, last] = [dateText(from, language), dateText(to, language)];
    return from === to ? first : text('dates.range', { first, last });
  });
  const listed = texts.join(', ');
  return more === 0 ? listed : text('dates.more', { listed, more });
}

/**
 * The reasons that checks of titles and providers write in English, such as
 * `originalValue: expected a number, got a string`. Their English messages recognise them; the first that fits counts.
 */
const PATTERNS = namesIn('reasons').map((name) => {
  const message = MESSAGES.en.get(`reasons.${name}`) ?? '';
  const literal = message.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  return { name, pattern: new RegExp(`^${literal.replace(/\{(\w+)\}/g, '(?<$1>.+)')}$`) };
});

/** Returns the reason in the language of the reader, with its path and figures. A reason that is not known stays as it is. */
function reasonText(text: Text, reason: string): string {
  const [, path = '', fault = ''] = /^([^\s:]+: )?([\s\S]*)$/.exec(reason) ?? [];
  for (const { name, pattern } of PATTERNS) {
    const match = pattern.exec(fault);
    if (match === null) continue;
    const values = Object.entries(match.groups ?? {}).map(([part, word]) => [
      part,
      text.find(`reasonWords.${word}`) ?? word,
    ]);
    const place = path.replace(
      /\((\w+)\)/,
      (all, word) => `(${text.find(`reasonPlaces.${word}`) ?? all.slice(1, -1)})`,
    );
    return place + text.find(`reasons.${name}`, Object.fromEntries(values));
  }
  return reason;
}

/** Several reasons in one text, as `describeFaults` joins them. */
export function reasonsText(text: Text, reasons: string): string {
  return reasons
    .split('; ')
    .map((reason) => reasonText(text, reason))
    .join('; ');
}

/** Separators of thousands and decimals. */
const SEPARATORS: Readonly<Record<Language, readonly [string, string]>> = {
  en: [',', '.'],
  'pt-BR': ['.', ','],
};

/**
 * Parses an amount as a person writes it: `1.234,50` or `1.234` (one thousand two hundred thirty-four) in
 * Portuguese, `1,234.50` or `1,234` in English. Where the separators of thousands are not in their places,
 * the other language's notation counts: `1234.5` is the same in both. The minus sign is that of a keyboard or of a page.
 * @returns canonical decimal text; null: not an amount
 */
export function parseAmount(written: string, language: Language): string | null {
  const plain = written
    .replace(/\s/g, '')
    .replace('−', '-')
    .replace(/^(-?)R\$/i, '$1');
  const other = language === 'en' ? 'pt-BR' : 'en';
  for (const [group, point] of [SEPARATORS[language], SEPARATORS[other]]) {
    const pattern = new RegExp(`^-?(\\d{1,3}(\\${group}\\d{3})*|\\d+)(\\${point}\\d+)?$`);
    if (!pattern.test(plain)) continue;
    return parseDecimal(plain.replaceAll(group, '').replace(point, '.'))?.canonical ?? null;
  }
  return null;
}
