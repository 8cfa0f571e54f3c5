import { recordAudit } from '../audit/audit.ts';
import type { Database, Transaction } from '../database/database.ts';
import { FINDING_ALERT_HOURS } from '../domain/alerts/day-alerts.ts';
import { type CivilDate, toCivilDate } from '../domain/business-day.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { type DateCheck, isRepairable } from './check-date.sql.ts';

/**
 * Records the outcome of a check: opens findings for new alterations, closes findings whose alteration has ended,
 * and requests a pull that corrects those of them that a pull can correct.
 *
 * @returns the pull that repairs the date; null: none is needed, one has just ended, or the ledger lacks
 *   the date
 */
export function recordCheck(database: Database, check: DateCheck): Promise<bigint | null> {
  const { date, checkedAt, titles, alterations } = check;
  const rowKeys = alterations.map(({ rowKey }) => rowKey);
  const problems = alterations.map(({ problem }) => problem);
  return database.prisma.$transaction(async (tx) => {
    // Locks the date's row of title_check, so that two checks at a time request one repair.
    await tx.$executeRaw`
      INSERT INTO conciliation.title_check (date, checked_at, titles)
      VALUES (${date}::date, ${checkedAt}, ${titles})
      ON CONFLICT (date) DO UPDATE SET checked_at = excluded.checked_at, titles = excluded.titles`;
    await tx.$executeRaw`
      UPDATE conciliation.title_finding AS finding SET closed_at = now()
      WHERE finding.date = ${date}::date AND finding.closed_at IS NULL
        AND NOT EXISTS (
          SELECT FROM unnest(${rowKeys}::text[], ${problems}::text[]) AS alteration (row_key, problem)
          WHERE alteration.problem = finding.problem
            AND alteration.row_key IS NOT DISTINCT FROM finding.row_key)`;
    await tx.$executeRaw`
      INSERT INTO conciliation.title_finding (date, problem, row_key)
      SELECT ${date}::date, problem, row_key
      FROM unnest(${rowKeys}::text[], ${problems}::text[]) AS alteration (row_key, problem)
      ON CONFLICT DO NOTHING`;
    return alterations.some(isRepairable) ? requestRepair(tx, date) : null;
  });
}

/** A check follows each repair. A difference that the repair did not correct does not request the next repair at once. */
const REPAIR_PAUSE = '1 hour';

async function requestRepair(tx: Transaction, date: CivilDate): Promise<bigint | null> {
  if ((await tx.day.count({ where: { date } })) === 0) return null;
  // A row whose state or time no repair has was written by something else, and does not put the repair off.
  const [latest] = await tx.$queryRaw<[{ id: bigint; isOpen: boolean; isRecent: boolean }?]>`
    SELECT pull.id, finished_at IS NULL AS "isOpen",
           finished_at BETWEEN now() - ${REPAIR_PAUSE}::interval AND now() AS "isRecent"
    FROM conciliation.pull JOIN conciliation.day USING (date)
    WHERE date = ${date}::date AND origin = 'repair'
      AND (finished_at <= now()
           OR pull.state IN ('queued', 'running') OR pull.id = day.held_pull_id)
    ORDER BY pull.id DESC LIMIT 1`;
  if (latest?.isOpen === true) return latest.id;
  if (latest?.isRecent === true) return null;
  const { id } = await tx.pull.create({
    data: { origin: 'repair', date, requestedBy: 'verification' },
    select: { id: true },
  });
  return id;
}

/** Of a row of `title_finding`: it has an alert. */
const IS_ALERTED = Prisma.sql`acknowledged_at IS NULL
  AND (closed_at IS NULL OR found_at > now() - make_interval(hours => ${FINDING_ALERT_HOURS}::int))`;

/** The findings that have an alert, and the newest of them; null: there is none. */
export async function readAlertedFindings(
  database: Database,
): Promise<{ readonly findings: number; readonly newestId: bigint } | null> {
  const [alerted] = await database.prisma.$queryRaw<
    [{ findings: number; newestId: bigint | null }]
  >`
    SELECT count(*)::int AS findings, max(id) AS "newestId"
    FROM conciliation.title_finding WHERE ${IS_ALERTED}`;
  const { findings, newestId } = alerted;
  return newestId === null ? null : { findings, newestId };
}

