import { type Static, Type } from 'typebox';
import { InputError } from '../../../base/runtime/errors.ts';
import { type CivilDate, parseCivilDate } from '../../../base/values/business-day.ts';
import { dateIn, declareAction, declarePage, reason } from '../../../console/declare.tsx';
import { type Column, dayColumn, ListTable } from '../../../console/list/columns.tsx';
import { asHidden, asTabs, choice } from '../../../console/list/filter.tsx';
import { declareList } from '../../../console/list/list.tsx';
import { todayOf } from '../../../console/shell/console-parts.ts';
import { textParameter, usePage } from '../../../console/shell/page-context.ts';
import { Card, DayLink, Submit } from '../../../console/shell/parts.tsx';
import { actorOf } from '../../../console/shell/path-parameters.ts';
import { REVIEW } from '../../../console/shell/route-access.ts';
import { sendPage } from '../../../console/shell/send-page.ts';
import { Released } from '../../bookings/pages/booking-page.tsx';
import { type DayBookings, readDayBookings } from '../../bookings/pages/booking-receipts.sql.ts';
import {
  isKept,
  isOneOf,
  isSignable,
  JudgedDay,
  type Obstacle,
  readDays,
  readDayTotals,
  SIGN_OBSTACLES,
  type SignableTotals,
  withObstacles,
} from '../obstacles.sql.ts';
import {
  faultOf,
  MAX_DAYS_TO_SIGN,
  obstacleRules,
  readNewestSeals,
  type SeenDay,
  type SignOff,
  signingRules,
  signOffDays,
} from '../sign-off.sql.ts';
import type { SignOffRefusal } from '../sign-off.ts';
import { obstacleText, Remarks } from './remarks.tsx';

const SignableDay = Type.Object({ ...JudgedDay.properties, isSelected: Type.Boolean() });
type SignableDay = Readonly<Static<typeof SignableDay>>;

const DAY_COLUMNS: readonly Column<JudgedDay>[] = [
  { name: 'titles', head: 'days.titles', kind: 'count' },
  {
    name: 'original_value',
    head: 'amounts.original_value',
    kind: 'amount',
    value: ({ sums }) => sums.original_value,
  },
  {
    name: 'reservations',
    head: 'signOffs.remarks',
    kind: 'text',
    value: ({ obstacles }, words) =>
      obstacles.map((obstacle) => obstacleText(obstacle, words)).join('; '),
    cell: (day) => <Remarks day={day} />,
  },
];
const DATE_COLUMN: Column<JudgedDay> = { ...dayColumn('days.date'), isHead: true };

const FORM = 'days-to-sign';

/** The days that can be signed off now, with a box for each that the reader may sign. */
export const SIGN_OFFS = declareList(SignableDay, {
  name: 'signOffs',
  path: '/sign-offs',
  active: '/sign-offs',
  filter: {
    clean: asTabs(
      choice('lists.signOffs.title', ['false', 'true'], 'false', (word) =>
        word === 'true' ? 'signOffs.clean' : 'signOffs.all',
      ),
    ),
    select: asHidden(choice('signOffs.choose', ['none', 'all'], 'none', () => 'signOffs.choose')),
  },
  columns: [
    {
      ...DATE_COLUMN,
      cell: (day: SignableDay, page) => (
        <span class="tight">
          {!isKept(day) && SIGN_DAYS.isOffered(page) && (
            <input
              type="checkbox"
              form={FORM}
              name="day"
              value={day.date}
              checked={day.isSelected}
              aria-label={page.text('signOffs.select', { date: page.formats.date(day.date) })}
            />
          )}{' '}
          <DayLink date={day.date} />
        </span>
      ),
    },
    ...DAY_COLUMNS,
  ],
  rowsPerPage: 100,
  async total(db, { clean }, { parts, actor }) {
    const today = todayOf(parts);
    const [all, without] = await Promise.all([
      readDayTotals(db, isSignable(today, null)),
      readDayTotals(db, isSignable(today, obstacleRules(parts, actor))),
    ]);
    const { days, titles, originalValueSum } = clean === 'true' ? without : all;
    return {
      rows: days,
      sums: { titles, original_value: originalValueSum },
      counts: { false: all.days, true: without.days },
    };
  },
  async read(db, { clean, select }, place, { parts, actor }) {
    const rules = obstacleRules(parts, actor);
    const isWanted = isSignable(todayOf(parts), clean === 'true' ? rules : null);
    const days = await withObstacles(db, await readDays(db, isWanted, place), rules);
    return days.map((day) => ({ ...day, isSelected: select === 'all' }));
  },
  layout: async (_, filter, request) => {
    const isAll = filter.select === 'all';
    const page = Number(textParameter(request.query, 'page') ?? 1);
    const other = SIGN_OFFS.href({ ...filter, select: isAll ? 'none' : 'all' }, page);
    return ({ head, filter: tabs, table }) => (
      <>
        {head}
        {tabs}
        <SelectForm isClean={filter.clean === 'true'} isAll={isAll} other={other} />
        {table}
      </>
    );
  },
});

