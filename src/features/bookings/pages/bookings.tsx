import { count, date, id, ledgerDate, words } from '../../../console/api/schema-parts.ts';
import { declareAction, reason } from '../../../console/declare.tsx';
import { type Column, TableCard } from '../../../console/list/columns.tsx';
import { declareList, inTwo } from '../../../console/list/list.tsx';
import { actorOf } from '../../../console/shell/guard.ts';
import { maskErpTexts } from '../../../console/shell/masking.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import {
  DayLink,
  DecisionButtons,
  Disclosure,
  type OwnSealProps,
} from '../../../console/shell/parts.tsx';
import { EVERYBODY, REVIEW } from '../../../console/shell/route-access.ts';
import { BREAKS } from '../../matching/pages/breaks-page.tsx';
import { readOwnSeals } from '../../review/own-seal.sql.ts';
import { sendMoved } from '../../review/pages/changed-fields.tsx';
import { type ConsumerLag, readConsumerLags } from '../feed.sql.ts';
import { answerReceipts, RECEIPT_ANSWERS, type SeenReceipts } from '../receipt-decisions.sql.ts';
import { type ReceiptQuestions, readReceiptQuestions } from '../receipts.sql.ts';
import { readWaitingDays, type WaitingDays } from '../release.sql.ts';
import {
  confirmUnbookedChange,
  noDifference,
  readUnbookedChanges,
  type UnbookedChange,
} from '../unbooked-changes.sql.ts';
import {
  countLines,
  LINE_FILTER,
  ListedLine,
  type ListedReceipt,
  readKeptReceipts,
  readLines,
} from './booking-list.sql.ts';

/** The receipts of a date that a person saw: `SeenReceipts`. */
const ANSWER_RECEIPTS = declareAction({
  path: '/bookings/receipts',
  who: REVIEW,
  input: { date, first: count, last: id, count: id, answer: words(RECEIPT_ANSWERS), reason },
  deed: ({ database, bookingsFrom = null, ...parts }, { answer, reason, ...seen }, by) => {
    const { fourEyes, payablesMaxAgeHours, timeZone } = parts;
    const rules = { bookingsFrom, fourEyes, payablesMaxAgeHours, timeZone };
    return answerReceipts(database, seen, answer, { by, reason, ...rules });
  },
  next: () => '/booking-lines',
  notice: 'receipts_answered',
});

/** What the ERP lacks of a day before bookings began, as a file. */
const EXPORT_DIFFERENCE = declareAction({
  path: '/bookings/differences/:date/export',
  who: EVERYBODY,
  input: { date: ledgerDate },
  answer: async (request, reply, parts, { date }) => {
    const changes = await readUnbookedChanges(parts.database.prisma);
    const change = changes.find((day) => day.date === date);
    if (change === undefined) throw noDifference(date);
    const details = { signOffId: change.signOffId };
    const entry = { action: 'bookings.export', date, details } as const;
    const fence = BigInt(change.fence);
    return sendMoved(request, reply, parts, { name: 'difference', date, fence, entry });
  },
  isDownload: true,
});

const CONFIRM_DIFFERENCE = declareAction({
  path: '/bookings/differences/:date',
  who: REVIEW,
  input: { date: ledgerDate, seal: id, reason },
  deed: ({ database, fourEyes }, { date, seal: signOffId, reason }, by) =>
    confirmUnbookedChange(database, date, { by, reason, signOffId, fourEyes }),
  next: () => '/booking-lines',
  notice: 'difference_posted',
});

export const BOOKING_ACTIONS = [ANSWER_RECEIPTS, EXPORT_DIFFERENCE, CONFIRM_DIFFERENCE];

const KEPT_SHOWN = 50;
const DATES_SHOWN = 20;