/**
 * Ends the alerts of the findings that a person has seen. The findings stay until the difference is gone.
 *
 * @param newestId the newest finding that the person has seen
 * @returns the number of findings that were acknowledged
 */
export function acknowledgeFindings(
  database: Database,
  newestId: bigint,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<number> {
  return database.prisma.$transaction(async (tx) => {
    const findings = await tx.$queryRaw<{ date: CivilDate }[]>`
      UPDATE conciliation.title_finding
      SET acknowledged_at = now(), acknowledged_by = ${by}, reason = ${reason}
      WHERE id <= ${newestId} AND ${IS_ALERTED}
      RETURNING date::text AS date`;
    if (findings.length === 0) return 0;
    const counts = new Map<CivilDate, number>();
    for (const { date } of findings) counts.set(date, (counts.get(date) ?? 0) + 1);
    // An entry for each date: its author is not the second person for the date.
    for (const [date, found] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const details = { findings: found };
      await recordAudit(tx, { actor: by, action: 'findings.acknowledge', date, reason, details });
    }
    return findings.length;
  });
}

/**
 * The dates of the ledger, and the dates that rows of `title` have without it. Jumps from date to date in the
 * index of `title`.
 */
const datesWithTitles = Prisma.sql`
  WITH RECURSIVE seen AS (
    SELECT min(accepted_date) AS date FROM conciliation.title
    UNION ALL
    SELECT (SELECT min(accepted_date) FROM conciliation.title WHERE accepted_date > seen.date)
    FROM seen WHERE seen.date IS NOT NULL
  )
  SELECT date FROM seen WHERE date IS NOT NULL
  UNION SELECT date FROM conciliation.day`;

/** Less than a day, so that a check that takes hours is done once a day. */
const CHECK_AGE = '20 hours';

/** Makes the check of a date due, so that the alert and the repair of an alteration do not wait for a day. */
export async function requestCheck(
  client: Pick<Transaction, '$executeRaw'>,
  date: CivilDate,
): Promise<void> {
  await client.$executeRaw`
    UPDATE conciliation.title_check SET checked_at = now() - ${CHECK_AGE}::interval
    WHERE date = ${date}::date AND checked_at > now() - ${CHECK_AGE}::interval`;
}

/**
 * The date whose check is due: the date was never checked, its check is old, or a repair has ended since. A
 * check in the future counts as none. Null: no check is due.
 *
 * @param except dates that are not checked now
 */
export async function readDueDate(
  database: Database,
  except: readonly CivilDate[] = [],
): Promise<CivilDate | null> {
  const [due] = await database.prisma.$queryRaw<[{ date: string }?]>`
    SELECT due.date::text AS date
    FROM (${datesWithTitles}) AS due
    LEFT JOIN conciliation.title_check AS done ON done.date = due.date
    WHERE due.date <> ALL(${except}::date[])
      AND (done.checked_at IS NULL OR done.checked_at > now()
           OR done.checked_at < now() - ${CHECK_AGE}::interval
           OR EXISTS (SELECT FROM conciliation.pull
                      WHERE pull.date = due.date AND pull.origin = 'repair'
                        AND pull.finished_at > done.checked_at AND pull.finished_at <= now()))
    ORDER BY done.checked_at NULLS FIRST, due.date LIMIT 1`;
  return due === undefined ? null : toCivilDate(due.date);
}

/** The dates from `from` to `to` that can be checked. */
export async function readCheckableDates(
  database: Database,
  from: CivilDate | null,
  to: CivilDate | null,
): Promise<CivilDate[]> {
  const rows = await database.prisma.$queryRaw<{ date: string }[]>`
    SELECT date::text AS date FROM (${datesWithTitles}) AS checkable
    WHERE date BETWEEN coalesce(${from}::date, date) AND coalesce(${to}::date, date)
    ORDER BY date`;
  return rows.map(({ date }) => toCivilDate(date));
}
