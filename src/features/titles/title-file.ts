/** The files of titles for finance and the ERP: the columns of a title, and the day of its accepted date. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { recordAudit } from '../../base/audit/audit.ts';
import type { ExportRow, RowBatches } from '../../base/export/table.ts';
import type { Language, TextKey } from '../../base/texts/texts.ts';
import { maySeePersonalData } from '../../base/values/role.ts';
import type { Column, Words } from '../../console/list/columns.tsx';
import { encodeList, type FileFormat } from '../../console/list/file.tsx';
import { type ConsoleParts, todayOf } from '../../console/shell/console-parts.ts';
import { actorOf } from '../../console/shell/guard.ts';
import { maskColumn, maskPromoted } from '../../console/shell/masking.ts';
import { pageContext, wordsOf } from '../../console/shell/page-context.ts';
import { sendFile } from '../../console/shell/send-file.ts';
import { readTitleSnapshot, type TitleSelection, type TitleSnapshot } from './export-titles.sql.ts';

export const EXPORT_FORMATS = ['csv', 'xlsx', 'jsonl'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Columns with words of the platform. */
const WORDS = new Set<string>(['financial_agent_type', 'payment_type']);

/** English files, which are for programs, have every cell as it is. */
function wordOf(name: string, cell: string | null, { text, language, formats }: Words) {
  if (language === 'en' || cell === null) return cell;
  if (name === 'status') return text.find(`titleFile.statuses.${cell}`);
  if (name === 'day_state') return text.find(`titleFile.states.${cell}`);
  if (name === 'day_signed_off_at') return formats.instant(new Date(cell));
  return (WORDS.has(name) && text.find(`values.${cell}`)) || cell;
}

/**
 * Returns the titles of a snapshot as a file. Rows arrive in batches of text, and bytes are produced as they are read,
 * so memory does not grow with the number of rows.
 * @param page the headings, dates and words. JSON lines are for programs, in English
 * @param locale the separators of cells and decimals, for CSV only
 */
export function encodeTitles(
  { columns, totals, titles }: TitleSnapshot,
  format: ExportFormat,
  page: Words,
  locale?: Language,
) {
  return encodeList(
    {
      columns: columns.map(
        ({ name, kind, promoted }, index): Column<ExportRow> => ({
          name,
          head: promoted === undefined ? (`headings.${name}` as TextKey) : null,
          kind,
          value: (cells, words) => wordOf(name, cells[index] ?? null, words),
        }),
      ),
      rows: titles,
      rowCount: totals.current + totals.withdrawn,
      sheet: page.text('titleFile.titles'),
    },
    format,
    format === 'jsonl' ? wordsOf('en', 'UTC') : page,
    locale,
  );
}

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
      const rows = snapshot.totals.current + snapshot.totals.withdrawn;
      const details = { from, to, format, rows, ...file.noted };
      await recordAudit(database.prisma, { actor: actorOf(request), action: 'export', details });
      const titles = isMasked ? maskRows(snapshot) : snapshot.titles;
      const dates = [from, to].filter((date) => date !== null).join('-') || todayOf(parts);
      await send({
        name: `${page.text('fileNames.titles')}-${dates}.${format}`,
        ...encodeTitles({ ...snapshot, titles }, format, page, locale),
      });
    }),
  );
}

async function* maskRows({ titles, columns }: TitleSnapshot): RowBatches {
  for await (const rows of titles) {
    yield rows.map((row) =>
      row.map((cell, index) => {
        const { name = '', kind, promoted } = columns[index] ?? {};
        if (promoted !== undefined) return cell && maskPromoted({ ...promoted, value: cell }).value;
        const masked = maskColumn(name, cell);
        return kind === 'json' && masked !== null ? JSON.stringify(masked) : masked;
      }),
    );
  }
}
