import { describe, expect, test } from 'vitest';
import { JsonNumber, type JsonValue } from '../../../src/base/values/json-value.ts';
import { readExactTitle } from '../../../src/core/reader/exact-title.ts';
import { DriftLog, MAX_DRIFT_ITEMS } from '../../../src/core/reader/response-reader.ts';
import type { Title } from '../../../src/core/title/title.ts';
import { checkTitle, type DriftItem } from '../../../src/core/title/title-contract.ts';
import { barestTitle, completeTitle, DATE, titleWith, toJsonValue } from './sample-title.ts';

const WINDOW = { from: DATE, to: DATE };

function accepted(value: JsonValue): { title: Title; drift: readonly DriftItem[] } {
  const check = checkTitle(value, WINDOW);
  if (!check.ok) throw new Error(check.reasons.join('; '));
  return check;
}

describe('fields that the documented interface does not have', () => {
  test('are kept in their places, at every level, and reported', () => {
    const fields: [path: string, value: unknown, type: string][] = [
      ['foo', 1.5, 'number'],
      ['order.a', null, 'null'],
      ['financialAgent.b', [1, { deep: true }], 'array'],
      ['financialAgent.payment.pix', 'key', 'string'],
      ['provider.c', {}, 'object'],
      ['provider.bankAccount.d', false, 'boolean'],
    ];
    const { title, drift } = accepted(
      fields.reduce((sample, [path, value]) => titleWith(path, value, sample), completeTitle()),
    );
    expect(title.extra).toEqual(
      toJsonValue({
        foo: 1.5,
        order: { a: null },
        financialAgent: { b: [1, { deep: true }], payment: { pix: 'key' } },
        provider: { c: {}, bankAccount: { d: false } },
      }),
    );
    expect(drift).toHaveLength(fields.length);
    for (const [path, , value] of fields) {
      const place = `titles[].${path.replace(/\w+$/, '')}`;
      expect(drift).toContainEqual({
        place,
        path: `titles[].${path}`,
        kind: 'unknown_field',
        value,
      });
    }
  });

  test('have their names shortened and made printable before they are reported', () => {
    const { drift } = accepted(
      toJsonValue({ ...barestTitle(), ['x'.repeat(500)]: 1, 'a\u0007\nb': 1 }),
    );
    expect(drift.map(({ path }) => path.length)).toEqual([200, 'titles[].a??b'.length]);
    expect(drift[1]?.path).toBe('titles[].a\u{fffd}\u{fffd}b');
  });

  /** A title that keeps the contract, with `more` behind its last field and in its order. */
  const read = (more: string, inOrder = '') => {
    const text = `{"order":{"uid":"o"${inOrder}},"acceptedDate":"2026-01-02","originalValue":1${more}}`;
    const check = readExactTitle(Buffer.from(text, 'latin1'), WINDOW);
    if (!check.ok) throw new Error(check.reasons.join('; '));
    return check;
  };
  test.each([
    ['U+0000', String.raw`"a\u0000b"`],
    ['a lone surrogate', String.raw`"\udfff"`],
    ['a number without bounds', '1e999999999'],
  ])('are kept as their JSON text where the database cannot hold the value: %s', (_, json) => {
    const { title, drift } = read(`,"foo": ${json} ,"bar":1`, `,"foo":${json}`);
    expect(title.extra).toEqual(
      toJsonValue({ foo: json, bar: new JsonNumber('1'), order: { foo: json } }),
    );
    expect(drift.map(({ path }) => path).sort()).toEqual([
      'titles[].bar',
      'titles[].foo',
      'titles[].order.foo',
    ]);
  });

  test.each([
    [
      'keep what is beside a part that the database cannot hold',
      String.raw`,"foo": { "a" : [ 1.50 , "\u0000\u00e9", { "c\ud800": 1e999999 } ] , "b" : "key" }`,
      {
        foo: {
          a: [
            new JsonNumber('1.50'),
            String.raw`"\u0000é"`,
            { [String.raw`"c\ud800"`]: '1e999999' },
          ],
          b: 'key',
        },
      },
    ],
    [
      'have the last value where a name is repeated, also inside',
      ',"foo":1,"bar":2,"foo" : {"a":3,"a":4}',
      { foo: { a: 4 }, bar: 2 },
    ],
    [
      'have their names as JSON text where these cannot be held',
      String.raw`,"b\u0000r" : 4,"\ud800":[5, 6]`,
      { [String.raw`"b\u0000r"`]: 4, [String.raw`"\ud800"`]: [5, 6] },
    ],
  ])('%s', (_, more, extra) => {
    expect(read(more).title.extra).toEqual(toJsonValue(extra));
  });

  test.each([
    ['a documented text', String.raw`,"platformCommission":"a\u0000"`],
    ['an object in place of a documented text', ',"platformCommission":{"a":1,"a":2}'],
    ['a documented object that comes twice', ',"provider":{},"provider":{}'],
    ['an array in place of a documented object', String.raw`,"provider":["\u0000"]`],
  ])('do not excuse the documented fields: %s', (_, more) => {
    expect(() => read(`,"foo":1e999${more}`)).toThrow('expected');
  });
});

