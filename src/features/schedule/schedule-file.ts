import { recordAudit } from '../../base/audit/audit.ts';
import type { Database } from '../../base/database/database.ts';
import { writeCsv } from '../../base/export/csv.ts';
import type { ExportColumn, ExportRow, RowBatches } from '../../base/export/table.ts';
import { writeXlsx } from '../../base/export/xlsx.ts';
import { type Language, type Text, textOf } from '../../base/texts/texts.ts';
import { AMOUNT_COLUMNS } from '../../core/title/title.ts';
import type { DueRange, ScheduleSnapshot, ScheduleTotals } from './read-schedule.sql.ts';

export const SCHEDULE_FORMATS = ['csv', 'xlsx'] as const;
export type ScheduleFormat = (typeof SCHEDULE_FORMATS)[number];

export const SCHEDULE_TYPES: Readonly<Record<ScheduleFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/** The longest range of due dates of a file, in days. */
export const MAX_DUE_DAYS = 366;

/**
 * Returns the schedule as a file: a row for each due date, party and account.
 */
export function encodeSchedule(
  snapshot: Pick<ScheduleSnapshot, 'overall' | 'lineCount' | 'dates' | 'lines'>,
  { format, locale }: { format: ScheduleFormat; locale: Language },
): AsyncIterable<Uint8Array> {
  const text = textOf(locale);
  const columns = columnsOf(text);
  const batches = rowsOf(snapshot.lines, text);
  if (format === 'csv') return writeCsv(columns, batches, locale);
  const workbook = writeXlsx({
    sheets: { titles: text('scheduleFile.sheet'), totals: text('titleFile.total') },
    columns,
    batches,
    rowCount: snapshot.lineCount,
    totals: {
      columns: [{ name: text('schedule.dueDate'), kind: 'date' }, ...amountColumnsOf(text)],
      rows: [
        ...snapshot.dates.map((day) => [day.date, ...amountCells(day)]),
        [text('titleFile.total'), ...amountCells(snapshot.overall)],
      ],
    },
  });
  return workbook.bytes;
}

function amountColumnsOf(text: Text): readonly ExportColumn[] {
  return [
    { name: text('schedule.titles'), kind: 'integer' },
    ...AMOUNT_COLUMNS.map((column) => ({
      name: text(`title.fields.${column}`),
      kind: 'amount' as const,
    })),
    { name: text('scheduleFile.waitingTitles'), kind: 'integer' },
    { name: text('scheduleFile.waitingValue'), kind: 'amount' },
  ];
}

function amountCells(totals: ScheduleTotals): ExportRow {
  return [
    String(totals.titles),
    ...AMOUNT_COLUMNS.map((column) => totals.sums[column]),
    String(totals.waitingTitles),
    totals.waitingValue,
  ];
}

function columnsOf(text: Text): readonly ExportColumn[] {
  const account = (['bank', 'agency', 'agencyDigit', 'account', 'accountDigit'] as const).map(
    (part) => text(`scheduleFile.${part}`),
  );
  const texts = [
    text('scheduleFile.kind'),
    text('schedule.party'),
    text('scheduleFile.externalId'),
    text('scheduleFile.identification'),
    ...account,
  ];
  return [
    { name: text('schedule.dueDate'), kind: 'date' },
    ...texts.map((name) => ({ name, kind: 'text' as const })),
    ...amountColumnsOf(text),
    { name: text('scheduleFile.changed'), kind: 'text' },
  ];
}

async function* rowsOf(batches: ScheduleSnapshot['lines'], text: Text): RowBatches {
  for await (const lines of batches) {
    yield lines.map((line): ExportRow => {
      const { kind, name, externalId, identification, account, isChanged } = line.payee;
      return [
        line.dueDate,
        kind === null ? null : text(`scheduleFile.kinds.${kind}`),
        name,
        externalId,
        identification,
        account.bank,
        account.agency,
        account.agencyDigit,
        account.account,
        account.accountDigit,
        ...amountCells(line),
        isChanged ? text('title.yes') : text('title.no'),
      ];
    });
  }
}

/** Writes an entry of the audit log about an export. */
export async function recordScheduleExport(
  database: Database,
  actor: string,
  exported: {
    readonly range: DueRange;
    readonly format: ScheduleFormat;
    readonly snapshot: Pick<ScheduleSnapshot, 'lineCount' | 'overall'>;
  },
): Promise<void> {
  const { range, format, snapshot } = exported;
  await recordAudit(database.prisma, {
    actor,
    action: 'schedule.export',
    details: {
      dueFrom: range.from,
      dueTo: range.to,
      format,
      rows: snapshot.lineCount,
      titles: snapshot.overall.titles,
    },
  });
}
