import type { FastifyInstance } from 'fastify';
import { recordAudit } from '../../../base/audit/audit.ts';
import { withSnapshot } from '../../../base/export/snapshot.sql.ts';
import { InputError } from '../../../base/runtime/errors.ts';
import { textOf } from '../../../base/texts/texts.ts';
import { parseCivilDate } from '../../../base/values/business-day.ts';
import { maySeePersonalData } from '../../../base/values/role.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { maskErpTexts } from '../../../console/shell/masking.ts';
import { pageContext, textParameter } from '../../../console/shell/page-context.ts';
import {
  actorOf,
  dateOfPath,
  idOfPath,
  requireReason,
} from '../../../console/shell/path-parameters.ts';
import { EVERYBODY, forPeople, REVIEW } from '../../../console/shell/route-access.ts';
import { sendFile } from '../../../console/shell/send-file.ts';
import { sendPage } from '../../../console/shell/send-page.ts';
import { writeMoved } from '../../review/pages/restated-export.ts';
import { readMoved } from '../../review/restated-days.sql.ts';
import { answerReceipts, RECEIPT_ANSWERS } from '../receipt-decisions.sql.ts';
import {
  confirmUnbookedChange,
  noDifference,
  readUnbookedChanges,
} from '../unbooked-changes.sql.ts';
import { readVersions } from './booking-list.sql.ts';
import { BookingPage } from './booking-page.tsx';
import { readReceiptsOf } from './booking-receipts.sql.ts';

/** The receipts that a person chose: the date, the first and the last id, and the number. */
const CHOSEN = /^(\d{4}-\d\d-\d\d)\/(\d{1,15})\/(\d{1,15})\/(\d{1,9})$/;

/** Routes of single lines, and of the decisions about receipts and differences. */
export function addBookingsRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database, logger, fourEyes, bookingsFrom = null } = parts;

  server.get('/bookings/:id', forPeople(EVERYBODY), async (request, reply) => {
    const id = idOfPath(request);
    if (id === null) return reply.callNotFound();
    const [versions, receipts] = await Promise.all([
      readVersions(database.prisma, id),
      readReceiptsOf(database, id),
    ]);
    if (versions.length === 0) return reply.callNotFound();
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('bookings.history'),
      active: '/booking-lines',
      body: (
        <BookingPage
          versions={versions.map((line) => maskErpTexts(line, request.principal))}
          receipts={receipts.map((receipt) => maskErpTexts(receipt, request.principal))}
        />
      ),
    }));
  });

  server.post('/bookings/receipts', forPeople(REVIEW), async (request, reply) => {
    const [, day = '', ...numbers] =
      CHOSEN.exec(textParameter(request.body, 'receipts') ?? '') ?? [];
    const date = parseCivilDate(day);
    const answer = RECEIPT_ANSWERS.find((known) => known === textParameter(request.body, 'answer'));
    if (date === null || answer === undefined) {
      throw new InputError(
        'receipts, answer: expected receipts of the page and one of the answers',
        {
          context: { fault: 'receipt_answer' },
        },
      );
    }
    const [first = 0, last = 0, count = 0] = numbers.map(Number);
    await answerReceipts(database, { date, first, last, count }, answer, {
      by: actorOf(request),
      payablesMaxAgeHours: parts.payablesMaxAgeHours,
      timeZone: parts.timeZone,
      reason: requireReason(request.body),
      ...{ bookingsFrom, fourEyes },
    });
    return reply.redirect('/booking-lines?notice=receipts_answered', 303);
  });

  // What the ERP lacks of a day before bookings began.
  server.post(
    '/bookings/differences/:date/export',
    forPeople(EVERYBODY),
    async (request, reply) => {
      const date = dateOfPath(request);
      if (date === null) return reply.callNotFound();
      const { language } = pageContext(request, parts.timeZone);
      const isMasked = !maySeePersonalData(request.principal?.role ?? 'viewer');
      return sendFile(reply, logger, (signal, send) =>
        withSnapshot(database, signal, async (snapshot) => {
          const changes = await readUnbookedChanges(database.prisma);
          const change = changes.find((day) => day.date === date);
          if (change === undefined) throw noDifference(date);
          const details = { signOffId: change.signOffId };
          const entry = {
            actor: actorOf(request),
            action: 'bookings.export',
            date,
            details,
          } as const;
          await recordAudit(database.prisma, entry);
          await send({
            name: `${textOf(language)('fileNames.difference')}-${date}.csv`,
            type: 'text/csv; charset=utf-8',
            bytes: writeMoved(readMoved(snapshot, [change]), isMasked, language),
          });
        }),
      );
    },
  );

  server.post('/bookings/differences/:date', forPeople(REVIEW), async (request, reply) => {
    const date = dateOfPath(request);
    if (date === null) return reply.callNotFound();
    await confirmUnbookedChange(database, date, {
      by: actorOf(request),
      reason: requireReason(request.body),
      signOffId: Number(textParameter(request.body, 'seal')),
      fourEyes,
    });
    return reply.redirect('/booking-lines?notice=difference_posted', 303);
  });
}
