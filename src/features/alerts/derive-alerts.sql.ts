import type { Database, Transaction } from '../../base/database/database.ts';
import { IS_OPEN_FINDING } from '../../base/database/open-findings.sql.ts';
import { type CivilDate, dateIn, lastClosedDate } from '../../base/values/business-day.ts';
import { FREE_INTERRUPTIONS } from '../../core/ledger/pull-ledger.sql.ts';
import {
  readConsumerLags,
  readFailedLines,
  readUnansweredLines,
} from '../bookings/open-lines.sql.ts';
import { readReceiptQuestions } from '../bookings/receipts.sql.ts';
import { readOverdueReleases } from '../bookings/release.sql.ts';
import { readUnbookedChanges } from '../bookings/unbooked-changes.sql.ts';
import { readCountedBreaks } from '../matching/breaks.sql.ts';
import { hasPayables, readSnapshotAt } from '../matching/payables/payable-state.sql.ts';
import { readBrokenMonths } from '../review/months/month-seal.sql.ts';
import { IS_ALERTED } from '../verify/findings.sql.ts';
import { lockAlerts, settleAlerts } from './alert-ledger.sql.ts';
import { type Alert, LEDGER_ALERT_KINDS } from './messages/alert.ts';
import {
  ALTERED_ROWS_NAMED,
  type AlteredDate,
  alteredDateAlerts,
  brokenMonthAlerts,
  CHECK_OVERDUE_HOURS,
  type HeldDay,
  heldDayAlerts,
  type OpenFindings,
  type OpenRejects,
  type OverdueChecks,
  openFindingsAlerts,
  openRejectsAlerts,
  overdueChecksAlert,
  restatedDayAlerts,
} from './messages/day-alerts.ts';
import {
  BOOKING_OVERDUE_DAYS,
  bookingReceiptsAlerts,
  CONSUMER_BEHIND_DAYS,
  consumerBehindAlert,
  failedLinesAlert,
  overdueLinesAlert,
  paidToSupplierAlert,
  stalePayablesAlert,
  unbookedChangeAlerts,
  waitingDaysAlert,
} from './messages/erp-alerts.ts';
import { type ChangedAccounts, changedAccountsAlert } from './messages/party-alerts.ts';
import {
  faultyProcessAlerts,
  type HeldNotifications,
  heldNotificationsAlert,
  NOTIFICATIONS_LIMIT,
} from './messages/process-alerts.ts';
import {
  contractDriftAlert,
  DRIFT_PATHS_NAMED,
  type FailedPull,
  failedPullAlerts,
  type NewDrift,
  OVERDUE_HOURS,
  type OverduePulls,
  overduePullsAlert,
  STALENESS_LIMITS,
  type StalenessLimits,
  staleCheckpointAlert,
} from './messages/pull-alerts.ts';
import {
  type ContradictedDate,
  contradictedDateAlerts,
  type StaleSweep,
  type SweepFindings,
  staleSweepAlert,
  sweepFindingAlerts,
} from './messages/sweep-alerts.ts';
import { readFaults } from './process-faults.sql.ts';

export interface AlertPolicy extends StalenessLimits {
  /** Decides which dates are closed. */
  readonly timeZone: string;
  /** Absent: stale payables of the ERP raise no alert. */
  readonly payablesMaxAgeHours?: number;
  /** The slot of the sweeps before the latest. Absent: missing sweeps raise no alert. */
  readonly sweepSlotBefore?: (now: Date) => Date;
  /** Default: `NOTIFICATIONS_LIMIT`. */
  readonly notificationsLimit?: number;
}

/** The policy of the service and of the console. */
export const alertPolicyOf = (parts: Omit<AlertPolicy, keyof StalenessLimits>): AlertPolicy => ({
  ...STALENESS_LIMITS,
  timeZone: parts.timeZone,
  ...(parts.payablesMaxAgeHours !== undefined && {
    payablesMaxAgeHours: parts.payablesMaxAgeHours,
  }),
  ...(parts.sweepSlotBefore !== undefined && { sweepSlotBefore: parts.sweepSlotBefore }),
});

