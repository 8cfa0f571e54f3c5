import { type Static, Type } from 'typebox';
import type { Database } from '../../base/database/database.ts';
import { InputError } from '../../base/runtime/errors.ts';
import { parseCivilDate } from '../../base/values/business-day.ts';
import { orNull, words } from '../../console/api/schema-parts.ts';
import { FAILURE_KINDS } from './feed.sql.ts';
import { settleReceipts } from './receipts.sql.ts';
import { RELEASE_TRANSACTION } from './release.sql.ts';

/** What jsonb stores: no U+0000 and no lone surrogate. */
const STORABLE = '^[^\\0\\uD800-\\uDFFF]*$';

/** The statement of a consumer about a line. The trigger of `booking_receipt` has the rules for its members. */
export const ReceiptBody = Type.Object(
  {
    idempotencyKey: Type.String({ maxLength: 200, pattern: STORABLE }),
    key: Type.String({
      pattern: '^\\d{4}-\\d\\d-\\d\\d:[0-9a-f]{32}:[1-9]\\d{0,8}:[1-9]\\d{0,8}$',
      description: 'Of the line, as the feed states it.',
    }),
    contentHash: Type.String({
      pattern: '^[0-9a-f]{32}$',
      description: 'Of the content that was posted: 32 hexadecimal digits.',
    }),
    status: words(['posted', 'failed']),
    document: Type.Optional(
      orNull('string', {
        ...{ maxLength: 200, pattern: STORABLE },
        description: "With posted: the ERP's document.",
      }),
    ),
    reason: Type.Optional(
      orNull('string', { maxLength: 2_000, pattern: STORABLE, description: 'With failed.' }),
    ),
    failureKind: Type.Optional(
      orNull('string', {
        enum: [...FAILURE_KINDS, null],
        description:
          'With failed. supplier_unknown: the ERP has no such supplier. payable_unknown: the ERP finds no payable, or several. Absent: other.',
      }),
    ),
    accountingDate: Type.Optional(
      orNull('string', {
        ...{ format: 'date', pattern: '^(?!0000)' },
        description:
          'With period_closed: the accounting date that the ERP accepts, not before the accepted date. The line is offered again with it.',
      }),
    ),
    isFinal: Type.Optional(
      Type.Boolean({
        description: 'With failed: the ERP will never post the line, which is not offered again.',
      }),
    ),
  },
  // A misspelt `isFinal` must not be lost.
  { additionalProperties: false },
);
export type Receipt = Static<typeof ReceiptBody>;

/**
 * Stores receipts of a consumer and compares them with the lines. A receipt that is there already, with the same
 * idempotency key and content, is not stored again. PostgreSQL checks each receipt, also one that the ERP inserts.
 * @returns the number of receipts that were stored
 * @throws InputError for a receipt with a fault or with the idempotency key of another receipt; then no receipt is stored
 */
export async function takeReceipts(
  database: Database,
  consumer: string,
  receipts: readonly Receipt[],
): Promise<number> {
  const undated = receipts.find(({ key }) => parseCivilDate(key.slice(0, 10)) === null);
  if (undated !== undefined) {
    throw new InputError(
      `receipt ${JSON.stringify(undated.idempotencyKey)}: key: expected the key of a line of the feed`,
    );
  }
  return database.prisma.$transaction(async (tx) => {
    const stored = await tx.$executeRaw`
      INSERT INTO conciliation.booking_receipt
        (consumer, idempotency_key, date, identity_hash, occurrence, version, content_hash, status, document, reason,
         failure_kind, accounting_date, is_final)
      SELECT ${consumer}, "idempotencyKey", split_part(key, ':', 1)::date, split_part(key, ':', 2)::uuid,
             split_part(key, ':', 3)::int, split_part(key, ':', 4)::int, "contentHash", status, document, reason,
             "failureKind", "accountingDate", coalesce("isFinal", false)
      FROM jsonb_to_recordset(${JSON.stringify(receipts)}::jsonb) AS given (
        "idempotencyKey" text, key text, "contentHash" uuid, status text, document text, reason text,
        "failureKind" text, "accountingDate" date, "isFinal" boolean)
      ON CONFLICT (consumer, idempotency_key) DO NOTHING`;
    await settleReceipts(tx, null);
    return stored;
  }, RELEASE_TRANSACTION);
}
