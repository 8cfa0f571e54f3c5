import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RowBatches } from '../../../base/export/table.ts';
import { type Language, textOf } from '../../../base/texts/texts.ts';
import { maySeePersonalData } from '../../../base/values/role.ts';
import { type FileFormat, fileTypeOf } from '../../../console/list/file.tsx';
import { type ConsoleParts, todayOf } from '../../../console/shell/console-parts.ts';
import { maskColumn } from '../../../console/shell/masking.ts';
import { formatsOf, pageContext } from '../../../console/shell/page-context.ts';
import { actorOf } from '../../../console/shell/path-parameters.ts';
import { sendFile } from '../../../console/shell/send-file.ts';
import {
  daysUntil,
  readTitleSnapshot,
  recordExport,
  TITLE_EXPORT_COLUMNS,
  type TitleSelection,
} from '../export-titles.sql.ts';
import { encodeTitles } from '../title-file.ts';

/**
 * Streams titles as a file. The audit log records the export before the first byte. Readers without
 * the right to see identifiers receive masked ones.
 */
export async function sendTitleFile(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: ConsoleParts,
  file: {
    readonly selection: TitleSelection;
    /** For the audit log. */
    readonly noted: { readonly includeWithdrawn: boolean; readonly isPart?: boolean };
    readonly format: FileFormat;
    /** For programs: the separators of a CSV file that has English headings. Absent: the reader's language. */
    readonly locale?: Language;
  },
): Promise<FastifyReply> {
  const { database, logger, timeZone } = parts;
  const { selection, format } = file;
  const { from, to } = selection;
  const reader = pageContext(request, timeZone).language;
  const { locale = reader } = file;
  const language = file.locale === undefined ? reader : 'en';
  const isMasked = !maySeePersonalData(request.principal?.role ?? 'viewer');
  return sendFile(reply, logger, (signal, send) =>
    readTitleSnapshot(database, selection, signal, async (snapshot) => {
      const today = todayOf(parts);
      const rows = snapshot.overall.current + snapshot.overall.withdrawn;
      await recordExport(database, actorOf(request), { from, to, format, rows, ...file.noted });
      const titles = isMasked ? maskRows(snapshot.titles) : snapshot.titles;
      const bytes = encodeTitles(
        { ...snapshot, titles, ledger: daysUntil(snapshot.ledger, today) },
        format,
        locale,
        language,
        language === 'pt-BR'
          ? (at) => formatsOf(language, timeZone).instant(new Date(at))
          : undefined,
      );
      const dates = [from, to].filter((date) => date !== null).join('-') || today;
      const name = `${textOf(language)('fileNames.titles')}-${dates}.${format}`;
      await send({ name, type: fileTypeOf(format), bytes });
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
