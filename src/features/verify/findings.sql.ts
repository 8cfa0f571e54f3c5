/** The differences that the checks of dates have found, and what a person decides about them. */
import { recordAudit } from '../../base/audit/audit.ts';
import type { Database } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { AlertEntry, AlertRow, Words } from '../../console/alert-entry.ts';
import type { DayObstacle } from '../../console/day-obstacle.ts';
import { Prisma } from '../../generated/prisma/client.ts';

/** Differences that a pull of the date corrects. */
const REPAIRABLE = ['content', 'titles', 'day', 'totals', 'hold'] as const;
/** Differences that end with a change of the access or of a setting, or of the value that makes a part of the check fail. */
const CORRECTABLE = ['session', 'key', 'user', 'consumer', 'start', 'unchecked'] as const;
/** Differences that nothing takes back. A person decides about them. */
const DECIDABLE = [
  'seal',
  'reject',
  'account',
  'finding',
  'pull',
  'receipt',
  'break',
  'line',
  'lines',
  'batch',
] as const;

/** See the comment of `title_finding.problem`. */
export type Problem = (typeof REPAIRABLE | typeof CORRECTABLE | typeof DECIDABLE)[number];

/** Of a row with a problem. */
export const IS_REPAIRABLE = Prisma.sql`(problem = ANY(${[...REPAIRABLE]}::text[]))`;

/**
 * True for a row `finding` of `title_finding` that keeps its day from being signed off and released. The audit log has
 * the decision of a person as well.
 */
const KEEPS_DAY = Prisma.sql`
  (finding.closed_at IS NULL AND (
    finding.problem <> ALL(${[...DECIDABLE]}::text[]) OR NOT EXISTS (
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
      const altered = rows.flatMap((date) => date.altered);
      const known = [
        ...new Set(altered.map(({ problem, key }) => text('altered.row', { problem, key }))),
      ];
      const titles = known.slice(0, ROWS_NAMED).join(', ');
      const isAll = known.length >= findings && known.length <= ROWS_NAMED;
      return { findings, titles, named: titles === '' ? 'none' : isAll ? 'all' : 'some' };
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
export async function readAlertedFindings(
  database: Database,
): Promise<{ readonly findings: number; readonly newestId: bigint } | null> {
  const [alerted] = await database.prisma.$queryRaw<[{ findings: number; newestId: bigint }?]>`
    SELECT count(*)::int AS findings, max(id) AS "newestId"
    FROM conciliation.title_finding WHERE ${IS_ALERTED} HAVING count(*) > 0`;
  return alerted ?? null;
}

/**
 * Ends the alerts of the findings that a person has seen. The findings stay until the difference is gone.
 * @param newestId the newest finding that the person has seen
 */
export function acknowledgeFindings(
  database: Database,
  newestId: bigint,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<void> {
  return database.prisma.$transaction(async (tx) => {
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
