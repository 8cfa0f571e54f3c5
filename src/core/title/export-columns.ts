import { AMOUNT_COLUMNS, TITLE_COLUMNS, type TitleColumn } from './title.ts';

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

/**
 * Rows come in batches of hundreds, because a promise for each row would slow down an export of a
 * million rows.
 */
export type RowBatches = AsyncIterable<readonly ExportRow[]>;

/** The type of a cell with the values of a column of `title`. */
export function kindOf(column: TitleColumn): ColumnKind {
  if (column === 'accepted_date' || column === 'anticipated_due_date') return 'date';
  if (column === 'buyer_is_financial') return 'boolean';
  if (column === 'extra') return 'json';
  if (column === 'platform_commission') return 'decimal_text';
  return AMOUNT_COLUMNS.some((amount) => amount === column) ? 'amount' : 'text';
}

/** The open decisions about a title: whether its payment is held, and the checks with open findings. */
export const NOTE_COLUMNS: readonly ExportColumn[] = [
  { name: 'payment_hold', kind: 'boolean' },
  { name: 'open_findings', kind: 'text' },
];

/** The columns of an exported title: its key and state, then the platform's columns. */
export const TITLE_EXPORT_COLUMNS: readonly ExportColumn[] = [
  { name: 'id', kind: 'integer' },
  { name: 'status', kind: 'text' },
  { name: 'order_uid', kind: 'text' },
  { name: 'occurrence', kind: 'integer' },
  ...TITLE_COLUMNS.filter((column) => column !== 'order_uid').map((column) => ({
    name: column,
    kind: kindOf(column),
  })),
];
