/** The booking lines of a date against the seals that released them. Each query has rows (problem, row_key). */
import {
  BATCH_DIGEST,
  COMPUTED_IDENTITY_HASH,
  CONTENT_DIGEST,
  computedContentHash,
  DESTINATION_COLUMNS,
  destinationColumns,
} from '../database/title-hashes.sql.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { AMOUNT_COLUMNS, VALUE_COLUMNS } from '../domain/title.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { hasNoEntry } from './decision-alterations.sql.ts';

// Column names are constants of domain/. No input reaches Prisma.raw.
const each = (text: (column: string) => string, columns: readonly string[] = AMOUNT_COLUMNS) =>
  Prisma.raw(columns.map(text).join(', '));
const sumsOf = (table: string) => each((column) => `${table}.${column}_sum`);
const contentsOf = (table: string) =>
  each(
    (column) => `${table}.${column}`,
    [...VALUE_COLUMNS.filter((column) => column !== 'accepted_date'), ...DESTINATION_COLUMNS],
  );

const IS_RECEIPTS = Prisma.sql`entry.action = 'bookings.receipts'`;

/** The lines of a date with the columns that the hashes of a title cover. */
const lines = (date: CivilDate) => Prisma.sql`
  SELECT line.*, line.date AS accepted_date,
         jsonb_build_object('provider', jsonb_build_object('bankAccount', provider_destination),
                            'financialAgent', jsonb_build_object('payment', payment_destination)) AS extra
  FROM conciliation.booking_line AS line WHERE date = ${date}::date`;

/**
 * - `line`: the hashes of the columns are others. A line of an erased party has lost what its hashes cover: it has the
 *   columns of the erased title of its content, or no title has its content any more.
 * - `batch`: counts, digest or sums are not those of the lines, the seal is not one of the date or was released
 *   completely before, or nobody has recorded the receipts
 * - `lines`: the newest lines are not the content of the seal that was released last
 */
