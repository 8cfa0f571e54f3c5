import type { Transaction } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';

/** A date whose receipts wait for a person's answer. */
export interface ReceiptQuestions {
  readonly date: CivilDate;
  readonly receipts: number;
  /** The greatest `booking_receipt.id` of them. */
  readonly newest: number;
}

/** Returns the dates with receipts for an unknown line or another content, in date order. */
export function readReceiptQuestions(
  tx: Pick<Transaction, '$queryRaw'>,
): Promise<ReceiptQuestions[]> {
  return tx.$queryRaw<ReceiptQuestions[]>`
    SELECT date::text AS date, count(*)::int AS receipts, max(id)::float8 AS newest FROM conciliation.booking_receipt
    WHERE outcome IN ('unknown_key', 'other_content') GROUP BY booking_receipt.date ORDER BY booking_receipt.date`;
}
