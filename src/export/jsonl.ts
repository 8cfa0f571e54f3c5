import { CHUNK_LENGTH } from './chunk-length.ts';
import type { ColumnKind, ExportColumn, RowBatches } from './export-columns.ts';

/**
 * One JSON object a line, UTF-8, every column in every object, null where nothing is stored. Amounts
 * are strings that hold the exact decimal: most readers would round a JSON number to a double. `id`
 * and `occurrence` are numbers, dates `YYYY-MM-DD` strings, `extra` is JSON as stored.
 */
export async function* writeJsonl(
  columns: readonly ExportColumn[],
  batches: RowBatches,
): AsyncGenerator<Buffer> {
  const fields = columns.map((column, index) => ({
    kind: column.kind,
    key: `${index === 0 ? '{' : ','}${JSON.stringify(column.name)}:`,
  }));
  let lines = '';
  for await (const rows of batches) {
    for (const row of rows) {
      for (const [index, field] of fields.entries()) {
        lines += field.key + encodeValue(row[index] ?? null, field.kind);
      }
      lines += '}\n';
      if (lines.length >= CHUNK_LENGTH) {
        yield Buffer.from(lines);
        lines = '';
      }
    }
  }
  yield Buffer.from(lines);
}

/** Integers, booleans and json are JSON already, as PostgreSQL writes them. */
function encodeValue(cell: string | null, kind: ColumnKind): string {
  if (cell === null) return 'null';
  return kind === 'integer' || kind === 'boolean' || kind === 'json' ? cell : JSON.stringify(cell);
}
