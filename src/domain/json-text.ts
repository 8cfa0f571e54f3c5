import { isJsonObject, JsonNumber, type JsonValue } from './json-value.ts';

/**
 * JSON text with every number exactly as it was written. Fields come in their given order, except
 * that names which are array indexes (`"0"`, `"17"`) come first, as in every JavaScript object.
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
