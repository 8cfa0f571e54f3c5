import { describe, expect, it } from 'vitest';
import { type JsonValue, toJsonText } from '../../../src/base/values/json-value.ts';
import { parseTitle } from '../../../src/core/reader/exact-title.ts';

function json(text: string): JsonValue {
  const { value, problems } = parseTitle(Buffer.from(text));
  expect(problems).toEqual([]);
  return value;
}

describe('toJsonText', () => {
  it.each([
    ...['null', 'true', 'false', '""', '[]', '{}', '-0', '1.10', '1e2', '12345678901234567.89'],
    ...['{"b":1,"a":[{"d":null,"c":"é€😀"}]}', '"\\n\\"\\\\\\u0001"', '{"__proto__":{}}'],
  ])('gives %s back as it came', (text) => {
    expect(toJsonText(json(text))).toBe(text);
  });
});
