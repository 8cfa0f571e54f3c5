import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import { isJsonObject, JsonNumber, toJsonText } from '../../../src/base/values/json-value.ts';
import {
  type ExactJson,
  parseTitle,
  readExactTitle,
} from '../../../src/core/reader/exact-title.ts';

function parse(text: string): ExactJson {
  return parseTitle(Buffer.from(text));
}

describe('the value of a title', () => {
  it.each([
    ['null', null],
    [' true\n', true],
    ['false', false],
    ['"\\u00e9\\uD83D\\uDE00\\n\\"\\\\\\/"', 'é😀\n"\\/'],
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

  it('holds any text, also text that looks like a quoted number', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('', '\0', '\0\0', '\x001', '\ud800'),
        fc.string({ unit: 'binary' }),
        (start, end) => {
          const text = start + end;
          const json = JSON.stringify({ text, [`${text}1`]: [text] });
          expect(parse(json)).toEqual({
            value: { text, [`${text}1`]: [text] },
            problems: [],
          });
        },
      ),
    );
    const [escaped, number] = [String.raw`"\u00001.5"`, '1.5'];
    expect(parse(`[${escaped},${number}]`).value).toEqual(['\u00001.5', new JsonNumber('1.5')]);
  });
});

describe('the problems of a title', () => {
  const twice = (path: string) => `${path}: expected one value, not the field twice`;

  it.each([
    ['{"acceptedDate":1,"b":2,"acceptedDate":1}', ['acceptedDate']],
    ['{"billingFee":1,"\\u0062illingFee":2}', ['billingFee']],
    ['{"order":{"uid":"\\"a","uid":"a\\":","uid":3}}', ['order.uid']],
    ['{"order":{},"order" : {"uid":1,"uid":2}}', ['order', 'order.uid']],
    ['{"provider":{"bankAccount":{"bank":1,"bank":1,"x":1,"x":2}}}', ['provider.bankAccount.bank']],
    ['{"x":1,"x":{"uid":1,"uid":2},"order":{"y":1,"y":1}}', []],
    ['[{"order":1,"order":2}]', []],
    ['{"x":"\\"order\\":1,\\"order\\":2"}', []],
  ])('%s: documented fields that come twice', (text, paths) => {
    expect(parse(text).problems).toEqual(paths.map(twice));
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
    for (const [before, after] of [
      ['{"é":{"b":"é', '"}}'],
      ['{"é":{"', '":1}}'],
    ]) {
      const bytes = Buffer.concat([Buffer.from(before ?? ''), text, Buffer.from(after ?? '')]);
      expect(parseTitle(bytes).problems).toEqual(['(title): expected valid UTF-8']);
    }
  });

  it('reject a title that keeps the contract otherwise, beside its other faults', () => {
    const date = toCivilDate('2026-03-02');
    const title = (more: string, value = '1') =>
      readExactTitle(
        Buffer.from(
          `{"order":{"uid":"o"},"acceptedDate":"2026-03-02","originalValue":${value}${more}}`,
          'latin1',
        ),
        { from: date, to: date },
      );
    expect(title('').ok).toBe(true);
    for (const more of [',"order":{"uid":"o"}', ',"x":"\xff"', `,"x":${nested(32)}`]) {
      expect(title(more)).toMatchObject({ ok: false, acceptedDate: date, orderUid: null });
    }
    expect(title(',"x":"\xff","billingFee":1,"billingFee":1', '"1"')).toMatchObject({
      reasons: [
        '(title): expected valid UTF-8',
        twice('billingFee'),
        'originalValue: expected a number, got a string',
      ],
    });
  });
});

const nested = (depth: number, inner = '') => '['.repeat(depth) + inner + ']'.repeat(depth);

describe('nesting', () => {
  const problems = ['(title): expected at most 32 levels of nesting'];

  it('is read down to 32 levels', () => {
    expect(parse(nested(32)).problems).toEqual([]);
    expect(toJsonText(parse(nested(32)).value)).toBe(nested(32));
    expect(parse(nested(33)).problems).toEqual(problems);
    expect(parse(`{"a":${nested(32)}}`).problems).toEqual(problems);
  });

  it('beyond that is checked to be JSON, with any content', () => {
    const deep = nested(32, '{"]":["}\\"]","\\\\",{"a":[1e999,"\\u0000"]}]}');
    const { value, problems: found } = parse(`{"a":${deep},"b":1}`);
    expect(found).toEqual(problems);
    expect(value).toMatchObject({ b: new JsonNumber('1') });
    expect(() => parse(nested(40, '01'))).toThrow('is not JSON');
  });

  it('of 100,000 levels overflows nothing', () => {
    const depth = 100_000;
    expect(parse(nested(depth)).problems).toEqual(problems);
    const objects = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    expect(parse(objects).problems).toEqual(problems);
  });
});

it.each([
  ...['', ' ', '{', '{"a"', '{"a":', '{"a":1', '[', '[1', '[1,', '"', '"\\', '1 2', '{a:1}', ']'],
  ...['{1:2}', '{"a":1,2:3}', '{-1.5e3 : 1}', '[1:2]', '["a":1]', '1"a"', '"a"1', '"a\\\n1"'],
  ...'01 - 1. .5 +1 1e 1e+ --1 1.2.3 0x1 1_0 truefalse \\"1"'.split(' '),
  ...['"\\u00001', '"\\u00', '\ufeff1', '1\u00a0', '{"a"\u2003:1}', `${'['.repeat(40)}"`],
])('%j, which is no JSON value, ends in an error that does not quote it', (text) => {
  expect(() => parse(text)).toThrow('the answer is not valid: the title at byte 0 is not JSON');
});
