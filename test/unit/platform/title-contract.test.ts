import { describe, expect, test } from 'vitest';
import { JsonNumber, type JsonValue } from '../../../src/base/values/json-value.ts';
import { checkTitle } from '../../../src/core/title/title-contract.ts';
import {
  barestTitle,
  completeTitle,
  DATE,
  titleWith,
  titleWithout,
  toJsonValue,
} from './sample-title.ts';

const WINDOW = { from: DATE, to: DATE };

const REQUIRED = ['order', 'order.uid', 'acceptedDate', 'originalValue'];

function fieldsOf(object: object, prefix = ''): (readonly [path: string, type: string])[] {
  return Object.entries(object).flatMap(([name, value]) => {
    const path = prefix + name;
    if (value instanceof JsonNumber) return [[path, 'a number'] as const];
    if (typeof value !== 'object') return [[path, `a ${typeof value}`] as const];
    return [[path, 'an object'] as const, ...fieldsOf(value, `${path}.`)];
  });
}

/** The documented fields, with the type that each takes. */
const FIELDS = fieldsOf(completeTitle());
const pathsOf = (type: string) => FIELDS.flatMap(([path, its]) => (its === type ? path : []));

const OF_EVERY_TYPE: ReadonlyArray<readonly [string, unknown]> = [
  ['null', null],
  ['a boolean', true],
  ['a string', 'secret'],
  ['a number', new JsonNumber('424242')],
  ['an array', ['secret']],
  ['an object', { secret: 'secret' }],
];

function reasonsFor(value: JsonValue): readonly string[] {
  const check = checkTitle(value, WINDOW);
  return check.ok ? [] : check.reasons;
}

describe('a title as documented', () => {
  test('may have nothing but an order, an accepted date and an original value', () => {
    const check = checkTitle(toJsonValue(barestTitle()), WINDOW);
    const filled = check.ok
      ? Object.entries(check.title).filter(([, value]) => value !== null)
      : [];
    expect(filled.map(([column]) => column)).toEqual([
      'order_uid',
      'accepted_date',
      'original_value',
    ]);
  });

  const optional = FIELDS.map(([path]) => path).filter((path) => !REQUIRED.includes(path));
  test.each(optional)('%s absent and null are the same', (path) => {
    const absent = checkTitle(titleWithout(path), WINDOW);
    expect(absent.ok).toBe(true);
    expect(checkTitle(titleWith(path, null), WINDOW)).toEqual(absent);
  });
});

describe('a wrong type is rejected with the path and both types, never the value', () => {
  const wrongTypes = FIELDS.flatMap(([path, expected]) => {
    const taken = REQUIRED.includes(path) ? [expected] : ['null', expected];
    const others = OF_EVERY_TYPE.filter(([type]) => !taken.includes(type));
    return others.map(([type, wrong]) => [path, type, expected, wrong] as const);
  });
  test.each(wrongTypes)('%s: %s for %s', (path, type, expected, wrong) => {
    expect(reasonsFor(titleWith(path, wrong))).toEqual([
      `${path}: expected ${expected}, got ${type}`,
    ]);
  });

  test.each(OF_EVERY_TYPE.filter(([type]) => type !== 'an object'))(
    '%s for the title',
    (type, wrong) => {
      expect(checkTitle(toJsonValue(wrong), WINDOW)).toEqual({
        ok: false,
        reasons: [`(title): expected an object, got ${type}`],
        acceptedDate: null,
      });
    },
  );
});

describe('required fields', () => {
  test.each(REQUIRED)('%s', (path) => {
    expect(reasonsFor(titleWithout(path))).toEqual([`${path}: missing`]);
  });

  test('an order uid that is not empty', () => {
    expect(reasonsFor(titleWith('order.uid', ''))).toEqual([
      'order.uid: expected text that is not empty',
    ]);
  });
});

