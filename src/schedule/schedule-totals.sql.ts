import type { Database } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { totalsOf } from './payee.sql.ts';

/**
 * A row for each accepted date of `title` and of `schedule_date`, as part of a WITH RECURSIVE: `is_current` tells
 * whether the totals of the date are those of its titles. The dates come from `title` and not from `day`, so that
 * no title is left out that something else than a merge has inserted.
 */
export const ACCEPTED_DATES = Prisma.sql`
  found (date) AS (
    (SELECT accepted_date FROM conciliation.title ORDER BY accepted_date LIMIT 1)
    UNION ALL
    -- An index lookup for each date, where DISTINCT would read every title.
    SELECT (SELECT accepted_date FROM conciliation.title WHERE accepted_date > found.date
            ORDER BY accepted_date LIMIT 1)
    FROM found WHERE found.date IS NOT NULL
  ), accepted AS MATERIALIZED (
    SELECT coalesce(present.date, stamp.date) AS date, day.state,
           coalesce(present.date = stamp.date AND stamp.epoch = counted.epoch
                    AND stamp.changed_at IS NOT DISTINCT FROM day.changed_at, false) AS is_current
    FROM (SELECT date FROM found WHERE date IS NOT NULL) AS present
    FULL JOIN conciliation.schedule_date AS stamp ON stamp.date = present.date
    LEFT JOIN conciliation.day AS day ON day.date = present.date
    CROSS JOIN conciliation.title_epoch AS counted
  )`;

/**
 * Returns the latest accepted date whose totals are not those of its titles; null: there is none.
 * @param except dates that are left out
 */
export async function readStaleDate(
  database: Database,
  except: readonly CivilDate[] = [],
): Promise<CivilDate | null> {
  const [row] = await database.prisma.$queryRaw<[{ date: CivilDate }?]>`
    WITH RECURSIVE ${ACCEPTED_DATES}
    SELECT found.date::text AS date FROM found JOIN accepted USING (date)
    WHERE NOT accepted.is_current AND found.date <> ALL(${except}::date[])
    ORDER BY found.date DESC LIMIT 1`;
  return row?.date ?? null;
}

/**
 * Computes the totals of an accepted date again. The totals and their stamp are those of one snapshot, so a
 * merge that commits meanwhile leaves a stamp that is not current.
 *
 * @throws StagingUnavailableError when another process computes the same date, or its titles are being erased
 */
export function refreshTotals(database: Database, date: CivilDate): Promise<void> {
  return database.prisma.$transaction(
    async (tx) => {
      // First, so that of two processes the second one fails here: see `erasePartyTotals` too.
      await tx.$executeRaw`
        INSERT INTO conciliation.schedule_date (date, changed_at, epoch)
        SELECT ${date}::date, (SELECT changed_at FROM conciliation.day WHERE date = ${date}::date), epoch
        FROM conciliation.title_epoch
        ON CONFLICT (date) DO UPDATE SET changed_at = excluded.changed_at, epoch = excluded.epoch`;
      await tx.$executeRaw`
        DELETE FROM conciliation.schedule_total WHERE accepted_date = ${date}::date`;
      // In the order of the due dates, so that a reader of a month reads few pages.
      await tx.$executeRaw`
        INSERT INTO conciliation.schedule_total
        SELECT * FROM (${totalsOf(Prisma.sql`accepted_date = ${date}::date`)}) AS total
        ORDER BY due_date, payee`;
    },
    { isolationLevel: 'RepeatableRead' },
  );
}
