/**
 * Computes again what follows from something else, date by date: what something other than the program has changed
 * differs. A pull corrects the titles and what follows from them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Decision, recordAudit } from '../../base/audit/audit.ts';
import type { Database, Transaction } from '../../base/database/database.ts';
import { isUnavailable } from '../../base/database/database-error.ts';
import { ShutdownError } from '../../base/runtime/errors.ts';
import { type Loop, loop } from '../../base/runtime/timing.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { AlertEntry, AlertRow, Words } from '../../console/alert-entry.ts';
import type { DayObstacle } from '../../console/day-obstacle.ts';
import type { LoopParts } from '../../console/shell/console-parts.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { alterationsOf } from './alterations.sql.ts';

/** Problems that a pull of the date corrects. */
const REPAIRABLE = ['content', 'titles', 'day', 'totals', 'hold'];
/**
 * Problems that nothing takes back: a person decides about them. The others end with a change of the access or of a
 * setting, or of the value that makes a part of the check fail.
 */
const DECIDABLE = [
  ...['withdrawn', 'seal', 'reject', 'account', 'finding', 'pull', 'receipt', 'break'],
  ...['line', 'lines', 'batch'],
];

/** The columns of `title_finding` with these names. */
interface Alteration {
  readonly problem: string;
  readonly rowKey: string | null;
}

/** Of each part, beside those that a person has acknowledged. The check that follows the repair finds further ones. */
const MAX_ALTERATIONS = 1_000;

/** The check reads all titles of the date, which may be millions. */
const TRANSACTION = { timeout: 86_400_000, maxWait: 30_000 } as const;

/**
 * Checks a date and records the outcome.
 * @returns with the number of rows of `title`, withdrawn ones included
 * @throws ShutdownError when `signal` is aborted; nothing was recorded
 */
export function verifyDate(database: Database, date: CivilDate, signal: AbortSignal) {
  return database.prisma.$transaction(async (tx) => {
    const [{ pid, titles }] = await tx.$queryRaw<[{ pid: number; titles: number }]>`
      SELECT pg_backend_pid() AS pid, count(*)::int AS titles
      FROM conciliation.title WHERE accepted_date = ${date}::date`;
    const cancel = () => {
      database.prisma.$queryRaw`SELECT pg_cancel_backend(${pid}::int)`.catch(() => {});
    };
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return { titles, ...(await compareDate(tx, date, signal)) };
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new ShutdownError('the check was interrupted', { cause: error });
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }, TRANSACTION);
}

/**
 * Checks a date, opens findings for new alterations and closes findings whose alteration has ended. For a decision about
 * the content of the date, in its transaction, which has locked the row of the day: `verifyObstacles` are known then.
 * @returns with the pull that repairs the date; null: none is needed, one has just ended, or the ledger lacks the date
 */
export async function compareDate(tx: Transaction, date: CivilDate, signal?: AbortSignal) {
  const alterations = await findAlterations(tx, date, signal);
  // Locks the date's row of title_check, so that two checks at a time request one repair.
  await tx.$executeRaw`
    INSERT INTO conciliation.title_check (date, checked_at) VALUES (${date}::date, now())
    ON CONFLICT (date) DO UPDATE SET checked_at = excluded.checked_at`;
  await tx.$executeRaw`
    WITH altered AS (
      SELECT * FROM unnest(${alterations.map(({ problem }) => problem)}::text[],
                           ${alterations.map(({ rowKey }) => rowKey)}::text[]) AS altered (problem, row_key)
    ), closed AS (
      UPDATE conciliation.title_finding AS finding SET closed_at = now()
      WHERE date = ${date}::date AND closed_at IS NULL AND NOT EXISTS (
        SELECT FROM altered
        WHERE altered.problem = finding.problem AND altered.row_key IS NOT DISTINCT FROM finding.row_key)
    )
    INSERT INTO conciliation.title_finding (date, problem, row_key)
    SELECT ${date}::date, problem, row_key FROM altered ON CONFLICT DO NOTHING`;
  const isRepairable = alterations.some(({ problem }) => REPAIRABLE.includes(problem));
  return { alterations, repairPullId: isRepairable ? await requestRepair(tx, date) : null };
}

