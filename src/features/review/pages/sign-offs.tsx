import type { FastifyInstance, FastifyRequest } from 'fastify';
import { InputError } from '../../../base/runtime/errors.ts';
import { type CivilDate, dateIn, parseCivilDate } from '../../../base/values/business-day.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { DataTable, right } from '../../../console/shell/data-table.tsx';
import { Field } from '../../../console/shell/layout.tsx';
import {
  type PageContext,
  textParameter,
  textParameters,
  usePage,
} from '../../../console/shell/page-context.ts';
import { Pager, type Paging, pagingOf } from '../../../console/shell/paging.tsx';
import { ActionForm, AmountCell, Card, DayLink, Submit } from '../../../console/shell/parts.tsx';
import { actorOf, optionalReason } from '../../../console/shell/path-parameters.ts';
import { EVERYBODY, forPeople, mayUse, REVIEW } from '../../../console/shell/route-access.ts';
import { sendPage } from '../../../console/shell/send-page.tsx';
import {
  type FourEyesFault,
  type SignOffRefusal,
  signOffFault,
} from '../../../core/ledger/sign-off.ts';
import { Released } from '../../bookings/pages/booking-page.tsx';
import { type DayBookings, readDayBookings } from '../../bookings/pages/booking-receipts.sql.ts';
import { type LedgerDay, type Reservations, readReservations } from '../ledger-days.sql.ts';
import {
  MAX_DAYS_TO_SIGN,
  readFourEyesFault,
  readNewestSeals,
  type SeenDay,
  type SignOff,
  type SignOffOutcome,
  signingRules,
  signOffDays,
} from '../sign-off.sql.ts';
import {
  readChosenDays,
  readChosenTotals,
  readExcluded,
  readSignableDays,
  readSignableTotals,
  type SignableTotals,
} from '../signable-days.sql.ts';
import { Remarks } from './remarks.tsx';

const DAYS_A_PAGE = 100;

/** Routes of the sign-off of many days: the list, the preview and the deed. */
export function addSignOffsRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database, fourEyes } = parts;
  const today = () => dateIn(parts.timeZone, parts.now?.() ?? new Date());
  const excludedFor = async (
    request: FastifyRequest,
  ): Promise<ReadonlyMap<CivilDate, FourEyesFault>> =>
    fourEyes ? readExcluded(database, today(), actorOf(request)) : new Map();

  server.get('/sign-offs', forPeople(EVERYBODY), async (request, reply) => {
    const cleanOnly = textParameter(request.query, 'clean') === 'true';
    const excluded = await excludedFor(request);
    const filter = { today: today(), excluded: [...excluded.keys()] };
    const [all, clean] = await Promise.all([
      readSignableTotals(database, { ...filter, cleanOnly: false }),
      readSignableTotals(database, { ...filter, cleanOnly: true }),
    ]);
    const totals = cleanOnly ? clean : all;
    const paging = pagingOf(request.query, 'page', totals.days, DAYS_A_PAGE);
    const days = await readSignableDays(database, { ...filter, cleanOnly }, paging);
    const data = {
      cleanOnly,
      isAllSelected: textParameter(request.query, 'select') === 'all',
      counts: { all: all.days, clean: clean.days },
      totals,
      days,
      reservations: await readReservations(database, datesIn(days)),
      excluded,
      paging,
    };
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('signOffs.title'),
      active: '/sign-offs',
      body: <SignOffsPage data={data} />,
    }));
  });

  server.get('/sign-offs/preview', forPeople(REVIEW), async (request, reply) => {
    const dates = datesOf(textParameters(request.query, 'day'));
    if (dates.length > MAX_DAYS_TO_SIGN) {
      throw new InputError(`days: expected 1 to ${MAX_DAYS_TO_SIGN} days`, {
        context: { fault: 'days_to_sign', max: MAX_DAYS_TO_SIGN },
      });
    }
    const chosen = await readChosenDays(database, dates);
    const refusals = new Map<CivilDate, SignOffRefusal | null>(
      await Promise.all(
        chosen.map(async (day) => [day.date, await refusalOf(day, request)] as const),
      ),
    );
    const days = chosen.filter(({ date }) => refusals.get(date) === null);
    const data = {
      days,
      reservations: await readReservations(database, datesIn(days)),
      totals: await readChosenTotals(database, datesIn(days)),
      refused: dates.flatMap((date) => {
        const refusal = refusals.get(date);
        if (refusal === null) return [];
        return { date, refusal: refusal ?? ('not_in_ledger' as const) };
      }),
    };
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('signOffs.previewTitle'),
      active: '/sign-offs',
      body: <SignOffPreviewPage data={data} />,
    }));
  });

  server.post('/sign-offs', forPeople(REVIEW), async (request, reply) => {
    const seen = textParameters(request.body, 'day').map(parseSeenDay);
    const outcomes = await signOffDays(database, seen, {
      by: actorOf(request),
      reason: optionalReason(request.body),
      ...signingRules(parts),
    });
    const signed = datesIn(outcomes.filter(({ refusal }) => refusal === null));
    const filter = { today: today(), cleanOnly: false, excluded: [] };
    const [seals, { days: remaining }, bookings] = await Promise.all([
      readNewestSeals(database, signed),
      readSignableTotals(database, filter),
      (parts.bookingsFrom ?? null) === null ? null : readDayBookings(database, signed, parts),
    ]);
    const data = {
      seals,
      bookings,
      refused: outcomes.filter(({ refusal }) => refusal !== null),
      remaining,
    };
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('signOffs.title'),
      active: '/sign-offs',
      body: <SignOffResultPage data={data} />,
    }));
  });

  const refusalOf = async (day: LedgerDay, request: FastifyRequest) =>
    signOffFault(
      {
        ...day,
        isSignedOff: day.signedOffAt !== null,
        fourEyesFault: await readFourEyesFault(
          database.prisma,
          day.date,
          fourEyes ? actorOf(request) : null,
        ),
      },
      {
        seenDigest: day.contentDigest ?? '',
        ...signingRules(parts),
      },
    );
}

