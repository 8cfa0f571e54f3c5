import type { AlertEntry } from '../../console/alert-entry.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { IS_OLD, OPEN_BREAKS } from './break-list.sql.ts';
import { COMPLETE_AT, HAS_PAYABLES } from './payables/payable-state.sql.ts';

export const payableAlerts = {
  /** Payables so old that nothing is concluded from them. None where the ERP has given no payables. */
  payables_stale: {
    severity: 'warning',
    page: '/breaks',
    causes: ({ now, payablesMaxAgeHours: hours }) =>
      hours === undefined
        ? []
        : [
            Prisma.sql`
              SELECT ${hours}::float8 AS hours, complete_at IS NULL AS "isMissing" FROM ${COMPLETE_AT} AS snapshot
              WHERE ${HAS_PAYABLES} AND coalesce(
                complete_at <= ${now}::timestamptz - ${hours}::float8 * interval '1 hour', true)`,
          ],
  },
  /** Urgent breaks between titles and payables, and old and large ones, of the newest run of the matching. */
  paid_to_supplier: {
    severity: 'critical',
    page: '/breaks',
    hasTask: true,
    causes: () => [
      Prisma.sql`
        SELECT cause, date, sum(found) OVER (PARTITION BY cause) AS breaks
        FROM (SELECT accepted_date AS date, count(*) FILTER (WHERE severity > 1) AS urgent,
                     count(*) FILTER (WHERE ${IS_OLD}) AS old
              FROM ${OPEN_BREAKS} AS broken GROUP BY 1) AS counted,
             LATERAL (VALUES (NULL, urgent), ('old', old)) AS causes (cause, found)
        WHERE found > 0`,
    ],
  },
} satisfies Record<string, AlertEntry>;
