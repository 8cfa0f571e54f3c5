import { toPlainDecimal } from './decimal.ts';
import { isJsonObject, JsonNumber, type JsonValue } from './json-value.ts';

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