const datesIn = (days: readonly { readonly date: CivilDate }[]) => days.map(({ date }) => date);

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

interface SignOffsPageData {
  readonly cleanOnly: boolean;
  readonly isAllSelected: boolean;
  readonly counts: { readonly all: number; readonly clean: number };
  readonly totals: SignableTotals;
  readonly days: readonly LedgerDay[];
  readonly excluded: ReadonlyMap<CivilDate, FourEyesFault>;
  readonly reservations: ReadonlyMap<CivilDate, Reservations>;
  readonly paging: Paging;
}

const hrefOf = (cleanOnly: boolean, page = 1, isAllSelected = false) => {
  const query = new URLSearchParams({
    ...(cleanOnly && { clean: 'true' }),
    ...(page > 1 && { page: String(page) }),
    ...(isAllSelected && { select: 'all' }),
  });
  return query.size === 0 ? '/sign-offs' : `/sign-offs?${query}`;
};

/** The days that can be signed off now, with a box for each. */
function SignOffsPage({ data }: { readonly data: SignOffsPageData }) {
  const context = usePage();
  const { text, formats } = context;
  const tabs = [
    [false, text('signOffs.all'), data.counts.all],
    [true, text('signOffs.clean'), data.counts.clean],
  ] as const;
  const maySign = mayUse(context.principal?.role ?? 'viewer', 'POST', '/sign-offs');
  const table = <Days data={data} maySign={maySign} />;
  return (
    <>
      <div>
        <h1>{text('signOffs.title')}</h1>
        <p class="quiet">{data.cleanOnly ? text('signOffs.cleanHelp') : text('signOffs.intro')}</p>
      </div>
      <nav class="tabs" aria-label={text('signOffs.title')}>
        {tabs.map(([cleanOnly, label, count]) => (
          <a
            key={label}
            href={hrefOf(cleanOnly)}
            {...(data.cleanOnly === cleanOnly && { 'aria-current': 'page' })}
          >
            {label} ({formats.count(count)})
          </a>
        ))}
      </nav>
      {data.days.length === 0 ? (
        <p class="quiet">{text('signOffs.none')}</p>
      ) : maySign ? (
        <form method="get" action="/sign-offs/preview" class="card stack">
          <div class="buttons">
            <Submit class="primary">{text('signOffs.toPreview')}</Submit>
            <a class="button" href={hrefOf(data.cleanOnly, data.paging.page, !data.isAllSelected)}>
              {data.isAllSelected ? text('signOffs.selectNone') : text('signOffs.selectAll')}
            </a>
          </div>
          {table}
        </form>
      ) : (
        <section class="card stack">
          <p class="quiet">{text('day.reviewersSign')}</p>
          {table}
        </section>
      )}
    </>
  );
}

function Days({ data, maySign }: { readonly data: SignOffsPageData; readonly maySign: boolean }) {
  const context = usePage();
  const { text, formats } = context;
  return (
    <>
      <DataTable
        label={text('signOffs.title')}
        heads={[
          ...(maySign ? [text('signOffs.choose')] : []),
          ...dayHeads(context),
          text('signOffs.remarks'),
        ]}
        foot={<SumRow totals={data.totals} before={maySign ? 1 : 0} after={1} />}
      >
        {data.days.map((day) => {
          const fault = data.excluded.get(day.date) ?? null;
          return (
            <tr key={day.date}>
              {maySign && (
                <td>
                  {fault === null && (
                    <input
                      type="checkbox"
                      name="day"
                      value={day.date}
                      checked={data.isAllSelected}
                      aria-label={text('signOffs.select', { date: formats.date(day.date) })}
                    />
                  )}
                </td>
              )}
              <DayCells day={day} />
              <td class="remarks">
                <Remarks day={day} reservations={data.reservations.get(day.date)} fault={fault} />
              </td>
            </tr>
          );
        })}
      </DataTable>
      <Pager
        label={text('signOffs.title')}
        paging={data.paging}
        hrefOf={(page) => hrefOf(data.cleanOnly, page)}
      />
    </>
  );
}

