/** The files of titles for finance and the ERP: the columns of a title, and the day of its accepted date. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { recordAudit } from '../../base/audit/audit.ts';
import type { Database } from '../../base/database/database.ts';
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
import {
  readTitleSnapshot,
  type TitleSelection,
  type TitleSnapshot,
  type TitleTotals,
} from './export-titles.sql.ts';

export const EXPORT_FORMATS = ['csv', 'xlsx', 'jsonl'] as const;

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
 * Calls `use` with the selected titles of one instant as a file. The audit log has the export before the first byte. Rows
 * arrive in batches of text, and bytes are produced as they are read, so memory does not grow with the number of rows.
 */
export function withTitleFile<T>(
  database: Database,
  selection: TitleSelection,
  file: {
    readonly format: FileFormat;
    readonly actor: string;
    readonly isMasked: boolean;
    /** The headings, dates and words. JSON lines are for programs, in English. */
    readonly page: Words;
    /** The separators of cells and decimals, for CSV only. */
    readonly locale?: Language;
  },
  signal: AbortSignal,
  use: (file: ReturnType<typeof encodeList> & { readonly totals: TitleTotals }) => Promise<T>,
): Promise<T> {
  const { format, actor, isMasked, page, locale } = file;
  const { from, to, noted } = selection;
  return readTitleSnapshot(database, selection, signal, async (snapshot) => {
    const { columns, totals, titles } = snapshot;
    const rowCount = totals.current + totals.withdrawn;
    const details = { from, to, format, rows: rowCount, ...noted };
    await recordAudit(database.prisma, { actor, action: 'export', details });
    const list = {
      columns: columns.map(
        ({ name, kind, promoted }, index): Column<ExportRow> => ({
          name,
          head: promoted === undefined ? (`headings.${name}` as TextKey) : null,
          kind,
          value: (cells, words) => wordOf(name, cells[index] ?? null, words),
        }),
      ),
      ...{ rows: isMasked ? maskRows(snapshot) : titles, rowCount },
      sheet: page.text('titleFile.titles'),
    };
    const words = format === 'jsonl' ? wordsOf('en', 'UTC') : page;
    return use({ ...encodeList(list, format, words, locale), totals });
  });
}

/**
 * Streams titles as a file. Readers without the right to see identifiers receive masked ones.
 * @param programLocale for programs: the separators of a CSV file that has English headings. Absent: the reader's language
 */
export function sendTitleFile(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: ConsoleParts,
  selection: TitleSelection,
  format: FileFormat,
  programLocale?: Language,
): Promise<FastifyReply> {
  const { database, logger, timeZone } = parts;
  const { language } = pageContext(request, timeZone);
  const page = wordsOf(programLocale === undefined ? language : 'en', timeZone);
  const dates = [selection.from, selection.to].filter((date) => date !== null).join('-');
  const name = `${page.text('fileNames.titles')}-${dates || todayOf(parts)}.${format}`;
  const file = {
    ...{ format, page, locale: programLocale ?? language, actor: actorOf(request) },
    isMasked: !maySeePersonalData(request.principal?.role ?? 'viewer'),
  };
  return sendFile(reply, logger, (signal, send) =>
    withTitleFile(database, selection, file, signal, (titles) => send({ name, ...titles })),
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
