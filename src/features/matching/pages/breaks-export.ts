import type { FastifyReply } from 'fastify';
import { recordAudit } from '../../../base/audit/audit.ts';
import { writeCsv } from '../../../base/export/csv.ts';
import type { ExportColumn, ExportRow, RowBatches } from '../../../base/export/table.ts';
import { writeXlsx } from '../../../base/export/xlsx.ts';
import { InputError } from '../../../base/runtime/errors.ts';
import { type Language, textOf } from '../../../base/texts/texts.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { sendFile } from '../../../console/shell/send-file.ts';
import { type Break, type BreakFilter, listBreaks } from '../breaks.sql.ts';

export const BREAK_FORMATS = ['csv', 'xlsx'] as const;
export type BreakFormat = (typeof BREAK_FORMATS)[number];

const TYPES: Readonly<Record<BreakFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};
/** The most breaks of one file. */
const MAX_BREAKS = 100_000;

/**
 * Sends the breaks of a filter as a file. The audit log records the export before the first byte.
 * @throws InputError when there are more breaks than one file may have
 */
export async function sendBreaksFile(
  reply: FastifyReply,
  { database, logger }: ConsoleParts,
  request: {
    readonly filter: BreakFilter;
    readonly format: BreakFormat;
    readonly language: Language;
    readonly actor: string;
  },
): Promise<FastifyReply> {
  const { filter, format, language, actor } = request;
  const { counts, breaks, total } = await listBreaks(database, {
    ...filter,
    offset: 0,
    limit: MAX_BREAKS,
  });
  if (total > MAX_BREAKS) {
    throw new InputError(
      `${total} breaks; a file has at most ${MAX_BREAKS}: choose a date, supplier or kind`,
      {
        context: { fault: 'breaks_too_many', count: String(total), limit: String(MAX_BREAKS) },
      },
    );
  }
  await recordAudit(database.prisma, {
    actor,
    action: 'breaks.export',
    date: filter.date,
    details: { format, kind: filter.kind, rows: breaks.length },
  });
  const text = textOf(language);
  const columns = columnsOf(language);
  const rows = rowsOf(breaks, language);
  const bytes =
    format === 'csv'
      ? writeCsv(columns, rows, language)
      : writeXlsx({
          sheets: { titles: text('matching.breaks'), totals: text('titleFile.total') },
          columns,
          batches: rows,
          rowCount: breaks.length,
          totals: {
            columns: [
              { name: text('matching.kind'), kind: 'text' },
              { name: text('matching.breaks'), kind: 'integer' },
              { name: text('matching.value'), kind: 'amount' },
            ],
            rows: counts
              .filter(({ kind }) => filter.kind === null || kind === filter.kind)
              .map(({ kind, breaks: found, value }) => [
                text(`matching.kinds.${kind}`),
                String(found),
                value,
              ]),
          },
        }).bytes;
  return sendFile(reply, logger, (_, send) =>
    send({
      name: `${text('fileNames.breaks')}.${format}`,
      type: TYPES[format],
      bytes,
    }),
  );
}

function columnsOf(language: Language): readonly ExportColumn[] {
  const text = textOf(language);
  const at = (place: string, name: string) => `${name} (${place})`;
  return [
    { name: text('matching.kind'), kind: 'text' },
    { name: text('matching.date'), kind: 'date' },
    { name: at(text('matching.onPlatform'), text('matching.order')), kind: 'text' },
    { name: at(text('matching.onPlatform'), text('matching.dueDate')), kind: 'date' },
    { name: at(text('matching.onPlatform'), text('matching.value')), kind: 'amount' },
    { name: text('matching.supplier'), kind: 'text' },
    { name: text('matching.key'), kind: 'text' },
    { name: text('matching.document'), kind: 'text' },
    { name: text('matching.instalment'), kind: 'text' },
    { name: at(text('matching.inErp'), text('matching.dueDate')), kind: 'date' },
    { name: at(text('matching.inErp'), text('matching.openValue')), kind: 'amount' },
    { name: at(text('matching.inErp'), text('matching.status')), kind: 'text' },
  ];
}

async function* rowsOf(breaks: readonly Break[], language: Language): RowBatches {
  const text = textOf(language);
  yield breaks.map(
    ({ kind, title, payable }): ExportRow => [
      text(`matching.kinds.${kind}`),
      title?.acceptedDate ?? null,
      title?.orderUid ?? payable?.orderUid ?? null,
      title?.dueDate ?? null,
      title?.value ?? null,
      title?.supplier ?? payable?.supplier ?? null,
      payable?.erpKey ?? null,
      payable?.document ?? null,
      payable?.instalment ?? null,
      payable?.dueDate ?? null,
      payable?.openValue ?? null,
      payable === null
        ? null
        : (text.find(`matching.statuses.${payable.status}`) ?? payable.status),
    ],
  );
}
