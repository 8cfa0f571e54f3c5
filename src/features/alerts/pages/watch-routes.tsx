import type { FastifyInstance } from 'fastify';
import { readAuditLog } from '../../../base/audit/audit.ts';
import { readChainHead } from '../../../base/audit/audit-chain.sql.ts';
import { parseCivilDate } from '../../../base/values/business-day.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { textParameter } from '../../../console/shell/page-context.ts';
import { pagingOf } from '../../../console/shell/paging.tsx';
import { actorOf, requireReason } from '../../../console/shell/path-parameters.ts';
import { EVERYBODY, forPeople, REVIEW, STAFF } from '../../../console/shell/route-access.ts';
import { sendPage } from '../../../console/shell/send-page.ts';
import { acknowledgeDrift, readOpenDrift } from '../../../core/ledger/drift.sql.ts';
import { acknowledgeFindings, readAlertedFindings } from '../../verify/findings.sql.ts';
import { countAlerts, readAlerts } from '../alert-list.sql.ts';
import { AlertsPage } from './alerts-page.tsx';
import { AuditPage } from './audit-page.tsx';

const ALERTS_A_PAGE = 50;
const ENTRIES_A_PAGE = 100;

/** Routes for alerts and the audit log. */
export function addWatchRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;

  server.get('/alerts', forPeople(EVERYBODY), async (request, reply) => {
    const counts = await countAlerts(database);
    const lists = {
      open: pagingOf(request.query, 'open', counts.open, ALERTS_A_PAGE),
      over: pagingOf(request.query, 'over', counts.over, ALERTS_A_PAGE),
    };
    const [open, over, drift, altered] = await Promise.all([
      readAlerts(database, { ...lists.open, state: 'open' }),
      readAlerts(database, { ...lists.over, state: 'over' }),
      readOpenDrift(database),
      readAlertedFindings(database),
    ]);
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('alerts.title'),
      active: '/alerts',
      body: <AlertsPage lists={lists} alerts={{ open, over }} drift={drift} altered={altered} />,
    }));
  });

  server.post('/drift/acknowledge', forPeople(STAFF), async (request, reply) => {
    await acknowledgeDrift(database, {
      by: actorOf(request),
      reason: requireReason(request.body),
      seenDigest: textParameter(request.body, 'digest') ?? '',
    });
    return reply.redirect('/alerts?notice=drift_acknowledged', 303);
  });

  server.post('/alterations/acknowledge', forPeople(REVIEW), async (request, reply) => {
    const newest = textParameter(request.body, 'newest') ?? '';
    await acknowledgeFindings(database, /^\d{1,18}$/.test(newest) ? BigInt(newest) : 0n, {
      by: actorOf(request),
      reason: requireReason(request.body),
    });
    return reply.redirect('/alerts?notice=alterations_acknowledged', 303);
  });

  server.get('/audit', forPeople(EVERYBODY), async (request, reply) => {
    const before = textParameter(request.query, 'before');
    const isPlace = before !== null && /^[1-9]\d{0,17}$/.test(before);
    const date = parseCivilDate(textParameter(request.query, 'date') ?? '');
    const [entries, head] = await Promise.all([
      readAuditLog(database, {
        before: isPlace ? BigInt(before) : null,
        limit: ENTRIES_A_PAGE + 1,
        date,
      }),
      readChainHead(database),
    ]);
    const shown = entries.slice(0, ENTRIES_A_PAGE);
    const older = entries.length > shown.length ? (shown.at(-1)?.id ?? null) : null;
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('audit.title'),
      active: '/audit',
      body: <AuditPage entries={shown} date={date} head={head} isFirst={!isPlace} older={older} />,
    }));
  });
}
