import type { FastifyReply } from 'fastify';
import type { RowBatches } from '../../../base/export/table.ts';
import { type Language, textOf } from '../../../base/texts/texts.ts';
import { dateIn } from '../../../base/values/business-day.ts';
import { maySeePersonalData } from '../../../base/values/role.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import type { Principal } from '../../../console/shell/guard.ts';
import { maskColumn } from '../../../console/shell/masking.ts';
import { formatsOf } from '../../../console/shell/page-context.ts';
import { sendFile } from '../../../console/shell/send-file.ts';
import { TITLE_EXPORT_COLUMNS } from '../../../core/title/title.ts';
import {
  daysUntil,
  readTitleSnapshot,
  recordExport,
  type TitleSelection,
} from '../export-titles.sql.ts';
import { type ExportFormat, encodeTitles } from '../title-file.ts';

export const CONTENT_TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  jsonl: 'application/jsonl; charset=utf-8',
};

/**
 * Streams titles as a file. The audit log records the export before the first byte. Readers without
 * the right to see identifiers receive masked ones.
 */
export async function sendTitleFile(
  reply: FastifyReply,
  { database, logger, timeZone, now }: ConsoleParts,
  principal: Principal,
  request: TitleSelection & {
    readonly format: ExportFormat;
    readonly locale: Language;
    /** Of the headings and of the name of the file. */
    readonly language: Language;
  },
): Promise<FastifyReply> {
  const { format, locale, language, ...selection } = request;
  const { from, to } = selection;
  const isMasked = !maySeePersonalData(principal.role);
  return sendFile(reply, logger, (signal, send) =>
    readTitleSnapshot(database, selection, signal, async (snapshot) => {
      const today = dateIn(timeZone, now?.() ?? new Date());
      const rows = snapshot.overall.current + snapshot.overall.withdrawn;
      await recordExport(database, principal.name, { ...selection, format, rows });
      const titles = isMasked ? maskRows(snapshot.titles) : snapshot.titles;
      const { bytes } = encodeTitles(
        { ...snapshot, titles, ledger: daysUntil(snapshot.ledger, today) },
        format,
        locale,
        language,
        language === 'pt-BR'
          ? (at) => formatsOf(language, timeZone).instant(new Date(at))
          : undefined,
      );
      const name = `${textOf(language)('fileNames.titles')}-${from}-${to}.${format}`;
      await send({ name, type: CONTENT_TYPES[format], bytes });
    }),
  );
}

async function* maskRows(batches: RowBatches): RowBatches {
  for await (const rows of batches) {
    yield rows.map((row) =>
      row.map((cell, index) => {
        const { name = '', kind } = TITLE_EXPORT_COLUMNS[index] ?? {};
        const masked = maskColumn(name, cell);
        return kind === 'json' && masked !== null ? JSON.stringify(masked) : masked;
      }),
    );
  }
}
