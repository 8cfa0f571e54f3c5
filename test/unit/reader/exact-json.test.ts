import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toJsonText } from '../../../src/domain/json-text.ts';
import { isJsonObject, JsonNumber, type JsonValue } from '../../../src/domain/json-value.ts';
import { type ExactJson, parseExactJson } from '../../../src/reader/exact-json.ts';
import { numberText, stringText, valueText } from './json-arbitraries.ts';

function parse(text: string): ExactJson {
  return parseExactJson(Buffer.from(text));
}

/** Every object of the value, itself included. */
function objectsOf(value: JsonValue): object[] {
  if (isJsonObject(value)) return [value, ...Object.values(value).flatMap(objectsOf)];
  return Array.isArray(value) ? value.flatMap(objectsOf) : [];
}

describe('the value of a title', () => {
  it.each([
    ['null', null],
    [' true\n', true],
    ['false', false],
    ['""', ''],
    ['"a b"', 'a b'],
    ['"é€😀"', 'é€😀'],
    ['"\\u00e9\\uD83D\\uDE00\\n\\"\\\\\\/"', 'é😀\n"\\/'],
    ['"é\\n€"', 'é\n€'],
    ['"\\\\"', '\\'],
    ['"\\\\\\""', '\\"'],
    ['[ ]', []],
    ['[[],[ [ ] , 1 ]]', [[], [[], new JsonNumber('1')]]],
    ['{ }', {}],
    ['{"a":{"b":[{"c":null}]},"d":-0}', { a: { b: [{ c: null }] }, d: new JsonNumber('-0') }],
    ['{"":{"":""}}', { '': { '': '' } }],
  ])('%s is kept', (text, value) => {
    expect(parse(text)).toEqual({ value, problems: [] });
  });

  it.each([
    ...['0', '-0', '1.10', '0.000', '1e2', '1E-7', '-0.01', '0e5', '12345678901234567.89'],
    ...['100000000000000000000', '1e99', '9'.repeat(100), `0.${'0'.repeat(97)}1`],
  ])('the number %s keeps its text', (text) => {
    expect(parse(`{"n":${text},"m":[${text}]}`)).toEqual({
      value: { n: new JsonNumber(text), m: [new JsonNumber(text)] },
      problems: [],
    });
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length'])(
    'the name %s is a name like any other',
    (name) => {
      const { value, problems } = parse(`{"${name}":{"polluted":true},"a":1}`);
      expect(problems).toEqual([]);
      expect(isJsonObject(value) && Object.keys(value)).toEqual([name, 'a']);
      expect(toJsonText(value)).toBe(`{"${name}":{"polluted":true},"a":1}`);
      expect(value instanceof Object).toBe(false);
      expect(Reflect.has({}, 'polluted')).toBe(false);
    },
  );

  it('is converted back to the same JSON, for any notation', () => {
    const written = valueText.filter((text) => parse(text).problems.length === 0);
    fc.assert(
      fc.property(written, (text) => {
        const { value } = parse(text);
        expect(JSON.parse(toJsonText(value))).toEqual(JSON.parse(text));
        expect(parse(toJsonText(value))).toEqual({ value, problems: [] });
        for (const object of objectsOf(value)) expect(object instanceof Object).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  it('holds every string as JSON.parse reads it, and every number as it was written', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(stringText, numberText)), (pairs) => {
        const { value } = parse(`[${pairs.map(([s, n]) => `${s} , ${n}`).join('\t,\r\n')}]`);
        expect(value).toEqual(pairs.flatMap(([s, n]) => [JSON.parse(s), new JsonNumber(n)]));
      }),
    );
  });

  it('holds any text that UTF-16 can write well', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const { value, problems } = parse(JSON.stringify({ text }));
        const isKept = !text.includes('\0');
        expect(problems).toHaveLength(isKept ? 0 : 1);
        expect(value).toEqual({ text: isKept ? text : null });
      }),
    );
  });
});

