import type { FastifyInstance } from 'fastify';
import { recordAudit } from '../../../base/audit/audit.ts';
import { writeCsv } from '../../../base/export/csv.ts';
import { withSnapshot } from '../../../base/export/snapshot.sql.ts';
import type { ExportRow, RowBatches } from '../../../base/export/table.ts';
import { InputError } from '../../../base/runtime/errors.ts';
import { textOf } from '../../../base/texts/texts.ts';
import { parseCivilDate } from '../../../base/values/business-day.ts';
import { maySeePersonalData } from '../../../base/values/role.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { maskColumn, maskErpTexts } from '../../../console/shell/masking.ts';
import { pageContext, textParameter } from '../../../console/shell/page-context.ts';
import { pagingOf } from '../../../console/shell/paging.tsx';
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
import { readConsumerLags } from '../open-lines.sql.ts';
import { answerReceipts, RECEIPT_ANSWERS } from '../receipt-decisions.sql.ts';
import { readReceiptQuestions } from '../receipts.sql.ts';
import { readWaitingDays } from '../release.sql.ts';
import {
  confirmUnbookedChange,
  noDifference,
  readUnbookedChanges,
} from '../unbooked-changes.sql.ts';
import {
  filterOf,
  LINE_COLUMNS,
  linesFile,
  readLines,
  readLineTotals,
  readVersions,
} from './booking-list.sql.ts';
import { BookingPage } from './booking-page.tsx';
import { readKeptReceipts, readReceiptsOf } from './booking-receipts.sql.ts';
import { BookingsPage } from './bookings-page.tsx';

const LINES_A_PAGE = 50;
const KEPT_SHOWN = 50;

/** The receipts that a person chose: the date, the first and the last id, and the number. */
const CHOSEN = /^(\d{4}-\d\d-\d\d)\/(\d{1,15})\/(\d{1,15})\/(\d{1,9})$/;

/** Routes of released lines. They do not exist while no seal releases bookings. */
export function addBookingsRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database, logger, fourEyes, bookingsFrom = null } = parts;

  server.get('/bookings', forPeople(EVERYBODY), async (request, reply) => {
    if (bookingsFrom === null) return reply.callNotFound();
    const { filter, isFilterBad } = filterOf(request.query);
    const [totals, kept, questions, consumers, waiting, differences] = await Promise.all([
      readLineTotals(database, filter),
      readKeptReceipts(database, KEPT_SHOWN),
      readReceiptQuestions(database.prisma),
      readConsumerLags(database.prisma),
      readWaitingDays(database, parts),
      readUnbookedChanges(database.prisma),
    ]);
    const paging = pagingOf(request.query, 'page', totals.lines, LINES_A_PAGE);
    const lines = maskErpTexts(await readLines(database, filter, paging), request.principal);
    const receipts = maskErpTexts(kept.receipts, request.principal);
    const lists = { lines, paging, consumers, waiting, differences };
    const data = {
      ...{ filter, isFilterBad, totals, ...lists },
      kept: { count: kept.count, receipts, questions },
    };
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('bookings.title'),
      active: '/bookings',
      body: <BookingsPage data={data} />,
    }));
  });

  server.get('/bookings/:id', forPeople(EVERYBODY), async (request, reply) => {
    const id = idOfPath(request);
    if (bookingsFrom === null || id === null) return reply.callNotFound();
    const [versions, receipts] = await Promise.all([
      readVersions(database, id),
      readReceiptsOf(database, id),
    ]);
    if (versions.length === 0) return reply.callNotFound();
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('bookings.history'),
      active: '/bookings',
      body: (
        <BookingPage
          versions={maskErpTexts(versions, request.principal)}
          receipts={maskErpTexts(receipts, request.principal)}
        />
      ),
    }));
  });

  server.post('/bookings/receipts', forPeople(REVIEW), async (request, reply) => {
    if (bookingsFrom === null) return reply.callNotFound();
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
      reason: requireReason(request.body),
      ...{ bookingsFrom, fourEyes },
    });
    return reply.redirect('/bookings?notice=receipts_answered', 303);
  });

  // What the ERP lacks of a day before bookings began.
  server.post(
    '/bookings/differences/:date/export',
    forPeople(EVERYBODY),
    async (request, reply) => {
      const date = dateOfPath(request);
      if (bookingsFrom === null || date === null) return reply.callNotFound();
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
    if (bookingsFrom === null || date === null) return reply.callNotFound();
    await confirmUnbookedChange(database, date, {
      by: actorOf(request),
      reason: requireReason(request.body),
      signOffId: Number(textParameter(request.body, 'seal')),
      fourEyes,
    });
    return reply.redirect('/bookings?notice=difference_posted', 303);
  });

  // The export of the lines that the page lists.
  server.post('/bookings', forPeople(EVERYBODY), async (request, reply) => {
    const { principal } = request;
    if (principal === null) throw new Error('this route has no guard');
    if (bookingsFrom === null) return reply.callNotFound();
    const { filter } = filterOf(request.query);
    const { from, to, state } = filter;
    const { language } = pageContext(request, parts.timeZone);
    const isMasked = !maySeePersonalData(principal.role);
    return sendFile(reply, logger, (signal, send) =>
      withSnapshot(database, signal, async (snapshot) => {
        // Before the first byte, so that every file leaves an entry.
        await recordAudit(database.prisma, {
          actor: actorOf(request),
          action: 'bookings.export',
          details: {
            from,
            to,
            state,
            ...(state === 'overdue' && { overdueDays: filter.overdueDays }),
          },
        });
        const { text, values } = linesFile(filter);
        const rows = snapshot.read<ExportRow>(text, [...values], { rowMode: 'array' });
        await send({
          name: `${textOf(language)('fileNames.bookings')}.csv`,
          type: 'text/csv; charset=utf-8',
          bytes: writeCsv(LINE_COLUMNS, isMasked ? masked(rows) : rows, language),
        });
      }),
    );
  });
}

async function* masked(batches: RowBatches): RowBatches {
  for await (const rows of batches) {
    yield rows.map((row) =>
      row.map((cell, index) => maskColumn(LINE_COLUMNS[index]?.name ?? '', cell)),
    );
  }
}
