import type { TLocalizedValidationError } from 'typebox/error';
import { isJsonObject, JsonNumber, type JsonValue } from '../../base/values/json-value.ts';

/** Returns JSON's name of the type: `null`, `boolean`, `string`, `number`, `array` or `object`. */
export function toJsonType(value: unknown): string {
  if (value === null) return 'null';
  if (value instanceof JsonNumber) return 'number';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** `expected a string, got a number`. */
export function toTypeMismatch(expectedType: string, value: unknown): string {
  return `expected ${withArticle(expectedType)}, got ${withArticle(toJsonType(value))}`;
}

function withArticle(type: string): string {
  if (type === 'null') return type;
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

/**
 * Describes one error of the schema check: the field's path and the expected value. Never the
 * value, which may be personal data.
 */
export function toReasons(title: JsonValue, error: TLocalizedValidationError): string[] {
  // Only documented fields have a schema, and none of their names needs escaping.
  const fields = error.instancePath.split('/').slice(1);
  const value = fields.reduce<JsonValue>(fieldOf, title);
  const path = fields.length === 0 ? '(title)' : fields.join('.');
  switch (error.keyword) {
    case 'type':
      return [`${path}: ${toTypeMismatch([error.params.type].flat()[0] ?? '', value)}`];
    case 'required':
      // For an expected object, a number fails only here: in JavaScript it is an object without fields.
      if (!isJsonObject(value)) return [`${path}: ${toTypeMismatch('object', value)}`];
      return error.params.requiredProperties.map(
        (name) => `${[...fields, name].join('.')}: missing`,
      );
    case 'minLength':
      return [`${path}: expected text that is not empty`];
    case 'maxLength':
      return [`${path}: expected at most ${error.params.limit} characters`];
    case '~refine':
      return [`${path}: ${error.params.message}`];
    default:
      return [`${path}: not as documented (${error.keyword})`];
  }
}

function fieldOf(value: JsonValue, field: string): JsonValue {
  return isJsonObject(value) ? (value[field] ?? null) : null;
}
