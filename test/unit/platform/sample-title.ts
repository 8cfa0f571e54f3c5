import { toCivilDate } from '../../../src/base/values/business-day.ts';
import {
  JsonNumber,
  type JsonObject,
  type JsonValue,
} from '../../../src/base/values/json-value.ts';
import { parseTitle } from '../../../src/core/reader/exact-title.ts';
import { titleText } from '../../support/titles.ts';

/** As the reader of answers builds it: numbers as text, objects without a prototype. */
export function toJsonValue(value: unknown): JsonValue {
  if (typeof value === 'number') return new JsonNumber(String(value));
  if (value instanceof JsonNumber || value === null || typeof value !== 'object') {
    return value as JsonValue;
  }
  if (Array.isArray(value)) return value.map(toJsonValue);
  const fields = Object.entries(value).map(([name, field]) => [name, toJsonValue(field)]);
  return Object.assign(Object.create(null), Object.fromEntries(fields));
}

export const DATE = toCivilDate('2026-01-02');

/** A title with every documented field, none of which is empty. */
export function completeTitle(): JsonObject {
  const text = titleText({ date: DATE, code: 'F-1', value: '12345678901234567890.12' });
  const filled = text.replace('"agencyDigit":""', '"agencyDigit":"9"');
  return parseTitle(Buffer.from(filled)).value as JsonObject;
}

/** The required fields of a title. */
export function barestTitle() {
  return { order: { uid: 'o' }, acceptedDate: DATE, originalValue: new JsonNumber('1') };
}

/** The title, the complete one by default, with a field replaced or added, such as `order.uid`. */
export function titleWith(path: string, replacement: unknown, title: object = completeTitle()) {
  return toJsonValue(replaced(title, path.split('.'), replacement)) as JsonObject;
}

/** The complete title without a field. */
export const titleWithout = (path: string) => titleWith(path, undefined);

function replaced(
  object: object,
  [name = '', ...rest]: readonly string[],
  replacement: unknown,
): object {
  const entries = Object.entries(object).filter(([field]) => field !== name);
  const inner = (object as Record<string, unknown>)[name];
  const value = rest.length === 0 ? replacement : replaced(inner as object, rest, replacement);
  if (value !== undefined) entries.push([name, value]);
  return Object.fromEntries(entries);
}
