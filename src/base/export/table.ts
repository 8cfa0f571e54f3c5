/** The type of a cell, which each format encodes in its own way. */
export type ColumnKind =
  | 'text'
  | 'date'
  | 'amount'
  /** Text in the interface that may be a plain decimal. */
  | 'decimal_text'
  | 'integer'
  | 'boolean'
  | 'json';

export interface ExportColumn {
  /** The column's name in the data dictionary. */
  readonly name: string;
  readonly kind: ColumnKind;
  /** The text above the column in CSV and XLSX files; absent: its name. */
  readonly heading?: string;
}

/**
 * The cells of a row in the order of its columns, as PostgreSQL writes them: exact decimals, dates
 * as `YYYY-MM-DD`, `true` and `false`, JSON text.
 */
export type ExportRow = readonly (string | null)[];

/** In batches, because a promise for each row would slow down an export of a million rows. */
export type RowBatches = AsyncIterable<readonly ExportRow[]>;

/**
 * The length of a chunk of output in UTF-16 units. Much longer texts are large objects to V8, and
 * buffers in queues outlive its minor collections. Both then wait for a major collection, and an
 * export of a million rows would hold tens of megabytes of garbage.
 */
export const CHUNK_LENGTH = 32_768;
