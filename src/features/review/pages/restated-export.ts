import type { FastifyReply, FastifyRequest } from 'fastify';
import { type AuditRecord, recordAudit } from '../../../base/audit/audit.ts';
import { localDecimal, writeCsv } from '../../../base/export/csv.ts';
import { type Snapshot, withSnapshot } from '../../../base/export/snapshot.sql.ts';
import type { ExportColumn, ExportRow, RowBatches } from '../../../base/export/table.ts';
import { type Language, textOf } from '../../../base/texts/texts.ts';
import type { CivilDate } from '../../../base/values/business-day.ts';
import { isPlainDecimal } from '../../../base/values/decimal.ts';
import { maySeePersonalData } from '../../../base/values/role.ts';
import { fileTypeOf } from '../../../console/list/file.tsx';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { maskColumn } from '../../../console/shell/masking.ts';
import { pageContext } from '../../../console/shell/page-context.ts';
import { actorOf } from '../../../console/shell/path-parameters.ts';
import { sendFile } from '../../../console/shell/send-file.ts';
import { AMOUNT_COLUMNS } from '../../../core/title/title.ts';
import { headingOf, withHeadings } from '../../titles/title-file.ts';
import type { ChangedRows } from '../restated-days.sql.ts';

/** Amounts have separate columns, so that a spreadsheet can add them up. */
const FIELDS_COLUMNS: readonly ExportColumn[] = [
  { name: 'date', kind: 'date' },
  { name: 'title_id', kind: 'integer' },
  { name: 'order_uid', kind: 'text' },
  { name: 'occurrence', kind: 'integer' },
  { name: 'change', kind: 'text' },
  { name: 'original_value', kind: 'amount' },
  { name: 'field', kind: 'text' },
  { name: 'before', kind: 'text' },
  { name: 'after', kind: 'text' },
  { name: 'before_amount', kind: 'amount' },
  { name: 'after_amount', kind: 'amount' },
  { name: 'pull_id', kind: 'integer' },
];

const AMOUNTS: ReadonlySet<string> = new Set(AMOUNT_COLUMNS);

/**
 * Sends the differing titles as a CSV file, masked for readers without the right to see identifiers.
 * @param begin returns the entry for the audit log, which is written before the first byte, and what reads the titles
 */
export function sendMoved(
  request: FastifyRequest,
  reply: FastifyReply,
  { database, logger, timeZone }: ConsoleParts,
  name: 'fileNames.restated' | 'fileNames.difference',
  date: CivilDate,
  begin: () => Promise<{
    readonly entry: Omit<AuditRecord, 'actor'>;
    readonly read: (snapshot: Snapshot) => ChangedRows;
  }>,
): Promise<FastifyReply> {
  const { language, text } = pageContext(request, timeZone);
  const isMasked = !maySeePersonalData(request.principal?.role ?? 'viewer');
  return sendFile(reply, logger, (signal, send) =>
    withSnapshot(database, signal, async (snapshot) => {
      const { entry, read } = await begin();
      await recordAudit(database.prisma, { actor: actorOf(request), ...entry });
      const rows = fieldRows(read(snapshot), isMasked, language);
      return send({
        name: `${text(name)}-${date}.csv`,
        type: fileTypeOf('csv'),
        bytes: writeCsv(withHeadings(FIELDS_COLUMNS, language), rows, language),
      });
    }),
  );
}

async function* fieldRows(moved: ChangedRows, isMasked: boolean, locale: Language): RowBatches {
  const show = (column: string, value: string | null) => {
    const shown = isMasked ? maskColumn(column, value) : value;
    const isDecimal = column === 'platform_commission' && shown !== null && isPlainDecimal(shown);
    return isDecimal ? localDecimal(shown, locale) : shown;
  };
  for await (const titles of moved) {
    yield titles.flatMap((title) => {
      const head = [
        title.date,
        String(title.titleId),
        title.orderUid,
        String(title.occurrence),
        textOf(locale)(`restated.kinds.${title.kind}`),
        title.originalValue,
      ];
      const pullId = String(title.pullId);
      // A title that is new, withdrawn or restored may have no differing field.
      if (title.fields.length === 0) return [[...head, null, null, null, null, null, pullId]];
      return title.fields.map(({ column, before, after }): ExportRow => {
        const [old, now] = [show(column, before), show(column, after)];
        const values = AMOUNTS.has(column) ? [null, null, old, now] : [old, now, null, null];
        return [...head, headingOf(column, locale), ...values, pullId];
      });
    });
  }
}
