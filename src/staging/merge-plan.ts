import type { CivilDate } from '../domain/business-day.ts';
import { StagingUnavailableError } from '../errors.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { lookUpByIndex } from './planner-settings.ts';

/**
 * Matches the response of one attempt with the titles of the table, date by date, and writes what has
 * to change into `staged_change`. Titles that are equal leave no row behind, so an unchanged day
 * writes nothing.
 *
 * The response has no order that could be relied on and a title no identifier, so the outcome depends
 * only on the two multisets of contents:
 *
 * 1. equal content matches, copy by copy (two identical titles are two rows);
 * 2. what is left on both sides matches by identity: `changed`;
 * 3. left in the table: `withdrawn`;
 * 4. left in the response: a withdrawn title of equal content, then of equal identity, is `restored`;
 * 5. the rest is `inserted`, with the next free occurrence of its identity.
 *
 * Of the dates in `staged_date` the first step is done for the titles whose text is equal: neither
 * side has them here, and of the table only what `staged_missing` names is left to be matched. To
 * dates without any title, current or withdrawn, all of the response is new; nothing is written for
 * those, and they are returned.
 *
 * The caller holds the row locks of `dates`, so nothing moves under the statements below, and has
 * forbidden nested loops.
 *
 * @throws StagingUnavailableError when a date of `staged_date` was changed since it was read
 */
export async function planChanges(
  tx: Prisma.TransactionClient,
  fence: bigint,
  dates: readonly CivilDate[],
): Promise<CivilDate[]> {
  await tx.$executeRaw`DELETE FROM conciliation.staged_change WHERE fence = ${fence}`;
  const compared = await datesToCompare(tx, fence, dates);
  const fresh = compared.filter((date) => date.isFresh).map((date) => date.date);
  const matched = dates.filter((date) => !fresh.includes(date));
  const whole = compared.filter((date) => !date.isFresh).map((date) => date.date);
  if (matched.length > 0) await matchAll(tx, fence, matched, whole);
  return fresh;
}

interface ComparedDate {
  readonly date: CivilDate;
  readonly isFresh: boolean;
}

/** The dates of which all titles, and not only what differs, are to be compared. */
async function datesToCompare(
  tx: Prisma.TransactionClient,
  fence: bigint,
  dates: readonly CivilDate[],
): Promise<ComparedDate[]> {
  const look = () => tx.$queryRaw<
    (ComparedDate & { readonly isKnown: boolean; readonly isStale: boolean })[]
  >`
    SELECT wanted.date::text AS date, staged.date IS NOT NULL AS "isKnown",
           staged.base_changed_at IS DISTINCT FROM day.changed_at AS "isStale",
           NOT EXISTS (SELECT FROM conciliation.title WHERE accepted_date = wanted.date) AS "isFresh"
    FROM unnest(${dates}::date[]) AS wanted (date)
    LEFT JOIN conciliation.staged_date staged ON staged.fence = ${fence} AND staged.date = wanted.date
    LEFT JOIN conciliation.day day ON day.date = wanted.date`;
  const rows = await lookUpByIndex(tx, look);
  const stale = rows.find((row) => row.isKnown && row.isStale);
  if (stale !== undefined) {
    throw new StagingUnavailableError(
      `another pull changed ${stale.date} while its titles were read; they are read again`,
      { context: { date: stale.date } },
    );
  }
  return rows.filter((row) => !row.isKnown);
}

async function matchAll(
  tx: Prisma.TransactionClient,
  fence: bigint,
  dates: readonly CivilDate[],
  whole: readonly CivilDate[],
): Promise<void> {
  await matchCurrent(tx, fence, dates, whole);
  const [left] = await tx.$queryRaw<[{ insertions: boolean; withdrawn: boolean }]>`
    SELECT EXISTS (SELECT FROM conciliation.staged_change
                   WHERE fence = ${fence} AND kind = 'inserted') AS insertions,
           EXISTS (SELECT FROM conciliation.day
                   WHERE date = ANY(${dates}::date[]) AND withdrawn_count > 0) AS withdrawn`;
  if (!left.insertions) return;
  if (left.withdrawn) await matchWithdrawn(tx, fence, dates);
  await numberInsertions(tx, fence, dates);
}

