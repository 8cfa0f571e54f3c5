import { toPlainDecimal } from './decimal.ts';

/**
 * JSON as the platform wrote it. Numbers keep their text, because a binary floating-point number cannot hold
 * every amount. Objects have no prototype, so that a field named `__proto__` is an ordinary field.
 */
export type JsonValue = null | boolean | string | JsonNumber | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [field: string]: JsonValue;
}

export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export function isJsonObject(value: JsonValue): value is JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof JsonNumber)
  );
}

/**
 * Returns JSON text with every number as it was written. The fields keep their order, except that
 * array indexes (`"0"`, `"17"`) come first, as in every JavaScript object.
 */
export function toJsonText(value: JsonValue): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof JsonNumber) return value.text;
  if (isJsonObject(value)) {
    const fields = Object.keys(value).map(
      (field) => `${JSON.stringify(field)}:${toJsonText(value[field] ?? null)}`,
    );
    return `{${fields.join(',')}}`;
  }
  return `[${value.map(toJsonText).join(',')}]`;
}

/** Returns the text that PostgreSQL gives a value as `jsonb`: its fields in the order of their lengths in bytes. */
export function toJsonbText(value: JsonValue): string {
  if (value === null || typeof value !== 'object') return toJsonText(value);
  if (value instanceof JsonNumber) {
    const text = toPlainDecimal(value.text);
    return /[1-9]/.test(text) ? text : text.replace(/^-?0+(?=\d)|^-/, '');
  }
  if (!isJsonObject(value)) return `[${value.map(toJsonbText).join(', ')}]`;
  const fields = Object.keys(value).map((name) => ({ name, bytes: Buffer.from(name) }));
  fields.sort((a, b) => a.bytes.length - b.bytes.length || Buffer.compare(a.bytes, b.bytes));
  return `{${fields
    .map(({ name }) => `${JSON.stringify(name)}: ${toJsonbText(value[name] ?? null)}`)
    .join(', ')}}`;
}
