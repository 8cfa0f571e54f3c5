import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPayableFile } from '../../../src/features/matching/payables/payable.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';

const folder = forFile(openFolder);

async function read(
  name: string,
  text: string | Buffer,
  more: Partial<Parameters<typeof readPayableFile>[0]> = {},
) {
  const path = join(folder.path, name);
  await writeFile(path, text);
  const rows = [];
  const reading = Object.assign(more, { path, encoding: more.encoding ?? 'utf-8' });
  for await (const row of readPayableFile(reading)) rows.push(row);
  return rows;
}

const HEAD = 'erpKey;supplierExternalId;dueDate;openValue;status';

it.each([
  ['31/03/2026;1.234.567,80;open', '2026-03-31', '1234567.80', 'open'],
  ['2026-03-31;-0,17;', '2026-03-31', '-0.17', 'open'],
  [';90071992547409931.5;PAID', null, '90071992547409931.5', 'paid'],
  ['31-03-2026;1;PAGO', '2026-03-31', '1', 'paid'],
  ['20260331;R$ 1.234,50;aberto', '2026-03-31', '1234.50', 'open'],
  ['2026-03-31T00:00:00.000;R$1234.5;', '2026-03-31', '1234.5', 'open'],
  ['31/03/2026 00:00;-R$\u00a01.234,50;', '2026-03-31', '-1234.50', 'open'],
  [';r$ -0,17;', null, '-0.17', 'open'],
  ['00000000;1;', null, '1', 'open'],
  ['00/00/0000;1;', null, '1', 'open'],
  ['  /  /    ;1;', null, '1', 'open'],
])('reads date, amount and status of %s exactly', async (cells, dueDate, openValue, status) => {
  const rows = await read('cells.csv', `${HEAD}\n1;F1;${cells}`);
  expect(rows).toMatchObject([{ payable: { erpKey: '1', dueDate, openValue, status } }]);
});

it.each([
  ['sep=;', `sep=;\r\n${HEAD}\r\n1;F1;;2;\r\n`],
  ['tabs', `${HEAD}\n1;F1;;2;\n`.replaceAll(';', '\t')],
  ['sep= and a tab', `sep=\t\n${HEAD}\n1;F1;;2;\n`.replaceAll(';', '\t')],
  ['a separator at the end of each line', `${HEAD};\n1;F1;;2;;\n3;F1;;2;;\n`],
  ['a separator at the end of each row only', `${HEAD}\n1;F1;;2;;\n3;F1;;2;;\n`],
  ['a separator at the end of the header only', `${HEAD};\n1;F1;;2;\n3;F1;;2;\n`],
])('reads a file with %s', async (_, text) => {
  const rows = await read('shape.csv', text);
  expect(rows.flatMap(({ faults }) => faults)).toEqual([]);
  expect(rows[0]).toMatchObject({ payable: { erpKey: '1', openValue: '2' } });
});

it.each([
  ['a row longer than the others', 'erpKey;supplierExternalId;openValue;document', '2;F;1;x;'],
  // The comma of 1234,50 makes a cell, and the document would be 50.
  ['a comma that may be decimal', 'erpKey,supplierExternalId,openValue,document', '2,F1,1234,50,'],
])('refuses %s, although only its last cell is empty', async (_, head, row) => {
  const rows = await read('shifted.csv', `${head}\n${head.replace(/\w+/g, '1')}\n${row}`);
  expect(rows.map(({ faults }) => faults.map(({ expected }) => expected))).toEqual([
    [],
    ['expected 4 cells, got 5'],
  ]);
});

it.each([
  ['Total;;;1.234,50;'],
  ['Total de títulos: 1;;;;'],
  [';;;1.234,50;TOTAL GERAL:'],
  ['Totais;2;R$ 1.234,50'],
])('leaves out the totals %s at the end, and only there', async (totals) => {
  const [first, second]: { totalsLine?: number | null }[] = [{}, {}];
  const good = '1;F1;;2;';
  const ended = await read('totals.csv', `${HEAD}\n${good}\n${totals}\n`, first);
  expect(ended.map(({ at }) => at)).toEqual([2]);
  expect(first?.totalsLine).toBe(3);
  const within = await read('totals.csv', `${HEAD}\n${totals}\n${good}\n`, second);
  expect(within.map(({ at, payable }) => [at, payable === null])).toEqual([
    [2, true],
    [3, false],
  ]);
  expect(second?.totalsLine).toBeNull();
});