/**
 * Updates the alerts to the state of the tables: raises new ones and resolves those that are over.
 * `deriveProviderAlerts` does so for the alerts about providers. Alerts are derived from tables and not from
 * events, so that the next call raises the alert of a merge whose process died. Several processes may call
 * this function at the same time.
 */
export function deriveAlerts(
  database: Database,
  now: Date,
  policy: AlertPolicy,
): Promise<{ raised: number; resolved: number }> {
  return database.prisma.$transaction(async (tx) => {
    await lockAlerts(tx);
    return settleAlerts(tx, LEDGER_ALERT_KINDS, await readLedgerAlerts(tx, now, policy));
  });
}

/** Returns the alerts that the tables give now, without those about providers. Writes nothing. */
export async function readLedgerAlerts(
  tx: Transaction,
  now: Date,
  policy: AlertPolicy,
): Promise<Alert[]> {
  const stale = await readStaleCheckpoint(tx, now, policy);
  const staleSweep = await readStaleSweep(tx, now, policy);
  const stalePayables = await readStalePayables(tx, now, policy);
  return [
    ...failedPullAlerts(await readFailedDayPulls(tx)),
    ...(await readOverduePulls(tx)).map(overduePullsAlert),
    ...(await readSweepFindings(tx)).flatMap(sweepFindingAlerts),
    ...contradictedDateAlerts(await readContradictedDates(tx)),
    ...heldDayAlerts(await readHeldDays(tx)),
    ...openRejectsAlerts(await readOpenRejects(tx)),
    ...openFindingsAlerts(await readFindings(tx)),
    ...restatedDayAlerts(await readRestatedDays(tx)),
    ...bookingReceiptsAlerts(await readReceiptQuestions(tx)),
    ...(await readBookingAlerts(tx, now, policy)),
    ...unbookedChangeAlerts(await readUnbookedChanges(tx)),
    ...brokenMonthAlerts(await readBrokenMonths(tx)),
    ...alteredDateAlerts(await readAlteredDates(tx)),
    ...(await readOverdueChecks(tx)).map(overdueChecksAlert),
    ...(await readChangedAccounts(tx)).map(changedAccountsAlert),
    ...(await readNewDrift(tx)).map(contractDriftAlert),
    ...faultyProcessAlerts(await readFaults(tx)),
    ...(await readHeldNotifications(tx, policy)).map(heldNotificationsAlert),
    ...[stale, staleSweep, stalePayables, await readPaidToSupplier(tx)].filter(
      (alert) => alert !== null,
    ),
  ];
}

/** The alerts about lines that the ERP has not posted, and about consumers that do not read. */
async function readBookingAlerts(
  tx: Transaction,
  now: Date,
  { payablesMaxAgeHours }: AlertPolicy,
): Promise<Alert[]> {
  const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000);
  const failed = await readFailedLines(tx);
  const overdue = await readUnansweredLines(tx, daysAgo(BOOKING_OVERDUE_DAYS));
  const limit = daysAgo(CONSUMER_BEHIND_DAYS);
  const waiting = await readOverdueReleases(tx, limit, { payablesMaxAgeHours });
  const lags = await readConsumerLags(tx);
  return [
    ...(failed === null ? [] : [failedLinesAlert(failed)]),
    ...(overdue === null ? [] : [overdueLinesAlert(overdue)]),
    ...(waiting === null ? [] : [waitingDaysAlert(waiting)]),
    ...lags
      .filter(({ behindSince }) => behindSince !== null && behindSince < limit)
      .map(consumerBehindAlert),
  ];
}

/**
 * Returns for each date the newest pull that has failed, or is tried again although the loss of the database or an
 * error that the program does not know has ended attempts at it; unless a newer fetch was merged into the date or is
 * held there. Another queued or running pull does not count.
 */
