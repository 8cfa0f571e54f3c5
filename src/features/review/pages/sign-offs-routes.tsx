import type { FastifyInstance, FastifyRequest } from 'fastify';
import { InputError } from '../../../base/runtime/errors.ts';
import { type CivilDate, dateIn, parseCivilDate } from '../../../base/values/business-day.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { textParameter, textParameters } from '../../../console/shell/page-context.ts';
import { pagingOf } from '../../../console/shell/paging.tsx';
import { actorOf, optionalReason } from '../../../console/shell/path-parameters.ts';
import { EVERYBODY, forPeople, REVIEW } from '../../../console/shell/route-access.ts';
import { sendPage } from '../../../console/shell/send-page.ts';
import {
  type FourEyesFault,
  type SignOffRefusal,
  signOffFault,
} from '../../../core/ledger/sign-off.ts';
import { readDayBookings } from '../../bookings/pages/booking-receipts.sql.ts';
import type { LedgerDay } from '../ledger-days.sql.ts';
import {
  MAX_DAYS_TO_SIGN,
  readFourEyesFault,
  readNewestSeals,
  type SeenDay,
  signingRules,
  signOffDays,
} from '../sign-off.sql.ts';
import {
  readChosenDays,
  readChosenTotals,
  readExcluded,
  readSignableDays,
  readSignableTotals,
} from '../signable-days.sql.ts';
import { readReservations } from './reservations.sql.ts';
import { SignOffPreviewPage, SignOffResultPage, SignOffsPage } from './sign-offs-pages.tsx';

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
