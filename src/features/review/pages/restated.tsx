import { Type } from 'typebox';
import { maySeePersonalData } from '../../../base/values/role.ts';
import { declareAction } from '../../../console/declare.tsx';
import type { Column } from '../../../console/list/columns.tsx';
import { readFilter } from '../../../console/list/filter.tsx';
import { declareList } from '../../../console/list/list.tsx';
import { todayOf } from '../../../console/shell/console-parts.ts';
import { actorOf } from '../../../console/shell/guard.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import { authorText } from '../../../console/shell/parts.tsx';
import { EVERYBODY } from '../../../console/shell/route-access.ts';
import { CHANGE_KINDS } from '../changed-titles.sql.ts';
import {
  countRestated,
  RESTATED_FILTER,
  RestatedDay,
  readRestated,
  readRestatedTitles,
} from '../restated-days.sql.ts';
import { sendMoved } from './restated-export.ts';

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
