/**
 * export/ turns rows into the files for finance and the ERP. Rows arrive in batches of text, and
 * bytes are produced as they are read, so memory does not grow with the number of rows. This file
 * writes the titles of a snapshot in each format.
 */
import { AMOUNT_COLUMNS } from '../domain/title.ts';
import { type CsvLocale, writeCsv } from './csv.ts';
import { type ExportColumn, type ExportRow, TITLE_EXPORT_COLUMNS } from './export-columns.ts';
import type { TitleSnapshot, TitleTotals } from './export-titles.sql.ts';
import { writeJsonl } from './jsonl.ts';
import { type Workbook, writeXlsx } from './xlsx.ts';

export const EXPORT_FORMATS = ['csv', 'xlsx', 'jsonl'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface TitleFile {
  readonly bytes: AsyncIterable<Uint8Array>;
  /**
   * The values that the format cannot hold unchanged, complete after the last byte; null: the
   * format holds all values.
   */
  readonly limits: Workbook['limits'] | null;
}

/** Returns the titles of a snapshot as a file. `locale` applies to CSV only. */
export function encodeTitles(
  snapshot: TitleSnapshot,
  format: ExportFormat,
  locale: CsvLocale = 'pt-BR',
): TitleFile {
  switch (format) {
    case 'csv':
      return { bytes: writeCsv(TITLE_EXPORT_COLUMNS, snapshot.titles, locale), limits: null };
    case 'jsonl':
      return { bytes: writeJsonl(TITLE_EXPORT_COLUMNS, snapshot.titles), limits: null };
    case 'xlsx':
      return titlesWorkbook(snapshot);
  }
}

/** The names and the meaning of the columns of `conciliation.day`. */
const TOTALS_COLUMNS: readonly ExportColumn[] = [
  { name: 'date', kind: 'date' },
  { name: 'title_count', kind: 'integer' },
  { name: 'withdrawn_count', kind: 'integer' },
  ...AMOUNT_COLUMNS.map((column): ExportColumn => ({ name: `${column}_sum`, kind: 'amount' })),
];

function titlesWorkbook({ titles, overall, days }: TitleSnapshot): Workbook {
  return writeXlsx({
    columns: TITLE_EXPORT_COLUMNS,
    batches: titles,
    rowCount: overall.current + overall.withdrawn,
    totals: {
      columns: TOTALS_COLUMNS,
      rows: [...days.map((day) => totalsRow(day.date, day)), totalsRow('total', overall)],
    },
  });
}

function totalsRow(name: string, totals: TitleTotals): ExportRow {
  return [
    name,
    String(totals.current),
    String(totals.withdrawn),
    ...AMOUNT_COLUMNS.map((column) => totals.sums[column]),
  ];
}
