import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { readAuditLog } from '../../../base/audit/audit.ts';
import { describe, limitOf, numberOf } from '../../../console/api/api-request.ts';
import {
  dateOrNull,
  id,
  instant,
  instantOrNull,
  orNull,
  words,
} from '../../../console/api/schema-parts.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { EVERYBODY, forKeys } from '../../../console/shell/route-access.ts';
import { readOpenDrift } from '../../../core/ledger/drift.sql.ts';
import { readAlerts } from '../alert-list.sql.ts';
import { ALERT_KINDS } from '../alerts.ts';

const Alert = Type.Object({
  id,
  kind: words(ALERT_KINDS),
  message: Type.String(),
  messagePt: Type.String({ description: 'The message in Portuguese.' }),
  date: dateOrNull,
  pullId: orNull('integer'),
  raisedAt: instant,
  resolvedAt: instantOrNull,
  deliveredAt: instantOrNull,
});

const OpenDrift = Type.Object({
  items: Type.Array(
    Type.Object({
      path: Type.String({ examples: ['titles[].financialAgent.type'] }),
      kind: words(['unknown_field', 'unknown_value']),
      firstSeenAt: instant,
      pullId: id,
    }),
  ),
});

const AuditEntry = Type.Object({
  id,
  at: instant,
  actor: Type.String(),
  action: Type.String(),
  date: dateOrNull,
  pullId: orNull('integer'),
  reason: orNull('string'),
  details: Type.Unknown(),
});

const AuditQuery = Type.Object({
  before: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Only entries with a smaller id.' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
});

/** The operations of the API for alerts. */
export function addAlertsApi(api: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;

  api.get(
    '/alerts',
    describe(
      forKeys(EVERYBODY, 'read'),
      'alerts',
      'listAlerts',
      'Alerts that last, then those that are over',
      {
        answer: Type.Array(Alert),
      },
    ),
    async () => readAlerts(database, { limit: 500 }),
  );

  api.get(
    '/drift',
    describe(
      forKeys(EVERYBODY, 'read'),
      'alerts',
      'listDrift',
      'Fields and values outside the documented interface that wait for a person',
      {
        answer: OpenDrift,
      },
    ),
    async () => {
      const { items } = await readOpenDrift(database);
      // Without the values, which may be personal data.
      return { items: items.map(({ value: _, ...item }) => item) };
    },
  );

  api.get(
    '/audit',
    describe(
      forKeys(EVERYBODY, 'read'),
      'audit',
      'listAuditEntries',
      'The audit log, newest first',
      {
        querystring: AuditQuery,
        answer: Type.Array(AuditEntry),
      },
    ),
    async (request) => {
      const before = numberOf(request, 'before');
      return readAuditLog(database, {
        before: before === null ? null : BigInt(before),
        limit: limitOf(request),
      });
    },
  );
}