/**
 * Makes the parts of a check. A value with which a part fails is an alteration: it must not keep the other parts and
 * the other dates from being checked.
 */
async function findAlterations(
  tx: Transaction,
  date: CivilDate,
  signal: AbortSignal | undefined,
): Promise<Alteration[]> {
  const found: Alteration[] = [];
  for (const part of alterationsOf(date)) {
    signal?.throwIfAborted();
    await tx.$executeRaw`SAVEPOINT part`;
    try {
      await tx.$executeRaw`
        SELECT set_config('enable_nestloop', 'off', true), set_config('work_mem', '64MB', true),
               set_config('statement_timeout', '0', true)`;
      // An acknowledged alteration does not take the place of another one.
      const rows = await tx.$queryRaw<Alteration[]>`
        WITH known AS MATERIALIZED (
          SELECT problem, row_key FROM conciliation.title_finding
          WHERE date = ${date}::date AND closed_at IS NULL AND acknowledged_at IS NOT NULL
        )
        SELECT problem, row_key AS "rowKey" FROM (${part}) AS altered
        ORDER BY NOT EXISTS (SELECT FROM known WHERE known.problem = altered.problem
                                                 AND known.row_key IS NOT DISTINCT FROM altered.row_key),
                 problem, length(row_key), row_key
        LIMIT ${MAX_ALTERATIONS}::int + (SELECT count(*) FROM known)`;
      found.push(...rows);
    } catch (error) {
      if (signal?.aborted || isUnavailable(error)) throw error;
      found.push({ problem: 'unchecked', rowKey: null });
    }
    // The settings are as before again, and so is the transaction after a failure.
    await tx.$executeRaw`ROLLBACK TO SAVEPOINT part`;
  }
  return found;
}

/** A check follows each repair. A difference that the repair did not correct does not request the next repair at once. */
const REPAIR_PAUSE = '1 hour';

async function requestRepair(tx: Transaction, date: CivilDate): Promise<bigint | null> {
  // A row whose state or time no repair has was written by something else, and does not put the repair off.
  const [repair] = await tx.$queryRaw<[{ id: bigint }?]>`
    WITH repair AS (
      SELECT pull.id, finished_at FROM conciliation.pull JOIN conciliation.day USING (date)
      WHERE date = ${date}::date AND origin = 'repair'
        AND (finished_at IS NULL AND (pull.state IN ('queued', 'running') OR pull.id = day.held_pull_id)
             OR finished_at BETWEEN now() - ${REPAIR_PAUSE}::interval AND now())
    ), requested AS (
      INSERT INTO conciliation.pull (origin, date, requested_by)
      SELECT 'repair', date, 'verification' FROM conciliation.day
      WHERE date = ${date}::date AND NOT EXISTS (SELECT FROM repair) RETURNING id
    )
    SELECT id FROM requested UNION ALL (SELECT id FROM repair WHERE finished_at IS NULL ORDER BY id DESC LIMIT 1)`;
  return repair?.id ?? null;
}

/** Less than a day, so that a check that takes hours is done once a day. */
const CHECK_AGE = '20 hours';

/**
 * Reads the dates of the ledger, and those that rows of `title` have without it: jumps from date to date in the index
 * of `title`. A check is due if the date was never checked, its check is old, or a repair has ended since. A check in
 * the future counts as none.
 */
