/** The decisions of a person about receipts that name an unknown line or another content. */
import { type AuditAction, type Decision, recordAudit } from '../audit/audit.ts';
import type { Database, Transaction } from '../database/database.ts';
import { takeLock } from '../database/program-lock.sql.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { InputError } from '../runtime/errors.ts';
import { BOOKINGS_FROM, beginBookings } from './booking-start.sql.ts';
import { settleReceipts, supersede } from './receipts.sql.ts';
import { lockDay, RELEASE_TRANSACTION, releaseSealedDay } from './release.sql.ts';
import type { ReleaseRules } from './release-conditions.sql.ts';

type ReceiptRules = ReleaseRules & { readonly bookingsFrom: CivilDate };

const QUESTIONS = ['unknown_key', 'other_content'];

/**
 * Accepts the receipts of a date: the ERP has posted their content. Unknown lines are recorded, and the next
 * release replaces the content of every booking concerned. If the date has a seal that is not restated, this
 * transaction releases it.
 * @returns the number of receipts
 * @throws InputError if the date has no such receipt, or is before BOOKINGS_FROM
 */
export function adoptReceipts(
  database: Database,
  date: CivilDate,
  decision: Decision & ReceiptRules,
): Promise<number> {
  return decide(database, date, decision, 'bookings.adopt', async (tx) => {
    await beginBookings(tx, date, decision.bookingsFrom);
    const [{ isBooked }] = await tx.$queryRaw<[{ isBooked: boolean }]>`
      SELECT (${date}::date >= ${BOOKINGS_FROM}) IS TRUE AS "isBooked"`;
    if (!isBooked) {
      throw new InputError(
        `${date}: no line of this date can be posted, because the date is before BOOKINGS_FROM`,
        {
          context: { fault: 'before_bookings', date },
        },
      );
    }
    await tx.$executeRaw`
      UPDATE conciliation.booking_line AS line
      SET posted_hash = receipt.content_hash, state = 'posted', state_at = now(), failure = NULL,
          document = receipt.document
      FROM (
        SELECT DISTINCT ON (identity_hash, occurrence, version) *
        FROM conciliation.booking_receipt
        WHERE date = ${date}::date AND outcome = 'other_content' AND status = 'posted'
        ORDER BY identity_hash, occurrence, version, id DESC
      ) AS receipt
      WHERE (line.date, line.identity_hash, line.occurrence, line.version)
          = (receipt.date, receipt.identity_hash, receipt.occurrence, receipt.version)`;
    const batchId = await enterUnknownLines(tx, date, decision.by);
    await supersede(tx, date);
    // A reversal has no content, so its line can be offered: an ERP that is restored later reads it.
    await tx.$executeRaw`
      INSERT INTO conciliation.booking_offer (line_id)
      SELECT id FROM conciliation.booking_line WHERE batch_id = ${batchId} AND kind = 'reverse'
      ORDER BY identity_hash, occurrence, version`;
    return 'adopted';
  });
}

/**
 * Discards the receipts of a date. They have no effect from then on.
 * @returns the number of receipts
 * @throws InputError if the date has no such receipt
 */
export function dismissReceipts(
  database: Database,
  date: CivilDate,
  decision: Decision & ReceiptRules,
): Promise<number> {
  return decide(database, date, decision, 'bookings.dismiss', async () => 'dismissed');
}

function decide(
  database: Database,
  date: CivilDate,
  decision: Decision & ReceiptRules,
  action: AuditAction,
  apply: (tx: Transaction) => Promise<'adopted' | 'dismissed'>,
): Promise<number> {
  return database.prisma.$transaction(async (tx) => {
    await lockDay(tx, date);
    // Receipts are compared under this lock. So those that are counted here are those that the decision marks.
    await takeLock(tx, 'closing');
    await settleReceipts(tx, date);
    const receipts = await tx.bookingReceipt.count({
      where: { date, outcome: { in: QUESTIONS } },
    });
    if (receipts === 0) {
      throw new InputError(`${date}: no receipt waits for a decision`, {
        context: { fault: 'no_receipts', date },
      });
    }
    const outcome = await apply(tx);
    await tx.$executeRaw`
      UPDATE conciliation.booking_receipt
      SET outcome = ${outcome}, settled_at = now(), settled_by = ${decision.by}
      WHERE date = ${date}::date AND outcome = ANY(${QUESTIONS}::text[])`;
    const { by: actor, reason } = decision;
    await recordAudit(tx, { actor, action, date, reason, details: { receipts } });
    await releaseSealedDay(tx, date, decision);
    return receipts;
  }, RELEASE_TRANSACTION);
}

/** Enters a line for each unknown key that was posted. Returns `booking_batch.id`. */
async function enterUnknownLines(tx: Transaction, date: CivilDate, by: string): Promise<bigint> {
  const [batch] = await tx.$queryRaw<[{ id: bigint }]>`
    WITH receipt AS MATERIALIZED (
      SELECT DISTINCT ON (identity_hash, occurrence, version) *,
             content_hash = '00000000-0000-0000-0000-000000000000' AS is_reversal
      FROM conciliation.booking_receipt
      WHERE date = ${date}::date AND outcome = 'unknown_key' AND status = 'posted'
      ORDER BY identity_hash, occurrence, version, id DESC
    ), known AS (
      SELECT identity_hash, occurrence, version FROM receipt
      UNION SELECT identity_hash, occurrence, version FROM conciliation.booking_line WHERE date = ${date}::date
    ), placed AS (
      SELECT *, lag(version) OVER (PARTITION BY identity_hash, occurrence ORDER BY version) AS succeeds FROM known
    ), line AS MATERIALIZED (
      SELECT receipt.*, placed.succeeds,
             CASE WHEN is_reversal THEN 'reverse' WHEN placed.succeeds IS NULL THEN 'book' ELSE 'adjust' END AS kind
      FROM receipt JOIN placed USING (identity_hash, occurrence, version)
    ), batch AS (
      INSERT INTO conciliation.booking_batch
        (date, kind, released_by, line_count, book_count, adjust_count, reverse_count, original_value_sum,
         platform_discounted_value_sum, financial_discounted_value_sum, buyer_discounted_value_sum,
         billing_fee_sum, money_transfer_fee_sum, digest)
      SELECT ${date}::date, 'adopted', ${by}, count(*), count(*) FILTER (WHERE kind = 'book'),
             count(*) FILTER (WHERE kind = 'adjust'), count(*) FILTER (WHERE kind = 'reverse'), 0, 0, 0, 0, 0, 0,
             encode(sha256(convert_to(coalesce(string_agg(
               to_char(date, 'YYYY-MM-DD') || ':' || replace(identity_hash::text, '-', '') || ':' || occurrence
                 || ':' || version || E'\n' || kind || E'\n' || replace(content_hash::text, '-', '') || E'\n', ''
               ORDER BY identity_hash, occurrence, version), ''), 'UTF8')), 'hex')
      FROM line
      RETURNING id
    ), written AS (
      INSERT INTO conciliation.booking_line
        (batch_id, consumer, date, identity_hash, occurrence, version, kind, content_hash, posted_hash, succeeds,
         state, document)
      SELECT batch.id, line.consumer, line.date, line.identity_hash, line.occurrence, line.version, line.kind,
             line.content_hash, line.content_hash, line.succeeds, 'posted', line.document
      FROM batch CROSS JOIN line
    )
    SELECT id FROM batch`;
  return batch.id;
}