describe('limits of text', () => {
  const KEYS = ['buyerIdentification', 'providerExternalId', 'provider.externalId', 'order.uid'];
  const limits = pathsOf('a string')
    .filter((path) => !path.endsWith('Date'))
    .map((path) => [path, KEYS.includes(path) ? 255 : 1000] as const);

  test.each(limits)('%s takes %i characters and no more', (path, limit) => {
    expect(reasonsFor(titleWith(path, 'x'.repeat(limit)))).toEqual([]);
    expect(reasonsFor(titleWith(path, '😀'.repeat(limit)))).toEqual([]);
    expect(reasonsFor(titleWith(path, 'x'.repeat(limit + 1)))).toEqual([
      `${path}: expected at most ${limit} characters`,
    ]);
  });

  test.each(limits)(
    '%s takes neither U+0000 nor a lone surrogate, which the database would refuse or alter',
    (path) => {
      const reason = `${path}: expected text without U+0000 and lone surrogates`;
      expect(reasonsFor(titleWith(path, 'a\u0000b'))).toEqual([reason]);
      expect(reasonsFor(titleWith(path, 'a\ud800b'))).toEqual([reason]);
      expect(reasonsFor(titleWith(path, 'a\u0001\u2028b'))).toEqual([]);
    },
  );
});

describe('amounts', () => {
  test.each(pathsOf('a number'))('%s takes 100 digits and no more', (path) => {
    expect(reasonsFor(titleWith(path, new JsonNumber('9'.repeat(100))))).toEqual([]);
    expect(reasonsFor(titleWith(path, new JsonNumber('1e99')))).toEqual([]);
    for (const text of ['9'.repeat(101), '1e100', '1E-101', '1e999999999', '0e101']) {
      expect(reasonsFor(titleWith(path, new JsonNumber(text)))).toEqual([
        `${path}: expected a number of at most 100 digits`,
      ]);
    }
  });
});

describe('dates', () => {
  const noDates = ['', '2026-02-30', '0000-01-01', '2026-01-02T00:00:00Z'];

  test.each(noDates)('%j is no due date and no accepted date', (text) => {
    expect(reasonsFor(titleWith('anticipatedDueDate', text))).toEqual([
      'anticipatedDueDate: expected a calendar date as YYYY-MM-DD',
    ]);
    expect(checkTitle(titleWith('acceptedDate', text), WINDOW)).toEqual({
      ok: false,
      reasons: ['acceptedDate: expected a calendar date as YYYY-MM-DD'],
      acceptedDate: null,
    });
  });

  test('an accepted date outside the window rejects the title and dates nothing', () => {
    for (const [outside, window] of [
      ['2026-01-01', WINDOW],
      ['2026-01-03', WINDOW],
      ['2026-01-01', { from: DATE, to: null }],
    ] as const) {
      expect(checkTitle(titleWith('acceptedDate', outside), window)).toEqual({
        ok: false,
        reasons: [`acceptedDate: ${outside} is outside the requested window`],
        acceptedDate: null,
      });
    }
    expect(checkTitle(titleWith('acceptedDate', '2999-12-31'), { from: DATE, to: null }).ok).toBe(
      true,
    );
  });

  test('a title that is rejected for something else still belongs to its day', () => {
    expect(checkTitle(titleWith('billingFee', 'free'), WINDOW)).toMatchObject({
      ok: false,
      acceptedDate: '2026-01-02',
    });
  });
});

describe('the reasons', () => {
  test('come all at once', () => {
    const title = toJsonValue({
      ...completeTitle(),
      order: {},
      acceptedDate: '2025-12-31',
      billingFee: 'x',
      provider: { bankAccount: { bank: 1 }, identification: false },
    });
    expect([...reasonsFor(title)].sort()).toEqual([
      'acceptedDate: 2025-12-31 is outside the requested window',
      'billingFee: expected a number, got a string',
      'order.uid: missing',
      'provider.bankAccount.bank: expected a string, got a number',
      'provider.identification: expected a string, got a boolean',
    ]);
  });

  test('are twenty at most', () => {
    const wrong = (object: object): object =>
      Object.fromEntries(
        Object.entries(object).map(([name, value]) => [
          name,
          typeof value === 'object' && !(value instanceof JsonNumber) ? wrong(value) : [name],
        ]),
      );
    expect(reasonsFor(toJsonValue(wrong(completeTitle())))).toHaveLength(20);
  });
});