export const LINE_COLUMNS: readonly Column<ListedLine>[] = [
  { name: 'date', head: 'bookings.date', kind: 'day' },
  { name: 'order_uid', head: 'bookings.order' },
  {
    name: 'key',
    head: 'bookings.version',
    cell: ({ key }) => <span title={key}>{key.slice(key.lastIndexOf(':') + 1)}</span>,
    href: ({ id }) => LINES.href({ line: id }),
    isHead: true,
  },
  { name: 'kind', head: 'bookings.kind', word: ({ kind }) => `bookings.kinds.${kind}` },
  {
    name: 'original_value',
    head: 'bookings.value',
    kind: 'amount',
    note: ({ originalValue, postingValue }, { text, formats }) => {
      if (originalValue === null || postingValue === null) return null;
      const value = formats.amount(postingValue);
      return value === formats.amount(originalValue) ? null : text('bookings.posts', { value });
    },
  },
  { name: 'posting_value', head: 'bookings.postingValue', kind: 'amount', only: 'file' },
  {
    name: 'state',
    head: 'bookings.state',
    word: ({ state }) => `bookings.states.${state}`,
    cell: ({ state, isOverdue }, { text }) => (
      <>
        <span class={`tag ${state === 'failed' || state === 'refused' ? 'is-withdrawn' : ''}`}>
          {text(`bookings.states.${state}`)}
        </span>{' '}
        {isOverdue && <span class="tag is-changed">{text('bookings.states.overdue')}</span>}
      </>
    ),
  },
  {
    name: 'answer',
    head: 'bookings.answer',
    value: ({ document, failure }) => document ?? failure,
    note: ({ failureKind }, { text }) =>
      failureKind && text(`bookings.failureKinds.${failureKind}`),
  },
  {
    name: 'accounting_date',
    head: 'bookings.accountingDate',
    kind: 'date',
    note: ({ accountingBasis }, { text }) => text(`bookings.accountingBases.${accountingBasis}`),
  },
  { name: 'released_at', head: 'bookings.releasedAt', kind: 'instant' },
  { name: 'consumer', head: 'bookings.consumer' },
  {
    name: 'provider_external_id',
    head: 'title.fields.provider_external_id',
    value: ({ supplier }) => supplier,
    only: 'file',
  },
  { name: 'due_date', head: 'title.fields.anticipated_due_date', kind: 'date', only: 'file' },
  { name: 'erp_key', head: 'matching.key', only: 'file' },
];

/** The released lines, and what waits or has to be decided before lines are released. */
export const LINES = declareList(ListedLine, {
  name: 'bookings',
  path: '/booking-lines',
  active: '/booking-lines',
  filter: LINE_FILTER,
  columns: LINE_COLUMNS,
  read: inTwo(countLines, readLines),
  mask: maskErpTexts,
  api: {
    tag: 'bookings',
    operationId: 'listBookingLines',
    summary: 'Released lines by accepted date and state',
  },
  layout: async (parts, _, request) => {
    const { prisma } = parts.database;
    const [kept, questions, consumers, waiting, differences] = await Promise.all([
      readKeptReceipts(prisma, KEPT_SHOWN),
      readReceiptQuestions(prisma),
      readConsumerLags(prisma),
      readWaitingDays(parts.database, parts),
      readUnbookedChanges(prisma),
    ]);
    const dates = [...questions, ...differences].map(({ date }) => date);
    const own = parts.fourEyes ? await readOwnSeals(prisma, dates, actorOf(request)) : [];
    return ({ page: { text, formats }, head, filter, table }) => (
      <>
        {head}
        <TableCard head="bookings.waiting" columns={WAITING_COLUMNS} rows={waiting} />
        <TableCard
          head="bookings.differences"
          help="bookings.differencesHelp"
          columns={differenceColumns(own)}
          rows={differences}
        />
        <TableCard
          head="bookings.kept"
          help="bookings.keptHelp"
          columns={questionColumns(own)}
          rows={questions}
        />
        <TableCard
          head="bookings.receipts"
          columns={receiptColumns(own)}
          rows={kept.map((receipt) => maskErpTexts(receipt, request.principal))}
        >
          {kept.length === KEPT_SHOWN && (
            <p class="quiet small">
              {text('bookings.keptMore', { shown: formats.count(KEPT_SHOWN) })}
            </p>
          )}
        </TableCard>
        {filter}
        {table}
        <p class="quiet small">{text('bookings.statesHelp')}</p>
        <TableCard head="bookings.consumers" columns={CONSUMER_COLUMNS} rows={consumers} />
      </>
    );
  },
});

