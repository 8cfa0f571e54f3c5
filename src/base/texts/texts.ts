import { readFileSync } from 'node:fs';
import { IntlMessageFormat } from 'intl-messageformat';
import type en from '../../../locales/en.json';

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
