import type { Database, Transaction } from '../../base/database/database.ts';
import { IS_DECIDED_BATCH } from '../../base/database/decided-batch.sql.ts';
import { lockAlerts, settleAlerts } from './alert-ledger.sql.ts';
import { type Alert, PROVIDER_ALERT_KINDS } from './messages/alert.ts';
import {
  type FailingPush,
  failingPushAlert,
  PUSH_FAILING_MINUTES,
  PUSH_OVERDUE_HOURS,
  type RefusedProviders,
  refusedProvidersAlert,
} from './messages/party-alerts.ts';

/** The ERP may lock the table `provider`. The transaction, which has the lock of the alerts, does not wait. */
const LOCK_TIMEOUT = '2s';

/**
 * Updates the alerts about providers to the state of the tables, as `deriveAlerts` does for all others. In a
 * separate transaction, so that a lock on the table `provider` delays no other alert.
 * @throws StagingUnavailableError also while the table `provider` is locked
 */
export function deriveProviderAlerts(
  database: Database,
  timeZone: string,
): Promise<{ raised: number; resolved: number }> {
  return database.prisma.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`;
    await lockAlerts(tx);
    return settleAlerts(tx, PROVIDER_ALERT_KINDS, await readProviderAlerts(tx, timeZone));
  });
}

/** Returns the alerts about providers that the tables give now. Waits while the ERP locks `provider`. */
export async function readProviderAlerts(tx: Transaction, timeZone: string): Promise<Alert[]> {
  const refused = refusedProvidersAlert(await readRefusedProviders(tx, timeZone));
  return [
    ...(refused === null ? [] : [refused]),
    ...(await readFailingPush(tx)).map(failingPushAlert),
  ];
}

/**
 * Counted by the date on which the ERP wrote the rows, because the time of the refusal is not
 * stored.
 */
function readRefusedProviders(tx: Transaction, timeZone: string): Promise<RefusedProviders[]> {
  return tx.$queryRaw<RefusedProviders[]>`
    SELECT (changed_at AT TIME ZONE ${timeZone})::date::text AS "writtenDate",
           count(*) FILTER (WHERE sync_state = 'rejected')::int AS rejected,
           count(*) FILTER (WHERE sync_state = 'invalid')::int AS invalid
    FROM conciliation.provider
    WHERE sync_state IN ('rejected', 'invalid')
    GROUP BY 1 ORDER BY 1`;
}

/**
 * Returns at most one row: the failures since the platform last decided about a row, if the first one
 * is old enough, or pending rows of which none was decided for too long, for any cause. The refusal of several
 * rows decides none of them. Of the failures, a refused token (401) and an unusable one (CONFIG_INVALID) have
 * separate alerts.
 */
function readFailingPush(tx: Transaction): Promise<FailingPush[]> {
  return tx.$queryRaw<FailingPush[]>`
    WITH decided AS (
      SELECT id, finished_at FROM conciliation.provider_batch
      WHERE ${IS_DECIDED_BATCH}
      ORDER BY id DESC LIMIT 1
    ), failure AS (
      SELECT id, created_at, error_code FROM conciliation.provider_batch
      WHERE id > coalesce((SELECT id FROM decided), 0)
        AND error_code NOT IN ('SHUTDOWN', 'CONFIG_INVALID') AND http_status IS DISTINCT FROM 401
    ), waiting AS (
      SELECT count(*)::int AS pending,
             greatest(min(changed_at), (SELECT finished_at FROM decided)) AS since
      FROM conciliation.provider WHERE sync_state = 'pending'
    )
    SELECT pending, (SELECT error_code FROM failure ORDER BY id DESC LIMIT 1) AS "errorCode"
    FROM waiting
    WHERE pending > 0
      AND ((SELECT min(created_at) FROM failure)
             < clock_timestamp() - make_interval(mins => ${PUSH_FAILING_MINUTES}::int)
           OR since < clock_timestamp() - make_interval(hours => ${PUSH_OVERDUE_HOURS}::int))`;
}
