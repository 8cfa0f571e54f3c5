import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { InputError } from '../../base/runtime/errors.ts';
import { type CivilDate, lastClosedDate, toCivilDate } from '../../base/values/business-day.ts';
import { maySeePersonalData } from '../../base/values/role.ts';
import { declareOperation } from '../../console/api/api-request.ts';
import { id, ledgerDate, words } from '../../console/api/schema-parts.ts';
import { declarePage } from '../../console/declare.tsx';
import type { Column } from '../../console/list/columns.tsx';
import { fileTypeOf } from '../../console/list/file.tsx';
import { declareList, inTwo } from '../../console/list/list.tsx';
import type { ConsoleParts, Feature } from '../../console/shell/console-parts.ts';
import { actorOf } from '../../console/shell/guard.ts';
import { isSensitive, maskChange, maskColumn, maskPromoted } from '../../console/shell/masking.ts';
import { usePage } from '../../console/shell/page-context.ts';
import {
  authorText,
  Card,
  DayLink,
  Fields,
  Instant,
  PlatformValue,
  RevealForm,
} from '../../console/shell/parts.tsx';
import { COLUMN_KINDS, TITLE_COLUMNS, type TitleColumn } from '../../core/title/title.ts';
import { TitleBooking } from '../bookings/pages/booking-cards.tsx';
import { readLineOf } from '../bookings/pages/booking-list.sql.ts';
import { readTitleFindings } from '../checks/findings.sql.ts';
import { TitleFindings } from '../checks/pages/findings.tsx';
import { readTitleBreaks, readTitleMatches } from '../matching/break-list.sql.ts';
import { readOwnSealOfMatch } from '../matching/match-decisions.sql.ts';
import { BREAKS } from '../matching/pages/breaks-page.tsx';
import { TitleMatches } from '../matching/pages/match-cards.tsx';
import { hasPayables } from '../matching/payables/payable-state.sql.ts';
import { providerHref } from '../providers/provider.ts';
import { FieldChanges, TitleValue } from '../review/pages/changed-titles.tsx';
import { maskPayee, PayeeAccount, PayeeName } from '../schedule/index.tsx';
import { readPayee } from '../schedule/schedule.sql.ts';
import { readDoubtfulDates, titlesAccepted } from './export-titles.sql.ts';
import { EXPORT_FORMATS, sendTitleFile } from './title-file.ts';
import {
  countTitles,
  readTitleDetail,
  readTitles,
  TITLE_FILTER,
  Title,
  type TitleDetail,
  TitleRow,
  titleOrder,
  whereOf,
} from './titles.sql.ts';

/** A due date, and the business day on which the payment is made, where that is another day. */
function DueDate(props: {
  readonly date: CivilDate | null;
  readonly businessDay: CivilDate | null;
}) {
  const { date, businessDay } = props;
  const { text, formats } = usePage();
  if (date === null) return null;
  return (
    <>
      {formats.date(date)}
      {businessDay !== null && businessDay !== date && (
        <span class="quiet small">
          {' '}
          {text('calendar.paidOn', { date: formats.date(businessDay) })}
        </span>
      )}
    </>
  );
}

const COLUMNS: readonly Column<TitleRow>[] = [
  {
    name: 'order_uid',
    head: 'titles.order',
    sort: 'order',
    cell: ({ id, orderUid, occurrence, promoted }, { text, formats }) => (
      <>
        <a href={`/titles/${id}`}>{orderUid}</a>
        {occurrence > 1 && (
          <span class="quiet small">
            {' '}
            {text('title.copy', { number: formats.count(occurrence) })}
          </span>
        )}
        {promoted.map(({ name, value }) => (
          <span key={name} class="quiet small">
            <br />
            {name} {value}
          </span>
        ))}
      </>
    ),
    isHead: true,
  },
  {
    name: 'accepted_date',
    head: 'titles.accepted',
    kind: 'day',
    sort: 'accepted',
  },
  {
    name: 'due_date',
    head: 'titles.due',
    kind: 'date',
    sort: 'due',
    cell: ({ dueDate, businessDay }) => <DueDate date={dueDate} businessDay={businessDay} />,
  },
  {
    name: 'provider',
    head: 'titles.provider',
    sort: 'provider',
  },
  {
    name: 'agent',
    head: 'title.groups.agent',
    sort: 'agent',
  },
  {
    name: 'original_value',
    head: 'titles.value',
    kind: 'amount',
    sort: 'value',
  },
  {
    name: 'status',
    head: 'titles.status',
    word: ({ status }) => `title.status.${status}`,
    cell: ({ status }, { text }) =>
      status === 'withdrawn' && (
        <span class="tag is-withdrawn is-gone">{text('title.status.withdrawn')}</span>
      ),
  },
];