export async function readDates(database: Database, isOnlyDue = false): Promise<CivilDate[]> {
  const rows = await database.prisma.$queryRaw<{ date: CivilDate }[]>`
    WITH RECURSIVE seen AS (
      SELECT min(accepted_date) AS date FROM conciliation.title
      UNION ALL
      SELECT (SELECT min(accepted_date) FROM conciliation.title WHERE accepted_date > seen.date)
      FROM seen WHERE seen.date IS NOT NULL
    )
    SELECT known.date::text AS date
    FROM (SELECT date FROM seen WHERE date IS NOT NULL UNION SELECT date FROM conciliation.day) AS known
    LEFT JOIN conciliation.title_check AS done ON done.date = known.date
    WHERE NOT ${isOnlyDue} OR done.checked_at IS NULL OR done.checked_at > now()
       OR done.checked_at < now() - ${CHECK_AGE}::interval
       OR EXISTS (SELECT FROM conciliation.pull
                  WHERE pull.date = known.date AND pull.origin = 'repair'
                    AND pull.finished_at > done.checked_at AND pull.finished_at <= now())
    ORDER BY known.date`;
  return rows.map(({ date }) => date);
}

/** After a check that took a second the next one waits for nine, so that pulls have the database. */
const REST = 9;

/** Verifies each date once a day, one at a time. `stop` interrupts the check under way. */
export function startVerification({ database, logger, everyMs = 60_000 }: LoopParts<never>): Loop {
  const verifyDueDates = async (signal: AbortSignal) => {
    const rest = (ms: number) => sleep(ms, undefined, { signal });
    for (const date of await readDates(database, true)) {
      const startedMs = performance.now();
      try {
        const { alterations, repairPullId } = await verifyDate(database, date, signal);
        if (alterations.length > 0) {
          logger.error(
            { date, alterations: alterations.length, pullId: repairPullId?.toString() ?? null },
            'rows were altered outside of the program',
          );
        }
        await rest(REST * (performance.now() - startedMs));
      } catch (error) {
        if (signal.aborted) return;
        // It does not keep the other dates waiting.
        logger.warn({ date, err: error }, 'a date was not verified');
        await rest(everyMs);
      }
    }
  };
  return loop({
    everyMs,
    run: verifyDueDates,
    failure: { logger, message: 'no date was verified; tried again later' },
  });
}

/** Of a row with a problem. */
const IS_REPAIRABLE = Prisma.sql`(problem = ANY(${REPAIRABLE}::text[]))`;

/**
 * True for a row `finding` of `title_finding` that keeps its day from being signed off and released. The audit log has
 * the decision of a person as well.
 */
const KEEPS_DAY = Prisma.sql`
  (finding.closed_at IS NULL AND (
    finding.problem <> ALL(${DECIDABLE}::text[]) OR NOT EXISTS (
      SELECT FROM conciliation.audit_entry AS entry
      WHERE entry.date = finding.date AND entry.action = 'findings.acknowledge'
        AND (entry.actor, entry.at) = (finding.acknowledged_by, finding.acknowledged_at))))`;

const kept = (problems: Prisma.Sql) =>
  ({
    keeps: ['sign', 'release'],
    rows: (date) => Prisma.sql`
      SELECT NULL, count(*), NULL, true FROM conciliation.title_finding AS finding
      WHERE finding.date = ${date} AND ${KEEPS_DAY} AND ${problems} HAVING count(*) > 0`,
  }) as const satisfies DayObstacle;

/** Something other than the program has written to the database. */
export const verifyObstacles = {
  /** To titles, or to what follows from them, which a pull restores. */
  altered: kept(IS_REPAIRABLE),
  /** To decisions, bookings or access, where a person has to act. */
  unrecorded: kept(Prisma.sql`NOT ${IS_REPAIRABLE}`),
};

/** The minimum duration of the alert of a finding, because a repair may correct the difference within a minute. */
const FINDING_ALERT_HOURS = 24;

/** Of a row of `title_finding`: it has an alert. */
const IS_ALERTED = Prisma.sql`acknowledged_at IS NULL
  AND (closed_at IS NULL OR found_at > now() - make_interval(hours => ${FINDING_ALERT_HOURS}::int))`;

