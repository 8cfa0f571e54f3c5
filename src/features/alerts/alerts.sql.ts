import type { Database, QueryClient, Transaction } from '../../base/database/database.ts';
import { takeLock } from '../../base/database/program-lock.sql.ts';
import { dateText, type Language, listDates, type Text, textOf } from '../../base/texts/texts.ts';
import { type CivilDate, lastClosedDate } from '../../base/values/business-day.ts';
import type { AlertEntry, AlertPolicy, AlertRow, Words } from '../../console/alert-entry.ts';
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

/** Of a row `failed` of `pull`. */
const ENDED_ATTEMPTS = Prisma.sql`(failed.attempts - (failed.state = 'running')::int)`;
/** A failover of the database is over by then. */
const PATIENT_ATTEMPTS = 3;

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
                 ${ENDED_ATTEMPTS} AS tried,
                 CASE failed.state WHEN 'failed' THEN failed.error_code ELSE 'INTERRUPTED' END AS "errorCode"
          FROM conciliation.pull AS failed
          LEFT JOIN conciliation.day AS day ON day.date = failed.date
          LEFT JOIN conciliation.pull AS merged ON merged.id = day.last_pull_id
          LEFT JOIN conciliation.pull AS held ON held.id = day.held_pull_id
          WHERE (failed.state = 'failed'
                 OR (failed.state IN ('queued', 'running')
                     AND (failed.error_code = 'DEFECT'
                          OR failed.error_code IN ('STAGING_UNAVAILABLE', 'ATTEMPT_ABANDONED')
                             AND ${ENDED_ATTEMPTS} >= ${PATIENT_ATTEMPTS}::int)))
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

/** A condition while it lasts. */
export interface Alert {
  readonly kind: AlertKind;
  /** Identifies the condition. */
  readonly dedupeKey: string;
  /** A sentence for a person, without personal data. */
  readonly message: string;
  /** The same sentence in Portuguese. */
  readonly messagePt: string;
  readonly date: CivilDate | null;
  readonly pullId: bigint | null;
}

/** The alerts about providers, or all others. */
export type AlertGroup = 'providers' | 'ledger';

const kindsOf = (group: AlertGroup) =>
  ALERT_KINDS.filter((kind) => (ALERTS[kind].readsProviders === true) === (group === 'providers'));

/** The ERP may lock the table `provider`. The transaction, which has the lock of the alerts, does not wait. */
const LOCK_TIMEOUT = '2s';

/**
 * Updates the alerts of a group to the state of the tables: raises new ones and resolves those that are over. Alerts are
 * derived from tables and not from events, so that the next call raises the alert of a merge whose process died. Several
 * processes may call this function at the same time. A lock on the table `provider` delays no other alert.
 * @throws StagingUnavailableError also while the table `provider` is locked, for the group `providers`
 */
export function deriveAlerts(
  database: Database,
  now: Date,
  policy: AlertPolicy,
  group: AlertGroup = 'ledger',
): Promise<{ raised: number; resolved: number }> {
  return database.prisma.$transaction(async (tx) => {
    if (group === 'providers') await setLockTimeout(tx, LOCK_TIMEOUT);
    // Two processes that see one condition raise it once. The conditions include the alerts of the previous holder.
    await takeLock(tx, 'alerts');
    return settleAlerts(tx, kindsOf(group), await readAlertsNow(tx, now, policy, group));
  });
}

export async function setLockTimeout(tx: Transaction, timeout: string): Promise<void> {
  await tx.$executeRaw`SELECT set_config('lock_timeout', ${timeout}, true)`;
}

/** Returns the alerts that the tables give now, by one statement. Writes nothing. */
export async function readAlertsNow(
  tx: QueryClient,
  now: Date,
  policy: AlertPolicy,
  group: AlertGroup,
): Promise<Alert[]> {
  const queries = kindsOf(group).flatMap((kind) =>
    ALERTS[kind]
      .causes({ ...policy, now })
      .map(
        (sql) =>
          Prisma.sql`SELECT ${kind}::text AS kind, to_jsonb(found) AS row FROM (${sql}) AS found`,
      ),
  );
  const found = await tx.$queryRaw<{ kind: AlertKind; row: AlertRow }[]>(
    Prisma.join(queries, ' UNION ALL '),
  );
  const causes = new Map<string, AlertRow[]>();
  for (const { kind, row } of found) {
    const key = (row.cause ?? null) === null ? kind : `${kind}:${row.cause}`;
    const rows = causes.get(key);
    if (rows === undefined) causes.set(key, [row]);
    else rows.push(row);
  }
  return [...causes].map(([key, rows]) => alertOf(key, rows));
}