interface PreviewPageData {
  /** The chosen days that can be signed off, newest first. */
  readonly days: readonly LedgerDay[];
  readonly reservations: ReadonlyMap<CivilDate, Reservations>;
  readonly totals: SignableTotals;
  /** The other chosen days. */
  readonly refused: readonly SignOffOutcome[];
}

/** The chosen days with their totals and the sum of all. The form has the digest of each. */
function SignOffPreviewPage({ data }: { readonly data: PreviewPageData }) {
  const context = usePage();
  const { text } = context;
  return (
    <>
      <div>
        <h1>{text('signOffs.previewTitle')}</h1>
        <p class="quiet">
          {data.days.length > 0
            ? text('signOffs.previewIntro')
            : data.refused.length > 0
              ? text('signOffs.noneSignable')
              : text('signOffs.nothingChosen')}
        </p>
      </div>
      {data.days.length > 0 && (
        <section class="card stack">
          <DataTable
            label={text('signOffs.previewTitle')}
            heads={[...dayHeads(context), text('signOffs.remarks')]}
            foot={<SumRow totals={data.totals} before={0} after={1} />}
          >
            {data.days.map((day) => (
              <tr key={day.date}>
                <DayCells day={day} />
                <td class="remarks">
                  <Remarks day={day} reservations={data.reservations.get(day.date)} fault={null} />
                </td>
              </tr>
            ))}
          </DataTable>
          <ActionForm action="/sign-offs">
            {data.days.map((day) => (
              <input
                key={day.date}
                type="hidden"
                name="day"
                value={`${day.date}:${day.contentDigest}`}
              />
            ))}
            <Field label={text('signOffs.note')}>
              <input name="reason" maxLength={500} />
            </Field>
            <Submit class="primary">{text('signOffs.sign', { days: data.days.length })}</Submit>
            <p class="quiet small">{text('day.signHelp')}</p>
          </ActionForm>
        </section>
      )}
      <Refused title={text('signOffs.cannot')} refused={data.refused} />
    </>
  );
}

interface ResultPageData {
  /** The seals of the days that were signed off, newest first. */
  readonly seals: readonly SignOff[];
  /** What each of them released; null: seals release nothing. */
  readonly bookings: ReadonlyMap<CivilDate, DayBookings> | null;
  readonly refused: readonly SignOffOutcome[];
  /** The number of days that can still be signed off. */
  readonly remaining: number;
}

/** What became of each day. */
function SignOffResultPage({ data }: { readonly data: ResultPageData }) {
  const { text, formats } = usePage();
  const { seals, refused } = data;
  const list = text('signOffs.remaining', { days: formats.count(data.remaining) });
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
          <DataTable
            label={text('signOffs.signed')}
            heads={[
              text('days.date'),
              right(text('days.titles')),
              right(text('amounts.original_value')),
              ...(data.bookings === null ? [] : [text('bookings.dayTitle')]),
            ]}
          >
            {seals.map((seal) => (
              <tr key={seal.id}>
                <th scope="row">
                  <DayLink date={seal.date} />
                </th>
                <td class="right number">{formats.count(seal.titles)}</td>
                <AmountCell value={seal.originalValueSum} />
                {data.bookings !== null && (
                  <td>
                    <Released date={seal.date} bookings={data.bookings.get(seal.date)} />
                  </td>
                )}
              </tr>
            ))}
          </DataTable>
        </Card>
      )}
      <p class="pager">
        <a href="/sign-offs">{list}</a>
        <a href="/">{text('nav.days')}</a>
      </p>
    </>
  );
}

function Refused(props: { readonly title: string; readonly refused: readonly SignOffOutcome[] }) {
  const { refused } = props;
  const { text } = usePage();
  if (refused.length === 0) return null;
  return (
    <Card title={props.title}>
      <DataTable label={props.title} heads={[text('days.date'), text('signOffs.reason')]}>
        {refused.map(({ date, refusal }) => (
          <tr key={date}>
            <th scope="row">
              <DayLink date={date} />
            </th>
            <td class="prose">
              <p>{refusal === null ? '' : text(`signOffs.refusals.${refusal}`)}</p>
            </td>
          </tr>
        ))}
      </DataTable>
    </Card>
  );
}

function dayHeads({ text }: PageContext) {
  return [text('days.date'), right(text('days.titles')), right(text('amounts.original_value'))];
}

function DayCells({ day }: { day: LedgerDay }) {
  const { formats } = usePage();
  return (
    <>
      <th scope="row">
        <DayLink date={day.date} />
      </th>
      <td class="right number">{formats.count(day.titles)}</td>
      <AmountCell value={day.sums.original_value} />
    </>
  );
}

/** The totals of a table, with empty cells in front and behind. */
function SumRow(props: {
  readonly totals: SignableTotals;
  readonly before: number;
  readonly after: number;
}) {
  const { totals } = props;
  const { text, formats } = usePage();
  return (
    <tr>
      {props.before > 0 && <td colSpan={props.before} />}
      <th scope="row">{text('signOffs.total', { days: totals.days })}</th>
      <td class="right number">{formats.count(totals.titles)}</td>
      <AmountCell value={totals.originalValueSum} />
      <td colSpan={props.after} />
    </tr>
  );
}
