import type { FastifyReply } from 'fastify';
import { recordAudit } from '../../base/audit/audit.ts';
import { writeCsv } from '../../base/export/csv.ts';
import type { ExportColumn, ExportRow, RowBatches } from '../../base/export/table.ts';
import { writeXlsx } from '../../base/export/xlsx.ts';
import { InputError } from '../../base/runtime/errors.ts';
import { type Language, type Text, textOf } from '../../base/texts/texts.ts';
import { maySeePersonalData } from '../../base/values/role.ts';
import type { ConsoleParts } from '../../console/shell/console-parts.ts';
import type { Principal } from '../../console/shell/guard.ts';
import { maskPayee } from '../../console/shell/masking.ts';
import { textParameter } from '../../console/shell/page-context.ts';
import { sendFile } from '../../console/shell/send-file.ts';
import { AMOUNT_COLUMNS } from '../../core/title/title.ts';
import {
  type DueRange,
  readScheduleSnapshot,
  type ScheduleSnapshot,
  type ScheduleTotals,
} from './read-schedule.sql.ts';

export const SCHEDULE_FORMATS = ['csv', 'xlsx'] as const;
export type ScheduleFormat = (typeof SCHEDULE_FORMATS)[number];

const SCHEDULE_TYPES: Readonly<Record<ScheduleFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/** @throws InputError unless `format` is one of the formats */
export function scheduleFormat(source: unknown): ScheduleFormat {
  const wanted = textParameter(source, 'format');
  const format = SCHEDULE_FORMATS.find((known) => known === wanted);
  if (format === undefined) {
    throw new InputError(`format: expected one of ${SCHEDULE_FORMATS.join(', ')}`, {
      context: { fault: 'file_format' },
    });
  }
  return format;
}

/**
 * Streams the payment schedule as a file. The audit log records the export before the first byte. Readers without
 * the right to see identifiers receive masked ones.
 */
export function sendScheduleFile(
  reply: FastifyReply,
  { database, logger }: ConsoleParts,
  principal: Principal | null,
  request: {
    readonly range: DueRange;
    readonly format: ScheduleFormat;
    readonly locale: Language;
  },
): Promise<FastifyReply> {
  if (principal === null) throw new Error('this route has no guard');
  const { range, format, locale } = request;
  return sendFile(reply, logger, (signal, send) =>
    readScheduleSnapshot(database, range, signal, async (snapshot) => {
      const { lineCount: rows, overall } = snapshot;
      await recordAudit(database.prisma, {
        actor: principal.name,
        action: 'schedule.export',
        details: { dueFrom: range.from, dueTo: range.to, format, rows, titles: overall.titles },
      });
      const name = textOf(locale)('fileNames.schedule');
      await send({
        name: `${name}-${range.from}-${range.to}.${format}`,
        type: SCHEDULE_TYPES[format],
        bytes: encodeSchedule(snapshot, format, locale, !maySeePersonalData(principal.role)),
      });
    }),
  );
}

/** A row for each due date, party and account. */
function encodeSchedule(
  snapshot: ScheduleSnapshot,
  format: ScheduleFormat,
  locale: Language,
  isMasked: boolean,
): AsyncIterable<Uint8Array> {
  const text = textOf(locale);
  const columns = columnsOf(text);
  const batches = rowsOf(snapshot.lines, text, isMasked);
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
    ...AMOUNT_COLUMNS.map((column) => totals.sums[column] ?? null),
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

async function* rowsOf(
  batches: ScheduleSnapshot['lines'],
  text: Text,
  isMasked: boolean,
): RowBatches {
  for await (const lines of batches) {
    yield lines.map((line): ExportRow => {
      const payee = isMasked ? maskPayee(line.payee) : line.payee;
      const { kind, name, externalId, identification, account, isChanged } = payee;
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
