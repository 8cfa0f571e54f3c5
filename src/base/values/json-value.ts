/**
 * JSON as the platform wrote it. Numbers keep their text, because a binary floating-point number cannot hold
 * every amount. Objects have no prototype, so that a field named `__proto__` is an ordinary field.
 */
export type JsonValue = null | boolean | string | JsonNumber | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [field: string]: JsonValue;
}

/** The text of a JSON number: `1.10`, `-0`, `1E-7`, `1e400`. */
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