function readFailedDayPulls(tx: Transaction): Promise<FailedPull[]> {
  return tx.$queryRaw<FailedPull[]>`
    SELECT DISTINCT ON (failed.date)
           failed.id AS "pullId", failed.date::text AS date,
           CASE failed.state WHEN 'failed' THEN failed.attempts ELSE failed.interrupted END AS attempts,
           CASE failed.state WHEN 'failed' THEN failed.error_code ELSE 'INTERRUPTED' END AS "errorCode"
    FROM conciliation.pull AS failed
    LEFT JOIN conciliation.day AS day ON day.date = failed.date
    LEFT JOIN conciliation.pull AS merged ON merged.id = day.last_pull_id
    LEFT JOIN conciliation.pull AS held ON held.id = day.held_pull_id
    WHERE (failed.state = 'failed'
           OR (failed.state IN ('queued', 'running') AND failed.interrupted >= ${FREE_INTERRUPTIONS}::int))
      AND failed.fence > greatest(merged.fence, held.fence, 0)
    ORDER BY failed.date, failed.fence DESC`;
}

/** At most one row: the planned pulls that are queued or running long after their slot. */
function readOverduePulls(tx: Transaction): Promise<OverduePulls[]> {
  return tx.$queryRaw<OverduePulls[]>`
    SELECT count(*) OVER ()::int AS pulls, date::text AS date, id AS "pullId"
    FROM conciliation.pull
    WHERE state IN ('queued', 'running')
      AND slot_at < clock_timestamp() - make_interval(hours => ${OVERDUE_HOURS}::int)
      AND created_at < clock_timestamp() - make_interval(hours => ${OVERDUE_HOURS}::int)
    ORDER BY slot_at, id LIMIT 1`;
}

function readSweepFindings(tx: Transaction): Promise<SweepFindings[]> {
  return tx.$queryRaw<SweepFindings[]>`
    SELECT from_date::text AS "from", dates_compared AS "datesCompared",
           (SELECT count(*) FROM conciliation.sweep_difference
            WHERE sweep_id = sweep.id AND ledger_fold_count IS NOT NULL)::int AS "datesDiffering",
           undated_titles AS undated, future_titles AS future, early_titles AS early
    FROM conciliation.sweep WHERE state = 'complete' ORDER BY started_at DESC LIMIT 1`;
}

/** Of the newest run of the matching. */
async function readPaidToSupplier(tx: Transaction): Promise<Alert | null> {
  const urgent = (await readCountedBreaks(tx)).filter(({ isUrgent }) => isUrgent);
  const dates = urgent.flatMap(({ date }) => date ?? []);
  return paidToSupplierAlert(
    urgent.reduce((sum, { breaks }) => sum + breaks, 0),
    [...new Set(dates)].toSorted(),
  );
}

/** Null where the ERP has given no payables. */
async function readStalePayables(
  tx: Transaction,
  now: Date,
  { payablesMaxAgeHours: maxAgeHours }: AlertPolicy,
): Promise<Alert | null> {
  if (maxAgeHours === undefined || !(await hasPayables(tx))) return null;
  return stalePayablesAlert({ snapshotAt: await readSnapshotAt(tx), maxAgeHours }, now);
}

/** Sweeps whose differences may still be an alert. */
const SWEEPS_LOOKED_AT = 10;

/**
 * Returns the dates that differ in both of the two newest sweeps over them from the ledger, which the
 * following pulls confirmed. A pull with another answer than the ledger had found a restatement. A sweep whose pull of
 * the date has no answer yet does not count.
 */
function readContradictedDates(tx: Transaction): Promise<ContradictedDate[]> {
  return tx.$queryRaw<ContradictedDate[]>`
    WITH recent AS (
      SELECT id, started_at, from_date FROM conciliation.sweep WHERE state = 'complete'
      ORDER BY started_at DESC LIMIT ${SWEEPS_LOOKED_AT}
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
    SELECT newest.date::text AS date, newest.pull_id AS "pullId",
           newest.sweep_titles AS "sweepTitles", newest.pull_titles AS "pullTitles"
    FROM verdict AS newest
    JOIN verdict AS before ON before.date = newest.date AND before.place = 2 AND before.contradicts
    WHERE newest.place = 1 AND newest.contradicts
    ORDER BY newest.date`;
}