it.each([
  ['is good', 'Total;F1;;10,00;', true],
  ['names a supplier', ';Total;;x;', true],
  ['has another word', 'Total;F1;;x;', true],
])('keeps a last row that %s', async (_, row) => {
  const rows = await read('kept.csv', `${HEAD}\n${row}\n`);
  expect(rows).toHaveLength(1);
});

describe('of a file that is not UTF-8', () => {
  const latin = (text: string) => Buffer.from(`${HEAD};company\n1;F1;;2;;${text}\n`, 'latin1');

  it('refuses the bytes and names the option', async () => {
    await expect(read('latin.csv', latin('Açúcar'))).rejects.toThrow('--encoding windows-1252');
    await expect(read('latin.json', latin('Açúcar'))).rejects.toThrow('--encoding windows-1252');
  });

  it('reads every letter with the option, and UTF-8 as it is', async () => {
    const encoding = 'windows-1252';
    const companies = async (bytes: Buffer) =>
      (await read('encoded.csv', bytes, { encoding })).map(({ payable }) => payable?.company);
    expect(await companies(latin('Açúcar \x96 São João'))).toEqual(['Açúcar – São João']);
    expect(await companies(Buffer.from(latin('Açúcar').toString('latin1')))).toEqual(['Açúcar']);
  });

  it.each([
    // UTF-8 whose last letter was cut: as Windows-1252 the first would be "Ã§".
    ['mixes', Buffer.concat([Buffer.from(`${HEAD}\n1;ção;;2;\n2;S`), Buffer.from([0xc3, 0x0a])])],
    ['is UTF-16', Buffer.from(`\ufeff${HEAD}`, 'utf16le')],
    // CP850: 0x81 is "ü" and no letter of Windows-1252.
    ['is not windows-1252', latin('M\x81ller')],
  ])('refuses bytes of which some letters would be wrong: %s', async (message, bytes) => {
    const reading = read('mixed.csv', bytes, { encoding: 'windows-1252' });
    await expect(reading).rejects.toThrow(message);
  });
});

it.each([
  ['an ambiguous amount', '1;F1;;1.234;open', 'openValue', /as 1234.50.*9.999, .*write 1.234,00/],
  ['an ambiguous amount in reais', '1;F1;;-R$ 1,234;open', 'openValue', /write 1.234,00/],
  ['a foreign currency', '1;F1;;US$ 1.234,50;open', 'openValue', /form AA\$ 9.999,99$/],
  ['a year of two digits', '1;F1;31/03/26;1;open', 'dueDate', /31-03-2026.*form 99\/99\/99$/],
  ['two separators in a date', '1;F1;31/03-2026;1;open', 'dueDate', /four digits/],
  ['a time that may be another day', '1;F1;2026-03-31 21:00:00;1;open', 'dueDate', /00:00:00/],
  ['an amount with leading zeros', '1;F1;;000123,50;open', 'openValue', /1.234,50.*leading zeros/],
  ['a signed zero', '1;F1;2026-03-31;-0,00;open', 'openValue', /zero without a sign/],
  ['no amount', '1;F1;2026-03-31;;open', 'openValue', /^missing/],
  ['a date that is none', '1;F1;30/02/2026;1;open', 'dueDate', /31-03-2026.*form 99.99.9999/],
  ['another status', '1;F1;2026-03-31;1;late', 'status', /open, paid, cancelled, aberto/],
  ['a rounded key', '1,2345E+12;F1;2026-03-31;1;open', 'erpKey', /spreadsheet.*format text/],
  ['a rounded supplier', '1;1.2E+10;;1;open', 'supplierExternalId', /spreadsheet/],
  ['an error of a spreadsheet', '1;#N/D;;1;open', 'supplierExternalId', /spreadsheet/],
  ['too many digits', '1;F1;;1234567890123456789;open', 'openValue', /18 digits/],
  ['three decimals', '1;F1;;1.234,567;open', 'openValue', /form 9.999,999$/],
  ['a sign at the end', '1;F1;;1.234,50-;open', 'openValue', /sign in front.*form 9.999,99-$/],
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
