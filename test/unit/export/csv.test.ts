import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ExportRow, writeCsv } from '../../../src/base/export/table.ts';
import type { Language } from '../../../src/base/texts/texts.ts';
import { readCsv } from './csv-reader.ts';
import { batchesOf, COLUMNS, collect, HOSTILE_TEXTS, row } from './rows.ts';

async function write(rows: ExportRow[], locale: Language = 'pt-BR'): Promise<string> {
  const bytes = await collect(writeCsv(COLUMNS, batchesOf(rows), locale));
  return bytes.toString('utf8');
}

/** Text cells as a reader gets them. */
async function writeTexts(texts: readonly string[]): Promise<string[]> {
  const text = await write(texts.map((order_uid) => row({ order_uid })));
  return readCsv(text.slice(1), ';')
    .slice(1)
    .map((cells) => cells[1] ?? '');
}

describe('a csv file', () => {
  test('is for Excel in Brazil: byte order mark, semicolons, decimal commas, dates, CRLF', async () => {
    const cells = {
      id: '7',
      order_uid: 'A-1',
      accepted_date: '2026-03-02',
      original_value: '1234.50',
      buyer_is_financial: 'true',
      extra: '{"a": 1.50}',
    };
    expect(await write([row(cells)])).toBe(
      '\uFEFFid;order_uid;accepted_date;original_value;buyer_is_financial;extra\r\n' +
        '7;A-1;02/03/2026;1234,50;true;"{""a"": 1.50}"\r\n',
    );
  });

  test('localises a text that is a plain decimal, and keeps any other', async () => {
    const columns = [{ name: 'platform_commission', kind: 'decimal_text' }] as const;
    const texts = ['0.17', '-1.500', '2', '0.5%', '1e2', '1.2.3', '=1.5', '0,17', '.5', ''];
    const read = async (locale: Language) => {
      const rows = batchesOf(texts.map((text): ExportRow => [text]));
      const bytes = await collect(writeCsv(columns, rows, locale));
      return readCsv(bytes.toString('utf8').slice(1), locale === 'en' ? ',' : ';')
        .slice(1)
        .map(([cell]) => cell);
    };
    const kept = ['2', '0.5%', '1e2', '1.2.3', "'=1.5", '0,17', '.5', ''];
    expect(await read('pt-BR')).toEqual(['0,17', '-1,500', ...kept]);
    expect(await read('en')).toEqual(['0.17', '-1.500', ...kept]);
  });

  test('distinguishes empty text from null', async () => {
    const text = await write([row({ order_uid: '' }), row({})]);
    expect(text.split('\r\n').slice(1, 3)).toEqual([';"";;;;', ';;;;;']);
  });

  test.each(['12345678901234567.89', '0.1', '-5.000', `0.${'0'.repeat(40)}1`, '9'.repeat(60)])(
    'keeps every digit of %s and takes no amount for a formula',
    async (amount) => {
      const [, cells] = readCsv((await write([row({ original_value: amount })])).slice(1), ';');
      expect(cells?.[3]).toBe(amount.replace('.', ','));
    },
  );
});

describe('text in a csv file', () => {
  test.each([
    '=1+1',
    '-2+3',
    '@SUM(A1)',
    '\t=1+1',
    '\rx',
    '"=1+1',
    "'=1+1",
    '\u0001=1',
    '\uFF1D1+1',
  ])('is no formula: %j', async (text) => {
    expect(await writeTexts([text])).toEqual([`'${text}`]);
  });

  test.each(['a=b', 'A-12', "O'Brien", "'quoted'", 'Mariana', 'R 5', '(a)', 'E5', '$', ''])(
    'is left alone where a spreadsheet leaves it: %j',
    async (text) => {
      expect(await writeTexts([text])).toEqual([text]);
    },
  );

  test.each([
    ...['00007', '11222333000181', '12345678E00131', '1-2', '2026-03-02', '12MAR', 'dez-26'],
    ...['12E-3', '1E+5', '1e-400', '(5)', '(1E5)', 'R$ 5', 'r$5', '$5', '5 €', '5%'],
  ])('keeps the identifier %j in Excel', async (text) => {
    expect(await writeTexts([text])).toEqual([`="${text}"`]);
  });

  test('is restored exactly', async () => {
    // A lone apostrophe before a line break is what the mark itself would look like.
    expect(await writeTexts(["'\n"])).toEqual(["''\n"]);
    const undo = (cell: string) =>
      /^="[^"]*"$/.test(cell) ? cell.slice(2, -1) : undoFormula(cell);
    const undoFormula = (cell: string) =>
      /^'(?:'*[\t\r\n]|[\s\p{Cc}"']*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/u.test(cell)
        ? cell.slice(1)
        : cell;
    const texts = fc.array(
      fc.oneof(
        fc.string({ unit: 'grapheme' }),
        fc.constantFrom(...HOSTILE_TEXTS),
        fc.string({ unit: fc.constantFrom(...'=+-@;,"\'\t\r\n a') }),
      ),
      { minLength: 1 },
    );
    await fc.assert(
      fc.asyncProperty(texts, async (given) => {
        expect((await writeTexts(given)).map(undo)).toEqual(given);
      }),
    );
  });
});
