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

/** Returns what was expected in place of a value that is no text, or none that can be stored; null: it is one. */
export function textFault(value: unknown, maxLength = MAX_TEXT_CHARACTERS): string | null {
  if (typeof value !== 'string') return 'expected text';
  if ([...value.slice(0, 2 * maxLength + 1)].length > maxLength) {
    return `expected at most ${maxLength} characters`;
  }
  return isStorableText(value) ? null : TEXT_EXPECTATION;
}

/**
 * Makes a name or value of the platform fit for a log line and a text column: at most `maxLength` characters,
 * without control characters and without lone surrogates, which PostgreSQL's `text` refuses.
 */
export function toDisplayText(text: string, maxLength: number): string {
  const cut = text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
  return cut.replace(/[\p{Cc}\p{Cs}]/gu, '\u{fffd}');
}

/** An unknown field is probably misspelled, and its content would be lost. */
export const unknownField = (name: string, path = ''): FieldFault => ({
  // A name that is not an identifier may be content of another field.
  field: path + (/^[A-Za-z_]\w{0,39}$/.test(name) ? name : '(another field)'),
  expected: 'not a field of the interface',
});

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
