/**
 * What the booking lines of a date and their batches are not, compared with titles, matches, seals and receipts: a part of
 * the check of `features/verify`. Rows (problem, row_key). The comments of `title_finding` have the conditions.
 */
import { differs } from '../../base/database/differs.sql.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { titleTotals } from '../../core/ledger/day-ledger.sql.ts';
import { DESTINATION_COLUMNS, destinationColumns } from '../../core/title/destinations.sql.ts';
import { AMOUNT_COLUMNS, VALUE_COLUMNS } from '../../core/title/title.ts';
import { COMPUTED_IDENTITY_HASH, COMPUTED_LINE_HASH } from '../../core/title/title-hashes.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';

/** `booking_batch.digest` of rows with the columns of `booking_line`. */
export const BATCH_DIGEST = Prisma.sql`
  encode(sha256(convert_to(coalesce(string_agg(
    to_char(date, 'YYYY-MM-DD') || ':' || replace(identity_hash::text, '-', '') || ':' || occurrence || ':' || version
      || E'\n' || kind || E'\n' || replace(content_hash::text, '-', '') || E'\n', ''
    ORDER BY identity_hash, occurrence, version), ''), 'UTF8')), 'hex')`;

// Column names are constants of core/title. No input reaches Prisma.raw.
const each = (text: (column: string) => string, columns: readonly string[] = AMOUNT_COLUMNS) =>
  Prisma.raw(columns.map(text).join(', '));

const valuesOf = (table: string) => each((column) => `${table}.${column}`, VALUE_COLUMNS);
const contentsOf = (table: string) =>
  each((column) => `${table}.${column}`, [...VALUE_COLUMNS, ...DESTINATION_COLUMNS]);

/**
 * A line of an erased party has lost what its hashes cover: it has the columns of the erased title of its content, or no
 * title has its content any more.
 */
