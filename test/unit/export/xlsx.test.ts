import { describe, expect, test } from 'vitest';
import type { ExportRow } from '../../../src/base/export/table.ts';
import { writeXlsx } from '../../../src/base/export/xlsx.ts';
import { batchesOf, COLUMNS, collect, HOSTILE_TEXTS, row } from './rows.ts';
import { readWorkbook } from './workbook-reader.ts';

const TOTALS = { name: 'totals', columns: [{ name: 'date', kind: 'date' }] as const, rows: [[]] };

async function write(...rows: ExportRow[]) {
  const titles = {
    name: 'titles',
    columns: COLUMNS,
    rows: batchesOf(rows.slice(0, 3), rows.slice(3)),
  };
  return readWorkbook(await collect(writeXlsx([titles, TOTALS], rows.length)));
}

async function writeCell(column: string, text: string) {
  const [titles] = await write(row({ [column]: text }));
  return titles?.rows[1]?.[COLUMNS.findIndex(({ name }) => name === column)];
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
    const [titles] = await write(row(cells), row({ id: '8' }));
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

  test('has the rows of every batch in order, and the totals on a last sheet without a filter', async () => {
    const [titles, totals, ...others] = await write(
      ...['1', '2', '3', '4', '5'].map((id) => row({ id })),
    );
    expect(titles?.rows.map(([id]) => id?.value)).toEqual(['id', '1', '2', '3', '4', '5']);
    expect(totals).toMatchObject({ name: 'totals', rows: [[{ value: 'date' }]] });
    expect(totals?.xml).not.toContain('autoFilter');
    expect(others).toEqual([]);
  });

  test('is refused at once when Excel has no room for its rows', () => {
    expect(() => writeXlsx([TOTALS], 1_048_575)).not.toThrow();
    expect(() => writeXlsx([TOTALS], 1_048_576)).toThrow('at most 1048575 rows');
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

  test('is cut at the limit of Excel with a mark, never through a character', async () => {
    const cell = await writeCell('extra', `${'x'.repeat(32_765)}🧾🧾`);
    expect(cell?.value).toBe(`${'x'.repeat(32_765)}…`);
    const cut = await writeCell('extra', 'x'.repeat(32_768));
    expect(cut?.value).toBe(`${'x'.repeat(32_766)}…`);
    const whole = await writeCell('extra', 'x'.repeat(32_767));
    expect(whole?.value).toHaveLength(32_767);
  });
});
