import type { Text } from '../../base/texts/texts.ts';
import { type CivilDate, lastClosedDate } from '../../base/values/business-day.ts';
import type { AlertEntry, AlertRow } from '../../console/alert-entry.ts';
import { FREE_INTERRUPTIONS } from '../../core/ledger/pull-ledger.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { accountAlerts } from '../accounts/account-changes.sql.ts';
import { bookingAlerts } from '../bookings/booking-alerts.sql.ts';
import { payableAlerts } from '../matching/break-list.sql.ts';
import { providerAlerts } from '../providers/provider-batches.sql.ts';
import { dayAlerts } from '../review/day-alerts.sql.ts';
import { sweepAlerts } from '../sweep/sweeps.sql.ts';
import { verifyAlerts } from '../verify/verify.sql.ts';
import { PROCESS_SILENCE_MS } from './health.sql.ts';

/** A planned pull that has not ended is overdue this long after its slot. */
const OVERDUE_HOURS = 2;

/** Number of paths that the message of an alert lists. */
const PATHS_NAMED = 5;

/** A process that reports nothing may have ended. */
const IS_PRESENT = Prisma.sql`
  seen_at >= clock_timestamp() - make_interval(secs => ${PROCESS_SILENCE_MS / 1000}::float8)`;

const engineAlerts = {
  /**
   * The newest pull of a date that has failed, or is tried again although the loss of the database or an error that the
   * program does not know has ended attempts at it; unless a newer fetch was merged into the date or is held there.
   * Another queued or running pull does not count. Pulls that fail with the same error code mostly have the same cause.
   */
  pull_failed: {
    severity: 'warning',
    isDaily: true,
    causes: () => [
      Prisma.sql`
        SELECT *, "errorCode" AS cause, max(tried) OVER (PARTITION BY "errorCode") AS attempts FROM (
          SELECT DISTINCT ON (failed.date) failed.id AS "pullId", failed.date,
                 CASE failed.state WHEN 'failed' THEN failed.attempts ELSE failed.interrupted END AS tried,
                 CASE failed.state WHEN 'failed' THEN failed.error_code ELSE 'INTERRUPTED' END AS "errorCode"
          FROM conciliation.pull AS failed
          LEFT JOIN conciliation.day AS day ON day.date = failed.date
          LEFT JOIN conciliation.pull AS merged ON merged.id = day.last_pull_id
          LEFT JOIN conciliation.pull AS held ON held.id = day.held_pull_id
          WHERE (failed.state = 'failed'
                 OR (failed.state IN ('queued', 'running') AND failed.interrupted >= ${FREE_INTERRUPTIONS}::int))
            AND failed.fence > greatest(merged.fence, held.fence, 0)
          ORDER BY failed.date, failed.fence DESC) AS newest`,
    ],
  },
  /**
   * Planned pulls that are queued or running long after their slot, for any number of dates, because one cause delays
   * them all; a fault of a process that keeps it from its work; or a queue of notifications that is not emptied.
   */
  pull_overdue: {
    severity: 'critical',
    causes: ({ notificationsLimit = 0.1 }) => [
      Prisma.sql`
        SELECT count(*) OVER () AS pulls, date, id AS "pullId", ${OVERDUE_HOURS}::int AS hours
        FROM conciliation.pull
        WHERE state IN ('queued', 'running')
          AND slot_at < clock_timestamp() - make_interval(hours => ${OVERDUE_HOURS}::int)
          AND created_at < clock_timestamp() - make_interval(hours => ${OVERDUE_HOURS}::int)
        ORDER BY slot_at, id LIMIT 1`,
      Prisma.sql`
        SELECT CASE kind WHEN 'planning_failed' THEN 'planning' WHEN 'work_unrecorded' THEN 'unrecorded'
                         ELSE 'clock' END AS cause, count(*) AS processes
        FROM conciliation.process_fault
        WHERE kind IN ('planning_failed', 'work_unrecorded', 'clock_skew') AND ${IS_PRESENT} GROUP BY kind`,
      // A session that listens keeps what was sent while it stays in a transaction. PostgreSQL tells nobody which
      // sessions listen, and tells the service when a transaction began only for its own ones. So those of other users
      // come first. Ordinary queues are almost empty.
      Prisma.sql`
        SELECT 'notifications' AS cause, round(100 * used) AS percent, coalesce((
                 SELECT string_agg(name, ', ') FROM (
                   SELECT format('%s (%s)', session.pid, session.usename) AS name
                   FROM pg_locks AS transaction JOIN pg_stat_activity AS session USING (pid)
                   WHERE transaction.locktype = 'virtualxid' AND transaction.mode = 'ExclusiveLock'
                     AND session.usename IS NOT NULL AND session.pid <> pg_backend_pid()
                   ORDER BY session.xact_start NULLS FIRST LIMIT 3) AS named), '-') AS held
        FROM pg_notification_queue_usage() AS used WHERE used > ${notificationsLimit}::float8`,
    ],
  },
  /**
   * The checkpoint is behind the last closed date and has not advanced for `maxIdleHours`, or for one hour if it is more
   * than `maxLagDays` behind. While a backlog is worked off, days are merged more often than that.
   */
  checkpoint_stale: {
    severity: 'critical',
    hasTask: true,
    causes: ({ now, timeZone, maxLagDays = 3, maxIdleHours = 26 }) => [
      Prisma.sql`
        SELECT reached, reached + 1 AS date, lag, is_begun AS "isBegun" FROM (
          SELECT coalesce(last_reconciled_date, start_date - 1) AS reached, last_reconciled_date IS NOT NULL AS is_begun,
                 ${lastClosedDate(timeZone, now)}::date - coalesce(last_reconciled_date, start_date - 1) AS lag,
                 extract(epoch FROM ${now}::timestamptz - updated_at) / 3600 AS idle
          FROM conciliation.checkpoint) AS progress
        WHERE lag > 0 AND idle > CASE WHEN lag > ${maxLagDays}::int THEN least(1, ${maxIdleHours}::int)
                                      ELSE ${maxIdleHours}::int END`,
    ],
  },
  /** One for each pull, so that new fields are told at once while older ones are open. The first pull has recorded it. */
  contract_drift: {
    severity: 'warning',
    page: '/alerts#drift',
    causes: () => [
      Prisma.sql`
        SELECT drift.first_pull_id AS cause, drift.first_pull_id AS "pullId", pull.date,
               (array_agg(DISTINCT drift.path ORDER BY drift.path))[1:${PATHS_NAMED}::int] AS named,
               count(DISTINCT drift.path) AS places
        FROM conciliation.drift AS drift LEFT JOIN conciliation.pull AS pull ON pull.id = drift.first_pull_id
        WHERE drift.acknowledged_at IS NULL GROUP BY drift.first_pull_id, pull.date`,
    ],
    values(rows: readonly (AlertRow & { named: readonly string[]; places: number })[]) {
      const [{ named = [], places = 0 } = {}] = rows;
      return { paths: named.map(toSafePath).join(', '), more: places - named.length };
    },
  },
  platform_auth: {
    severity: 'critical',
    causes: () => [
      Prisma.sql`
        SELECT kind AS fault, count(*) AS processes FROM conciliation.process_fault
        WHERE kind IN ('token_refused', 'token_unusable') AND ${IS_PRESENT}
        GROUP BY kind ORDER BY kind LIMIT 1`,
    ],
  },
} satisfies Record<string, AlertEntry>;

