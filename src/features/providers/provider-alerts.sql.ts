import type { CivilDate } from '../../base/values/business-day.ts';
import type { AlertEntry, AlertRow, Words } from '../../console/alert-entry.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { IS_DECIDED_BATCH } from './provider-batches.sql.ts';

/** How long pushing may fail before an alert is raised. */
const PUSH_FAILING_MINUTES = 60;

/** The time that providers may wait while none is accepted or refused, for any cause. */
const PUSH_OVERDUE_HOURS = 2;

export const providerAlerts = {
  /**
   * By the date on which the ERP wrote the rows, because the time of the refusal is not stored. It is no accepted date:
   * the alert concerns no day of the ledger.
   */
  provider_rejected: {
    severity: 'warning',
    page: '/providers',
    readsProviders: true,
    causes: ({ timeZone }) => [
      Prisma.sql`
        SELECT (changed_at AT TIME ZONE ${timeZone})::date AS written,
               sum(count(*) FILTER (WHERE sync_state = 'rejected')) OVER () AS rejected,
               sum(count(*) FILTER (WHERE sync_state = 'invalid')) OVER () AS invalid
        FROM conciliation.provider WHERE sync_state IN ('rejected', 'invalid') GROUP BY 1`,
    ],
    values: (rows: readonly (AlertRow & { written: CivilDate })[], { list }: Words) => ({
      listed: list(rows.map(({ written }) => written).toSorted()),
    }),
  },
  /**
   * The failures since the platform last decided about a row, if the first one is old enough, or pending rows of which
   * none was decided for too long, for any cause. The refusal of several rows decides none of them. Of the failures, a
   * refused token (401) and an unusable one (CONFIG_INVALID) have separate alerts.
   */
  push_failing: {
    severity: 'warning',
    page: '/providers',
    isDaily: true,
    readsProviders: true,
    causes: () => [
      Prisma.sql`
        WITH decided AS (
          SELECT id, finished_at FROM conciliation.provider_batch
          WHERE ${IS_DECIDED_BATCH}
          ORDER BY id DESC LIMIT 1
        ), failure AS (
          SELECT id, created_at, error_code FROM conciliation.provider_batch
          WHERE id > coalesce((SELECT id FROM decided), 0)
            AND error_code NOT IN ('SHUTDOWN', 'CONFIG_INVALID') AND http_status IS DISTINCT FROM 401
        ), waiting AS (
          SELECT count(*) AS pending,
                 greatest(min(changed_at), (SELECT finished_at FROM decided)) AS since
          FROM conciliation.provider WHERE sync_state = 'pending'
        )
        SELECT pending, ${PUSH_OVERDUE_HOURS}::int AS hours,
               coalesce((SELECT error_code FROM failure ORDER BY id DESC LIMIT 1), 'none') AS "errorCode"
        FROM waiting
        WHERE pending > 0
          AND ((SELECT min(created_at) FROM failure)
                 < clock_timestamp() - make_interval(mins => ${PUSH_FAILING_MINUTES}::int)
               OR since < clock_timestamp() - make_interval(hours => ${PUSH_OVERDUE_HOURS}::int))`,
    ],
  },
} satisfies Record<string, AlertEntry>;