/** The form of the boxes in the table. */
function SelectForm(props: {
  readonly isClean: boolean;
  readonly isAll: boolean;
  readonly other: string;
}) {
  const page = usePage();
  const { text } = page;
  return (
    <form id={FORM} method="get" action="/sign-offs/preview" class="stack">
      {props.isClean && <p class="quiet">{text('signOffs.cleanHelp')}</p>}
      {SIGN_DAYS.isOffered(page) ? (
        <div class="buttons">
          <Submit class="primary">{text('signOffs.toPreview')}</Submit>
          <a class="button" href={props.other}>
            {props.isAll ? text('signOffs.selectNone') : text('signOffs.selectAll')}
          </a>
        </div>
      ) : (
        <p class="quiet">{text('day.reviewersSign')}</p>
      )}
    </form>
  );
}

export const SIGN_OFF_PREVIEW = declarePage({
  path: '/sign-offs/preview',
  who: REVIEW,
  active: '/sign-offs',
  input: { day: Type.Optional(Type.Array(Type.String())) },
  read: async (parts, { day = [] }, request) => {
    const { prisma } = parts.database;
    const dates = datesOf(day);
    if (dates.length > MAX_DAYS_TO_SIGN) {
      throw new InputError(`days: expected 1 to ${MAX_DAYS_TO_SIGN} days`, {
        context: { fault: 'days_to_sign', max: MAX_DAYS_TO_SIGN },
      });
    }
    const rules = obstacleRules(parts, actorOf(request));
    const chosen = await withObstacles(prisma, await readDays(prisma, isOneOf(dates)), rules);
    const judged = dates.map((date): JudgedDate => {
      const day = chosen.find((known) => known.date === date);
      if (day === undefined) return { date, refusal: 'not_in_ledger', obstacles: [] };
      const candidate = { ...day, isSignedOff: day.signedOffAt !== null };
      const refusal = faultOf(candidate, day.obstacles, parts, day.contentDigest ?? '');
      const isKept = SIGN_OBSTACLES.some((code) => code === refusal);
      return { date, refusal, obstacles: isKept ? day.obstacles : [] };
    });
    const refused = judged.filter(({ refusal }) => refusal !== null);
    const days = chosen.filter(({ date }) => refused.every((other) => other.date !== date));
    const totals = await readDayTotals(prisma, isOneOf(days.map(({ date }) => date)));
    return { days, totals, refused };
  },
  title: ({ text }) => text('signOffs.previewTitle'),
  body: (data) => <SignOffPreview {...data} />,
});

/** Signs off the days as the preview has shown them. The answer is what became of each. */
export const SIGN_DAYS = declareAction({
  path: '/sign-offs',
  who: REVIEW,
  input: {
    day: Type.Array(Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d:.' })),
    reason: Type.Optional(reason),
  },
  answer: async (request, reply, parts, { day, reason = null }) => {
    const { database } = parts;
    const outcomes = await signOffDays(database, day.map(parseSeenDay), {
      by: actorOf(request),
      reason,
      ...signingRules(parts),
    });
    const signed = outcomes.flatMap(({ date, refusal }) => (refusal === null ? date : []));
    const [seals, { days: remaining }, bookings] = await Promise.all([
      readNewestSeals(database, signed),
      readDayTotals(database.prisma, isSignable(todayOf(parts), null)),
      (parts.bookingsFrom ?? null) === null ? null : readDayBookings(database, signed, parts),
    ]);
    const refused = outcomes.filter(({ refusal }) => refusal !== null);
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('lists.signOffs.title'),
      active: '/sign-offs',
      body: <SignOffResultPage data={{ seals, bookings, refused, remaining }} />,
    }));
  },
});

/** The dates among the texts, each once, newest first. */
function datesOf(texts: readonly string[]): CivilDate[] {
  const dates = texts.map(parseCivilDate).filter((date) => date !== null);
  return [...new Set(dates)].sort().reverse();
}

/** Parses `2026-03-02:<digest>`. */
function parseSeenDay(text: string): SeenDay {
  const [date = '', seenDigest = ''] = text.split(':');
  return { date: dateIn(date), seenDigest };
}

