import type { AlertEntry } from '../../console/alert-entry.ts';
import { Prisma } from '../../generated/prisma/client.ts';

export const accountAlerts = {
  /**
   * One for each pull, so that a new change is told at once while older ones are open. The change of a party is recorded
   * once, by the first pull that has it.
   */
  account_changed: {
    severity: 'critical',
    page: '/account-changes',
    hasTask: true,
    causes: () => [
      Prisma.sql`
        SELECT pull_id AS cause, pull_id AS "pullId", count(*) AS changes,
               CASE WHEN min(accepted_date) = max(accepted_date) THEN min(accepted_date) END AS date
        FROM conciliation.account_change WHERE state = 'open' GROUP BY pull_id`,
    ],
  },
} satisfies Record<string, AlertEntry>;
