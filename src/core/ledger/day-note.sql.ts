import { IS_OPEN_FINDING } from '../../base/database/open-findings.sql.ts';
import { OPEN_HOLDS } from '../../features/accounts/payment-holds.sql.ts';
import { KEEPS_DAY } from '../../features/verify/findings.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { HoldDetail } from '../merge/plausibility.ts';
import type { HoldReason } from './day-state.ts';

/** A response that waits for a person. */
export interface Hold {
  readonly reason: HoldReason | null;
  /** Null unless the response is held for its plausibility. */
  readonly detail: HoldDetail | null;
  /** Titles of the response, including rejected ones. */
  readonly titles: number;
  /** Titles that a release would withdraw. */
  readonly withdrawals: number;
  /**
   * For a response that cannot be read: some faults of its titles, with field names and without
   * values.
   */
  readonly faults: readonly string[];
}

/** Facts about the newest responses to a date, for a person. */
export interface DayNote {
  /** Null: no response waits. */
  readonly hold: Hold | null;
  /**
   * Titles that the last merged response lacks and that stay current, because one of its rejects
   * may be the title.
   */
  readonly withheld: number;
  /** Titles whose payment is held: they name a changed bank account that no person has confirmed. */
  readonly heldPayments: number;
  /** Findings of the severity `review` that a person has to resolve. */
  readonly openFindings: number;
  /** Known differences between rows of the day and their record that keep the day from being signed off. */
  readonly alterations: number;
  /** Whether the checks ran on the present content. */
  readonly isChecked: boolean;
}

/** The number of titles of a row of the table `day` whose payment is held, as a column. */
export const heldPaymentsColumn = Prisma.sql`
  (SELECT count(DISTINCT title_id) FROM (${OPEN_HOLDS}) AS held_payment
   WHERE held_payment.accepted_date = day.date)::int AS "heldPayments"`;

/** The number of known differences that keep a row of the table `day` from being signed off. */
export const alterationsColumn = Prisma.sql`
  (SELECT count(*) FROM conciliation.title_finding AS finding
   WHERE finding.date = day.date AND ${KEEPS_DAY})::int`;

/** Whether the newest run of the matching has found a break of a title of a row of the table `day`. */
export const HAS_BREAK = Prisma.sql`
  EXISTS (SELECT FROM conciliation.match_run AS run
          WHERE run.id = (SELECT max(id) FROM conciliation.match_run)
            AND run.breaks @> jsonb_build_array(jsonb_build_object('date', day.date)))`;

/** Whether the checks ran on the present content of a row of the table `day`, and need not run again. */
export const isChecked = Prisma.sql`
  EXISTS (SELECT FROM conciliation.day_check AS done
          WHERE done.date = day.date AND done.content_digest = day.content_digest AND done.rules <> '')`;

/** The columns of a `DayNote` in the table `day`. */
export const dayNoteColumns = Prisma.sql`
  (SELECT jsonb_build_object(
            'reason', held.hold_reason, 'detail', held.hold_detail, 'titles', held.titles, 'withdrawals', held.withdrawn,
            'faults', CASE WHEN held.hold_reason = 'unreadable' THEN array(
              SELECT DISTINCT fault
              FROM conciliation.staged_reject AS reject CROSS JOIN unnest(reject.reasons) AS fault
              WHERE reject.fence = held.fence ORDER BY fault LIMIT 5) ELSE '{}' END)
   FROM conciliation.pull AS held WHERE held.id = day.held_pull_id) AS hold,
  coalesce((SELECT merged.withheld FROM conciliation.pull AS merged WHERE merged.id = day.last_pull_id),
           0) AS withheld,
  ${heldPaymentsColumn},
  (SELECT count(*) FROM conciliation.check_finding AS finding
   WHERE finding.accepted_date = day.date AND ${IS_OPEN_FINDING})::int AS "openFindings",
  ${alterationsColumn} AS alterations,
  ${isChecked} AS "isChecked"`;