/** A chosen date, and why it is not signed off; null: it is, or can be. */
interface JudgedDate {
  readonly date: CivilDate;
  readonly refusal: SignOffRefusal | null;
  readonly obstacles?: readonly Obstacle[];
}

/** The chosen days that can be signed off, with the sum of all, and the others. The form has the digest of each. */
function SignOffPreview(props: {
  readonly days: readonly JudgedDay[];
  readonly totals: SignableTotals;
  readonly refused: readonly JudgedDate[];
}) {
  const { days, totals, refused } = props;
  const { text } = usePage();
  const intro =
    days.length > 0
      ? 'signOffs.previewIntro'
      : refused.length > 0
        ? 'signOffs.noneSignable'
        : 'signOffs.nothingChosen';
  return (
    <>
      <div>
        <h1>{text('signOffs.previewTitle')}</h1>
        <p class="quiet">{text(intro)}</p>
      </div>
      {days.length > 0 && (
        <section class="card stack">
          <ListTable
            label={text('signOffs.previewTitle')}
            columns={[DATE_COLUMN, ...DAY_COLUMNS]}
            rows={days}
            sums={{ titles: totals.titles, original_value: totals.originalValueSum }}
          />
          <SIGN_DAYS.Form
            values={{ day: days.map(({ date, contentDigest }) => `${date}:${contentDigest}`) }}
            reason={text('signOffs.note')}
            button={text('signOffs.sign', { days: days.length })}
            look="primary"
            help={text('day.signHelp')}
          />
        </section>
      )}
      <Refused title={text('signOffs.cannot')} refused={refused} />
    </>
  );
}

interface ResultPageData {
  /** The seals of the days that were signed off, newest first. */
  readonly seals: readonly SignOff[];
  /** What each of them released; null: seals release nothing. */
  readonly bookings: ReadonlyMap<CivilDate, DayBookings> | null;
  readonly refused: readonly JudgedDate[];
  /** The number of days that can still be signed off. */
  readonly remaining: number;
}

const SEAL_COLUMNS: readonly Column<SignOff>[] = [
  { ...dayColumn('days.date'), isHead: true },
  { name: 'titles', head: 'days.titles', kind: 'count' },
  {
    name: 'original_value',
    head: 'amounts.original_value',
    kind: 'amount',
    value: ({ originalValueSum }) => originalValueSum,
  },
];

/** What became of each day. */
function SignOffResultPage({ data }: { readonly data: ResultPageData }) {
  const { text, formats } = usePage();
  const { seals, bookings, refused } = data;
  const released: Column<SignOff> = {
    name: 'released',
    head: 'bookings.dayTitle',
    kind: 'text',
    value: () => null,
    cell: ({ date }) => <Released date={date} bookings={bookings?.get(date)} />,
  };
  return (
    <>
      <h1>
        {text('signOffs.resultTitle', {
          signed: formats.count(seals.length),
          days: formats.count(seals.length + refused.length),
        })}
      </h1>
      <Refused title={text('signOffs.refused')} refused={refused} />
      {seals.length > 0 && (
        <Card title={text('signOffs.signed')}>
          <ListTable
            label={text('signOffs.signed')}
            columns={bookings === null ? SEAL_COLUMNS : [...SEAL_COLUMNS, released]}
            rows={seals}
          />
        </Card>
      )}
      <p class="pager">
        <a href="/sign-offs">
          {text('signOffs.remaining', { days: formats.count(data.remaining) })}
        </a>
        <a href="/">{text('nav.days')}</a>
      </p>
    </>
  );
}

const REFUSED_COLUMNS: readonly Column<JudgedDate>[] = [
  { ...dayColumn('days.date'), isHead: true },
  {
    name: 'reason',
    head: 'signOffs.reason',
    kind: 'text',
    value: () => null,
    cell: ({ date, refusal, obstacles = [] }, { text }) => {
      const others = obstacles.filter(({ code, found }) => code !== refusal || found !== null);
      return (
        <>
          {refusal !== null && <p>{text(`signOffs.refusals.${refusal}`)}</p>}
          {others.length > 0 && <Remarks day={{ date, obstacles: others }} />}
        </>
      );
    },
  },
];

function Refused(props: { readonly title: string; readonly refused: readonly JudgedDate[] }) {
  return props.refused.length === 0 ? null : (
    <Card title={props.title}>
      <ListTable label={props.title} columns={REFUSED_COLUMNS} rows={props.refused} />
    </Card>
  );
}
