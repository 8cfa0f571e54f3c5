import type { FastifyReply, FastifyRequest } from 'fastify';
import { recordAudit } from '../../../base/audit/audit.ts';
import type { RowBatches } from '../../../base/export/table.ts';
import type { Language } from '../../../base/texts/texts.ts';
import { maySeePersonalData } from '../../../base/values/role.ts';
import type { FileFormat } from '../../../console/list/file.tsx';
import { type ConsoleParts, todayOf } from '../../../console/shell/console-parts.ts';
import { actorOf } from '../../../console/shell/guard.ts';
import { maskColumn, maskPromoted } from '../../../console/shell/masking.ts';
import { pageContext, wordsOf } from '../../../console/shell/page-context.ts';
import { sendFile } from '../../../console/shell/send-file.ts';
import {
  daysUntil,
  readTitleSnapshot,
  TITLE_EXPORT_COLUMNS,
  type TitleSelection,
  type TitleSnapshot,
} from '../export-titles.sql.ts';
import { encodeTitles, NOTE_COLUMNS } from '../title-file.ts';

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
  const page = wordsOf(file.locale === undefined ? reader : 'en', timeZone);
  const isMasked = !maySeePersonalData(request.principal?.role ?? 'viewer');
  return sendFile(reply, logger, (signal, send) =>
    readTitleSnapshot(database, selection, signal, async (snapshot) => {
      const today = todayOf(parts);
      const rows = snapshot.overall.current + snapshot.overall.withdrawn;
      const details = { from, to, format, rows, ...file.noted };
      await recordAudit(database.prisma, { actor: actorOf(request), action: 'export', details });
      const titles = isMasked ? maskRows(snapshot) : snapshot.titles;
      const content = { ...snapshot, titles, ledger: daysUntil(snapshot.ledger, today) };
      const dates = [from, to].filter((date) => date !== null).join('-') || today;
      await send({
        name: `${page.text('fileNames.titles')}-${dates}.${format}`,
        ...encodeTitles(content, format, page, locale),
      });
    }),
  );
}

async function* maskRows({ titles, promoted }: TitleSnapshot): RowBatches {
  for await (const rows of titles) {
    yield rows.map((row) =>
      row.map((cell, index) => {
        const field = promoted[index - TITLE_EXPORT_COLUMNS.length - NOTE_COLUMNS.length];
        if (field !== undefined) return cell && maskPromoted({ ...field, value: cell }).value;
        const { name = '', kind } = TITLE_EXPORT_COLUMNS[index] ?? {};
        const masked = maskColumn(name, cell);
        return kind === 'json' && masked !== null ? JSON.stringify(masked) : masked;
      }),
    );
  }
}
