import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { type AuditRecord, recordAudit } from '../../../base/audit/audit.ts';
import { type Snapshot, withSnapshot } from '../../../base/export/snapshot.sql.ts';
import type { CivilDate } from '../../../base/values/business-day.ts';
import { maySeePersonalData } from '../../../base/values/role.ts';
import type { ChangedField } from '../../../console/api/schema-parts.ts';
import { declareAction } from '../../../console/declare.tsx';
import type { Column, Words } from '../../../console/list/columns.tsx';
import { encodeList } from '../../../console/list/file.tsx';
import { readFilter } from '../../../console/list/filter.tsx';
import { declareList } from '../../../console/list/list.tsx';
import { type ConsoleParts, todayOf } from '../../../console/shell/console-parts.ts';
import { actorOf } from '../../../console/shell/guard.ts';
import { maskChange } from '../../../console/shell/masking.ts';
import { pageContext, usePage } from '../../../console/shell/page-context.ts';
import { authorText } from '../../../console/shell/parts.tsx';
import { EVERYBODY } from '../../../console/shell/route-access.ts';
import { sendFile } from '../../../console/shell/send-file.ts';
import { AMOUNT_COLUMNS } from '../../../core/title/title.ts';
import {
  CHANGE_KINDS,
  type ChangedRows,
  type ChangedTitle,
  countRestated,
  RESTATED_FILTER,
  RestatedDay,
  readRestated,
  readRestatedTitles,
} from '../changed-titles.sql.ts';

const COLUMNS: readonly Column<RestatedDay>[] = [
  { name: 'date', head: 'days.date', kind: 'day', isHead: true },
  {
    name: 'signed_off_by',
    head: 'months.daySignedBy',
    kind: 'text',
    value: ({ signedOffBy }, { text }) => authorText(text, signedOffBy),
  },
  { name: 'signed_off_at', head: 'audit.at', kind: 'instant' },
  {
    name: 'titles',
    head: 'days.titles',
    kind: 'text',
    value: ({ sealedTitles, titles }, { formats }) =>
      `${formats.count(sealedTitles)} → ${formats.count(titles)}`,
  },
  { name: 'sealed', head: 'restated.sealed', kind: 'amount' },
  { name: 'present', head: 'restated.present', kind: 'amount' },
  { name: 'difference', head: 'restated.difference', kind: 'amount' },
  {
    name: 'changes',
    head: 'restated.changes',
    kind: 'text',
    value: ({ changes }, { text, formats }) =>
      CHANGE_KINDS.filter((kind) => changes[kind] > 0)
        .map((kind) => `${text(`day.kinds.${kind}`)}: ${formats.count(changes[kind])}`)
        .join('; '),
  },
  {
    name: 'fields',
    head: 'restated.fields',
    kind: 'text',
    value: ({ fields }, { text }) =>
      fields.map((field) => text.find(`title.fields.${field}`) ?? field).join(', '),
  },
];

/** The days that changed after their sign-off: what was sealed, what is present, and the difference. */
export const RESTATED = declareList(RestatedDay, {
  name: 'restated',
  path: '/restated',
  active: '/restated',
  filter: RESTATED_FILTER,
  columns: COLUMNS,
  rowsPerPage: 10,
  total: countRestated,
  read: readRestated,
  api: {
    tag: 'days',
    operationId: 'listRestatedDays',
    summary: 'What changed since the sign-offs, over all days',
  },
  layout: async (_, { by }, request) => {
    const mine = RESTATED.href({ by: actorOf(request) });
    return ({ head, filter, table }) => (
      <>
        {head}
        <ChangedFields by={by} mine={mine} />
        {filter}
        {table}
      </>
    );
  },
});

/** The file of the changed fields: a row for each differing field of a title. */
export const CHANGED_FIELDS = declareAction({
  path: '/restated',
  who: EVERYBODY,
  input: { by: Type.Optional(RESTATED_FILTER.by.schema) },
  answer: (request, reply, parts) => {
    const { by } = readFilter(RESTATED_FILTER, request.body).filter;
    const entry = { action: 'restated.export', details: { format: 'csv' } } as const;
    return sendMoved(request, reply, parts, 'fileNames.restated', todayOf(parts), async () => ({
      entry,
      read: (snapshot) => readRestatedTitles(snapshot, by),
    }));
  },
  isDownload: true,
});

function ChangedFields(props: { readonly by: string | null; readonly mine: string }) {
  const { text, principal } = usePage();
  const isMasked = !maySeePersonalData(principal?.role ?? 'viewer');
  return (
    <CHANGED_FIELDS.Form
      values={{ by: props.by }}
      class="buttons"
      button={text('restated.files.fields')}
      help={text(isMasked ? 'exports.masked' : 'restated.personal')}
    >
      <a href={props.mine}>{text('restated.mine')}</a>
    </CHANGED_FIELDS.Form>
  );
}

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