async function matchCurrent(
  tx: Prisma.TransactionClient,
  fence: bigint,
  dates: readonly CivilDate[],
  whole: readonly CivilDate[],
): Promise<void> {
  await tx.$executeRaw`
    WITH response AS (
      SELECT ordinal, accepted_date, identity_hash, content_hash,
             row_number() OVER (PARTITION BY accepted_date, content_hash ORDER BY ordinal) AS copy
      FROM conciliation.staged_title
      WHERE fence = ${fence} AND accepted_date = ANY(${dates}::date[])
    ), missing AS MATERIALIZED (
      SELECT date, raw_hash, copies FROM conciliation.staged_missing
      WHERE fence = ${fence} AND date = ANY(${dates}::date[])
    ), unmatched AS (
      SELECT id, accepted_date, identity_hash, content_hash, occurrence FROM conciliation.title
      WHERE accepted_date = ANY(${whole}::date[]) AND status = 'current'
      UNION ALL
      SELECT id, accepted_date, identity_hash, content_hash, occurrence
      FROM (
        SELECT title.id, title.accepted_date, title.identity_hash, title.content_hash,
               title.occurrence, missing.copies,
               row_number() OVER (PARTITION BY title.accepted_date, title.raw_hash
                                  ORDER BY title.occurrence DESC, title.id DESC) AS copy
        FROM conciliation.title title
        JOIN missing ON missing.date = title.accepted_date AND missing.raw_hash = title.raw_hash
        WHERE title.accepted_date = ANY(ARRAY(SELECT date FROM missing))
          AND title.status = 'current'
      ) AS candidate
      WHERE copy <= copies
    ), present AS (
      SELECT *, row_number() OVER (PARTITION BY accepted_date, content_hash
                                   ORDER BY occurrence, id) AS copy
      FROM unmatched
    ), unequal AS (
      SELECT coalesce(response.accepted_date, present.accepted_date) AS accepted_date,
             coalesce(response.identity_hash, present.identity_hash) AS identity_hash,
             coalesce(response.content_hash, present.content_hash) AS content_hash,
             response.ordinal, present.id, present.occurrence
      FROM response FULL JOIN present USING (accepted_date, content_hash, copy)
      WHERE response.ordinal IS NULL OR present.id IS NULL
    ), ranked AS (
      SELECT *, row_number() OVER (
                  PARTITION BY accepted_date, identity_hash, ordinal IS NULL
                  ORDER BY occurrence, content_hash, ordinal) AS rank
      FROM unequal
    ), incoming AS (SELECT * FROM ranked WHERE ordinal IS NOT NULL),
       outgoing AS (SELECT * FROM ranked WHERE ordinal IS NULL)
    INSERT INTO conciliation.staged_change (fence, date, kind, ordinal, title_id, occurrence)
    SELECT ${fence}::bigint, coalesce(incoming.accepted_date, outgoing.accepted_date),
           CASE WHEN outgoing.id IS NULL THEN 'inserted'
                WHEN incoming.ordinal IS NULL THEN 'withdrawn'
                ELSE 'changed' END,
           incoming.ordinal, outgoing.id, incoming.rank
    FROM incoming FULL JOIN outgoing USING (accepted_date, identity_hash, rank)`;
}

async function matchWithdrawn(
  tx: Prisma.TransactionClient,
  fence: bigint,
  dates: readonly CivilDate[],
): Promise<void> {
  // Twice the same matching, first by content, then by identity: a title that comes back as it was
  // takes its own row again, not that of a sibling.
  await tx.$executeRaw`
    WITH incoming AS (
      SELECT staged.ordinal, staged.accepted_date, staged.content_hash,
             row_number() OVER (PARTITION BY staged.accepted_date, staged.content_hash ORDER BY staged.ordinal) AS copy
      FROM conciliation.staged_change change
      JOIN conciliation.staged_title staged USING (fence, ordinal)
      WHERE change.fence = ${fence} AND change.kind = 'inserted'
    ), gone AS (
      SELECT id, accepted_date, content_hash,
             row_number() OVER (PARTITION BY accepted_date, content_hash ORDER BY occurrence, id) AS copy
      FROM conciliation.title
      WHERE accepted_date = ANY(${dates}::date[]) AND status = 'withdrawn'
    )
    UPDATE conciliation.staged_change change SET kind = 'restored', title_id = gone.id
    FROM incoming JOIN gone USING (accepted_date, content_hash, copy)
    WHERE change.fence = ${fence} AND change.ordinal = incoming.ordinal`;
  await tx.$executeRaw`
    WITH incoming AS (
      SELECT staged.ordinal, staged.accepted_date, staged.identity_hash,
             row_number() OVER (PARTITION BY staged.accepted_date, staged.identity_hash
                                ORDER BY staged.content_hash, staged.ordinal) AS rank
      FROM conciliation.staged_change change
      JOIN conciliation.staged_title staged USING (fence, ordinal)
      WHERE change.fence = ${fence} AND change.kind = 'inserted'
    ), gone AS (
      SELECT id, accepted_date, identity_hash,
             row_number() OVER (PARTITION BY accepted_date, identity_hash ORDER BY occurrence, id) AS rank
      FROM conciliation.title
      WHERE accepted_date = ANY(${dates}::date[]) AND status = 'withdrawn'
        AND id NOT IN (SELECT title_id FROM conciliation.staged_change
                       WHERE fence = ${fence} AND kind = 'restored')
    )
    UPDATE conciliation.staged_change change SET kind = 'restored', title_id = gone.id
    FROM incoming JOIN gone USING (accepted_date, identity_hash, rank)
    WHERE change.fence = ${fence} AND change.ordinal = incoming.ordinal`;
}