/** The titles of one day, of a range, or of all dates. Their files have all columns of a title. */
const TITLES = declareList(TitleRow, {
  name: 'titles',
  path: '/titles',
  active: '/titles',
  filter: TITLE_FILTER,
  columns: COLUMNS,
  order: titleOrder,
  read: inTwo(countTitles, readTitles),
  mask: (title) => ({ ...title, promoted: title.promoted.map(maskPromoted) }),
  api: { tag: 'titles', operationId: 'listTitles', summary: 'Titles that a filter selects' },
  file: {
    formats: EXPORT_FORMATS,
    send: async (request, reply, parts, filter, format) => {
      const { from, to, status, sort: _, ...others } = filter;
      const isPart =
        status === 'withdrawn' || Object.values(others).some((value) => value !== null);
      const where = await whereOf(parts.database.prisma, filter);
      const noted = { includeWithdrawn: status !== 'current', ...(isPart && { isPart }) };
      return sendTitleFile(request, reply, parts, { from, to, where, noted }, format);
    },
  },
  layout: async (parts, filter, request) => {
    const { database, timeZone } = parts;
    const now = parts.now?.() ?? new Date();
    const { payeeOf } = filter;
    const [stated, doubtful] = await Promise.all([
      payeeOf === null ? null : readPayee(database, Number(payeeOf)),
      readDoubtfulDates(database, filter, lastClosedDate(timeZone, now)),
    ]);
    const payee = stated && maskPayee(stated);
    const isMasked = !maySeePersonalData(request.principal?.role ?? 'viewer');
    return ({ page: { text }, head, filter, table }) => (
      <>
        {head}
        {payee !== null && (
          <p>
            {text('titles.payee')}: <PayeeName payee={payee} />, <PayeeAccount payee={payee} />
          </p>
        )}
        {filter}
        {table}
        <p class="quiet small">{text(isMasked ? 'exports.masked' : 'exports.personal')}</p>
        {doubtful > 0 && <p class="error">{text('exports.doubtful', { dates: doubtful })}</p>}
      </>
    );
  },
});

const GROUPS = ['obligation', 'amounts', 'provider', 'agent', 'payment', 'other'] as const;

function groupOf(column: TitleColumn): (typeof GROUPS)[number] {
  if (COLUMN_KINDS[column] === 'amount') return 'amounts';
  if (column === 'extra') return 'other';
  if (column === 'buyer_is_financial') return 'agent';
  const [party = ''] = column.split('_');
  const groups = { provider: 'provider', financial: 'agent', payment: 'payment' } as const;
  return party in groups ? groups[party as keyof typeof groups] : 'obligation';
}

const TITLE = declarePage({
  path: '/titles/:id',
  active: '/titles',
  input: { id },
  read: readTitlePage,
  title: ({ text }, { title }) => text('title.title', { order: title.fields.order_uid ?? '' }),
  body: (data, _, { isRevealed }) => <TitlePageBody {...data} isRevealed={isRevealed} />,
  reveal: ({ title }) => ({
    ...{ action: 'title.reveal', date: title.acceptedDate, details: { titleId: title.id } },
  }),
});

async function readTitlePage(
  { database, fourEyes }: ConsoleParts,
  input: { readonly id: number },
  request: FastifyRequest,
) {
  const { prisma } = database;
  const id = BigInt(input.id);
  const title = await readTitleDetail(database, id);
  if (title === null) return null;
  return {
    title,
    /** Null: the ERP has given no payables. */
    matches: (await hasPayables(prisma)) ? await readTitleMatches(database, id) : null,
    /** What keeps this person from undoing the match; null: nothing. */
    ownSeal: fourEyes ? await readOwnSealOfMatch(prisma, id, actorOf(request)) : null,
    breaks: await readTitleBreaks(database, id),
    findings: await readTitleFindings(database, id),
    lines: await readLineOf(prisma, id),
  };
}

