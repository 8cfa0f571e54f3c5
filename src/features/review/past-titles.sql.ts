import type { CivilDate } from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';

/** The ids of the pulls of a date, whose changes an index finds. */
const pullsOf = (date: CivilDate) =>
  Prisma.sql`ANY(ARRAY(SELECT id FROM conciliation.pull WHERE date = ${date}::date))`;

/**
 * Rows (title_id, pull_id): the revisions of a date that gave an altered row back the content and the status that the
 * change before had left. Their `before` has the altered values, which no merge wrote.
 */
export const undoneAlterations = (date: CivilDate): Prisma.Sql => Prisma.sql`
  SELECT title_id, pull_id
  FROM (
    SELECT title_id, pull_id,
           content_hash = lag(content_hash) OVER earlier
             AND (kind = 'withdrawn') = (lag(kind) OVER earlier = 'withdrawn') AS is_same
    FROM conciliation.title_change
    WHERE pull_id = ${pullsOf(date)} AND kind <> 'payment_decided'
      AND title_id = ANY(ARRAY(SELECT title_id FROM conciliation.title_revision
                               WHERE pull_id = ${pullsOf(date)}))
    WINDOW earlier AS (PARTITION BY title_id ORDER BY change_seq)
  ) AS change
  WHERE is_same`;

/**
 * FROM and WHERE of a query: the titles of a date as they were after the fetch with a fence, as rows `past`, with
 * their present rows `title`. docs/data-dictionary.md explains the query.
 */
export const pastTitles = (date: CivilDate, fence: bigint): Prisma.Sql => Prisma.sql`
  FROM conciliation.title AS title
  JOIN conciliation.pull AS arrival ON arrival.id = title.first_pull_id
  CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_object_agg(field, value), '{}') AS fields
    FROM (
      SELECT DISTINCT ON (field) field, value
      FROM conciliation.title_revision AS revision
      JOIN conciliation.pull AS later ON later.id = revision.pull_id
      CROSS JOIN LATERAL jsonb_each(
        revision.before || jsonb_build_object('content_hash', revision.content_hash)
      ) AS changed (field, value)
      WHERE revision.title_id = title.id AND later.fence > ${fence}::bigint
        AND (revision.title_id, revision.pull_id) NOT IN (${undoneAlterations(date)})
      ORDER BY field, revision.revision
    ) AS oldest
  ) AS earlier
  CROSS JOIN LATERAL jsonb_populate_record(title, earlier.fields) AS past
  WHERE title.accepted_date = ${date}::date AND arrival.fence <= ${fence}::bigint AND past.status = 'current'`;
