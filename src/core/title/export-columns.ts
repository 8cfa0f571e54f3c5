import type { ExportColumn } from '../../base/export/table.ts';
import { COLUMN_KINDS, TITLE_COLUMNS } from './title.ts';

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
    kind: COLUMN_KINDS[column],
  })),
];