/**
 * Returns a row if the newest complete sweep is older than two slots, and the ledger is older than
 * that too; or if the newest sweep failed with an error that the program does not know.
 */
async function readStaleSweep(
  tx: Transaction,
  now: Date,
  { timeZone, sweepSlotBefore }: AlertPolicy,
): Promise<Alert | null> {
  if (sweepSlotBefore === undefined) return null;
  const slotAt = sweepSlotBefore(now);
  const [ledger] = await tx.$queryRaw<[StaleSweep & { isOld: boolean }]>`
    SELECT (SELECT max(started_at) FROM conciliation.sweep WHERE state = 'complete') AS "completeAt",
           (SELECT error_code FROM conciliation.sweep
            ORDER BY started_at DESC, id DESC LIMIT 1) AS "errorCode",
           EXISTS (SELECT FROM conciliation.checkpoint
                   WHERE start_date < ${dateIn(timeZone, slotAt)}::date)
             AND coalesce((SELECT created_at < ${slotAt}::timestamptz FROM conciliation.pull
                           ORDER BY id LIMIT 1), false) AS "isOld"`;
  const { completeAt, isOld, errorCode } = ledger;
  const isLate = isOld && (completeAt === null || completeAt < slotAt);
  return isLate || errorCode === 'DEFECT' ? staleSweepAlert(ledger) : null;
}

function readHeldDays(tx: Transaction): Promise<HeldDay[]> {
  return tx.$queryRaw<HeldDay[]>`
    SELECT day.date::text AS date, day.held_pull_id AS "pullId", day.title_count AS titles,
           held.titles AS "responseTitles", held.withdrawn AS withdrawals, held.hold_reason AS reason, held.hold_detail AS detail
    FROM conciliation.day AS day
    JOIN conciliation.pull AS held ON held.id = day.held_pull_id
    -- Without an answer to this, the program decides at the end of the run.
    WHERE day.state = 'held' AND NOT (held.hold_reason = 'run_withdrawals' AND held.run_ended_at IS NULL)`;
}

/** A held day has a separate alert, which includes its older rejects. */
function readOpenRejects(tx: Transaction): Promise<OpenRejects[]> {
  return tx.$queryRaw<OpenRejects[]>`
    SELECT reject.date::text AS date, count(*)::int AS rejects, max(reject.last_pull_id) AS "pullId"
    FROM conciliation.day AS day
    JOIN conciliation.rejected_title AS reject ON reject.date = day.date AND reject.status = 'open'
    WHERE day.state = 'attention'
    GROUP BY reject.date`;
}

/** A held day has a separate alert. */
function readFindings(tx: Transaction): Promise<OpenFindings[]> {
  return tx.$queryRaw<OpenFindings[]>`
    SELECT finding.accepted_date::text AS date, finding.code, count(*)::int AS findings,
           day.last_pull_id AS "pullId"
    FROM conciliation.check_finding AS finding
    JOIN conciliation.day AS day ON day.date = finding.accepted_date AND day.state = 'attention'
    WHERE ${IS_OPEN_FINDING}
    GROUP BY finding.accepted_date, finding.code, day.last_pull_id
    ORDER BY finding.code, finding.accepted_date`;
}

async function readRestatedDays(
  tx: Transaction,
): Promise<{ date: CivilDate; pullId: bigint | null }[]> {
  const days = await tx.day.findMany({
    where: { restatedAfterSignOff: true },
    select: { date: true, lastPullId: true },
  });
  return days.map(({ date, lastPullId }) => ({ date, pullId: lastPullId }));
}

