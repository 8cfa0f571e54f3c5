import type { Transaction } from '../../base/database/database.ts';
import { takeLock } from '../../base/database/program-lock.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Alert, AlertKind } from './messages/alert.ts';

/**
 * Takes the lock under which alerts are raised, so that two processes that see the same condition raise it
 * once. The rule "no second unresolved row of a key" is a partial unique index, which Prisma's schema cannot
 * express. To be called before the conditions are read, so that they include the alerts of the previous holder.
 */
export function lockAlerts(tx: Transaction): Promise<void> {
  return takeLock(tx, 'alerts');
}

/**
 * Makes the unresolved alerts of `kinds` equal to `alerts`: raises new ones, resolves those that
 * are over, and updates the messages of the others.
 */
export async function settleAlerts(
  tx: Transaction,
  kinds: readonly AlertKind[],
  alerts: readonly Alert[],
): Promise<{ raised: number; resolved: number }> {
  const keys = alerts.map((alert) => alert.dedupeKey);
  const resolved = await tx.$executeRaw`
    UPDATE conciliation.alert
    SET resolved_at = now(), announce_at = now()
    WHERE resolved_at IS NULL AND kind = ANY(${kinds}) AND dedupe_key <> ALL(${keys})`;
  await tx.$executeRaw`
    UPDATE conciliation.alert AS alert
    SET message = latest.message, message_pt = latest.message_pt, date = latest.date, pull_id = latest.pull_id
    FROM ${recordset(alerts)}
    WHERE alert.dedupe_key = latest.dedupe_key AND alert.resolved_at IS NULL
      AND (alert.message, alert.message_pt, alert.date, alert.pull_id)
          IS DISTINCT FROM (latest.message, latest.message_pt, latest.date, latest.pull_id)`;
  return { raised: await insertNew(tx, alerts), resolved };
}

/** To be announced immediately. The delivery decides whether there is a recipient. */
function insertNew(tx: Transaction, alerts: readonly Alert[]): Promise<number> {
  return tx.$executeRaw`
    INSERT INTO conciliation.alert
      (kind, dedupe_key, message, message_pt, date, pull_id, announce_at)
    SELECT kind, dedupe_key, message, message_pt, date, pull_id, now()
    FROM ${recordset(alerts)}
    WHERE NOT EXISTS (
      SELECT FROM conciliation.alert AS raised
      WHERE raised.dedupe_key = latest.dedupe_key AND raised.resolved_at IS NULL
    )
    ORDER BY date, dedupe_key`;
}

function recordset(alerts: readonly Alert[]): Prisma.Sql {
  const rows = alerts.map((alert) => ({
    kind: alert.kind,
    dedupe_key: alert.dedupeKey,
    message: alert.message,
    message_pt: alert.messagePt,
    date: alert.date,
    pull_id: alert.pullId === null ? null : String(alert.pullId),
  }));
  return Prisma.sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS latest
    (kind text, dedupe_key text, message text, message_pt text, date date, pull_id bigint)`;
}
