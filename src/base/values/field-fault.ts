import { Settings } from 'typebox/system';

/** The fault of one field, without the value, which may be personal data. */
export interface FieldFault {
  /** `accounts[0].bankNumber`; indexes start at 0, as in JSON. */
  readonly field: string;
  readonly expected: string;
}

/** Most faults that a schema finds in one value. */
export const MAX_FAULTS = 20;
// A global setting.
Settings.Set({ maxErrors: MAX_FAULTS });

/** For indexed columns: with four bytes a character, the text still fits an index entry of PostgreSQL. */
export const MAX_KEY_CHARACTERS = 255;
export const MAX_TEXT_CHARACTERS = 1000;

/** Without U+0000 and lone surrogates, which PostgreSQL cannot hold. The hashes of titles depend on that. */
export const isStorableText = (text: string): boolean => !/[\0\p{Surrogate}]/u.test(text);

export const TEXT_EXPECTATION = 'expected text without U+0000 and lone surrogates';

/**
 * Makes a name or value of the platform fit for a log line and a text column: at most `maxLength` characters,
 * without control characters and without lone surrogates, which PostgreSQL's `text` refuses.
 */
export function toDisplayText(text: string, maxLength: number): string {
  const cut = text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
  return cut.replace(/[\p{Cc}\p{Cs}]/gu, '\u{fffd}');
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