/**
 * Alerts hold no personal data, and the name of an undocumented field may be any text. A name that
 * is not an ordinary identifier, or that has as many consecutive digits as a part of a tax
 * identifier, is replaced by `…`.
 */
function toSafePath(path: string): string {
  const names = path.split('.');
  return names.map((name) => (isOrdinaryName(name) ? name : '…')).join('.');
}

function isOrdinaryName(name: string): boolean {
  return /^(\*|[A-Za-z_$][\w$-]{0,63}(\[\]|\*)?)$/.test(name) && !/\d{5}/.test(name);
}

const ENTRIES = {
  ...engineAlerts,
  ...sweepAlerts,
  ...dayAlerts,
  ...bookingAlerts,
  ...payableAlerts,
  ...accountAlerts,
  ...providerAlerts,
  ...verifyAlerts,
};
export type AlertKind = keyof typeof ENTRIES;

/** The kinds of alerts, each stated by the feature that it is about. */
export const ALERTS: Readonly<Record<AlertKind, AlertEntry>> = ENTRIES;
export const ALERT_KINDS = Object.keys(ENTRIES) as readonly AlertKind[];

/** What a person does next about an alert of that cause, or of that kind. Null: a later version has raised it. */
export const nextStepOf = (text: Text, { kind, cause }: { kind: string; cause: string | null }) =>
  text.find(`alerts.nextSteps.${kind}:${cause}`) ?? text.find(`alerts.nextSteps.${kind}`);

/** The page that shows what the alert is about. The message names the dates; a link leads to the oldest. */
export function pageOf(kind: AlertKind, date: CivilDate | null): string {
  return ALERTS[kind].page ?? (date === null ? '/alerts' : `/days/${date}`);
}
