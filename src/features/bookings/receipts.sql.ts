import type { QueryClient, Transaction } from '../../base/database/database.ts';
import { amountSum } from '../../base/database/expressions.sql.ts';
import { takeLock } from '../../base/database/program-lock.sql.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { DOES_NOT_FIT, HAS_OTHER_PAYABLE, keptTitles } from './release-conditions.sql.ts';

/** Whether a newer receipt of the key of a row `receipt` has had its effect. By index: as a join, all would be hashed. */
export const HAS_NEWER = Prisma.sql`(
  (SELECT max(newer.id) FROM conciliation.booking_receipt AS newer
   WHERE (newer.date, newer.identity_hash, newer.occurrence, newer.version)
       = (receipt.date, receipt.identity_hash, receipt.occurrence, receipt.version)
     AND newer.outcome IN ('accepted', 'recorded')) > receipt.id) IS TRUE`;

/**
 * Compares the receipts that are new with the lines, and applies the newest accepted one of each line. A line that
 * failed is offered again, at the end of the feed, unless the receipt is final, the title waits, or the line is to have
 * another payable or value: then the next release repeats it. A line whose booking has a later posted
 * version is superseded. A posted line keeps its document: until the line fails, a receipt with another one does not
 * fit. Nor does `posted` after a final receipt: an ERP that refused a line because the agent was paid, and posts it
 * later, has usually lost that payment.
 * @param date only the receipts of this date; null: all
 * @returns the number of receipts
 */
export async function settleReceipts(tx: Transaction, date: CivilDate | null): Promise<number> {
  const isNew = await tx.bookingReceipt.findFirst({
    where: { outcome: null, ...(date !== null && { date }) },
    select: { id: true },
  });
  if (isNew === null) return 0;
  // Offers are numbered under this lock; and two comparisons do not offer a failed line twice.
  await takeLock(tx, 'closing');
  await tx.$executeRaw`SELECT set_config('enable_nestloop', 'off', true)`;
  const [{ receipts, failed }] = await tx.$queryRaw<
    [{ receipts: number; failed: { id: string; date: CivilDate }[] }]
  >`
    WITH known AS (
      SELECT receipt.id, line.id AS line_id, receipt.document, receipt.reason,
             CASE WHEN receipt.status = 'failed' THEN coalesce(receipt.failure_kind, 'other') END AS failure_kind,
             receipt.accounting_date, ${HAS_NEWER} AS has_newer,
             CASE WHEN receipt.is_final THEN 'refused' ELSE receipt.status END AS state,
             CASE WHEN line.id IS NULL THEN 'unknown_key'
                  WHEN line.consumer <> receipt.consumer THEN 'other_consumer'
                  WHEN receipt.content_hash <> coalesce(line.posted_hash, line.content_hash)
                    THEN 'other_content'
                  ELSE 'accepted' END AS outcome,
             line.state AS line_state, CASE WHEN line.state = 'posted' THEN line.document END AS posted_document
      FROM conciliation.booking_receipt AS receipt
      LEFT JOIN conciliation.booking_line AS line USING (date, identity_hash, occurrence, version)
      WHERE receipt.outcome IS NULL AND (${date}::date IS NULL OR receipt.date = ${date}::date)
    ), grouped AS (
      SELECT *, count(reason) OVER (PARTITION BY line_id, outcome ORDER BY id) AS failures FROM known
    ), compared AS MATERIALIZED (
      SELECT id, line_id, document, reason, failure_kind, accounting_date, state, has_newer,
             CASE WHEN outcome = 'accepted' AND state = 'posted' AND 'refused' =
                    CASE WHEN failures = 0 THEN line_state
                         ELSE first_value(state) OVER (PARTITION BY line_id, outcome, failures ORDER BY id) END
                  THEN 'after_refusal'
                  WHEN outcome = 'accepted' AND document <> coalesce(
                    CASE WHEN failures = 0 THEN posted_document END,
                    first_value(document) OVER (PARTITION BY line_id, outcome, failures ORDER BY document IS NULL, id))
                  THEN 'other_document' ELSE outcome END AS outcome
      FROM grouped
    ), settled AS (
      UPDATE conciliation.booking_receipt AS receipt
      SET outcome = compared.outcome, settled_at = now()
      FROM compared WHERE compared.id = receipt.id
    ), newest AS MATERIALIZED (
      SELECT DISTINCT ON (line_id) *
      -- An older receipt may be committed later.
      FROM compared WHERE outcome = 'accepted' AND NOT has_newer ORDER BY line_id, id DESC
    ), answered AS (
      UPDATE conciliation.booking_line AS line
      SET state = newest.state, state_at = now(), document = newest.document, failure = newest.reason,
          failure_kind = newest.failure_kind,
          accounting_date = coalesce(newest.accounting_date, line.accounting_date),
          accounting_basis = CASE WHEN newest.accounting_date IS NULL THEN line.accounting_basis ELSE 'erp' END
      FROM newest WHERE newest.line_id = line.id
      RETURNING line.id, line.date, line.state
    )
    SELECT (SELECT count(*)::int FROM compared) AS receipts,
           coalesce(jsonb_agg(jsonb_build_object('id', id::text, 'date', date)) FILTER (WHERE state = 'failed'), '[]')
             AS failed
    FROM answered`;
  await supersede(tx, date);
  if (failed.length > 0) {
    const dates = Prisma.sql`ANY(${failed.map((line) => line.date)}::text[]::date[])`;
    await tx.$executeRaw`
      INSERT INTO conciliation.booking_offer (line_id)
      SELECT line.id FROM conciliation.booking_version AS line
      WHERE line.id = ANY(${failed.map(({ id }) => id)}::text[]::bigint[]) AND line.date = ${dates} AND state = 'failed'
        AND (kind = 'reverse' OR NOT ${HAS_OTHER_PAYABLE} AND (title_id IN (${keptTitles(dates)})) IS NOT TRUE)
      ORDER BY line.id`;
  }
  await tx.$executeRaw`
    SELECT set_config(name, reset_val, true) FROM pg_settings WHERE name = 'enable_nestloop'`;
  return receipts;
}

