import { parseDecimal } from './decimal.ts';
import { isJsonObject, JsonNumber, type JsonValue } from './json-value.ts';

/**
 * JSON text with every number exactly as it was written. Fields come in their given order, except
 * that names which are array indexes (`"0"`, `"17"`) come first, as in every JavaScript object.
 */
export function toJsonText(value: JsonValue): string {
  return render(value, Object.keys, (number) => number.text);
}

/**
 * One text for all JSON that means the same: fields sorted, numbers in canonical form. For hashing
 * and comparing only.
 */
export function toCanonicalJson(value: JsonValue): string {
  return render(
    value,
    (object) => Object.keys(object).sort(),
    (number) => parseDecimal(number.text)?.canonical ?? number.text,
  );
}

function render(
  value: JsonValue,
  fieldsOf: (object: object) => string[],
  numberText: (number: JsonNumber) => string,
): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof JsonNumber) return numberText(value);
  if (isJsonObject(value)) {
    const fields = fieldsOf(value).map(
      (field) => `${JSON.stringify(field)}:${render(value[field] ?? null, fieldsOf, numberText)}`,
    );
    return `{${fields.join(',')}}`;
  }
  return `[${value.map((item) => render(item, fieldsOf, numberText)).join(',')}]`;
}