async function numberInsertions(
  tx: Prisma.TransactionClient,
  fence: bigint,
  dates: readonly CivilDate[],
): Promise<void> {
  await tx.$executeRaw`
    WITH incoming AS (
      SELECT staged.ordinal, staged.accepted_date, staged.identity_hash,
             row_number() OVER (PARTITION BY staged.accepted_date, staged.identity_hash
                                ORDER BY staged.content_hash, staged.ordinal) AS rank
      FROM conciliation.staged_change change
      JOIN conciliation.staged_title staged USING (fence, ordinal)
      WHERE change.fence = ${fence} AND change.kind = 'inserted'
    ), taken AS (
      SELECT accepted_date, identity_hash, max(occurrence) AS occurrence
      FROM conciliation.title
      JOIN (SELECT DISTINCT accepted_date, identity_hash FROM incoming) wanted
        USING (accepted_date, identity_hash)
      WHERE accepted_date = ANY(${dates}::date[])
      GROUP BY accepted_date, identity_hash
    )
    UPDATE conciliation.staged_change change
    SET occurrence = coalesce(taken.occurrence, 0) + incoming.rank
    FROM incoming LEFT JOIN taken USING (accepted_date, identity_hash)
    WHERE change.fence = ${fence} AND change.ordinal = incoming.ordinal`;
}

/** What a merge would do to one date. */
export interface DatePlan {
  readonly date: CivilDate;
  /** Titles of the response that may be merged into the date. */
  readonly titles: number;
  readonly inserted: number;
  readonly changed: number;
  readonly withdrawn: number;
  readonly restored: number;
  /** Titles that broke the contract and name this date. */
  readonly rejected: number;
}

/**
 * Counts what `planChanges` wrote, one line for each of `dates`, in date order.
 *
 * @param fresh what `planChanges` returned
 */
export async function countPlan(
  tx: Prisma.TransactionClient,
  fence: bigint,
  dates: readonly CivilDate[],
  fresh: readonly CivilDate[],
): Promise<DatePlan[]> {
  return tx.$queryRaw<DatePlan[]>`
    SELECT wanted.date::text AS date,
           (coalesce(staged.titles, 0) + coalesce(known.known, 0))::int AS titles,
           (CASE WHEN wanted.date = ANY(${fresh}::date[]) THEN coalesce(staged.titles, 0)
                 ELSE coalesce(change.inserted, 0) END)::int AS inserted,
           coalesce(change.changed, 0)::int AS changed,
           coalesce(change.withdrawn, 0)::int AS withdrawn,
           coalesce(change.restored, 0)::int AS restored,
           coalesce(reject.rejected, 0)::int AS rejected
    FROM unnest(${dates}::date[]) AS wanted (date)
    LEFT JOIN (SELECT accepted_date AS date, count(*) AS titles
               FROM conciliation.staged_title WHERE fence = ${fence} GROUP BY 1) staged USING (date)
    LEFT JOIN (SELECT date,
                      count(*) FILTER (WHERE kind = 'inserted') AS inserted,
                      count(*) FILTER (WHERE kind = 'changed') AS changed,
                      count(*) FILTER (WHERE kind = 'withdrawn') AS withdrawn,
                      count(*) FILTER (WHERE kind = 'restored') AS restored
               FROM conciliation.staged_change WHERE fence = ${fence} GROUP BY 1) change USING (date)
    LEFT JOIN (SELECT date, count(*) AS rejected
               FROM conciliation.staged_reject WHERE fence = ${fence} GROUP BY 1) reject USING (date)
    LEFT JOIN (SELECT date, known FROM conciliation.staged_date WHERE fence = ${fence}) known
      USING (date)
    ORDER BY wanted.date`;
}