describe('values that an enumeration does not document', () => {
  test.each([
    ['financialAgent.type', 'financial_agent_type', 'FUND'],
    ['financialAgent.payment.type', 'payment_type', ''],
  ] as const)('are kept and reported: %s', (field, column, value) => {
    const { title, drift } = accepted(titleWith(field, value));
    expect(title).toMatchObject({ [column]: value, extra: null });
    const path = `titles[].${field}`;
    expect(drift).toEqual([{ place: path, path, kind: 'unknown_value', value }]);
  });

  test('are reported with at most 64 printable characters', () => {
    const { drift } = accepted(titleWith('financialAgent.type', `\u001b[31m${'x'.repeat(100)}`));
    expect(drift[0]?.value).toBe(`\u{fffd}[31m${'x'.repeat(58)}…`);
    expect(drift[0]?.value).toHaveLength(64);
  });
});

describe('the external id of the provider, which is documented twice', () => {
  const withIds = (outer: string | null, inner: string | null) =>
    accepted(
      toJsonValue({
        ...completeTitle(),
        providerExternalId: outer,
        provider: { externalId: inner, x: 1 },
      }),
    );

  test.each([
    ['F-1', 'F-1', 'F-1'],
    ['F-1', null, 'F-1'],
    [null, 'F-1', 'F-1'],
    [null, null, null],
  ])('outside %j and inside %j give %j', (outer, inner, expected) => {
    const { title, drift } = withIds(outer, inner);
    expect(title.provider_external_id).toBe(expected);
    expect(title.extra).toEqual(toJsonValue({ provider: { x: 1 } }));
    expect(drift).toHaveLength(1);
  });

  test.each([
    ['F-1', 'F-2'],
    ['', 'F-2'],
    ['F-1', ''],
  ])(
    'outside %j wins over inside %j, which is kept and reported without its value',
    (outer, inner) => {
      const { title, drift } = withIds(outer, inner);
      expect(title.provider_external_id).toBe(outer);
      expect(title.extra).toEqual(toJsonValue({ provider: { x: 1, externalId: inner } }));
      const value = 'differs from providerExternalId';
      expect(drift).toMatchObject([
        { path: 'titles[].provider.x' },
        { path: 'titles[].provider.externalId', kind: 'unknown_value', value },
      ]);
    },
  );
});

test('of the drift of a response the first thousand items are kept', () => {
  const log = new DriftLog();
  const many = Array.from({ length: MAX_DRIFT_ITEMS + 500 }, (_, index) => {
    const path = `path-${index}`;
    return { place: '', path, kind: 'unknown_field', value: 'string' } as const;
  });
  for (const one of many) log.add([one]);
  expect(log.items()).toEqual(many.slice(0, MAX_DRIFT_ITEMS));
});
