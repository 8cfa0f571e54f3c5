import type { ColumnKind, ExportColumn } from '../../base/export/table.ts';
import { AMOUNT_COLUMNS, TITLE_COLUMNS, type TitleColumn } from './title.ts';

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
