/** The writers of files: csv, jsonl and xlsx, with one column of every kind. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ExportColumn,
  type ExportRow,
  type RowBatches,
  writeCsv,
  writeJsonl,
} from '../../../src/base/export/table.ts';
import { writeXlsx } from '../../../src/base/export/xlsx.ts';
import type { Language } from '../../../src/base/texts/texts.ts';
import { readCsv, readWorkbook } from './file-readers.ts';

const COLUMNS: readonly ExportColumn[] = [
  { name: 'id', kind: 'integer' },
  { name: 'order_uid', kind: 'text' },
  { name: 'accepted_date', kind: 'date' },
  { name: 'original_value', kind: 'amount' },
  { name: 'buyer_is_financial', kind: 'boolean' },
  { name: 'extra', kind: 'json' },
];

const CELLS = {
  id: '7',
  order_uid: 'A-1',
  accepted_date: '2026-03-02',
  original_value: '1234.50',
  buyer_is_financial: 'true',
  extra: '{"a": 1.50}',
};

/** A row of `COLUMNS` with all but the given cells null. */
function row(cells: Readonly<Record<string, string>>): ExportRow {
  return COLUMNS.map(({ name }) => cells[name] ?? null);
}

async function* batchesOf(...batches: readonly ExportRow[][]): RowBatches {
  yield* batches;
}

