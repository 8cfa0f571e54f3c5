import type { ExportColumn, ExportRow, RowBatches } from '../../../src/base/export/table.ts';

/** One column of every kind. */
export const COLUMNS: readonly ExportColumn[] = [
  { name: 'id', kind: 'integer' },
  { name: 'order_uid', kind: 'text' },
  { name: 'accepted_date', kind: 'date' },
  { name: 'original_value', kind: 'amount' },
  { name: 'buyer_is_financial', kind: 'boolean' },
  { name: 'extra', kind: 'json' },
];

/** A row of `COLUMNS` with all but the given cells null. */
export function row(cells: Readonly<Record<string, string>>): ExportRow {
  return COLUMNS.map(({ name }) => cells[name] ?? null);
}

export async function* batchesOf(...batches: readonly ExportRow[][]): RowBatches {
  yield* batches;
}

export async function collect(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Texts that spreadsheets run as formulas, and texts that break incorrect quoting. */
export const HOSTILE_TEXTS = [
  '=1+1',
  '+cmd',
  '-2+3',
  '@SUM(A1)',
  "=cmd|'/c calc'!A1",
  ' =1+1',
  '\t=1+1',
  '\r=1+1',
  '\n=1+1',
  '"=1+1',
  "'=1+1",
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
