/**
 * Turns rows into the files for finance and the ERP. Rows arrive in batches of text, and
 * bytes are produced as they are read, so memory does not grow with the number of rows. This file
 * writes the titles of a snapshot in each format.
 */

import { writeCsv, writeJsonl } from '../../base/export/csv.ts';
import type { ExportColumn, ExportRow, RowBatches } from '../../base/export/table.ts';
import { writeXlsx } from '../../base/export/xlsx.ts';
import { type Language, type Text, textOf } from '../../base/texts/texts.ts';
import { AMOUNT_COLUMNS } from '../../core/title/title.ts';
import {
  type ExportedDay,
  TITLE_EXPORT_COLUMNS,
  type TitleSnapshot,
  type TitleTotals,
} from './export-titles.sql.ts';

export const EXPORT_FORMATS = ['csv', 'xlsx', 'jsonl'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/**
 * Returns the titles of a snapshot as a file.
 * @param locale the separators of cells and decimals, for CSV only
 * @param language the headings, dates and words, for CSV and XLSX
 * @param showInstant the writing of an instant, for CSV and XLSX
 */
export function encodeTitles(
  snapshot: TitleSnapshot,
  format: ExportFormat,
  locale: Language = 'pt-BR',
  language: Language = 'en',
  showInstant: (instant: string) => string = (instant) => instant,
): AsyncIterable<Uint8Array> {
  const columns = [...TITLE_COLUMNS, ...DAY_COLUMNS];
  const signed = snapshot.ledger.map((day) => ({
    ...day,
    signedOffAt: day.signedOffAt === null ? null : showInstant(day.signedOffAt),
  }));
  switch (format) {
    case 'csv': {
      const rows = withDays(inWords(snapshot.titles, language), signed, language);
      return writeCsv(forReader(columns, language), rows, locale, language);
    }
    case 'jsonl': {
      const rows = withDays(snapshot.titles, snapshot.ledger, 'en');
      return writeJsonl(columns, rows);
    }
    case 'xlsx':
      return titlesWorkbook({ ...snapshot, ledger: signed }, language);
  }
}

/** The open decisions about a title: whether its payment is held, and the checks with open findings. */
const NOTE_COLUMNS: readonly ExportColumn[] = [
  { name: 'payment_hold', kind: 'boolean' },
  { name: 'open_findings', kind: 'text' },
];
const TITLE_COLUMNS = [...TITLE_EXPORT_COLUMNS, ...NOTE_COLUMNS];

/** The names and the meaning of the columns of `conciliation.day`. */
const TOTALS_COLUMNS: readonly ExportColumn[] = [
  { name: 'date', kind: 'date' },
  { name: 'title_count', kind: 'integer' },
  { name: 'withdrawn_count', kind: 'integer' },
  ...AMOUNT_COLUMNS.map((column): ExportColumn => ({ name: `${column}_sum`, kind: 'amount' })),
  { name: 'state', kind: 'text' },
  { name: 'signed_off_at', kind: 'text' },
  { name: 'signed_off_by', kind: 'text' },
  { name: 'signed_off_digest', kind: 'text' },
  { name: 'content_digest', kind: 'text' },
];

/** The day of a title's accepted date, in the formats without a sheet of totals. */
const DAY_COLUMNS: readonly ExportColumn[] = [
  { name: 'day_state', kind: 'text' },
  { name: 'day_signed_off_at', kind: 'text' },
  { name: 'day_signed_off_digest', kind: 'text' },
  { name: 'day_content_digest', kind: 'text' },
];

function titlesWorkbook(snapshot: TitleSnapshot, language: Language): AsyncGenerator<Buffer> {
  const { titles, overall, days, ledger } = snapshot;
  const text = textOf(language);
  const totals = new Map(days.map((day) => [day.date, day]));
  const states = new Map(ledger.map((day) => [day.date, day]));
  // A day of the ledger may have no title, and a date with titles has a day.
  const dates = [...new Set([...totals.keys(), ...states.keys()])].sort();
  const sums = [
    ...dates.map((date) => totalsRow(date, states.get(date), totals.get(date), text)),
    totalsRow(text('titleFile.total'), undefined, overall, text),
  ];
  return writeXlsx(
    [
      {
        name: text('titleFile.titles'),
        columns: forReader(TITLE_COLUMNS, language),
        rows: inWords(titles, language),
      },
      {
        name: text('titleFile.totals'),
        columns: withHeadings(TOTALS_COLUMNS, language),
        rows: [sums],
      },
    ],
    overall.current + overall.withdrawn,
  );
}

function totalsRow(
  name: string,
  day: ExportedDay | undefined,
  totals: TitleTotals | undefined,
  text: Text,
): ExportRow {
  return [
    name,
    String(totals?.current ?? 0),
    String(totals?.withdrawn ?? 0),
    ...AMOUNT_COLUMNS.map((column) => totals?.sums[column] ?? '0'),
    day === undefined ? null : stateOf(day, text),
    day?.signedOffAt ?? null,
    day?.signedOffBy ?? null,
    day?.signedOffDigest ?? null,
    day?.contentDigest ?? null,
  ];
}

function stateOf(day: ExportedDay, text: Text): string {
  return text(`titleFile.states.${day.isRestated ? 'restated' : day.state}`);
}

const DATE_INDEX = TITLE_EXPORT_COLUMNS.findIndex(({ name }) => name === 'accepted_date');

async function* withDays(
  titles: RowBatches,
  ledger: readonly ExportedDay[],
  language: Language,
): RowBatches {
  const cells = new Map(
    ledger.map((day): [string | null, ExportRow] => [
      day.date,
      [stateOf(day, textOf(language)), day.signedOffAt, day.signedOffDigest, day.contentDigest],
    ]),
  );
  const unknown = DAY_COLUMNS.map(() => null);
  for await (const rows of titles) {
    yield rows.map((row) => [...row, ...(cells.get(row[DATE_INDEX] ?? null) ?? unknown)]);
  }
}

/** The columns with their headings; in Portuguese, flags are words. */
function forReader(columns: readonly ExportColumn[], language: Language): readonly ExportColumn[] {
  return withHeadings(columns, language).map((column) =>
    column.kind === 'boolean' && language === 'pt-BR' ? { ...column, kind: 'text' } : column,
  );
}

/** The titles with the words of the language for their status, and in Portuguese for their flags. */
async function* inWords(titles: RowBatches, language: Language): RowBatches {
  const text = textOf(language);
  const words = TITLE_COLUMNS.map(({ name, kind }): ((cell: string) => string | null) | null => {
    if (name === 'status') return (status) => text.find(`titleFile.statuses.${status}`);
    if (kind !== 'boolean' || language === 'en') return null;
    return (flag) => text(flag === 'true' ? 'title.yes' : 'title.no');
  });
  for await (const rows of titles) {
    yield rows.map((row) =>
      row.map((cell, index) => (cell === null ? null : (words[index]?.(cell) ?? cell))),
    );
  }
}

/**
 * Returns the heading of a column. English files have the names of the data dictionary, for programs too.
 * @throws Error for a column without a heading
 */
export function headingOf(column: string, language: Language): string {
  const text = textOf(language);
  const summed = column.endsWith('_sum')
    ? text.find(`headings.${column.slice(0, -'_sum'.length)}`)
    : null;
  const heading =
    summed === null ? text.find(`headings.${column}`) : text('titleFile.sum', { column: summed });
  if (heading === null) throw new Error(`there is no heading for ${column}`);
  return heading;
}

export function withHeadings(
  columns: readonly ExportColumn[],
  language: Language,
): readonly ExportColumn[] {
  return columns.map((column) => ({ ...column, heading: headingOf(column.name, language) }));
}