async function collect(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Texts that spreadsheets run as formulas, and texts that break incorrect quoting. */
const HOSTILE_TEXTS = [
  '=1+1',
  ' =1+1',
  "''=1+1",
  '\u00A0=1+1',
  '\uFF1D1+1',
  'a"b',
  'a;b,c',
  'line\nbreak',
  'line\r\nbreak',
  ' blank ends ',
  '<b>&amp;</b>',
  ']]>',
  '_x0041_',
  '\u0001\u001F',
  '\uFFFE',
  'ação 🧾 日本',
  '00012345678901234567890',
  '1e5',
  '2026-03-02',
  'true',
  '',
] as const;

async function csvOf(rows: ExportRow[]): Promise<string> {
  const bytes = await collect(writeCsv(COLUMNS, batchesOf(rows), 'pt-BR'));
  return bytes.toString('utf8');
}

/** Text cells as a reader gets them. */
async function writeTexts(texts: readonly string[]): Promise<string[]> {
  const text = await csvOf(texts.map((order_uid) => row({ order_uid })));
  return readCsv(text.slice(1), ';')
    .slice(1)
    .map((cells) => cells[1] ?? '');
}

describe('a csv file', () => {
  test('is for Excel in Brazil: byte order mark, semicolons, decimal commas, dates, CRLF', async () => {
    expect(await csvOf([row(CELLS)])).toBe(
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
    const text = await csvOf([row({ order_uid: '' }), row({})]);
    expect(text.split('\r\n').slice(1, 3)).toEqual([';"";;;;', ';;;;;']);
  });

  const AMOUNTS = ['12345678901234567.89', '0.1', '-5.000', `0.${'0'.repeat(40)}1`, '9'.repeat(60)];
  test.each(AMOUNTS)('keeps every digit of %s, and takes none for a formula', async (amount) => {
    const [, cells] = readCsv((await csvOf([row({ original_value: amount })])).slice(1), ';');
    expect(cells?.[3]).toBe(amount.replace('.', ','));
  });
});

describe('text in a csv file', () => {
  test.each([
    // No formula.
    ...['=1+1', '-2+3', '@SUM(A1)', '\t=1+1', '\rx', '"=1+1', "'=1+1", '\u0001=1', '\uFF1D1+1'].map(
      (text) => [text, `'${text}`],
    ),
    // Left alone where a spreadsheet leaves it.
    ...['a=b', 'A-12', "O'Brien", "'quoted'", 'Mariana', 'R 5', '(a)', 'E5', '$', ''].map(
      (text) => [text, text],
    ),
    // An identifier keeps its characters in Excel.
    ...[
      ...['00007', '11222333000181', '12345678E00131', '1-2', '2026-03-02', '12MAR', 'dez-26'],
      ...['12E-3', '1E+5', '1e-400', '(5)', '(1E5)', 'R$ 5', 'r$5', '$5', '5 €', '5%'],
    ].map((text) => [text, `="${text}"`]),
  ])('%j is written as %j', async (text = '', written) => {
    expect(await writeTexts([text])).toEqual([written]);
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

const jsonlOf = async (...batches: ExportRow[][]) =>
  (await collect(writeJsonl(COLUMNS, batchesOf(...batches)))).toString('utf8');

test('a line of a jsonl file is an object with every column, amounts as exact strings, json as stored', async () => {
  const digits = {
    ...{ original_value: '12345678901234567.89', buyer_is_financial: 'false' },
    extra: '{"rate": 0.1000000000000000000001}',
  };
  expect(await jsonlOf([row({ ...CELLS, ...digits })], [row({})])).toBe(
    '{"id":7,"order_uid":"A-1","accepted_date":"2026-03-02","original_value":"12345678901234567.89",' +
      '"buyer_is_financial":false,"extra":{"rate": 0.1000000000000000000001}}\n' +
      '{"id":null,"order_uid":null,"accepted_date":null,"original_value":null,' +
      '"buyer_is_financial":null,"extra":null}\n',
  );
});

test('any text stays on its line of a jsonl file and is restored exactly', async () => {
  const text = await jsonlOf(HOSTILE_TEXTS.map((order_uid) => row({ order_uid })));
  const lines = text.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).order_uid)).toEqual(HOSTILE_TEXTS);
});

async function workbookOf(...rows: ExportRow[]) {
  const titles = {
    name: 'titles',
    columns: COLUMNS,
    rows: batchesOf(rows.slice(0, 3), rows.slice(3)),
  };
  return readWorkbook(await collect(writeXlsx(titles, rows.length)));
}

async function writeCell(column: string, text: string) {
  const [titles] = await workbookOf(row({ [column]: text }));
  return titles?.rows[1]?.[COLUMNS.findIndex(({ name }) => name === column)];
}

describe('a workbook', () => {
  test('has typed cells of every batch under a frozen header with a filter, and no cell for null', async () => {
    const cells = row({ ...CELLS, order_uid: '000123' });
    const others = ['8', '9', '10', '11'];
    const sheets = await workbookOf(cells, ...others.map((id) => row({ id })));
    expect(sheets.map(({ name }) => name)).toEqual(['titles']);
    const [titles] = sheets;
    expect(titles?.rows[0]?.map((cell) => cell?.value)).toEqual(COLUMNS.map(({ name }) => name));
    expect(titles?.rows[1]).toEqual([
      { type: 'number', value: '7', style: 4 },
      { type: 'text', value: '000123', style: 5 },
      { type: 'number', value: '46083', style: 2 },
      { type: 'number', value: '1234.50', style: 3 },
      { type: 'boolean', value: '1', style: 0 },
      { type: 'text', value: '{"a": 1.50}', style: 5 },
    ]);
    expect(titles?.rows.slice(2)).toEqual(
      others.map((value) => [{ type: 'number', value, style: 4 }]),
    );
    expect(titles?.xml).toContain('<pane ySplit="1" topLeftCell="A2"');
    expect(titles?.xml).toContain('<autoFilter ref="A1:F6"/>');
  });

  test('is refused at once when Excel has no room for its rows', () => {
    const sheet = { name: 'titles', columns: COLUMNS, rows: batchesOf() };
    expect(() => writeXlsx(sheet, 1_048_575)).not.toThrow();
    expect(() => writeXlsx(sheet, 1_048_576)).toThrow('at most 1048575 rows');
  });
});

describe('a cell of a workbook', () => {
  test.each(HOSTILE_TEXTS)('holds %j as text', async (text) => {
    const cell = await writeCell('order_uid', text);
    expect(cell).toEqual({ type: 'text', value: text, style: 5 });
  });

  const EXACT = ['0.1', '-1234567890123.45', '100000000000000000000', '0.000000000000000000012'];
  test.each(EXACT)('holds the amount %s as a number, digit for digit', async (amount) => {
    const cell = await writeCell('original_value', amount);
    expect(cell).toEqual({ type: 'number', value: amount, style: 3 });
    // Excel reads the digits as the same decimal.
    expect(Number(Number(amount).toPrecision(15))).toBe(Number(amount));
  });

  const BEYOND = ['12345678901234567.89', '1234567890123456', '0.1000000000000001', 'NaN'];
  test.each(BEYOND)('holds the amount %s as text', async (amount) => {
    const cell = await writeCell('original_value', amount);
    expect(cell).toEqual({ type: 'text', value: amount, style: 5 });
  });

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
