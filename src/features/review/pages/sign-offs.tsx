import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { InputError } from '../../../base/runtime/errors.ts';
import { type CivilDate, parseCivilDate } from '../../../base/values/business-day.ts';
import { type Column, dayColumn, ListTable } from '../../../console/list/columns.tsx';
import { asHidden, asTabs, choice } from '../../../console/list/filter.tsx';
import { declareList } from '../../../console/list/list.tsx';
import { type ConsoleParts, todayOf } from '../../../console/shell/console-parts.ts';
import { Field } from '../../../console/shell/layout.tsx';
import { textParameter, textParameters, usePage } from '../../../console/shell/page-context.ts';
import { ActionForm, Card, DayLink, Submit } from '../../../console/shell/parts.tsx';
import { actorOf, optionalReason } from '../../../console/shell/path-parameters.ts';
import { forPeople, mayUse, REVIEW } from '../../../console/shell/route-access.ts';
import { sendPage } from '../../../console/shell/send-page.ts';
import type { SignOffRefusal } from '../../../core/ledger/sign-off.ts';
import { Released } from '../../bookings/pages/booking-page.tsx';
import { type DayBookings, readDayBookings } from '../../bookings/pages/booking-receipts.sql.ts';
import {
  isKept,
  JudgedDay,
  type Obstacle,
  SIGN_OBSTACLES,
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
import {
  isOneOf,
  isSignable,
  readDays,
  readDayTotals,
  type SignableTotals,
} from '../signable-days.sql.ts';
import { obstacleText, Remarks } from './remarks.tsx';

const SignableDay = Type.Object({ ...JudgedDay.properties, isSelected: Type.Boolean() });
type SignableDay = Readonly<Static<typeof SignableDay>>;

const DAY_COLUMNS: readonly Column<JudgedDay>[] = [
  {
    name: 'titles',
    head: 'days.titles',
    kind: 'count',
    value: ({ titles }) => titles,
  },
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
      cell: (day: SignableDay, { text, formats, principal }) => (
        <span class="tight">
          {!isKept(day) && mayUse(principal?.role ?? 'viewer', 'POST', '/sign-offs') && (
            <input
              type="checkbox"
              form={FORM}
              name="day"
              value={day.date}
              checked={day.isSelected}
              aria-label={text('signOffs.select', { date: formats.date(day.date) })}
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
  const { text, principal } = usePage();
  return (
    <form id={FORM} method="get" action="/sign-offs/preview" class="stack">
      {props.isClean && <p class="quiet">{text('signOffs.cleanHelp')}</p>}
      {mayUse(principal?.role ?? 'viewer', 'POST', '/sign-offs') ? (
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

/** Adds the preview and the sign-off of many days. */
export function addSignOffsRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;
  const { prisma } = database;

  server.get('/sign-offs/preview', forPeople(REVIEW), async (request, reply) => {
    const dates = datesOf(textParameters(request.query, 'day'));
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
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('signOffs.previewTitle'),
      active: '/sign-offs',
      body: <SignOffPreviewPage days={days} totals={totals} refused={refused} />,
    }));
  });

  server.post('/sign-offs', forPeople(REVIEW), async (request, reply) => {
    const seen = textParameters(request.body, 'day').map(parseSeenDay);
    const outcomes = await signOffDays(database, seen, {
      by: actorOf(request),
      reason: optionalReason(request.body),
      ...signingRules(parts),
    });
    const signed = outcomes.flatMap(({ date, refusal }) => (refusal === null ? date : []));
    const [seals, { days: remaining }, bookings] = await Promise.all([
      readNewestSeals(database, signed),
      readDayTotals(prisma, isSignable(todayOf(parts), null)),
      (parts.bookingsFrom ?? null) === null ? null : readDayBookings(database, signed, parts),
    ]);
    const refused = outcomes.filter(({ refusal }) => refusal !== null);
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('lists.signOffs.title'),
      active: '/sign-offs',
      body: <SignOffResultPage data={{ seals, bookings, refused, remaining }} />,
    }));
  });
}

/** The dates among the texts, each once, newest first. */
function datesOf(texts: readonly string[]): CivilDate[] {
  const dates = texts.map(parseCivilDate).filter((date) => date !== null);
  return [...new Set(dates)].sort().reverse();
}

/** Parses `2026-03-02:<digest>`. */
function parseSeenDay(text: string): SeenDay {
  const [dateText = '', seenDigest = ''] = text.split(':');
  const date = parseCivilDate(dateText);
  if (date === null || seenDigest === '') {
    throw new InputError('day: expected a date as YYYY-MM-DD, a colon and a digest', {
      context: { fault: 'day_form' },
    });
  }
  return { date, seenDigest };
}

/** A chosen date, and why it is not signed off; null: it is, or can be. */
interface JudgedDate {
  readonly date: CivilDate;
  readonly refusal: SignOffRefusal | null;
  readonly obstacles?: readonly Obstacle[];
}

/** The chosen days that can be signed off, with the sum of all, and the others. The form has the digest of each. */
function SignOffPreviewPage(props: {
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
          <ActionForm action="/sign-offs">
            {days.map(({ date, contentDigest }) => (
              <input key={date} type="hidden" name="day" value={`${date}:${contentDigest}`} />
            ))}
            <Field label={text('signOffs.note')}>
              <input name="reason" maxLength={500} />
            </Field>
            <Submit class="primary">{text('signOffs.sign', { days: days.length })}</Submit>
            <p class="quiet small">{text('day.signHelp')}</p>
          </ActionForm>
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
  { name: 'titles', head: 'days.titles', kind: 'count', value: ({ titles }) => titles },
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
