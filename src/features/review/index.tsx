import { Type } from 'typebox';
import { InputError } from '../../base/runtime/errors.ts';
import { type CivilDate, daysBetween } from '../../base/values/business-day.ts';
import { declareOperation } from '../../console/api/api-request.ts';
import { ledgerDate as date } from '../../console/api/schema-parts.ts';
import { dateIn, declareAction, reason } from '../../console/declare.tsx';
import { type Column, TableCard } from '../../console/list/columns.tsx';
import { asTabs, choice } from '../../console/list/filter.tsx';
import { declareList } from '../../console/list/list.tsx';
import { type ConsoleParts, type Feature, todayOf } from '../../console/shell/console-parts.ts';
import { actorOf } from '../../console/shell/guard.ts';
import { maskChange } from '../../console/shell/masking.ts';
import { usePage } from '../../console/shell/page-context.ts';
import { DayLink } from '../../console/shell/parts.tsx';
import { OPERATE, REVIEW, STAFF } from '../../console/shell/route-access.ts';
import { sendPage } from '../../console/shell/send-page.tsx';
import { Released } from '../bookings/pages/booking-cards.tsx';
import { type DayBookings, readDayBookings } from '../bookings/pages/booking-list.sql.ts';
import { DayChanges, readDayChanges } from './changed-titles.sql.ts';
import { type LedgerDay, readLedgerDays } from './ledger-days.sql.ts';
import { month } from './months/month-seal.sql.ts';
import {
  isKept,
  isOneOf,
  isSignable,
  JudgedDay,
  readDays,
  readDayTotals,
  SIGNABLE,
  type Signable,
  seenOf,
  withObstacles,
} from './obstacles.sql.ts';
import { CHANGED_FIELDS } from './pages/changed-fields.tsx';
import { DAY_ACTIONS, obstacleText, Remarks, requestPull } from './pages/day-actions.tsx';
import { DAY } from './pages/day-page.tsx';
import { EVIDENCE, MONTH, MONTHS, SEAL_MONTH, sendEvidence } from './pages/months-pages.tsx';
import { RELEASE, RELEASE_PAGE } from './pages/release-page.tsx';
import { obstacleRules, type SeenDay, type SignOffOutcome, signOffDays } from './sign-off.sql.ts';

const FORM = 'days-to-sign';

const TOTALS: readonly Column<LedgerDay>[] = [
  { name: 'titles', head: 'days.titles', kind: 'count' },
  {
    name: 'original_value',
    head: 'amounts.original_value',
    kind: 'amount',
    value: ({ sums }) => sums.original_value,
  },
];