function readAlteredDates(tx: Transaction): Promise<AlteredDate[]> {
  return tx.$queryRaw<AlteredDate[]>`
    SELECT date::text AS date, count(*)::int AS findings,
           (min(found_at) AT TIME ZONE 'UTC')::date::text AS "foundDate",
           to_jsonb(coalesce((array_agg(jsonb_build_object('problem', problem, 'key', row_key) ORDER BY id)
                              FILTER (WHERE row_key IS NOT NULL))[1:${ALTERED_ROWS_NAMED}::int], '{}')) AS rows,
           (SELECT max(id) FROM conciliation.pull
            WHERE pull.date = finding.date AND origin = 'repair') AS "pullId"
    FROM conciliation.title_finding AS finding
    WHERE ${IS_ALERTED} GROUP BY date ORDER BY date`;
}

/** At most one row: the dates whose newest check is too old. A check in the future counts as none. */
function readOverdueChecks(tx: Transaction): Promise<OverdueChecks[]> {
  return tx.$queryRaw<OverdueChecks[]>`
    SELECT count(*) OVER ()::int AS dates, day.date::text AS date
    FROM conciliation.day AS day
    LEFT JOIN conciliation.title_check AS done ON done.date = day.date AND done.checked_at <= now()
    WHERE coalesce(done.checked_at, day.verified_at)
          < clock_timestamp() - make_interval(hours => ${CHECK_OVERDUE_HOURS}::int)
    ORDER BY coalesce(done.checked_at, day.verified_at), day.date LIMIT 1`;
}

/**
 * At most one row. A session that listens keeps what was sent while it stays in a transaction. PostgreSQL tells nobody
 * which sessions listen, and tells the service when a transaction began only for its own ones. So those of other
 * users come first.
 */
function readHeldNotifications(
  tx: Transaction,
  { notificationsLimit = NOTIFICATIONS_LIMIT }: AlertPolicy,
): Promise<HeldNotifications[]> {
  return tx.$queryRaw<HeldNotifications[]>`
    SELECT round(100 * used)::int AS percent, ARRAY(
             SELECT format('%s (%s)', session.pid, session.usename)
             FROM pg_locks AS transaction JOIN pg_stat_activity AS session USING (pid)
             WHERE transaction.locktype = 'virtualxid' AND transaction.mode = 'ExclusiveLock'
               AND session.usename IS NOT NULL AND session.pid <> pg_backend_pid()
             ORDER BY session.xact_start NULLS FIRST LIMIT 3) AS sessions
    FROM pg_notification_queue_usage() AS used WHERE used > ${notificationsLimit}::float8`;
}

function readChangedAccounts(tx: Transaction): Promise<ChangedAccounts[]> {
  return tx.$queryRaw<ChangedAccounts[]>`
    SELECT pull_id AS "pullId", count(*)::int AS changes,
           CASE WHEN min(accepted_date) = max(accepted_date)
                THEN min(accepted_date)::text END AS "acceptedDate"
    FROM conciliation.account_change
    WHERE state = 'open'
    GROUP BY pull_id`;
}

function readNewDrift(tx: Transaction): Promise<NewDrift[]> {
  return tx.$queryRaw<NewDrift[]>`
    SELECT drift.first_pull_id AS "pullId", pull.date::text AS date,
           (array_agg(DISTINCT drift.path ORDER BY drift.path))[1:${DRIFT_PATHS_NAMED}::int] AS paths,
           count(DISTINCT drift.path)::int AS "pathCount"
    FROM conciliation.drift AS drift
    LEFT JOIN conciliation.pull AS pull ON pull.id = drift.first_pull_id
    WHERE drift.acknowledged_at IS NULL
    GROUP BY drift.first_pull_id, pull.date`;
}

async function readStaleCheckpoint(
  tx: Transaction,
  now: Date,
  policy: AlertPolicy,
): Promise<Alert | null> {
  const checkpoint = await tx.checkpoint.findFirst();
  if (checkpoint === null) return null;
  return staleCheckpointAlert(
    {
      startDate: checkpoint.startDate,
      lastReconciledDate: checkpoint.lastReconciledDate,
      advancedAt: checkpoint.updatedAt,
    },
    { now, lastClosedDate: lastClosedDate(policy.timeZone, now) },
    policy,
  );
}