export const bookingAlterations = (date: CivilDate): Prisma.Sql => Prisma.sql`
  WITH line AS MATERIALIZED (
    SELECT title.*, ${COMPUTED_IDENTITY_HASH} AS own_identity, ${COMPUTED_LINE_HASH} AS own_content
    -- With the columns that the hashes of a title cover.
    FROM (SELECT line.*, line.date AS accepted_date,
                 jsonb_build_object('provider', jsonb_build_object('bankAccount', provider_destination),
                                    'financialAgent', jsonb_build_object('payment', payment_destination)) AS extra
          FROM conciliation.booking_line AS line WHERE date = ${date}::date) AS title
  ), batch AS MATERIALIZED (
    SELECT * FROM conciliation.booking_batch WHERE date = ${date}::date
  ), erased AS MATERIALIZED (
    SELECT title.*, ${destinationColumns} FROM conciliation.title
    WHERE accepted_date = ${date}::date AND erased_at IS NOT NULL AND EXISTS (SELECT FROM line)
  ), before AS (
    SELECT line.id AS line_id, before.*
    FROM line JOIN line AS before
      ON (before.identity_hash, before.occurrence, before.version) = (line.identity_hash, line.occurrence, line.succeeds)
  ), matched AS (
    -- The keys of the payables that the title ever had, and of those that it had beyond all doubt at the release: times of
    -- a transaction are those of its begin.
    SELECT line.id AS line_id, string_to_array(string_agg(match.erp_key, ','), ',') AS ever,
           string_to_array(string_agg(match.erp_key, ',') FILTER (
             WHERE made_at < released_at - interval '1 hour'
               AND coalesce(ended_at, 'infinity') > released_at + interval '1 hour'), ',') AS certain,
           array_agg(difference) FILTER (WHERE title_part = 0) AS differences
    FROM line JOIN batch ON batch.id = batch_id
    JOIN (SELECT * FROM conciliation.title_match WHERE title_id = ANY(ARRAY(SELECT title_id FROM line))) AS match
      USING (title_id)
    GROUP BY line.id
  ), written AS (
    SELECT batch_id AS id, count(line.id) AS line_count, count(*) FILTER (WHERE kind = 'book') AS book_count,
           count(*) FILTER (WHERE kind = 'adjust') AS adjust_count,
           count(*) FILTER (WHERE kind = 'reverse') AS reverse_count, ${BATCH_DIGEST} AS digest,
           ${each((column) => `coalesce(sum(${column}_change) FILTER (WHERE sign_off_id IS NOT NULL), 0) AS ${column}_sum`)}
    FROM (SELECT id AS batch_id, sign_off_id FROM batch) AS batch LEFT JOIN (
      SELECT line.*, ${each((column) => `CASE line.kind WHEN 'reverse' THEN -1 ELSE 1 END * coalesce(line.${column}, 0) - coalesce(before.${column}, 0) AS ${column}_change`)}
      FROM line LEFT JOIN before
        -- A line that replaces a reversal adds all of its value.
        ON before.line_id = line.id AND line.kind = 'adjust' AND before.kind <> 'reverse'
    ) AS line USING (batch_id)
    GROUP BY batch_id
  ), newest AS (
    SELECT seal.*, batch.waiting_titles
    FROM batch JOIN conciliation.sign_off AS seal ON seal.id = batch.sign_off_id
    WHERE batch.id = (SELECT max(id) FROM batch)
  ), live AS MATERIALIZED (
    SELECT *, 'current' AS status FROM (
      SELECT DISTINCT ON (identity_hash, occurrence) * FROM line ORDER BY identity_hash, occurrence, version DESC
    ) AS top WHERE kind <> 'reverse'
  )
  SELECT 'line' AS problem, line.id::text AS row_key
  FROM line LEFT JOIN batch ON batch.id = line.batch_id
  LEFT JOIN before ON before.line_id = line.id LEFT JOIN matched ON matched.line_id = line.id
  CROSS JOIN LATERAL (SELECT coalesce(string_to_array(line.erp_key, ','), '{}') AS keys) AS own
  WHERE batch.id IS NULL
     OR batch.sign_off_id IS NOT NULL AND (
       line.consumer <> before.consumer
       OR CASE line.kind
            WHEN 'reverse' THEN (line.title_id, line.erp_key, line.posting_value, ${contentsOf('line')})
                                  IS DISTINCT FROM (before.title_id, before.erp_key, before.posting_value, ${contentsOf('before')})
            ELSE NOT (coalesce(certain, '{}') <@ keys AND keys <@ coalesce(ever, '{}')
                      -- A title without a payable takes the place of a line that the ERP has not reversed.
                      OR certain IS NULL AND line.erp_key IS NOT DISTINCT FROM before.erp_key)
                   OR line.posting_value IS DISTINCT FROM before.posting_value
                      AND (line.posting_value - line.original_value
                           = ANY(CASE WHEN line.erp_key IS NULL THEN '{0}' ELSE differences END)) IS NOT TRUE END)
     OR CASE line.accounting_basis
          WHEN 'event' THEN line.accounting_date NOT BETWEEN released_at::date - 1 AND released_at::date + 1
          WHEN 'erp' THEN NOT EXISTS (
            SELECT FROM conciliation.booking_receipt AS receipt
            WHERE (receipt.date, receipt.identity_hash, receipt.occurrence, receipt.version, receipt.accounting_date)
                = (line.date, line.identity_hash, line.occurrence, line.version, line.accounting_date)) END
     OR line.posted_hash IS NOT NULL AND NOT EXISTS (
       SELECT FROM conciliation.audit_entry WHERE date = ${date}::date AND action = 'bookings.receipts')
     OR (batch.sign_off_id IS NOT NULL OR line.posted_hash IS NULL) AND line.kind <> 'reverse'
        AND (line.own_identity, line.own_content) <> (line.identity_hash, line.content_hash)
        AND NOT EXISTS (
          SELECT FROM erased WHERE erased.content_hash = line.content_hash
            AND (${contentsOf('erased')}) IS NOT DISTINCT FROM (${contentsOf('line')}))
        AND NOT ((line.provider_identification LIKE 'erased-%' OR line.provider_external_id LIKE 'erased-%'
                  OR line.financial_agent_identification LIKE 'erased-%')
                 AND NOT EXISTS (SELECT FROM conciliation.title
                                 WHERE accepted_date = ${date}::date AND content_hash = line.content_hash))
        -- An undocumented field named an erased party: the other columns are those of the title.
        AND NOT (concat(line.provider_destination, line.payment_destination, line.promoted) ~ '"erased-[0-9]+"'
                 AND line.own_identity = line.identity_hash
                 AND NOT EXISTS (
                   SELECT FROM conciliation.title
                   WHERE accepted_date = ${date}::date AND content_hash = line.content_hash
                     AND (${valuesOf('title')}) IS DISTINCT FROM (${valuesOf('line')})))
  UNION ALL
  SELECT 'batch', batch.id::text
  FROM batch JOIN written USING (id)
  LEFT JOIN conciliation.sign_off AS seal ON seal.id = batch.sign_off_id AND seal.date = batch.date
  WHERE ${differs(Prisma.sql`batch`, Prisma.sql`to_jsonb(written)`)}
     OR batch.sign_off_id IS NOT NULL AND (
          seal.id IS NULL OR seal.signed_off_by <> batch.released_by
          OR EXISTS (
            SELECT FROM batch AS earlier
            WHERE earlier.id < batch.id AND earlier.sign_off_id = batch.sign_off_id AND earlier.waiting_titles = 0
              AND NOT EXISTS (SELECT FROM batch AS recorded
                              WHERE recorded.sign_off_id IS NULL AND recorded.id BETWEEN earlier.id AND batch.id)))
  UNION ALL
  SELECT 'lines', NULL
  FROM newest CROSS JOIN (${titleTotals(Prisma.sql`live`)}) AS released
  WHERE CASE WHEN newest.waiting_titles = 0
             THEN ${differs(Prisma.sql`newest`, Prisma.sql`to_jsonb(released) - '{withdrawn_count,latest_due_date}'::text[]`)}
             -- Where titles wait, a content that the seal has released is that of a title, unless it was restated since.
             ELSE EXISTS (SELECT FROM conciliation.day
                          WHERE date = ${date}::date AND day.content_digest = newest.content_digest)
                  AND EXISTS (
                    SELECT FROM live JOIN batch ON batch.id = live.batch_id AND batch.sign_off_id = newest.id
                    GROUP BY live.identity_hash, live.content_hash
                    HAVING count(*) > (
                      SELECT count(*) FROM conciliation.title
                      WHERE accepted_date = ${date}::date AND status = 'current'
                        AND identity_hash = live.identity_hash AND content_hash = live.content_hash)) END`;
