import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CsvRecord, readCsvRecords } from '../../../src/base/files/import-file.ts';
import { InputError } from '../../../src/base/runtime/errors.ts';

async function read(text: string): Promise<CsvRecord[]> {
  const records = [];
  for await (const record of readCsvRecords(Buffer.from(text))) records.push(record);
  return records;
}

/** The cells of each row, divided by bars. */
const cellsOf = async (text: string) => (await read(text)).map(({ cells }) => cells.join('|'));

describe('readCsvRecords', () => {
  it('takes the separator from the first line', async () => {
    expect(await cellsOf('a,b\n1;2,3')).toEqual(['a|b', '1;2|3']);
    expect(await cellsOf('a;b\n1,2;3')).toEqual(['a|b', '1,2|3']);
  });

  it('says on which line a row begins, blank ones and those within cells counted', async () => {
    const records = await read('a;b\r\n\r\n"1\r\n\n2";3\r\n;;\r\n4;5\r\n');
    expect(records.map(({ line, cells }) => `${line} ${cells.length}`)).toEqual([
      '1 2',
      '3 2',
      '7 2',
    ]);
  });

  it.each([
    ['a"b;c', 'a quote in a cell that is not quoted'],
    ['"a"b;c', 'text follows the end of a quoted cell'],
    ['"a" ;c', 'text follows the end of a quoted cell'],
    ['"a;c', 'a quote is opened and never closed'],
  ])('marks a row that RFC 4180 does not know: %s', async (row, fault) => {
    const records = await read(`a;b\n${row}`);
    expect(records.map((record) => record.fault)).toEqual([null, fault]);
  });

  it('continues with the line after a broken one', async () => {
    const records = await read('a;b\n"x"y;1\nz;2\n');
    expect(records.map(({ fault }) => fault === null)).toEqual([true, false, true]);
    expect(records.map(({ line }) => line)).toEqual([1, 2, 3]);
  });

  it('refuses a row that never ends', async () => {
    await expect(read(`a;b\n"${'x\n'.repeat(600_000)}`)).rejects.toThrow(InputError);
    await expect(read(`a;b\n"${'x\n'.repeat(600_000)}`)).rejects.toThrow('line 2:');
  });

  it('reads back text written by the rules, of any length', async () => {
    const cell = fc.string({
      unit: fc.constantFrom('a', ';', ',', '"', '\n', '\r', 'é', '😀', ' '),
    });
    const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { maxLength: 5 }),
        fc.constantFrom(';', ','),
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.boolean(),
        // In pieces of bytes: the first cells are longer than one.
        fc.constantFrom(1, 70_000),
        async (rows, separator, end, isEnded, length) => {
          // A first cell that is never empty: rows without content are left out.
          const filled = rows.map(([first = '', ...rest]) => ['é'.repeat(length) + first, ...rest]);
          const all = [['a', 'b', 'c'], ...filled];
          const lines = all.map((row) => row.map(quote).join(separator));
          lines[0] = `a${separator}b${separator}c`;
          const records = await read(lines.join(end) + (isEnded ? end : ''));
          expect(records.map(({ cells }) => cells)).toEqual(all);
          expect(records.every(({ fault }) => fault === null)).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });
});