export const bookingAlterations = (date: CivilDate): Prisma.Sql => Prisma.sql`
  WITH line AS MATERIALIZED (
    SELECT title.*, ${COMPUTED_IDENTITY_HASH} AS own_identity, ${computedContentHash(date)} AS own_content
    FROM (${lines(date)}) AS title
  ), batch AS MATERIALIZED (
    SELECT * FROM conciliation.booking_batch WHERE date = ${date}::date
  ), erased AS MATERIALIZED (
    SELECT title.*, ${destinationColumns} FROM conciliation.title
    WHERE accepted_date = ${date}::date AND erased_at IS NOT NULL AND EXISTS (SELECT FROM line)
  ), written AS (
    SELECT batch_id AS id, count(*) AS line_count, count(*) FILTER (WHERE kind = 'book') AS book_count,
           count(*) FILTER (WHERE kind = 'adjust') AS adjust_count,
           count(*) FILTER (WHERE kind = 'reverse') AS reverse_count, ${BATCH_DIGEST} AS digest,
           ${each((column) => `sum(CASE kind WHEN 'reverse' THEN 0 ELSE coalesce(${column}, 0) END - replaced_${column}) AS ${column}_sum`)}
    FROM (
      SELECT line.*, ${each((column) => `coalesce(CASE line.kind WHEN 'reverse' THEN line.${column} ELSE before.${column} END, 0) AS replaced_${column}`)}
      FROM line LEFT JOIN line AS before
        ON line.kind = 'adjust' AND before.identity_hash = line.identity_hash
       AND before.occurrence = line.occurrence AND before.version = line.succeeds
    ) AS line
    GROUP BY batch_id
  ), newest AS (
    SELECT batch.id, batch.waiting_titles, seal.id AS seal_id, seal.content_digest, ${sumsOf('seal')}
    FROM batch JOIN conciliation.sign_off AS seal ON seal.id = batch.sign_off_id
    WHERE batch.id = (SELECT max(id) FROM batch)
  ), live AS MATERIALIZED (
    SELECT * FROM (
      SELECT DISTINCT ON (identity_hash, occurrence) * FROM line ORDER BY identity_hash, occurrence, version DESC
    ) AS top WHERE kind <> 'reverse'
  )
  SELECT 'line' AS problem, line.id::text AS row_key
  FROM line LEFT JOIN batch ON batch.id = line.batch_id
  WHERE batch.id IS NULL
     OR line.posted_hash IS NOT NULL AND ${hasNoEntry(date, IS_RECEIPTS)}
     OR (batch.sign_off_id IS NOT NULL OR line.posted_hash IS NULL) AND line.kind <> 'reverse'
        AND (line.own_identity, line.own_content) <> (line.identity_hash, line.content_hash)
        AND NOT EXISTS (
          SELECT FROM erased WHERE erased.content_hash = line.content_hash
            AND (${contentsOf('erased')}) IS NOT DISTINCT FROM (${contentsOf('line')}))
        AND NOT ((line.provider_identification LIKE 'erased-%' OR line.provider_external_id LIKE 'erased-%'
                  OR line.financial_agent_identification LIKE 'erased-%')
                 AND NOT EXISTS (SELECT FROM conciliation.title
                                 WHERE accepted_date = ${date}::date AND content_hash = line.content_hash))
  UNION ALL
  SELECT 'batch', batch.id::text
  FROM batch LEFT JOIN written USING (id)
  LEFT JOIN conciliation.sign_off AS seal ON seal.id = batch.sign_off_id AND seal.date = batch.date
  WHERE CASE WHEN batch.line_count = 0 THEN written.id IS NOT NULL
             ELSE (batch.line_count, batch.book_count, batch.adjust_count, batch.reverse_count, batch.digest)
                    IS DISTINCT FROM
                  (written.line_count, written.book_count, written.adjust_count, written.reverse_count, written.digest) END
     OR CASE WHEN batch.sign_off_id IS NULL
             THEN ${hasNoEntry(date, Prisma.sql`${IS_RECEIPTS} AND (entry.actor, entry.at) = (batch.released_by, batch.released_at)`)}
             ELSE seal.id IS NULL OR seal.signed_off_by <> batch.released_by
                  OR written.id IS NOT NULL AND (${sumsOf('batch')}) IS DISTINCT FROM (${sumsOf('written')})
                  OR EXISTS (
                    SELECT FROM batch AS earlier
                    WHERE earlier.id < batch.id AND earlier.sign_off_id = batch.sign_off_id AND earlier.waiting_titles = 0
                      AND NOT EXISTS (SELECT FROM batch AS recorded
                                      WHERE recorded.sign_off_id IS NULL AND recorded.id BETWEEN earlier.id AND batch.id)) END
  UNION ALL
  SELECT 'lines', NULL
  FROM newest CROSS JOIN (
    SELECT ${CONTENT_DIGEST} AS digest,
           ${each((column) => `coalesce(sum(${column}), 0) AS ${column}_sum`)}
    FROM live
  ) AS released
  WHERE CASE WHEN newest.waiting_titles = 0
             THEN (newest.content_digest, ${sumsOf('newest')}) IS DISTINCT FROM (released.digest, ${sumsOf('released')})
             -- Where titles wait, a content that the seal has released is that of a title, unless it was restated since.
             ELSE EXISTS (SELECT FROM conciliation.day
                          WHERE date = ${date}::date AND day.content_digest = newest.content_digest)
                  AND EXISTS (
                    SELECT FROM live JOIN batch ON batch.id = live.batch_id AND batch.sign_off_id = newest.seal_id
                    GROUP BY live.identity_hash, live.content_hash
                    HAVING count(*) > (
                      SELECT count(*) FROM conciliation.title
                      WHERE accepted_date = ${date}::date AND status = 'current'
                        AND identity_hash = live.identity_hash AND content_hash = live.content_hash)) END`;
