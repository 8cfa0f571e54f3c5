import type { AlertEntry, AlertRow, Words } from '../../console/alert-entry.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { IS_ALERTED } from './findings.sql.ts';

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
      const names = altered.map(({ problem, key }) => text('altered.row', { problem, key }));
      const known = [...new Set(names)];
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
