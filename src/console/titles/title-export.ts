import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { maySeePersonalData } from '../../domain/role.ts';
import type { CsvLocale } from '../../export/csv.ts';
import { type RowBatches, TITLE_EXPORT_COLUMNS } from '../../export/export-columns.ts';
import {
  readTitleSnapshot,
  recordExport,
  type TitleSelection,
} from '../../export/export-titles.sql.ts';
import { type ExportFormat, encodeTitles } from '../../export/title-file.ts';
import { describeError } from '../../runtime/logger.ts';
import type { ConsoleParts } from '../shell/console-parts.ts';
import type { Principal } from '../shell/guard.ts';
import { maskColumn } from '../shell/masking.ts';

const CONTENT_TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  jsonl: 'application/jsonl; charset=utf-8',
};

/**
 * Streams titles as a file. The audit log records the export before the first byte. Readers without
 * the right to see identifiers receive masked ones. When the client disconnects, the database
 * connection is released immediately.
 */
export async function sendTitleFile(
  reply: FastifyReply,
  { database, logger }: ConsoleParts,
  principal: Principal,
  request: TitleSelection & { readonly format: ExportFormat; readonly locale: CsvLocale },
): Promise<FastifyReply> {
  const { format, locale, ...selection } = request;
  const { from, to } = selection;
  const { raw } = reply;
  const isMasked = !maySeePersonalData(principal.role);
  const gone = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort();
  });
  try {
    await readTitleSnapshot(database, selection, gone.signal, async (snapshot) => {
      const rows = snapshot.overall.current + snapshot.overall.withdrawn;
      await recordExport(database, principal.name, { ...selection, format, rows });
      const titles = isMasked ? maskRows(snapshot.titles) : snapshot.titles;
      const { bytes } = encodeTitles({ ...snapshot, titles }, format, locale);
      reply
        .type(CONTENT_TYPES[format])
        .header('content-disposition', `attachment; filename="titles-${from}-${to}.${format}"`)
        .hijack();
      raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders);
      // Each chunk is sent before the next one is made, so that chunks do not queue up.
      for await (const chunk of bytes) await write(raw, chunk);
      raw.end();
    });
  } catch (error) {
    // Before the first byte, an error page can still be sent.
    if (!reply.sent) throw error;
    // An aborted transfer has no regular end, and the browser reports it.
    raw.destroy();
    if (!gone.signal.aborted) logger.warn({ err: describeError(error) }, 'an export was cut short');
  }
  return reply;
}

/** @returns when the operating system has accepted the bytes */
function write(to: ServerResponse, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    to.write(chunk, (error) => (error ? reject(error) : resolve()));
  });
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
