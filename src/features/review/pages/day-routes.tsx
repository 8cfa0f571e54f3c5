import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { recordAudit } from '../../../base/audit/audit.ts';
import type { CivilDate } from '../../../base/values/business-day.ts';
import type { ConsoleRole } from '../../../base/values/role.ts';
import {
  type ConsoleParts,
  payablesMaxAge,
  todayOf,
} from '../../../console/shell/console-parts.ts';
import { textParameter } from '../../../console/shell/page-context.ts';
import {
  actorOf,
  dateOfPath,
  idOfPath,
  optionalReason,
  requireReason,
} from '../../../console/shell/path-parameters.ts';
import {
  DECIDE,
  EVERYBODY,
  forPeople,
  OPERATE,
  REVIEW,
  STAFF,
} from '../../../console/shell/route-access.ts';
import { sendPage } from '../../../console/shell/send-page.ts';
import { readDayPulls, readDayRejects } from '../../../core/ledger/reads.ts';
import { readHeldRun, releaseRun } from '../../../core/merge/decide-runs.sql.ts';
import { acceptRejects, releasePull } from '../../../core/merge/decisions.sql.ts';
import { readDayBookings } from '../../bookings/pages/booking-receipts.sql.ts';
import { readDayMatching } from '../../matching/match-reads.sql.ts';
import { readDayChanges } from '../changed-titles.sql.ts';
import { readLedgerDay } from '../ledger-days.sql.ts';
import { withObstacles } from '../obstacles.sql.ts';
import { previewRelease } from '../release-preview.sql.ts';
import { requestPull } from '../request-pull.ts';
import {
  obstacleRules,
  readSignOffs,
  reopenDay,
  signingRules,
  signOffDay,
} from '../sign-off.sql.ts';
import { readNextToSign } from '../signable-days.sql.ts';
import { DayPage, type DayPageData, PartiesPage } from './day-page.tsx';
import { readDayTotals } from './day-totals.sql.ts';
import { ReleasePage } from './release-page.tsx';

const PARTIES_SHOWN = 8;
const MOVED_SHOWN = 100;
const REJECTS_SHOWN = 50;
const PULLS_SHOWN = 20;

/** Routes of one day and of the decisions about it. */
export function addDayRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;

  const showDay = async (
    request: FastifyRequest,
    reply: FastifyReply,
    date: CivilDate,
    withRaw: boolean,
  ) => {
    const data = await readDay(parts, date, { withRaw, reader: actorOf(request) });
    return sendPage(request, reply, parts, (context) => ({
      title: context.formats.date(date),
      active: '/sign-offs',
      // The page follows a pull to its end.
      ...(data.pulls.some(({ state }) => state === 'queued' || state === 'running') && {
        refreshSeconds: 2,
      }),
      body: <DayPage data={data} />,
    }));
  };

  server.get('/days/:date', forPeople(EVERYBODY), async (request, reply) => {
    const date = dateOfPath(request);
    return date === null ? reply.callNotFound() : showDay(request, reply, date, false);
  });

  server.get('/days/:date/parties', forPeople(EVERYBODY), async (request, reply) => {
    const date = dateOfPath(request);
    if (date === null) return reply.callNotFound();
    const [day, totals] = await Promise.all([
      readLedgerDay(database, date, todayOf(parts)),
      readDayTotals(database, date, PARTIES_SHOWN),
    ]);
    return sendPage(request, reply, parts, (context) => ({
      title: context.formats.date(date),
      active: '/sign-offs',
      body: <PartiesPage date={date} day={day} totals={totals} />,
    }));
  });

  server.post('/days/:date/rejects', forPeople(STAFF), async (request, reply) => {
    const date = dateOfPath(request);
    if (date === null) return reply.callNotFound();
    await recordAudit(database.prisma, {
      actor: actorOf(request),
      action: 'rejects.reveal',
      date,
    });
    return showDay(request, reply, date, true);
  });

  /** Runs the action and redirects to the day, so that a reload does not repeat it. */
  const decide = (
    path: string,
    who: readonly ConsoleRole[],
    notice: string,
    deed: (request: FastifyRequest, date: CivilDate) => Promise<unknown>,
  ) => {
    server.post(path, forPeople(who), async (request, reply) => {
      const date = dateOfPath(request);
      if (date === null) return reply.callNotFound();
      await deed(request, date);
      return reply.redirect(`/days/${date}?notice=${notice}`, 303);
    });
  };
  decide('/days/:date/pull', OPERATE, 'pull_requested', (request, date) =>
    requestPull(parts, date, actorOf(request)),
  );
  decide('/days/:date/sign-off', REVIEW, 'signed_off', (request, date) =>
    signOffDay(database, date, {
      by: actorOf(request),
      reason: optionalReason(request.body),
      seenDigest: textParameter(request.body, 'digest') ?? '',
      ...signingRules(parts),
    }),
  );
  decide('/days/:date/reopen', REVIEW, 'reopened', (request, date) =>
    reopenDay(database, date, { by: actorOf(request), reason: requireReason(request.body) }),
  );
  decide('/days/:date/accept-rejects', DECIDE, 'accepted', (request, date) =>
    acceptRejects(database, date, { by: actorOf(request), reason: requireReason(request.body) }),
  );

  server.get('/pulls/:id/release', forPeople(DECIDE), async (request, reply) => {
    const id = idOfPath(request);
    if (id === null) return reply.callNotFound();
    const preview = await previewRelease(parts, id, MOVED_SHOWN);
    const heldRun = await readHeldRun(database, id);
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('release.title', { pull: String(id) }),
      active: '/sign-offs',
      status: preview === null ? 404 : 200,
      body: <ReleasePage pullId={id} preview={preview} others={Math.max(0, heldRun.length - 1)} />,
    }));
  });

  server.post('/pulls/:id/release', forPeople(DECIDE), async (request, reply) => {
    const id = idOfPath(request);
    if (id === null) return reply.callNotFound();
    const decision = { by: actorOf(request), reason: requireReason(request.body) };
    if (textParameter(request.body, 'run') === 'on') {
      await releaseRun(parts, id, decision);
      return reply.redirect('/', 303);
    }
    const { date } = await releasePull(parts, id, decision);
    return reply.redirect(`/days/${date}?notice=released`, 303);
  });
}

async function readDay(
  parts: ConsoleParts,
  date: CivilDate,
  options: { readonly withRaw: boolean; readonly reader: string },
): Promise<DayPageData> {
  const { database } = parts;
  const { prisma } = database;
  const today = todayOf(parts);
  const rules = obstacleRules(parts, options.reader);
  const [known, rejects, pulls, seals, changes, matching, bookings] = await Promise.all([
    readLedgerDay(database, date, today),
    readDayRejects(database, date, { withRaw: options.withRaw, limit: REJECTS_SHOWN }),
    readDayPulls(database, date, PULLS_SHOWN),
    readSignOffs(database, date),
    readDayChanges(database, date, MOVED_SHOWN),
    readDayMatching(database, date, payablesMaxAge(parts)),
    (parts.bookingsFrom ?? null) === null ? null : readDayBookings(database, [date], parts),
  ]);
  const [day = null] = known === null ? [] : await withObstacles(prisma, [known], rules);
  const isSigned = day !== null && day.signedOffAt !== null && !day.isRestated;
  return {
    date,
    day,
    rejects,
    pulls,
    seals,
    changes,
    matching,
    bookings: bookings?.get(date) ?? null,
    nextToSign: isSigned ? await readNextToSign(prisma, date, today, rules) : null,
  };
}
