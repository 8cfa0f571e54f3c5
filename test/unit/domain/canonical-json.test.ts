import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toCanonicalJson, toJsonText } from '../../../src/domain/canonical-json.ts';
import type { JsonValue } from '../../../src/domain/json-value.ts';
import { parseExactJson } from '../../../src/pull/exact-json.ts';

function json(text: string): JsonValue {
  const { value, problems } = parseExactJson(Buffer.from(text));
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

describe('toCanonicalJson', () => {
  it.each([
    ['{"b":1,"a":2}', '{"a":2,"b":1}'],
    ['{ "a" : [ 1 , 2 ] }', '{"a":[1,2]}'],
    ['{"a":{"d":1,"c":{"f":1,"e":2}}}', '{"a":{"c":{"e":2,"f":1},"d":1}}'],
    ['[1.10,1e2,-0,0.000,1E-7]', '[1.1,100,0,0,0.0000001]'],
    ['"\\u0061\\u00e9"', '"aé"'],
    ['{"10":1,"9":2,"a":3}', '{"10":1,"9":2,"a":3}'],
  ])('turns %s into %s', (text, canonical) => {
    expect(toCanonicalJson(json(text))).toBe(canonical);
  });

  it.each([
    ['[1,2]', '[2,1]'],
    ['{"a":null}', '{}'],
    ['"1"', '1'],
    ['"null"', 'null'],
    ['[[1],2]', '[1,[2]]'],
    ['{"a":"b\\",\\"c"}', '{"a":"b","c":""}'],
    ['1', '-1'],
    ['1e20', '1e21'],
    ['""', 'null'],
    ['[]', '{}'],
  ])('tells %s from %s', (a, b) => {
    expect(toCanonicalJson(json(a))).not.toBe(toCanonicalJson(json(b)));
  });

  it('is the same for the same fields in any order', () => {
    const fields = fc.uniqueArray(
      fc.tuple(
        fc.string({ minLength: 1 }).map((name) => `f${name}`),
        fc.jsonValue({ maxDepth: 2 }),
      ),
      { selector: ([name]) => name },
    );
    const toObject = (entries: [string, unknown][]) =>
      json(JSON.stringify(Object.fromEntries(entries)));
    const bothOrders = fields
      .filter((entries) => !JSON.stringify(entries).includes('\\u0000'))
      .filter((entries) => !/e[+-]\d{2}/.test(JSON.stringify(entries)));
    fc.assert(
      fc.property(bothOrders, fc.nat(), (entries, seed) => {
        const turn = seed % (entries.length + 1);
        const shuffled = [...entries.slice(turn).reverse(), ...entries.slice(0, turn)];
        expect(toCanonicalJson(toObject(shuffled))).toBe(toCanonicalJson(toObject(entries)));
      }),
    );
  });
});