/** The signed-off days that are not released, with the reason and the step that ends the waiting. */
const WAITING_COLUMNS: readonly Column<WaitingDays>[] = [
  {
    name: 'reason',
    head: 'bookings.waitingReason',
    word: ({ fault }) => `bookings.waitingReasons.${fault ?? 'none'}`,
    isHead: true,
  },
  { name: 'days', head: 'bookings.waitingCount', kind: 'count' },
  {
    name: 'titles',
    head: 'bookings.waitingTitles',
    kind: 'count',
    value: (row) => row.titles || null,
  },
  {
    name: 'dates',
    head: 'bookings.waitingDates',
    value: ({ dates }) => dates.join(' '),
    cell: ({ fault, days, dates }, { text, formats }) => (
      <>
        {dates.slice(0, DATES_SHOWN).map((date) => (
          <>
            {fault === 'titles' ? (
              <a href={BREAKS.href({ date })}>{formats.date(date)}</a>
            ) : (
              <DayLink date={date} />
            )}{' '}
          </>
        ))}
        {days > DATES_SHOWN &&
          text('bookings.waitingMore', { count: formats.count(days - DATES_SHOWN) })}
      </>
    ),
  },
];

/**
 * The days whose difference a person has to post in the ERP.
 * @param own of the days that another person has to decide about
 */
const differenceColumns = (own: readonly OwnSealProps[]): readonly Column<UnbookedChange>[] => [
  { name: 'date', head: 'bookings.date', kind: 'day' },
  { name: 'signed_off_at', head: 'bookings.signedOffAt', kind: 'instant' },
  { name: 'signed_off_by', head: 'bookings.signedOffBy', kind: 'author' },
  {
    name: 'forms',
    head: 'bookings.difference',
    cell: ({ date, signOffId }, { text }) => (
      <>
        <EXPORT_DIFFERENCE.Form values={{ date }} button={text('bookings.download')} />
        <CONFIRM_DIFFERENCE.Form
          values={{ date, seal: signOffId }}
          button={text('bookings.confirmDifference')}
          ownSeal={own.find((seal) => seal.date === date) ?? null}
        />
      </>
    ),
    only: 'page',
  },
];

function AnswerForm(props: SeenReceipts & { readonly own?: OwnSealProps | undefined }) {
  const { own = null, ...values } = props;
  const { text } = usePage();
  return (
    <ANSWER_RECEIPTS.Form
      values={values}
      button={
        <DecisionButtons
          name="answer"
          values={RECEIPT_ANSWERS}
          text={(answer) => text(`bookings.answers.${answer}`)}
        />
      }
      ownSeal={own}
    />
  );
}

/** The days with receipts that do not fit, and the form that answers all of a day. */
const questionColumns = (own: readonly OwnSealProps[]): readonly Column<ReceiptQuestions>[] => [
  { name: 'date', head: 'bookings.date', kind: 'day' },
  { name: 'receipts', head: 'bookings.receipts', kind: 'count' },
  { name: 'value', head: 'bookings.value', kind: 'amount' },
  {
    name: 'forms',
    head: 'bookings.answerOfDay',
    cell: ({ date, newest, receipts }) => (
      <AnswerForm
        {...{ date, first: 0, last: newest, count: receipts }}
        own={own.find((seal) => seal.date === date)}
      />
    ),
    only: 'page',
  },
];

const receiptColumns = (own: readonly OwnSealProps[]): readonly Column<ListedReceipt>[] => [
  { name: 'date', head: 'bookings.date', kind: 'day' },
  { name: 'key', head: 'bookings.key' },
  { name: 'state', head: 'bookings.state', word: ({ state }) => `bookings.states.${state}` },
  { name: 'answer', head: 'bookings.answer', value: ({ document, reason }) => document ?? reason },
  {
    name: 'outcome',
    head: 'bookings.outcome',
    word: ({ outcome }) => `bookings.outcomes.${outcome}`,
  },
  { name: 'received_at', head: 'bookings.receivedAt', kind: 'instant' },
  { name: 'consumer', head: 'bookings.consumer' },
  {
    name: 'forms',
    head: 'bookings.answerOfReceipt',
    cell: ({ id, date }, page) =>
      ANSWER_RECEIPTS.isOffered(page) &&
      !own.some((seal) => seal.date === date) && (
        <Disclosure label={page.text('bookings.answerOfReceipt')}>
          <AnswerForm {...{ date, first: id, last: id, count: 1 }} />
        </Disclosure>
      ),
    only: 'page',
  },
];

const CONSUMER_COLUMNS: readonly Column<ConsumerLag>[] = [
  { name: 'name', head: 'bookings.consumer', isHead: true },
  { name: 'last_seq', head: 'bookings.position' },
  { name: 'behind', head: 'bookings.behind', kind: 'count' },
  { name: 'behind_since', head: 'bookings.behindSince', kind: 'instant' },
  { name: 'acknowledged_at', head: 'bookings.acknowledgedAt', kind: 'instant' },
];
