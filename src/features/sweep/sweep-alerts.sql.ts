import { dateIn } from '../../base/values/business-day.ts';
import type { AlertEntry } from '../../console/alert-entry.ts';
import { Prisma } from '../../generated/prisma/client.ts';

/** Sweeps whose differences may still be an alert. */
const SWEEPS_LOOKED_AT = 10;

const NEWEST = Prisma.sql`(
  SELECT * FROM conciliation.sweep WHERE state = 'complete' ORDER BY started_at DESC LIMIT 1) AS newest`;

export const sweepAlerts = {
  /**
   * The newest complete sweep is older than two slots, and the ledger is older than that too; or the newest sweep failed
   * with an error that the program does not know.
   */
  sweep_stale: {
    severity: 'warning',
    isDaily: true,
    causes({ now, timeZone, sweepSlotBefore }) {
      if (sweepSlotBefore === undefined) return [];
      const slotAt = sweepSlotBefore(now);
      return [
        Prisma.sql`
          SELECT coalesce((complete_at AT TIME ZONE 'UTC')::date::text, 'none') AS since,
                 coalesce(error_code, 'none') AS "errorCode"
          FROM (SELECT (SELECT max(started_at) FROM conciliation.sweep WHERE state = 'complete') AS complete_at,
                       (SELECT error_code FROM conciliation.sweep ORDER BY started_at DESC, id DESC LIMIT 1)) AS known
          WHERE error_code = 'DEFECT'
             OR coalesce(complete_at < ${slotAt}::timestamptz, true)
                AND EXISTS (SELECT FROM conciliation.checkpoint WHERE start_date < ${dateIn(timeZone, slotAt)}::date)
                AND (SELECT created_at < ${slotAt}::timestamptz FROM conciliation.pull ORDER BY id LIMIT 1)`,
      ];
    },
  },
  /**
   * Of the newest complete sweep: more than a fifth of the dates differ, which points to the platform or to this program
   * and not to single dates; and titles that belong to no requested date. And the dates that differ in both of the two
   * newest sweeps over them from the ledger, which the following pulls confirmed. A pull with another answer than the
   * ledger had found a restatement. A sweep whose pull of the date has no answer yet does not count.
   */
  sweep_differs: {
    severity: 'warning',
    causes: () => [
      Prisma.sql`
        SELECT 'dates' AS cause, from_date AS "from", differing, dates_compared AS compared
        FROM ${NEWEST}
        CROSS JOIN LATERAL (SELECT count(*) AS differing FROM conciliation.sweep_difference
                            WHERE sweep_id = newest.id AND ledger_fold_count IS NOT NULL) AS answered
        WHERE differing * 5 > dates_compared`,
      Prisma.sql`
        SELECT 'unplaced' AS cause, from_date AS "from", undated_titles AS undated, future_titles AS future,
               early_titles AS early
        FROM ${NEWEST} WHERE undated_titles + future_titles + early_titles > 0`,
      Prisma.sql`
        WITH recent AS (
          SELECT id, started_at, from_date FROM conciliation.sweep WHERE state = 'complete'
          ORDER BY started_at DESC LIMIT ${SWEEPS_LOOKED_AT}::int
        ), verdict AS (
          SELECT candidate.date, pull.id AS pull_id, differing.fold_count AS sweep_titles,
                 pull.fold_count AS pull_titles,
                 coalesce((pull.fold_count, pull.fold_sum)
                          = (differing.ledger_fold_count, differing.ledger_fold_sum), false) AS contradicts,
                 row_number() OVER (PARTITION BY candidate.date ORDER BY recent.started_at DESC) AS place
          FROM (SELECT DISTINCT date FROM conciliation.sweep_difference
                WHERE sweep_id IN (SELECT id FROM recent)) AS candidate
          JOIN recent ON recent.from_date <= candidate.date
          LEFT JOIN conciliation.sweep_difference AS differing
            ON differing.sweep_id = recent.id AND differing.date = candidate.date
          LEFT JOIN conciliation.pull ON pull.id = differing.pull_id
          WHERE differing.date IS NULL OR pull.fold_count IS NOT NULL
        )
        SELECT 'filters' AS cause, newest.date, newest.pull_id AS "pullId", newest.sweep_titles AS "sweepTitles",
               newest.pull_titles AS "pullTitles"
        FROM verdict AS newest
        JOIN verdict AS before ON before.date = newest.date AND before.place = 2 AND before.contradicts
        WHERE newest.place = 1 AND newest.contradicts`,
    ],
  },
} satisfies Record<string, AlertEntry>;