describe('the problems of a title', () => {
  const long = 'n'.repeat(61);

  it.each([
    ['U+0000 in a string', '{"a":{"b":"x\\u0000"}}', 'a.b: expected a string without U+0000'],
    ['U+0000 in a name', '{"a":{"b\\u0000":1}}', 'a: expected a field name without U+0000'],
    ['a high surrogate', '{"a":["","\\ud800"]}', 'a[1]: expected a string without lone surrogates'],
    ['a low surrogate', '{"a":"\\uDC00x"}', 'a: expected a string without lone surrogates'],
    [
      'swapped surrogates',
      '{"a":"\\udc00\\ud800"}',
      'a: expected a string without lone surrogates',
    ],
    [
      'a surrogate in a name',
      '{"\\ud800":1}',
      '(title): expected a field name without lone surrogates',
    ],
    ['a field twice', '{"a":{"b":1,"c":2,"b":1}}', 'a.b: expected one value, not the field twice'],
    ['a field twice, escaped', '{"a":1,"\\u0061":2}', 'a: expected one value, not the field twice'],
    [
      '__proto__ twice',
      '{"__proto__":1,"__proto__":1}',
      '__proto__: expected one value, not the field twice',
    ],
    [
      'a field twice in an item',
      '[{},[{"x":1,"x":2}]]',
      '[1][0].x: expected one value, not the field twice',
    ],
    ['a huge exponent', '{"a":1e400}', 'a: expected a number of at most 100 digits'],
    ['a huge negative exponent', '{"a":-1E-400}', 'a: expected a number of at most 100 digits'],
    ['101 digits', `{"a":[${'9'.repeat(101)}]}`, 'a[0]: expected a number of at most 100 digits'],
    [
      'a long name',
      `{"${long}":1e400}`,
      `${'n'.repeat(59)}…: expected a number of at most 100 digits`,
    ],
    [
      'a name with a line break',
      '{"a\\nb":1e400}',
      'a\u{fffd}b: expected a number of at most 100 digits',
    ],
    ['a string for a title', '"\\u0000"', '(title): expected a string without U+0000'],
  ])('%s', (_, text, problem) => {
    expect(parse(text).problems).toEqual([problem]);
  });

  it.each([
    ['a stray tail', '80'],
    ['a byte that UTF-8 never has', 'ff'],
    ['an overlong character', 'c0 af'],
    ['a cut character', 'e2 82'],
    ['a surrogate', 'ed a0 80'],
    ['beyond U+10FFFF', 'f4 90 80 80'],
  ])('invalid UTF-8 in a value and in a name: %s', (_, hex) => {
    const text = Buffer.from(hex.replaceAll(' ', ''), 'hex');
    const inValue = Buffer.concat([Buffer.from('{"é":{"b":"é'), text, Buffer.from('"}}')]);
    expect(parseExactJson(inValue).problems).toEqual(['é.b: expected a string in valid UTF-8']);
    const inName = Buffer.concat([Buffer.from('{"é":{"'), text, Buffer.from('":1}}')]);
    expect(parseExactJson(inName).problems).toEqual(['é: expected a field name in valid UTF-8']);
  });

  it('name invalid UTF-8 exactly where the decoder does', () => {
    // Letters, and the pieces of characters, but neither quotes, escapes nor control characters.
    const byte = fc.constantFrom(0x61, 0x80, 0x8f, 0x90, 0xa0, 0xbf, 0xc3, 0xe0, 0xed, 0xf0, 0xf4);
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 6 }), (bytes) => {
        const text = Buffer.from(bytes);
        const { value, problems } = parseExactJson(Buffer.from([0x22, ...bytes, 0x22]));
        expect(problems).toHaveLength(isUtf8(text) ? 0 : 1);
        expect(value).toBe(isUtf8(text) ? text.toString() : null);
      }),
      { numRuns: 5000 },
    );
  });

  it('are all found, and leave the rest of the title readable', () => {
    const { value, problems } = parse('{"a":"\\u0000","b":{"c":1e999,"d":2},"d":"x"}');
    expect(problems).toHaveLength(2);
    expect(value).toEqual({ a: null, b: { c: null, d: new JsonNumber('2') }, d: 'x' });
  });

  it('keep the first of a field that comes twice', () => {
    expect(parse('{"a":1,"a":2}').value).toEqual({ a: new JsonNumber('1') });
  });

  it('end after twenty', () => {
    const { problems } = parse(`[${Array.from({ length: 1000 }, () => '1e999').join(',')}]`);
    expect(problems).toHaveLength(21);
    expect(problems.at(-1)).toBe('further problems are not listed');
  });

  it('never hold a value', () => {
    const secret = '52998224725';
    const title = `{"a":"${secret}\\u0000","b":"${secret}\\ud800","c":${secret}e999,"d":{},"d":"${secret}"}`;
    const { problems } = parse(title);
    expect(problems).toHaveLength(4);
    expect(problems.join()).not.toContain(secret);
  });
});

describe('nesting', () => {
  const nested = (depth: number, inner = '') => '['.repeat(depth) + inner + ']'.repeat(depth);
  const problem = 'expected at most 32 levels of nesting';

  it('is read down to 32 levels', () => {
    expect(parse(nested(32)).problems).toEqual([]);
    expect(toJsonText(parse(nested(32)).value)).toBe(nested(32));
    expect(parse(nested(33)).problems).toEqual([`${'[0]'.repeat(32)}: ${problem}`]);
  });

  it('beyond that is skipped, with any content', () => {
    const deep = nested(32, '{"]":["}\\"]","\\\\",{"a":[1e999,"\\u0000"]}]}');
    const { value, problems } = parse(`{"a":${deep},"b":1}`);
    expect(problems).toEqual([`a${'[0]'.repeat(31)}: ${problem}`]);
    expect(value).toMatchObject({ b: new JsonNumber('1') });
  });

  it.each([100_000, 500_000])('of %i levels overflows nothing', (depth) => {
    expect(parse(nested(depth)).problems).toEqual([`${'[0]'.repeat(32)}: ${problem}`]);
    const objects = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    expect(parse(objects).problems).toEqual([`${'a.'.repeat(31)}a: ${problem}`]);
  });
});

describe('bytes that are no JSON value', () => {
  it.each([
    '',
    ' ',
    '{',
    '{"a"',
    '{"a":',
    '{"a":1',
    '[',
    '[1',
    '[1,',
    '"',
    '"\\',
    '1 2',
    '{a:1}',
    ']',
    nestedCut(),
  ])('%j end in an error', (text) => {
    expect(() => parse(text)).toThrow();
  });

  function nestedCut(): string {
    return `${'['.repeat(40)}"`;
  }
});
