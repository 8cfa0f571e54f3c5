import { type ColumnKind, type ExportColumn, type RowBatches, writeLines } from './table.ts';

/**
 * Encodes rows as one JSON object a line (https://jsonlines.org), UTF-8, with every column in every
 * object and null for missing values. Amounts are strings with the exact decimal, because most JSON
 * parsers would round a number to a double. `id` and `occurrence` are numbers, dates `YYYY-MM-DD`
 * strings, `extra` is the stored JSON.
 */
export function writeJsonl(
  columns: readonly ExportColumn[],
  batches: RowBatches,
): AsyncGenerator<Buffer> {
  const fields = columns.map((column, index) => ({
    kind: column.kind,
    key: `${index === 0 ? '{' : ','}${JSON.stringify(column.name)}:`,
  }));
  return writeLines('', batches, (row) => {
    let line = '';
    for (const [index, field] of fields.entries()) {
      line += field.key + encodeValue(row[index] ?? null, field.kind);
    }
    return `${line}}\n`;
  });
}

/** PostgreSQL's text of integers, booleans and json is valid JSON. */
function encodeValue(cell: string | null, kind: ColumnKind): string {
  if (cell === null) return 'null';
  return kind === 'integer' || kind === 'boolean' || kind === 'json' ? cell : JSON.stringify(cell);
}