/** The days that wait for their sign-off, with a box for each that the reader may sign, checked where nothing is reserved. */
const SIGN_OFFS = declareList(JudgedDay, {
  name: 'signOffs',
  path: '/sign-offs',
  active: '/sign-offs',
  filter: {
    show: asTabs(choice('lists.signOffs.title', SIGNABLE, 'all', (tab) => `signOffs.tabs.${tab}`)),
  },
  columns: ({ show }) => [
    {
      name: 'date',
      head: 'days.date',
      kind: 'day',
      isHead: true,
      cell: (day, page) => (
        <span class="tight">
          {!isKept(day) && SIGN_DAYS.isOffered(page) && (
            <input
              type="checkbox"
              form={FORM}
              name="day"
              value={`${day.date}:${seenOf(day)}`}
              checked={show === 'clean'}
              aria-label={page.text('signOffs.select', { date: page.formats.date(day.date) })}
            />
          )}{' '}
          <DayLink date={day.date} />
        </span>
      ),
    },
    ...TOTALS,
    {
      name: 'reservations',
      head: 'signOffs.remarks',
      value: ({ obstacles }, words) =>
        obstacles.map((obstacle) => obstacleText(obstacle, words)).join('; '),
      cell: (day) => <Remarks day={day} />,
    },
  ],
  rowsPerPage: 100,
  read: async (tx, { show }, place, { parts, actor }) => {
    const rules = obstacleRules(parts, actor);
    const wanted = (tab: Signable) => isSignable(todayOf(parts), rules, tab);
    const [all, clean, kept] = await Promise.all([
      readDayTotals(tx, wanted('all')),
      readDayTotals(tx, wanted('clean')),
      readDayTotals(tx, wanted('kept')),
    ]);
    const { days, titles, originalValueSum } = { all, clean, kept }[show];
    return {
      total: {
        rows: days,
        sums: { titles, original_value: originalValueSum },
        counts: { all: all.days, clean: clean.days, kept: kept.days },
      },
      rows: await withObstacles(tx, await readDays(tx, wanted(show), place), rules),
    };
  },
  layout:
    async (_, { show }) =>
    ({ page: { text }, head, filter, table }) => (
      <>
        {head}
        {filter}
        {show !== 'all' && (
          <p class="quiet">{text(show === 'kept' ? 'signOffs.keptHelp' : 'signOffs.cleanHelp')}</p>
        )}
        {show !== 'kept' && (
          <SIGN_DAYS.Form
            id={FORM}
            values={{}}
            reason={text('signOffs.note')}
            button={text('signOffs.sign')}
            look="primary"
            help={text('day.signHelp')}
            otherwise={text('day.reviewersSign')}
          />
        )}
        {table}
      </>
    ),
});

/** Signs off the selected days as the list has shown them. The answer is what became of each. */
const SIGN_DAYS = declareAction({
  path: '/sign-offs',
  who: REVIEW,
  input: {
    day: Type.Optional(Type.Array(Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d:.' }))),
    reason: Type.Optional(reason),
  },
  answer: async (request, reply, parts, { day = [], reason = null }) => {
    const { database } = parts;
    const by = actorOf(request);
    const outcomes = await signOffDays(database, day.map(parseSeenDay), { ...parts, by, reason });
    const dates = outcomes.flatMap(({ date, refusal }) => (refusal === null ? date : []));
    const [signed, { days: remaining }, bookings] = await Promise.all([
      readDays(database.prisma, isOneOf(dates), { offset: 0, limit: dates.length }),
      readDayTotals(database.prisma, isSignable(todayOf(parts), obstacleRules(parts, by), 'all')),
      (parts.bookingsFrom ?? null) === null ? null : readDayBookings(database, dates, parts),
    ]);
    const refused = outcomes.filter(({ refusal }) => refusal !== null);
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('lists.signOffs.title'),
      active: '/sign-offs',
      body: <SignOffResultPage data={{ signed, bookings, refused, remaining }} />,
    }));
  },
});

/** Parses `2026-03-02:<digest>`. */
function parseSeenDay(text: string): SeenDay {
  const [date = '', seenDigest = ''] = text.split(':');
  return { date: dateIn(date), seenDigest };
}

interface ResultPageData {
  readonly signed: readonly LedgerDay[];
  /** What each of them released; null: seals release nothing. */
  readonly bookings: ReadonlyMap<CivilDate, DayBookings> | null;
  readonly refused: readonly SignOffOutcome[];
  readonly remaining: number;
}

/** What became of each day. */
function SignOffResultPage({ data }: { readonly data: ResultPageData }) {
  const { text, formats } = usePage();
  const { signed, bookings, refused } = data;
  const columns: readonly Column<LedgerDay>[] = [
    { name: 'date', head: 'days.date', kind: 'day', isHead: true },
    ...TOTALS,
    {
      name: 'released',
      head: 'bookings.dayTitle',
      cell: ({ date }) => <Released date={date} bookings={bookings?.get(date)} />,
      only: 'page',
    },
  ];
  return (
    <>
      <h1>
        {text('signOffs.resultTitle', {
          signed: signed.length,
          days: signed.length + refused.length,
        })}
      </h1>
      <TableCard head="signOffs.refused" columns={REFUSED_COLUMNS} rows={refused} />
      <TableCard
        head="signOffs.signed"
        columns={bookings === null ? columns.slice(0, -1) : columns}
        rows={signed}
      />
      <p class="pager">
        <a href="/sign-offs">
          {text('signOffs.remaining', { days: formats.count(data.remaining) })}
        </a>
        <a href="/">{text('nav.days')}</a>
      </p>
    </>
  );
}

