import type { FastifyReply, FastifyRequest } from 'fastify';
import { type AuditRecord, recordAudit } from '../../../base/audit/audit.ts';
import { type Snapshot, withSnapshot } from '../../../base/export/snapshot.sql.ts';
import type { CivilDate } from '../../../base/values/business-day.ts';
import { maySeePersonalData } from '../../../base/values/role.ts';
import type { ChangedField } from '../../../console/api/schema-parts.ts';
import type { Column, Words } from '../../../console/list/columns.tsx';
import { encodeList } from '../../../console/list/file.tsx';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { actorOf } from '../../../console/shell/guard.ts';
import { maskChange } from '../../../console/shell/masking.ts';
import { pageContext } from '../../../console/shell/page-context.ts';
import { sendFile } from '../../../console/shell/send-file.ts';
import { AMOUNT_COLUMNS } from '../../../core/title/title.ts';
import type { ChangedTitle } from '../changed-titles.sql.ts';
import type { ChangedRows } from '../restated-days.sql.ts';

type ChangedLine = ChangedTitle & {
  readonly date: CivilDate;
  /** Null: a title that is new, withdrawn or restored may have no differing field. */
  readonly field: ChangedField | null;
};

const AMOUNTS: ReadonlySet<string> = new Set(AMOUNT_COLUMNS);

/** Amounts have separate columns, so that a spreadsheet can add them up. */
const changedValue =
  (side: 'before' | 'after', isAmount: boolean) =>
  ({ field }: ChangedLine, { formats }: Words) => {
    if (field === null || AMOUNTS.has(field.column) !== isAmount) return null;
    const value = field[side];
    return value !== null && field.column === 'platform_commission'
      ? formats.decimalText(value)
      : value;
  };

const COLUMNS: readonly Column<ChangedLine>[] = [
  { name: 'date', head: 'headings.date', kind: 'date' },
  { name: 'title_id', head: 'headings.title_id', kind: 'count' },
  { name: 'order_uid', head: 'headings.order_uid', kind: 'text' },
  { name: 'occurrence', head: 'headings.occurrence', kind: 'count' },
  {
    name: 'change',
    head: 'headings.change',
    kind: 'text',
    value: ({ kind }, { text }) => text(`restated.kinds.${kind}`),
  },
  { name: 'original_value', head: 'headings.original_value', kind: 'amount' },
  {
    name: 'field',
    head: 'headings.field',
    kind: 'text',
    value: ({ field }, { text }) =>
      field && (text.find(`headings.${field.column}`) ?? field.column),
  },
  { name: 'before', head: 'headings.before', kind: 'text', value: changedValue('before', false) },
  { name: 'after', head: 'headings.after', kind: 'text', value: changedValue('after', false) },
  {
    name: 'before_amount',
    head: 'headings.before_amount',
    kind: 'amount',
    value: changedValue('before', true),
  },
  {
    name: 'after_amount',
    head: 'headings.after_amount',
    kind: 'amount',
    value: changedValue('after', true),
  },
  { name: 'pull_id', head: 'headings.pull_id', kind: 'count' },
];

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
  const page = pageContext(request, timeZone);
  const isMasked = !maySeePersonalData(request.principal?.role ?? 'viewer');
  return sendFile(reply, logger, (signal, send) =>
    withSnapshot(database, signal, async (snapshot) => {
      const { entry, read } = await begin();
      await recordAudit(database.prisma, { actor: actorOf(request), ...entry });
      const rows = linesOf(read(snapshot), isMasked);
      return send({
        name: `${page.text(name)}-${date}.csv`,
        ...encodeList({ columns: COLUMNS, rows, rowCount: 0, sheet: '' }, 'csv', page),
      });
    }),
  );
}

async function* linesOf(moved: ChangedRows, isMasked: boolean) {
  for await (const titles of moved) {
    yield titles.flatMap((title): ChangedLine[] => {
      const fields = isMasked ? title.fields.map(maskChange) : title.fields;
      return (fields.length === 0 ? [null] : fields).map((field) => ({ ...title, field }));
    });
  }
}