/**
 * The alert of one cause, for any number of dates, because one action usually corrects all of them. Date and pull are
 * those of the oldest date, and so are the arguments of the message.
 */
export function alertOf(dedupeKey: string, rows: readonly AlertRow[]): Alert {
  const kind = dedupeKey.replace(/:.*/, '') as AlertKind;
  const dateOf = ({ date }: AlertRow) => date ?? '9999-12-31';
  const inOrder = rows.toSorted((a, b) => (dateOf(a) < dateOf(b) ? -1 : 1));
  const dates = [...new Set(inOrder.flatMap(({ date }) => date ?? []))];
  const [oldest = {}] = inOrder;
  const tell = (words: Words) => {
    const values: Record<string, string | number> = {
      cause: '',
      days: dates.length,
      listed: words.list(dates),
    };
    for (const [name, value] of Object.entries(oldest)) values[name] = argumentOf(value, words);
    Object.assign(values, ALERTS[kind].values?.(inOrder, words));
    return words.text(`alertMessages.${kind}`, values);
  };
  return {
    kind,
    dedupeKey,
    message: tell(EN),
    messagePt: tell(PT),
    date: oldest.date ?? null,
    pullId: (oldest.pullId ?? null) === null ? null : BigInt(oldest.pullId ?? 0),
  };
}

/** Dates and months are those of the reader. Objects are arguments of `AlertEntry.values` alone. */
function argumentOf(value: unknown, { day }: Words): string | number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\d{4}-\d\d(-\d\d)?$/.test(value)
    ? day(value)
    : `${value ?? ''}`;
}

const wordsOf = (language: Language): Words => ({
  language,
  text: textOf(language),
  day: (date) => dateText(date, language),
  list: (dates) => listDates(dates, language),
});
const [EN, PT] = [wordsOf('en'), wordsOf('pt-BR')];

/**
 * Makes the unresolved alerts of `kinds` equal to `alerts`: raises new ones, to be announced immediately, resolves those
 * that are over, and updates the messages of the others. The delivery decides whether there is a recipient.
 */
export async function settleAlerts(
  tx: Transaction,
  kinds: readonly AlertKind[],
  alerts: readonly Alert[],
): Promise<{ raised: number; resolved: number }> {
  const rows = alerts.map((alert) => ({ ...alert, pullId: alert.pullId?.toString() }));
  const latest = Prisma.sql`(
    SELECT kind, "dedupeKey" AS dedupe_key, message, "messagePt" AS message_pt, date, "pullId" AS pull_id
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS stated
      (kind text, "dedupeKey" text, message text, "messagePt" text, date date, "pullId" bigint)
  ) AS latest`;
  const resolved = await tx.$executeRaw`
    UPDATE conciliation.alert
    SET resolved_at = now(), announce_at = now()
    WHERE resolved_at IS NULL AND kind = ANY(${kinds})
      AND dedupe_key <> ALL(${alerts.map(({ dedupeKey }) => dedupeKey)})`;
  await tx.$executeRaw`
    UPDATE conciliation.alert AS alert
    SET message = latest.message, message_pt = latest.message_pt, date = latest.date, pull_id = latest.pull_id
    FROM ${latest}
    WHERE alert.dedupe_key = latest.dedupe_key AND alert.resolved_at IS NULL
      AND (alert.message, alert.message_pt, alert.date, alert.pull_id)
          IS DISTINCT FROM (latest.message, latest.message_pt, latest.date, latest.pull_id)`;
  const raised = await tx.$executeRaw`
    INSERT INTO conciliation.alert
      (kind, dedupe_key, message, message_pt, date, pull_id, announce_at)
    SELECT kind, dedupe_key, message, message_pt, date, pull_id, now()
    FROM ${latest}
    WHERE NOT EXISTS (
      SELECT FROM conciliation.alert AS raised
      WHERE raised.dedupe_key = latest.dedupe_key AND raised.resolved_at IS NULL
    )
    ORDER BY date, dedupe_key`;
  return { raised, resolved };
}