const REFUSED_COLUMNS: readonly Column<SignOffOutcome>[] = [
  { name: 'date', head: 'days.date', kind: 'day', isHead: true },
  {
    name: 'reason',
    head: 'signOffs.reason',
    value: ({ refusal }, { text }) => refusal && text(`signOffs.refusals.${refusal}`),
  },
];

const MAX_API_DAYS = 1_000;
const MAX_CHANGES = 1_000;

async function readRange(
  parts: ConsoleParts,
  range: { readonly from: CivilDate; readonly to: CivilDate },
): Promise<JudgedDay[]> {
  const { database, bookingsFrom = null, payablesMaxAgeHours } = parts;
  const days = await readLedgerDays(database, range, todayOf(parts));
  return withObstacles(database.prisma, days, { bookingsFrom, payablesMaxAgeHours });
}

const REVIEW_API = [
  declareOperation({
    path: '/days',
    scope: 'read',
    tag: 'days',
    operationId: 'listDays',
    summary: 'The days of a range, both ends included',
    input: { from: date, to: date },
    answer: Type.Array(JudgedDay),
    run: (parts, range) => {
      if (range.from > range.to || daysBetween(range.from, range.to) >= MAX_API_DAYS) {
        throw new InputError(
          `from and to: expected two dates in order, at most ${MAX_API_DAYS} days`,
        );
      }
      return readRange(parts, range);
    },
  }),
  declareOperation({
    path: '/days/:date',
    scope: 'read',
    tag: 'days',
    operationId: 'getDay',
    summary: 'One day',
    input: { date },
    answer: JudgedDay,
    run: async (parts, { date }) => (await readRange(parts, { from: date, to: date }))[0] ?? null,
  }),
  declareOperation({
    path: '/days/:date/changes',
    scope: 'read',
    tag: 'days',
    operationId: 'listChangesOfDay',
    summary: 'The changes since the sign-off, or those of the newest pull',
    input: { date },
    answer: DayChanges,
    run: async ({ database }, { date }) => {
      const changes = await readDayChanges(database, date, MAX_CHANGES);
      const titles = changes.titles.map((title) => ({
        ...title,
        fields: title.fields.map(maskChange),
      }));
      return { ...changes, titles };
    },
  }),
  declareOperation({
    path: '/months/:month/evidence',
    who: STAFF,
    scope: 'export',
    tag: 'months',
    operationId: 'downloadMonthEvidence',
    summary: 'The evidence of a sealed month as a ZIP file',
    input: { month },
    answer: Type.Unsafe<string>({ type: 'string', format: 'binary' }),
    run: (parts, { month }, request, reply) => sendEvidence(request, reply, parts, month),
  }),
  declareOperation({
    method: 'POST',
    path: '/days/:date/pull',
    who: OPERATE,
    scope: 'pull',
    tag: 'pulls',
    operationId: 'pullDay',
    summary: 'Pull a day again',
    input: { date },
    status: 202,
    answer: Type.Object({ pullId: Type.Integer() }),
    run: async (parts, { date }, request) => ({
      pullId: Number(await requestPull(parts, date, actorOf(request))),
    }),
  }),
];

export const review: Feature = {
  name: 'review',
  pages: [DAY, RELEASE_PAGE, MONTH],
  lists: [SIGN_OFFS, MONTHS],
  actions: [...DAY_ACTIONS, CHANGED_FIELDS, SIGN_DAYS, RELEASE, SEAL_MONTH, EVIDENCE],
  api: REVIEW_API,
};