/** Rows that the message of one alert names. */
const ROWS_NAMED = 5;

/** Each date is checked once a day. */
const CHECK_OVERDUE_HOURS = 26;

export const verifyAlerts = {
  /** A statement that alters one date mostly alters others too, so the findings that began on one day are one alert. */
  titles_altered: {
    severity: 'critical',
    causes: () => [
      Prisma.sql`
        SELECT (min(found_at) AT TIME ZONE 'UTC')::date AS cause, date, count(*) AS findings,
               coalesce((array_agg(jsonb_build_object('problem', problem, 'key', row_key) ORDER BY id)
                         FILTER (WHERE row_key IS NOT NULL))[1:${ROWS_NAMED}::int], '{}') AS altered,
               (SELECT max(id) FROM conciliation.pull
                WHERE pull.date = finding.date AND origin = 'repair') AS "pullId"
        FROM conciliation.title_finding AS finding WHERE ${IS_ALERTED} GROUP BY date`,
    ],
    values(
      rows: readonly (AlertRow & {
        findings: number;
        altered: readonly { problem: string; key: string }[];
      })[],
      { text }: Words,
    ) {
      const findings = rows.reduce((sum, date) => sum + date.findings, 0);
      const altered = rows
        .flatMap((date) => date.altered)
        .map(({ problem, key }) => text('altered.row', { problem, key }));
      const titles = [...new Set(altered)].slice(0, ROWS_NAMED);
      const named = titles.length === 0 ? 'none' : titles.length < findings ? 'some' : 'all';
      return { findings, titles: titles.join(', '), named };
    },
  },
  /** One for all dates: the cause is mostly the same. A check in the future counts as none. */
  verification_overdue: {
    severity: 'warning',
    causes: () => [
      Prisma.sql`
        SELECT count(*) OVER () AS dates, day.date, ${CHECK_OVERDUE_HOURS}::int AS hours
        FROM conciliation.day AS day
        LEFT JOIN conciliation.title_check AS done ON done.date = day.date AND done.checked_at <= now()
        WHERE coalesce(done.checked_at, day.verified_at)
              < clock_timestamp() - make_interval(hours => ${CHECK_OVERDUE_HOURS}::int)
        ORDER BY coalesce(done.checked_at, day.verified_at), day.date LIMIT 1`,
    ],
  },
} satisfies Record<string, AlertEntry>;

/** The findings that have an alert, and the newest of them; null: there is none. */
export async function readAlertedFindings({ prisma }: Database) {
  const [alerted = null] = await prisma.$queryRaw<[{ findings: number; newestId: bigint }?]>`
    SELECT count(*)::int AS findings, max(id) AS "newestId"
    FROM conciliation.title_finding WHERE ${IS_ALERTED} HAVING count(*) > 0`;
  return alerted;
}

/**
 * Ends the alerts of the findings that a person has seen. The findings stay until the difference is gone.
 * @param newestId the newest finding that the person has seen
 */
export function acknowledgeFindings(
  { prisma }: Database,
  newestId: bigint,
  { by, reason }: Decision,
): Promise<void> {
  return prisma.$transaction(async (tx) => {
    const dates = await tx.$queryRaw<{ date: CivilDate; findings: number }[]>`
      WITH seen AS (
        UPDATE conciliation.title_finding
        SET acknowledged_at = now(), acknowledged_by = ${by}, reason = ${reason}
        WHERE id <= ${newestId} AND ${IS_ALERTED} RETURNING date
      )
      SELECT date::text AS date, count(*)::int AS findings FROM seen GROUP BY seen.date ORDER BY seen.date`;
    // An entry for each date: its author is not the second person for the date.
    for (const { date, findings } of dates) {
      const details = { findings };
      await recordAudit(tx, { actor: by, action: 'findings.acknowledge', date, reason, details });
    }
  });
}
