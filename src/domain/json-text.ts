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