/** Marks the lines that are not posted although a later version of their booking is. */
export async function supersede(tx: Transaction, date: CivilDate | null): Promise<void> {
  await tx.$executeRaw`
    UPDATE conciliation.booking_line AS line
    SET state = 'superseded', state_at = now(), failure = NULL, failure_kind = NULL
    FROM (
      SELECT date, identity_hash, occurrence, max(version) AS version
      FROM conciliation.booking_line
      WHERE state = 'posted' AND (${date}::date IS NULL OR date = ${date}::date)
        AND date = ANY(ARRAY(SELECT open.date FROM conciliation.booking_line AS open
                             WHERE open.state IN ('released', 'failed', 'refused')))
      GROUP BY date, identity_hash, occurrence
    ) AS posted
    WHERE line.date = posted.date AND line.identity_hash = posted.identity_hash
      AND line.occurrence = posted.occurrence AND line.version < posted.version
      AND line.state IN ('released', 'failed', 'refused')`;
}

/** A date whose receipts wait for a person's answer. */
export interface ReceiptQuestions {
  readonly date: CivilDate;
  readonly receipts: number;
  /** The greatest `booking_receipt.id` of them. */
  readonly newest: number;
  /** The original values, exact decimal; null: no title is known. */
  readonly value: string | null;
}

/** The dates with receipts that do not fit, as `ReceiptQuestions`, in date order. */
export const RECEIPT_QUESTIONS = Prisma.sql`
  SELECT date::text AS date, count(*)::int AS receipts, max(id)::float8 AS newest,
         (${amountSum(Prisma.sql`value`)})::text AS value
  FROM (
    SELECT id, date,
           -- A booking counts once, whatever the number of its receipts.
           CASE WHEN row_number() OVER (PARTITION BY date, identity_hash, occurrence) = 1 THEN
             (SELECT original_value FROM conciliation.title
              WHERE accepted_date = date AND title.identity_hash = receipt.identity_hash LIMIT 1) END AS value
    FROM conciliation.booking_receipt AS receipt WHERE ${DOES_NOT_FIT}
  ) AS receipt
  GROUP BY receipt.date ORDER BY receipt.date`;

export const readReceiptQuestions = (tx: QueryClient): Promise<ReceiptQuestions[]> =>
  tx.$queryRaw(RECEIPT_QUESTIONS);
