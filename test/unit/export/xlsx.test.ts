import { describe, expect, test } from 'vitest';
import type { ExportRow, RowBatches } from '../../../src/base/export/table.ts';
import { writeXlsx } from '../../../src/base/export/xlsx.ts';
import { batchesOf, COLUMNS, collect, HOSTILE_TEXTS, row } from './rows.ts';
import { readWorkbook } from './workbook-reader.ts';

const NO_TOTALS = { columns: [{ name: 'date', kind: 'date' }] as const, rows: [] };

const workbookOf = (batches: RowBatches, rowCount: number, options = {}) =>
  writeXlsx({ columns: COLUMNS, batches, rowCount, totals: NO_TOTALS, ...options });

async function write(rows: ExportRow[], options: { maxRowsPerSheet?: number } = {}) {
  const batches = batchesOf(rows.slice(0, 3), rows.slice(3));
  const archive = await collect(workbookOf(batches, rows.length, options));
  return { archive, sheets: readWorkbook(archive) };
}

async function writeCell(column: string, text: string) {
  const { sheets } = await write([row({ [column]: text })]);
  return sheets[0]?.rows[1]?.[COLUMNS.findIndex(({ name }) => name === column)];
}

describe('a workbook', () => {
  test('has typed cells under a frozen header with a filter, and leaves nulls empty', async () => {
    const cells = {
      id: '7',
      order_uid: '000123',
      accepted_date: '2026-03-02',
      original_value: '1234.50',
      buyer_is_financial: 'true',
      extra: '{"a": 1.50}',
    };
    const { sheets } = await write([row(cells), row({ id: '8' })]);
    const [titles] = sheets;
    expect(titles?.name).toBe('titles');
    expect(titles?.rows[0]?.map((cell) => cell?.value)).toEqual(COLUMNS.map(({ name }) => name));
    expect(titles?.rows[1]).toEqual([
      { type: 'number', value: '7', style: 4 },
      { type: 'text', value: '000123', style: 5 },
      { type: 'number', value: '46083', style: 2 },
      { type: 'number', value: '1234.50', style: 3 },
      { type: 'boolean', value: '1', style: 0 },
      { type: 'text', value: '{"a": 1.50}', style: 5 },
    ]);
    expect(titles?.rows[2]).toEqual([{ type: 'number', value: '8', style: 4 }]);
    expect(titles?.xml).toContain('<pane ySplit="1" topLeftCell="A2"');
    expect(titles?.xml).toContain('<autoFilter ref="A1:F3"/>');
  });

  test('continues on further sheets, each with the header, in order and without a gap', async () => {
    const rows = Array.from({ length: 7 }, (_, index) => row({ id: String(index + 1) }));
    const { sheets } = await write(rows, { maxRowsPerSheet: 3 });
    expect(
      sheets.map(({ name, rows: [header, ...below] }) => [
        name,
        header?.[0]?.value,
        below.map(([id]) => id?.value).join(),
      ]),
    ).toEqual([
      ['titles', 'id', '1,2,3'],
      ['titles 2', 'id', '4,5,6'],
      ['titles 3', 'id', '7'],
      ['totals', 'date', ''],
    ]);
    const exact = await write(rows.slice(0, 6), { maxRowsPerSheet: 3 });
    expect(exact.sheets.map(({ name }) => name)).toEqual(['titles', 'titles 2', 'totals']);
  });

  test.each([
    ['fewer', 2],
    ['more', 0],
  ])('is refused when there are %s rows than announced', async (_, rowCount) => {
    const bytes = workbookOf(batchesOf([row({ id: '1' })]), rowCount);
    await expect(collect(bytes)).rejects.toThrow('rows than announced');
  });
});

describe('a cell', () => {
  test.each(HOSTILE_TEXTS)('holds %j as text', async (text) => {
    const cell = await writeCell('order_uid', text);
    expect(cell).toEqual({ type: 'text', value: text, style: 5 });
  });

  test.each(['0.1', '-1234567890123.45', '100000000000000000000', '0.000000000000000000012'])(
    'holds the amount %s as a number, digit for digit',
    async (amount) => {
      const cell = await writeCell('original_value', amount);
      expect(cell).toEqual({ type: 'number', value: amount, style: 3 });
      // Excel reads the digits as the same decimal.
      expect(Number(Number(amount).toPrecision(15))).toBe(Number(amount));
    },
  );

  test.each(['12345678901234567.89', '1234567890123456', '0.1000000000000001', 'NaN'])(
    'holds the amount %s as text',
    async (amount) => {
      const cell = await writeCell('original_value', amount);
      expect(cell).toEqual({ type: 'text', value: amount, style: 5 });
    },
  );

  test.each([
    ['1900-03-01', 'number', '61'],
    ['2024-02-29', 'number', '45351'],
    ['9999-12-31', 'number', '2958465'],
    ['1900-02-28', 'text', '1900-02-28'],
    ['0001-01-01', 'text', '0001-01-01'],
  ])('holds the date %s as %s %s', async (date, type, value) => {
    const cell = await writeCell('accepted_date', date);
    expect(cell).toMatchObject({ type, value });
  });

  test('is cut at the limit of Excel, never through a character', async () => {
    const cell = await writeCell('extra', `${'x'.repeat(32_766)}🧾🧾`);
    expect(cell?.value).toBe('x'.repeat(32_766));
    const whole = await writeCell('extra', 'x'.repeat(32_767));
    expect(whole?.value).toHaveLength(32_767);
  });
});
