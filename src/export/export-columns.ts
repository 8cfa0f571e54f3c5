import { AMOUNT_COLUMNS, TITLE_COLUMNS, type TitleColumn } from '../domain/title.ts';

/** What the text of a cell means, so that each format can write it in its own way. */
export type ColumnKind = 'text' | 'date' | 'amount' | 'integer' | 'boolean' | 'json';

export interface ExportColumn {
  /** The column's name in the data dictionary. */
  readonly name: string;
  readonly kind: ColumnKind;
}

/**
 * A row's cells in the order of its columns, each as PostgreSQL writes it: exact decimals, dates as
 * `YYYY-MM-DD`, `true` and `false`, json as json text.
 */
export type ExportRow = readonly (string | null)[];

/** Rows by the hundreds: a promise for each single one of a million rows would be felt. */
export type RowBatches = AsyncIterable<readonly ExportRow[]>;

function kindOf(column: TitleColumn): ColumnKind {
  if (column === 'accepted_date' || column === 'anticipated_due_date') return 'date';
  if (column === 'buyer_is_financial') return 'boolean';
  if (column === 'extra') return 'json';
  return AMOUNT_COLUMNS.some((amount) => amount === column) ? 'amount' : 'text';
}

/** The columns of an exported title: its key and state here, then all that the platform stated. */
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
