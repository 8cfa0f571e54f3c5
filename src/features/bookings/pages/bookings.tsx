import { Type } from 'typebox';
import type { CivilDate } from '../../../base/values/business-day.ts';
import { id, ledgerDate, words } from '../../../console/api/schema-parts.ts';
import { dateIn, declareAction, reason } from '../../../console/declare.tsx';
import { type Column, ListTable, TableCard } from '../../../console/list/columns.tsx';
import { declareList } from '../../../console/list/list.tsx';
import { actorOf } from '../../../console/shell/guard.ts';
import { Field } from '../../../console/shell/layout.tsx';
import { maskErpTexts } from '../../../console/shell/masking.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import {
  Card,
  DayLink,
  DecisionButtons,
  OwnSeal,
  type OwnSealProps,
} from '../../../console/shell/parts.tsx';
import { EVERYBODY, REVIEW } from '../../../console/shell/route-access.ts';
import { BREAKS } from '../../matching/pages/breaks-page.tsx';
import { readOwnSeals } from '../../review/own-seal.sql.ts';
import { sendMoved } from '../../review/pages/changed-fields.tsx';
import { type ConsumerLag, readConsumerLags } from '../feed.sql.ts';
import { answerReceipts, RECEIPT_ANSWERS } from '../receipt-decisions.sql.ts';
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

/** The receipts that a person chose: the date, the first and the last id, and the number. */
const ANSWER_RECEIPTS = declareAction({
  path: '/bookings/receipts',
  who: REVIEW,
  input: {
    receipts: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d/\\d{1,15}/\\d{1,15}/\\d{1,9}$' }),
    answer: words(RECEIPT_ANSWERS),
    reason,
  },
  deed: ({ database, bookingsFrom = null, ...parts }, { receipts, answer, reason }, by) => {
    const [date = '', ...numbers] = receipts.split('/');
    const [first = 0, last = 0, count = 0] = numbers.map(Number);
    const { fourEyes, payablesMaxAgeHours, timeZone } = parts;
    const rules = { bookingsFrom, fourEyes, payablesMaxAgeHours, timeZone };
    const chosen = { date: dateIn(date), first, last, count };
    return answerReceipts(database, chosen, answer, { by, reason, ...rules });
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
  total: countLines,
  read: readLines,
  mask: maskErpTexts,
  api: {
    tag: 'bookings',
    operationId: 'listBookingLines',
    summary: 'Released lines by accepted date and state',
  },
  layout: async (parts, _, request) => {
    const { prisma } = parts.database;
    const [kept, questions, consumers, waiting, differences] = await Promise.all([
      readKeptReceipts(parts.database, KEPT_SHOWN, request.principal),
      readReceiptQuestions(prisma),
      readConsumerLags(prisma),
      readWaitingDays(parts.database, parts),
      readUnbookedChanges(prisma),
    ]);
    const dates = [...questions, ...differences].map(({ date }) => date);
    const own = parts.fourEyes ? await readOwnSeals(prisma, dates, actorOf(request)) : [];
    return ({ page: { text }, head, filter, table }) => (
      <>
        {head}
        <TableCard head="bookings.waiting" columns={WAITING_COLUMNS} rows={waiting} />
        <TableCard
          head="bookings.differences"
          help="bookings.differencesHelp"
          columns={differenceColumns(own)}
          rows={differences}
        />
        {kept.count > 0 && <Kept {...kept} questions={questions} own={own} />}
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

/** The receipts that do not fit, and the answers that a person may give. */
function Kept(props: {
  readonly count: number;
  readonly receipts: readonly ListedReceipt[];
  readonly questions: readonly ReceiptQuestions[];
  /** Of the days that another person has to decide about. */
  readonly own: readonly OwnSealProps[];
}) {
  const { count, receipts, own } = props;
  const page = usePage();
  const { text, formats } = page;
  const isOpen = ({ date }: { readonly date: CivilDate }) =>
    !own.some((seal) => seal.date === date);
  const questions = props.questions.filter(isOpen);
  return (
    <Card title={text('bookings.kept')}>
      <p>{text('bookings.keptHelp')}</p>
      <ListTable label={text('bookings.receipts')} columns={RECEIPT_COLUMNS} rows={receipts} />
      {count > receipts.length && (
        <p class="quiet small">
          {text('bookings.keptMore', {
            shown: formats.count(receipts.length),
            all: formats.count(count),
          })}
        </p>
      )}
      {ANSWER_RECEIPTS.isOffered(page) &&
        own
          .filter((seal) => props.questions.some(({ date }) => seal.date === date))
          .map((seal) => <OwnSeal key={seal.date} {...seal} />)}
      {questions.length > 0 && (
        <ANSWER_RECEIPTS.Form
          values={{}}
          button={
            <DecisionButtons
              name="answer"
              values={RECEIPT_ANSWERS}
              text={(answer) => text(`bookings.answers.${answer}`)}
            />
          }
        >
          <Field label={text('bookings.receipts')}>
            <select name="receipts">
              {questions.map(({ date, receipts: ofDay, newest }) => (
                <option key={date} value={`${date}/0/${newest}/${ofDay}`}>
                  {text('bookings.allOfDay', {
                    date: formats.date(date),
                    count: formats.count(ofDay),
                  })}
                </option>
              ))}
              {receipts.filter(isOpen).map(({ id, date, key, document, reason }) => (
                <option key={id} value={`${date}/${id}/${id}/1`}>
                  {key} {document ?? reason}
                </option>
              ))}
            </select>
          </Field>
        </ANSWER_RECEIPTS.Form>
      )}
    </Card>
  );
}

const RECEIPT_COLUMNS: readonly Column<ListedReceipt>[] = [
  { name: 'date', head: 'bookings.date', kind: 'day' },
  { name: 'key', head: 'bookings.key' },
  {
    name: 'state',
    head: 'bookings.state',
    word: ({ isFinal, status }) => `bookings.states.${isFinal ? 'refused' : status}`,
  },
  { name: 'answer', head: 'bookings.answer', value: ({ document, reason }) => document ?? reason },
  {
    name: 'outcome',
    head: 'bookings.outcome',
    word: ({ outcome }) => `bookings.outcomes.${outcome}`,
  },
  { name: 'received_at', head: 'bookings.receivedAt', kind: 'instant' },
  { name: 'consumer', head: 'bookings.consumer' },
];

const CONSUMER_COLUMNS: readonly Column<ConsumerLag>[] = [
  { name: 'name', head: 'bookings.consumer', isHead: true },
  { name: 'last_seq', head: 'bookings.position' },
  { name: 'behind', head: 'bookings.behind', kind: 'count' },
  { name: 'behind_since', head: 'bookings.behindSince', kind: 'instant' },
  { name: 'acknowledged_at', head: 'bookings.acknowledgedAt', kind: 'instant' },
];
