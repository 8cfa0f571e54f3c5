import type { FastifyInstance } from 'fastify';
import { recordAudit } from '../../../base/audit/audit.ts';
import { withSnapshot } from '../../../base/export/snapshot.sql.ts';
import { type TextKey, textOf } from '../../../base/texts/texts.ts';
import { maySeePersonalData } from '../../../base/values/role.ts';
import { type Column, dayColumn } from '../../../console/list/columns.tsx';
import { choice, readFilter, textField } from '../../../console/list/filter.tsx';
import { declareList } from '../../../console/list/list.tsx';
import { type ConsoleParts, todayOf } from '../../../console/shell/console-parts.ts';
import { type PageContext, pageContext, usePage } from '../../../console/shell/page-context.ts';
import { ActionForm, authorText, Submit } from '../../../console/shell/parts.tsx';
import { actorOf } from '../../../console/shell/path-parameters.ts';
import { EVERYBODY, forPeople } from '../../../console/shell/route-access.ts';
import { sendFile } from '../../../console/shell/send-file.ts';
import { AMOUNT_COLUMNS } from '../../../core/title/title.ts';
import {
  countRestated,
  RestatedDay,
  readRestated,
  readRestatedTitles,
  SEALED_MEASURES,
  type SealedMeasure,
} from '../restated-days.sql.ts';
import { writeMoved } from './restated-export.ts';

const COUNTS: Readonly<Record<string, TextKey>> = {
  title_count: 'days.titles',
  withdrawn_count: 'days.withdrawn',
  rejected_count: 'days.rejected',
};

const measureText = (measure: SealedMeasure | 'all'): TextKey => {
  if (measure === 'all') return 'filter.all';
  const column = AMOUNT_COLUMNS.find((name) => measure === `${name}_sum`);
  return column === undefined ? (COUNTS[measure] ?? 'days.titles') : `title.fields.${column}`;
};

const FILTER = {
  measure: choice('day.amount', [...SEALED_MEASURES, 'all'], 'original_value_sum', measureText),
  by: textField('months.daySignedBy'),
};

/** A count has no decimals. */
const compared = (
  name: 'sealed' | 'present' | 'difference',
  head: TextKey,
): Column<RestatedDay> => ({
  name,
  head,
  kind: 'amount',
  value: (row) => row[name],
  cell: ({ measure, [name]: value }, { formats }: PageContext) =>
    measure in COUNTS ? formats.count(Number(value)) : formats.amount(value),
});

const COLUMNS: readonly Column<RestatedDay>[] = [
  { ...dayColumn('days.date'), isHead: true },
  {
    name: 'signed_off_by',
    head: 'months.daySignedBy',
    kind: 'text',
    value: ({ signedOffBy }, { text }) => authorText(text, signedOffBy),
  },
  {
    name: 'signed_off_at',
    head: 'audit.at',
    kind: 'instant',
    value: ({ signedOffAt }) => signedOffAt,
  },
  {
    name: 'measure',
    head: 'day.amount',
    kind: 'text',
    value: ({ measure }, { text }) => text(measureText(measure)),
  },
  compared('sealed', 'restated.sealed'),
  compared('present', 'restated.present'),
  compared('difference', 'restated.difference'),
];

/** The days that changed after their sign-off: what was sealed, what is present, and the difference. */
export const RESTATED = declareList(RestatedDay, {
  name: 'restated',
  path: '/restated',
  active: '/restated',
  filter: FILTER,
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

function ChangedFields(props: { readonly by: string | null; readonly mine: string }) {
  const { text, principal } = usePage();
  const isMasked = !maySeePersonalData(principal?.role ?? 'viewer');
  return (
    <ActionForm action="/restated" class="buttons" isDownload>
      <a href={props.mine}>{text('restated.mine')}</a>
      {props.by !== null && <input type="hidden" name="by" value={props.by} />}
      <Submit>{text('restated.files.fields')}</Submit>
      <p class="quiet small">{isMasked ? text('exports.masked') : text('restated.personal')}</p>
    </ActionForm>
  );
}

/** Adds the file of the changed fields: a row for each differing field of a title. */
export function addRestatedRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database, logger, timeZone } = parts;
  server.post('/restated', forPeople(EVERYBODY), (request, reply) => {
    const { by } = readFilter(FILTER, request.body).filter;
    const { language } = pageContext(request, timeZone);
    const isMasked = !maySeePersonalData(request.principal?.role ?? 'viewer');
    const today = todayOf(parts);
    return sendFile(reply, logger, (signal, send) =>
      withSnapshot(database, signal, async (snapshot) => {
        await recordAudit(database.prisma, {
          actor: actorOf(request),
          action: 'restated.export',
          details: { format: 'csv' },
        });
        return send({
          name: `${textOf(language)('fileNames.restated')}-${today}.csv`,
          type: 'text/csv; charset=utf-8',
          bytes: writeMoved(readRestatedTitles(snapshot, by), isMasked, language),
        });
      }),
    );
  });
}
