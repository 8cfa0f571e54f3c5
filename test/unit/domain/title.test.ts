import { describe, expect, it } from 'vitest';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import { type Decimal, parseDecimal } from '../../../src/base/values/decimal.ts';
import { isJsonObject, type JsonObject } from '../../../src/base/values/json-value.ts';
import { parseTitle } from '../../../src/core/reader/exact-title.ts';
import {
  AMOUNT_COLUMNS,
  contentHash,
  IDENTITY_COLUMNS,
  identityHash,
  TITLE_COLUMNS,
  type Title,
  type TitleColumn,
  VALUE_COLUMNS,
} from '../../../src/core/title/title.ts';

function decimal(written: string): Decimal {
  const parsed = parseDecimal(written);
  if (parsed === null) throw new RangeError(`no decimal: ${written}`);
  return parsed;
}

function extra(text: string): JsonObject {
  const { value } = parseTitle(Buffer.from(text));
  if (!isJsonObject(value)) throw new TypeError(`no object: ${text}`);
  return value;
}

const TITLE: Title = {
  order_uid: 'order-1',
  accepted_date: toCivilDate('2026-07-01'),
  anticipated_due_date: toCivilDate('2026-09-30'),
  buyer_identification: 'buyer-1',
  provider_external_id: 'F-1',
  provider_identification: 'provider-1',
  provider_bank: '001',
  provider_agency: '4321',
  provider_agency_digit: '9',
  provider_account: '123456',
  provider_account_digit: '7',
  financial_agent_type: 'INDIVIDUAL',
  financial_agent_identification: 'agent-1',
  financial_agent_name: 'Agent',
  buyer_is_financial: false,
  payment_type: 'BANK_TRANSFER',
  payment_bank: '341',
  payment_agency: '1234',
  payment_agency_digit: '0',
  payment_account: '98765',
  payment_account_digit: '1',
  original_value: decimal('1000.00'),
  platform_discounted_value: decimal('10.5'),
  financial_discounted_value: decimal('20.5'),
  buyer_discounted_value: decimal('0'),
  billing_fee: decimal('1.25'),
  money_transfer_fee: decimal('3.75'),
  platform_commission: '1.25',
  extra: extra('{"currency":"BRL","provider":{"rating":1}}'),
};

/** Another value of the column's own type. */
function otherValue(column: TitleColumn): Title[TitleColumn] {
  const value = TITLE[column];
  if (typeof value === 'boolean') return !value;
  if (column === 'extra') return extra('{"currency":"USD","provider":{"rating":1}}');
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
  expect(identityHash(TITLE)).toMatchInlineSnapshot(`"845ac741ed1952c63d4be1706f311a48"`);
  expect(contentHash(TITLE)).toMatchInlineSnapshot(`"e7326451d2375274219ee323fcef09e5"`);
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

describe('amounts', () => {
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
