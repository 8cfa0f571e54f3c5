import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import { type Decimal, parseDecimal } from '../../../src/base/values/decimal.ts';
import {
  AMOUNT_COLUMNS,
  contentHash,
  IDENTITY_COLUMNS,
  identityHash,
  TITLE_COLUMNS,
  type Title,
  type TitleColumn,
  TitleFold,
  toDigest,
  VALUE_COLUMNS,
} from '../../../src/core/title/title.ts';
import { checkTitle } from '../../../src/core/title/title-contract.ts';
import { completeTitle, DATE } from '../platform/sample-title.ts';

const decimal = (written: string) => parseDecimal(written) as Decimal;

const TITLE: Title = sampleTitle();

function sampleTitle(): Title {
  const check = checkTitle({ ...completeTitle(), currency: 'BRL' }, { from: DATE, to: DATE });
  if (!check.ok) throw new Error(check.reasons.join());
  return check.title;
}

/** Another value of the column's own type. */
function otherValue(column: TitleColumn): Title[TitleColumn] {
  const value = TITLE[column];
  if (typeof value === 'boolean') return !value;
  if (column === 'extra') return {};
  if (column.endsWith('_date')) return toCivilDate('2026-07-02');
  return typeof value === 'string' ? `${value}x` : decimal('999.99');
}

const identityColumns: ReadonlySet<TitleColumn> = new Set(IDENTITY_COLUMNS);
const amountColumns: ReadonlySet<TitleColumn> = new Set(AMOUNT_COLUMNS);
const nullableColumns = VALUE_COLUMNS.filter(
  (column) => !['order_uid', 'accepted_date', 'original_value'].includes(column),
);

it('the terms of the agreement identify a title', () => {
  expect(IDENTITY_COLUMNS).toEqual([
    'order_uid',
    'accepted_date',
    'anticipated_due_date',
    'buyer_identification',
    'provider_external_id',
    'original_value',
  ]);
});

it('hashes are 32 hexadecimal digits that outlive a release', () => {
  // A changed hash would make every title of every day "changed" on the next pull.
  expect(identityHash(TITLE)).toMatchInlineSnapshot(`"0ce2c884f4e35a7899713520f2fd05eb"`);
  expect(contentHash(TITLE)).toMatchInlineSnapshot(`"1b0d2b4018243f94db94835c54fc65cd"`);
});

describe.each(TITLE_COLUMNS)('%s', (column) => {
  const changed: Title = { ...TITLE, [column]: otherValue(column) };

  it(`${column === 'extra' ? 'leaves' : 'decides'} the content hash`, () => {
    expect(contentHash(changed) === contentHash(TITLE)).toBe(column === 'extra');
  });

  it(`${identityColumns.has(column) ? 'decides' : 'leaves'} the identity`, () => {
    expect(identityHash(changed) === identityHash(TITLE)).toBe(!identityColumns.has(column));
  });
});

describe.each(nullableColumns)('%s', (column) => {
  it('of null is neither the value, the empty string nor the word', () => {
    const texts = [TITLE[column], null, '', 'null', '='];
    const hashes = texts.map((value) => contentHash({ ...TITLE, [column]: value } as Title));
    if (amountColumns.has(column)) hashes.splice(2);
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});

it.each(AMOUNT_COLUMNS)('%s is compared as a number, however it was written', (column) => {
  const hashesFor = (written: string) => {
    const title = { ...TITLE, [column]: decimal(written) };
    return [identityHash(title), contentHash(title)];
  };
  for (const same of ['1.10', '11e-1', '0.11E+1'])
    expect(hashesFor(same)).toEqual(hashesFor('1.1'));
  expect(hashesFor('-0.00')).toEqual(hashesFor('0'));
  expect(contentHash({ ...TITLE, [column]: decimal('1.100000000000000000001') })).not.toBe(
    contentHash({ ...TITLE, [column]: decimal('1.1') }),
  );
});

it('no value runs into the next', () => {
  const shift = (bank: string | null, agency: string | null) =>
    contentHash({ ...TITLE, provider_bank: bank, provider_agency: agency });
  const hashes = [
    shift('ab', 'c'),
    shift('a', 'bc'),
    shift('abc', ''),
    shift('abc', null),
    shift('', 'abc'),
    shift(null, 'abc'),
    shift('=', null),
    shift(null, '='),
    shift('a=b', 'c'),
    shift('a', '=bc'),
  ];
  expect(new Set(hashes).size).toBe(hashes.length);
});

const hashDigits = fc.stringMatching(/^[0-9a-f]{32}$/);

function foldOf(hashes: readonly string[]): string {
  const fold = new TitleFold();
  for (const hash of hashes) fold.add(toDigest(hash));
  return `${fold.count} ${fold.toText()}`;
}

test('the sum is the sum of the hashes modulo 2^128, in any order', () => {
  fc.assert(
    fc.property(fc.array(hashDigits, { maxLength: 50 }), (hashes) => {
      const sum = hashes.reduce((total, hash) => total + BigInt(`0x${hash}`), 0n);
      const expected = `${hashes.length} ${(sum % 2n ** 128n).toString(16).padStart(32, '0')}`;
      expect(foldOf(hashes)).toBe(expected);
      expect(foldOf(hashes.toReversed())).toBe(expected);
    }),
  );
});

test('carries go through every lane', () => {
  const most = 'f'.repeat(32);
  expect(foldOf([most, `${'0'.repeat(31)}1`])).toBe(`2 ${'0'.repeat(32)}`);
  expect(foldOf(Array.from({ length: 70_000 }, () => most))).toBe(
    `70000 ${(2n ** 128n - 70_000n).toString(16)}`,
  );
});
