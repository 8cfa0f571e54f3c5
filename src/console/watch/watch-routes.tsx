import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  acknowledgeAccountChange,
  readUnacknowledgedAccountChanges,
} from '../../accounts/account-changes.sql.ts';
import { readAlerts } from '../../alerts/alert-list.sql.ts';
import { readAuditLog, recordAudit } from '../../audit/audit.ts';
import { readChainHead } from '../../audit/audit-chain.sql.ts';
import { parseCivilDate } from '../../domain/business-day.ts';
import { acknowledgeDrift, readOpenDrift } from '../../ledger/drift.sql.ts';
import { readProviderSummary, readRefusedProviders } from '../../providers/providers.sql.ts';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { textParameter } from '../shell/page-context.ts';
import { actorOf, idOfPath, requireReason } from '../shell/path-parameters.ts';
import { sendPage } from '../shell/send-page.ts';
import { AlertsPage } from './alerts-page.tsx';
import { AuditPage } from './audit-page.tsx';
import { ProvidersPage } from './providers-page.tsx';

const ALERTS_SHOWN = 200;
const ENTRIES_A_PAGE = 100;
const PROVIDERS_SHOWN = 100;
const CHANGES_SHOWN = 100;

/** Routes for alerts, the audit log, providers and their accounts. */
export function addWatchRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;

  server.get('/alerts', async (request, reply) => {
    const [alerts, drift] = await Promise.all([
      readAlerts(database, ALERTS_SHOWN),
      readOpenDrift(database),
    ]);
    return sendPage(request, reply, parts, (context) => ({
      title: context.text.alerts.title,
      active: '/alerts',
      body: <AlertsPage context={context} alerts={alerts} drift={drift} />,
    }));
  });

  server.post('/drift/acknowledge', async (request, reply) => {
    await acknowledgeDrift(database, {
      by: actorOf(request),
      reason: requireReason(request.body),
      seenDigest: textParameter(request.body, 'digest') ?? '',
    });
    return reply.redirect('/alerts?notice=drift_acknowledged', 303);
  });

  server.get('/audit', async (request, reply) => {
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
      title: context.text.audit.title,
      active: '/audit',
      body: (
        <AuditPage
          context={context}
          entries={shown}
          date={date}
          head={head}
          isFirst={!isPlace}
          older={older}
        />
      ),
    }));
  });

  const showProviders = async (
    request: FastifyRequest,
    reply: FastifyReply,
    isRevealed: boolean,
  ) => {
    const [summary, refused, changes] = await Promise.all([
      readProviderSummary(database),
      readRefusedProviders(database, PROVIDERS_SHOWN),
      readUnacknowledgedAccountChanges(database, CHANGES_SHOWN),
    ]);
    if (isRevealed) {
      await recordAudit(database.prisma, {
        actor: actorOf(request),
        action: 'account_change.reveal',
        details: { accountChangeIds: changes.map(({ id }) => id) },
      });
    }
    const data = { summary, refused, changes, isRevealed };
    return sendPage(request, reply, parts, (context) => ({
      title: context.text.providers.title,
      active: '/providers',
      body: <ProvidersPage context={context} data={data} />,
    }));
  };
  server.get('/providers', (request, reply) => showProviders(request, reply, false));
  server.post('/providers', (request, reply) => showProviders(request, reply, true));

  server.post('/account-changes/:id/acknowledge', async (request, reply) => {
    const id = idOfPath(request);
    if (id === null) return reply.callNotFound();
    const reason = requireReason(request.body);
    await acknowledgeAccountChange(database, id, { by: actorOf(request), reason });
    return reply.redirect('/providers?notice=acknowledged', 303);
  });
}