function TitlePageBody(
  props: NonNullable<Awaited<ReturnType<typeof readTitlePage>>> & { readonly isRevealed: boolean },
) {
  const context = usePage();
  const { title, matches, findings, isRevealed } = props;
  const { text, formats } = context;
  return (
    <>
      <nav class="crumbs" aria-label={text('nav.days')}>
        <a href={TITLES.href({ from: title.acceptedDate, to: title.acceptedDate })}>
          ← {formats.date(title.acceptedDate)}
        </a>
      </nav>
      <div class="day-head">
        <h1>{text('title.title', { order: title.fields.order_uid ?? '' })}</h1>
        {title.occurrence > 1 && (
          <span class="tag">{text('title.copy', { number: formats.count(title.occurrence) })}</span>
        )}
        <span class={`tag ${title.status === 'withdrawn' ? 'is-withdrawn' : 'is-inserted'}`}>
          {text(`title.status.${title.status}`)}
        </span>
        {title.isPaymentHeld && <span class="tag is-changed">{text('title.paymentHeld')}</span>}
      </div>
      {title.isPaymentHeld && (
        <p>
          {text('day.obstacles.payment_held')}{' '}
          <a href="/account-changes">{text('providers.changesOpen')}</a>
        </p>
      )}
      {props.breaks.map(({ kind, isUrgent, erpKey }) => (
        <p key={`${kind} ${erpKey}`}>
          {isUrgent && <span class="tag is-withdrawn">{text('matching.urgent')}</span>}{' '}
          <a href={BREAKS.href({ kind, title: title.id, payable: erpKey })}>
            {text(`matching.kinds.${kind}`)}
          </a>
          . {text(`matching.help.${kind}`)}
        </p>
      ))}
      {title.predecessor !== null && (
        <p>
          <a href={`/titles/${title.predecessor}`}>{text('title.predecessor')}</a>
        </p>
      )}
      {title.successor !== null && (
        <p>
          <a href={`/titles/${title.successor}`}>{text('title.successor')}</a>
        </p>
      )}
      <RevealForm action={`/titles/${title.id}`} isRevealed={isRevealed} />
      <div class="columns">
        {GROUPS.filter((group) => group !== 'other' || title.fields.extra !== null).map((group) => (
          <Card key={group} title={text(`title.groups.${group}`)}>
            <Fields
              rows={TITLE_COLUMNS.filter((column) => groupOf(column) === group).map((column) => [
                text(`title.fields.${column}`),
                <FieldValue {...props} column={column} />,
                column === 'extra' || isSensitive(column) ? 'number' : '',
              ])}
            />
          </Card>
        ))}
        {title.promoted.length > 0 && (
          <Card title={text('fields.title')}>
            <Fields
              rows={title.promoted
                .map((field) => (isRevealed ? field : maskPromoted(field)))
                .map(({ name, value }) => [name, <PlatformValue value={value} />])}
            />
          </Card>
        )}
      </div>
      <TitleFindings findings={findings} />
      {matches !== null && (
        <TitleMatches date={title.acceptedDate} matches={matches} ownSeal={props.ownSeal} />
      )}
      <TitleBooking lines={props.lines} />
      <Card title={text('title.history')}>
        <ol class="timeline">
          {title.revisions.map((revision) => (
            <li key={revision.revision}>
              <div>
                <p>
                  <Instant at={revision.changedAt} />
                </p>
                <p class="quiet small">
                  {text('title.pull', {
                    id: String(revision.pullId),
                    origin: text(`day.origins.${revision.origin}`),
                  })}
                  <br />
                  {authorText(text, revision.requestedBy)}
                </p>
              </div>
              <div>
                <p>
                  <span class={`tag is-${revision.kind}`}>
                    {text(`day.kinds.${revision.kind}`)}
                  </span>
                </p>
                <FieldChanges fields={revision.fields} isRevealed={isRevealed} />
              </div>
            </li>
          ))}
        </ol>
      </Card>
    </>
  );
}

function FieldValue(props: {
  readonly title: TitleDetail;
  readonly isRevealed: boolean;
  readonly column: TitleColumn;
}) {
  const { title, column, isRevealed } = props;
  const value = title.fields[column];
  if (column === 'accepted_date') return <DayLink date={title.acceptedDate} />;
  if (column === 'anticipated_due_date' && value !== null) {
    return <DueDate date={toCivilDate(value)} businessDay={title.businessDay} />;
  }
  const shown = <TitleValue column={column} value={value} isRevealed={isRevealed} />;
  return column === 'provider_external_id' && value ? (
    <a href={providerHref(value)}>{shown}</a>
  ) : (
    shown
  );
}

const TITLES_API = [
  declareOperation({
    path: '/titles/:id',
    scope: 'read',
    tag: 'titles',
    operationId: 'getTitle',
    summary: 'One title with its whole history',
    input: { id },
    answer: Title,
    run: async ({ database }, { id }) => {
      const title = await readTitleDetail(database, BigInt(id));
      if (title === null) return null;
      return {
        ...title,
        fields: Object.fromEntries(
          Object.entries(title.fields).map(([column, value]) => [
            column,
            maskColumn(column, value),
          ]),
        ),
        promoted: title.promoted.map(maskPromoted),
        revisions: title.revisions
          .filter(({ kind }) => kind !== 'inserted')
          .map(({ origin: _, requestedBy: __, fields, ...revision }) => ({
            ...revision,
            fields: fields.map(maskChange),
          })),
      };
    },
  }),
  declareOperation({
    path: '/export',
    scope: 'export',
    tag: 'titles',
    operationId: 'exportTitles',
    summary: 'Titles of a range as a file',
    input: {
      from: ledgerDate,
      to: ledgerDate,
      format: words(EXPORT_FORMATS),
      locale: Type.Optional(words(['en', 'pt-BR'])),
      includeWithdrawn: Type.Optional(words(['true', 'false'])),
    },
    answer: Type.Unsafe<string>({ type: 'string', format: 'binary' }),
    types: EXPORT_FORMATS.map(fileTypeOf),
    run: (parts, { from, to, format, includeWithdrawn, locale = 'pt-BR' }, request, reply) => {
      if (from > to) {
        throw new InputError(`the range ends on ${to}, before it begins on ${from}`);
      }
      const selection = titlesAccepted({ from, to, includeWithdrawn: includeWithdrawn === 'true' });
      // The names of the data dictionary in either notation.
      return sendTitleFile(request, reply, parts, selection, format, locale);
    },
  }),
];

export const titles: Feature = {
  name: 'titles',
  pages: [TITLE],
  lists: [TITLES],
  api: TITLES_API,
};
