import type { FastifyReply, FastifyRequest } from 'fastify';
import { type AuditRecord, recordAudit } from '../../../base/audit/audit.ts';
import { withSnapshot } from '../../../base/export/snapshot.sql.ts';
import { refusal } from '../../../base/texts/texts.ts';
import type { CivilDate } from '../../../base/values/business-day.ts';
import { maySeePersonalData } from '../../../base/values/role.ts';
import { type ChangedField, ledgerDate } from '../../../console/api/schema-parts.ts';
import { declareAction } from '../../../console/declare.tsx';
import type { Column, Words } from '../../../console/list/columns.tsx';
import { encodeList } from '../../../console/list/file.tsx';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { actorOf } from '../../../console/shell/guard.ts';
import { maskChange } from '../../../console/shell/masking.ts';
import { pageContext } from '../../../console/shell/page-context.ts';
import { EVERYBODY } from '../../../console/shell/route-access.ts';
import { sendFile } from '../../../console/shell/send-file.ts';
import { AMOUNT_COLUMNS } from '../../../core/title/title.ts';
import { type ChangedRows, type ChangedTitle, readMoved } from '../changed-titles.sql.ts';

/** The file of the changed fields since the sign-off of a day: a row for each differing field of a title. */
export const CHANGED_FIELDS = declareAction({
  path: '/days/:date/changes',
  who: EVERYBODY,
  input: { date: ledgerDate },
  answer: async (request, reply, parts, { date }) => {
    const where = { date, endedAt: null };
    const seal = await parts.database.prisma.signOff.findFirst({ where });
    if (seal === null) throw refusal('not_signed_off', { date });
    const entry = { action: 'restated.export', date, details: { format: 'csv' } } as const;
    return sendMoved(request, reply, parts, { name: 'restated', date, fence: seal.fence, entry });
  },
  isDownload: true,
});

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

const LINE_COLUMNS: readonly Column<ChangedLine>[] = [
  { name: 'date', head: 'headings.date', kind: 'date' },
  { name: 'title_id', head: 'headings.title_id', kind: 'count' },
  { name: 'order_uid', head: 'headings.order_uid' },
  { name: 'occurrence', head: 'headings.occurrence', kind: 'count' },
  {
    name: 'change',
    head: 'headings.change',
    value: ({ kind }, { text }) => text(`restated.kinds.${kind}`),
  },
  { name: 'original_value', head: 'headings.original_value', kind: 'amount' },
  {
    name: 'field',
    head: 'headings.field',
    value: ({ field }, { text }) =>
      field && (text.find(`headings.${field.column}`) ?? field.column),
  },
  { name: 'before', head: 'headings.before', value: changedValue('before', false) },
  { name: 'after', head: 'headings.after', value: changedValue('after', false) },
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
 * Sends the titles of a day that differ since a fence as a CSV file, masked for readers without the right to see
 * identifiers.
 */
export function sendMoved(
  request: FastifyRequest,
  reply: FastifyReply,
  { database, logger, timeZone }: ConsoleParts,
  file: {
    readonly name: 'restated' | 'difference';
    readonly date: CivilDate;
    readonly fence: bigint;
    /** Written to the audit log before the first byte. */
    readonly entry: Omit<AuditRecord, 'actor'>;
  },
): Promise<FastifyReply> {
  const page = pageContext(request, timeZone);
  const { name, date, fence, entry } = file;
  const isMasked = !maySeePersonalData(request.principal?.role ?? 'viewer');
  return sendFile(reply, logger, (signal, send) =>
    withSnapshot(database, signal, async (snapshot) => {
      await recordAudit(database.prisma, { actor: actorOf(request), ...entry });
      const rows = linesOf(readMoved(snapshot, date, fence), isMasked);
      return send({
        name: `${page.text(`fileNames.${name}`)}-${date}.csv`,
        ...encodeList({ columns: LINE_COLUMNS, rows, rowCount: 0, sheet: '' }, 'csv', page),
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
