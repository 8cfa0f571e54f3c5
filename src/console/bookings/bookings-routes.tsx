import type { FastifyInstance } from 'fastify';
import { recordAudit } from '../../audit/audit.ts';
import { readConsumerLags } from '../../bookings/open-lines.sql.ts';
import { readWaitingDays } from '../../bookings/release.sql.ts';
import { maySeePersonalData } from '../../domain/role.ts';
import { writeCsv } from '../../export/csv.ts';
import type { ExportRow, RowBatches } from '../../export/export-columns.ts';
import { withSnapshot } from '../../export/snapshot.sql.ts';
import { type ConsoleParts, releaseRules } from '../shell/console-parts.ts';
import { maskColumn } from '../shell/masking.ts';
import { pageContext } from '../shell/page-context.ts';
import { pagingOf } from '../shell/paging.tsx';
import { actorOf, idOfPath } from '../shell/path-parameters.ts';
import { sendFile } from '../shell/send-file.ts';
import { sendPage } from '../shell/send-page.ts';
import {
  LINE_COLUMNS,
  linesFile,
  readLines,
  readLineTotals,
  readVersions,
} from './booking-list.sql.ts';
import { BookingPage } from './booking-page.tsx';
import { readKeptReceipts, readReceiptsOf } from './booking-receipts.sql.ts';
import { BookingsPage } from './bookings-page.tsx';
import { filterOf } from './line-filter.ts';

const LINES_A_PAGE = 50;
const KEPT_SHOWN = 50;

/** Routes of released lines. They do not exist while no seal releases bookings. */
export function addBookingsRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database, logger, bookingsFrom = null } = parts;

  server.get('/bookings', async (request, reply) => {
    if (bookingsFrom === null) return reply.callNotFound();
    const { filter, isFilterBad } = filterOf(request.query);
    const [totals, kept, consumers, waiting] = await Promise.all([
      readLineTotals(database, filter),
      readKeptReceipts(database, KEPT_SHOWN),
      readConsumerLags(database.prisma),
      readWaitingDays(database, releaseRules(parts)),
    ]);
    const paging = pagingOf(request.query, 'page', totals.lines, LINES_A_PAGE);
    const lines = await readLines(database, filter, paging);
    const data = { filter, isFilterBad, totals, lines, paging, kept, consumers, waiting };
    return sendPage(request, reply, parts, (context) => ({
      title: context.text.bookings.title,
      active: '/bookings',
      body: <BookingsPage data={data} />,
    }));
  });

  server.get('/bookings/:id', async (request, reply) => {
    const id = idOfPath(request);
    if (bookingsFrom === null || id === null) return reply.callNotFound();
    const [versions, receipts] = await Promise.all([
      readVersions(database, id),
      readReceiptsOf(database, id),
    ]);
    if (versions.length === 0) return reply.callNotFound();
    return sendPage(request, reply, parts, (context) => ({
      title: context.text.bookings.history,
      active: '/bookings',
      body: <BookingPage versions={versions} receipts={receipts} />,
    }));
  });

  // The export of the lines that the page lists.
  server.post('/bookings', async (request, reply) => {
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
          name: language === 'en' ? 'bookings.csv' : 'lancamentos.csv',
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
