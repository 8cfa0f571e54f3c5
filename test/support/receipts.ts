import type { Receipt } from '../../src/features/bookings/receipt-decisions.sql.ts';

type Line = Pick<Receipt, 'key' | 'contentHash'>;

let made = 0;

/** A receipt of the ERP for a line, which is posted unless told. Each call has another idempotency key. */
export function receiptOf({ key, contentHash }: Line, more: Partial<Receipt> = {}): Receipt {
  made += 1;
  const posted = { status: 'posted', document: 'D-1', reason: null } as const;
  return { idempotencyKey: `${key} ${made}`, key, contentHash, ...posted, ...more };
}

/** The same for a line that the ERP could not post. */
export const failureOf = (line: Line, reason: string, more: Partial<Receipt> = {}) =>
  receiptOf(line, { status: 'failed', document: null, reason, ...more });
