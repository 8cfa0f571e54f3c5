import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readPayableFile } from '../../../src/features/matching/payables/payable-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'payables-'));

async function read(name: string, text: string) {
  const path = join(folder, name);
  writeFileSync(path, text);
  const rows = [];
  for await (const row of readPayableFile(path)) rows.push(row);
  return rows;
}

const HEAD = 'erpKey;supplierExternalId;dueDate;openValue;status';

it('reads the amounts and dates of Brazilian files exactly', async () => {
  const rows = await read(
    'brazilian.csv',
    `${HEAD}\n1;F1;31/03/2026;1.234.567,80;open\n2;F1;2026-03-31;-0,17;\n3;F1;;90071992547409931.5;PAID`,
  );
  expect(rows.map(({ payable }) => payable)).toMatchObject([
    { erpKey: '1', dueDate: '2026-03-31', openValue: '1234567.80', status: 'open' },
    { erpKey: '2', dueDate: '2026-03-31', openValue: '-0.17', status: 'open' },
    { erpKey: '3', dueDate: null, openValue: '90071992547409931.5', status: 'paid' },
  ]);
});

it.each([
  ['an ambiguous amount', '1;F1;2026-03-31;1.234;open', 'openValue', /such as 1234.50/],
  [
    'an amount with leading zeros',
    '1;F1;2026-03-31;000123,50;open',
    'openValue',
    /1.234,50.*leading zeros/,
  ],
  ['a signed zero', '1;F1;2026-03-31;-0,00;open', 'openValue', /zero without a sign/],
  ['no amount', '1;F1;2026-03-31;;open', 'openValue', /^missing/],
  ['a date that is none', '1;F1;30/02/2026;1;open', 'dueDate', /calendar date/],
  ['another status', '1;F1;2026-03-31;1;late', 'status', /open, paid, cancelled/],
  ['no key', ';F1;2026-03-31;1;open', 'erpKey', /missing/],
  ['no supplier', '1;;2026-03-31;1;open', 'supplierExternalId', /supplierTaxId/],
  ['too few cells', '1;F1;2026-03-31;1', '(row)', /expected 5 cells, got 4/],
])('refuses %s by line and field, and keeps the row', async (_, row, field, expected) => {
  const rows = await read('refused.csv', `${HEAD}\n0;F1;2026-03-31;1;open\n${row}`);
  expect(rows[0]?.payable?.erpKey).toBe('0');
  expect(rows[1]).toMatchObject({ at: 3, payable: null });
  expect(rows[1]?.faults).toEqual([{ field, expected: expect.stringMatching(expected) }]);
  expect(JSON.parse(rows[1]?.raw ?? '')).toEqual(row.split(';'));
});

it('refuses a header with an unknown column, without quoting the column', async () => {
  await expect(read('header.csv', 'erpKey;52998224725;openValue\n')).rejects.toThrow(
    /^line 1: no known name in column 2; expected erpKey/,
  );
});

it('refuses a JSON number, because its digits pass through a double', async () => {
  const rows = await read(
    'numbers.json',
    '{"payables":[{"erpKey":"1","supplierTaxId":"529.982.247-25","openValue":"10.10"},{"erpKey":"2","supplierTaxId":"1","openValue":10.1}]}',
  );
  expect(rows[0]?.payable).toMatchObject({ supplierTaxId: '52998224725', openValue: '10.10' });
  expect(rows[1]?.faults.map(({ field }) => field)).toEqual(['supplierTaxId', 'openValue']);
});

const KEY = `2026-03-02:${'ab'.repeat(16)}:1:2`;
const PAYABLE = { erpKey: '1', supplierExternalId: 'F1', openValue: '1.00' };

async function readFaults(fields: object) {
  const rows = await read('one.json', JSON.stringify([{ ...PAYABLE, ...fields }]));
  return rows[0]?.faults.map(({ field, expected }) => `${field}: ${expected}`);
}

it.each([
  '1.234',
  '25.000',
  '1234.5678',
  '-0',
  '-0.00',
  '01234.50',
  '1e3',
  '1234,50',
  `1${'0'.repeat(18)}`,
])('refuses %s in JSON as openValue and as totalValue', async (amount) => {
  const faults = await readFaults({ openValue: amount, totalValue: amount });
  expect(faults).toEqual([
    expect.stringMatching(/^openValue: expected (zero|.*"1234\.50")/),
    expect.stringMatching(/^totalValue: expected (zero|.*"1234\.50")/),
  ]);
});

it('takes a credit note, zero and the greatest amount in JSON', async () => {
  for (const openValue of ['-12.5', '0', '0.00', '999999999999999999.99']) {
    expect(await readFaults({ openValue })).toEqual([]);
  }
});

it('reads how, when and by which line a payable was settled, from CSV and JSON alike', async () => {
  const csv = await read(
    'settled.csv',
    'erpKey;supplierExternalId;openValue;status;settledAs;settledBy;settledOn;paidTo;totalValue;currency;bookingKey;issueDate\n' +
      `1;F1;0;paid;Assignment;${KEY.toUpperCase()};02/03/2026;529.982.247-25;1.234,50;BRL;${KEY};01/02/2026`,
  );
  const settled = {
    settledAs: 'assignment',
    settledBy: KEY,
    settledOn: '2026-03-02',
    paidTo: '52998224725',
    totalValue: '1234.50',
    currency: 'BRL',
    bookingKey: KEY,
    issueDate: '2026-02-01',
  };
  expect(csv[0]?.payable).toMatchObject(settled);
  const json = await read('settled.json', JSON.stringify([{ ...PAYABLE, ...settled }]));
  expect(json[0]?.payable).toMatchObject(settled);
});

it.each([
  ['settledAs', 'DAC', 'payment, assignment, offset'],
  ['settledBy', '2026-03-02:12:1:1', 'the key of a booking line'],
  ['bookingKey', `2026-03-02:${'ab'.repeat(16)}:1`, 'the key of a booking line'],
  ['settledOn', '2026-02-30', 'YYYY-MM-DD'],
  ['issueDate', '31/03/2026', 'YYYY-MM-DD'],
  ['paidTo', '52998224726', 'CPF or CNPJ'],
  ['currency', 'R$', 'three upper-case letters'],
  ['currency', 'brl', 'three upper-case letters'],
])('refuses %s %s and names the form', async (field, text, form) => {
  const [fault, ...others] = (await readFaults({ [field]: text })) ?? [];
  expect(others).toEqual([]);
  expect(fault).toMatch(new RegExp(`^${field}: expected`));
  expect(fault).toContain(form);
});
