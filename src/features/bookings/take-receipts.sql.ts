import { type Static, Type } from 'typebox';
import type { Database } from '../../base/database/database.ts';
import { InputError } from '../../base/runtime/errors.ts';
import { parseCivilDate } from '../../base/values/business-day.ts';
import { isStorableText } from '../../base/values/field-fault.ts';
import { orNull, words } from '../../console/api/schema-parts.ts';
import { FAILURE_KINDS } from './feed.sql.ts';
import { settleReceipts } from './receipts.sql.ts';
import { RELEASE_TRANSACTION } from './release.sql.ts';

/** The statement of a consumer about a line. */
export const ReceiptBody = Type.Object({
  idempotencyKey: Type.String({ minLength: 1, maxLength: 200 }),
  key: Type.String({ maxLength: 100, description: 'Of the line, as the feed states it.' }),
  contentHash: Type.String({
    maxLength: 32,
    description: 'Of the content that was posted: 32 hexadecimal digits.',
  }),
  status: words(['posted', 'failed']),
  document: Type.Optional(
    orNull('string', { maxLength: 200, description: "With posted: the ERP's document." }),
  ),
  reason: Type.Optional(orNull('string', { maxLength: 2_000, description: 'With failed.' })),
  failureKind: Type.Optional(
    orNull('string', {
      enum: [...FAILURE_KINDS, null],
      description:
        'With failed. supplier_unknown: the ERP has no such supplier. payable_unknown: the ERP finds no payable, or several. Absent: other.',
    }),
  ),
  accountingDate: Type.Optional(
    orNull('string', {
      maxLength: 10,
      description:
        'With period_closed: the accounting date that the ERP accepts, not before the accepted date. The line is offered again with it.',
    }),
  ),
  final: Type.Optional(
    Type.Boolean({
      description: 'With failed: the ERP will never post the line, which is not offered again.',
    }),
  ),
});
export type Receipt = Static<typeof ReceiptBody>;

/** The names of columns in the messages of PostgreSQL. */
const FIELDS: Readonly<Record<string, string>> = {
  idempotency_key: 'idempotencyKey',
  failure_kind: 'failureKind',
  accounting_date: 'accountingDate',
  is_final: 'final',
};

/**
 * Stores receipts of a consumer and compares them with the lines. A receipt that is there already, with the same
 * idempotency key and content, is not stored again. PostgreSQL checks each receipt, also one that the ERP inserts.
 * @returns the number of receipts that were stored
 * @throws InputError for a receipt with a fault or with the idempotency key of another receipt; then no receipt is stored
 */
export function takeReceipts(
  database: Database,
  consumer: string,
  receipts: readonly Receipt[],
): Promise<number> {
  const rows = receipts.map(toRow);
  return database.prisma.$transaction(async (tx) => {
    const stored = await tx.$executeRaw`
      INSERT INTO conciliation.booking_receipt
        (consumer, idempotency_key, date, identity_hash, occurrence, version, content_hash, status, document, reason,
         failure_kind, accounting_date, is_final)
      SELECT ${consumer}, given.* FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS given (
        idempotency_key text, date date, identity_hash uuid, occurrence int, version int, content_hash uuid,
        status text, document text, reason text, failure_kind text, accounting_date date, is_final boolean)
      ON CONFLICT (consumer, idempotency_key) DO NOTHING`.catch((error: unknown) => {
      if (!(error instanceof InputError)) throw error;
      const index = rows.findIndex((row) => row.idempotency_key === error.context['row']);
      const fault = error.message.replace(/\w+_\w+/g, (name) => FIELDS[name] ?? name);
      throw new InputError(`receipts[${index}].${fault}`);
    });
    await settleReceipts(tx, null);
    return stored;
  }, RELEASE_TRANSACTION);
}

const KEY = /^(\d{4}-\d{2}-\d{2}):([0-9a-f]{32}):([1-9]\d{0,8}):([1-9]\d{0,8})$/;
const HASH = /^[0-9a-f]{32}$/;

/**
 * Returns the columns of `booking_receipt`.
 * @throws InputError naming the field and what was expected, where the text has no value of the column
 */
function toRow(receipt: Receipt, index: number) {
  const fail = (field: string, expected: string) =>
    new InputError(`receipts[${index}].${field}: expected ${expected}`);
  const [, day = '', identity = '', occurrence, version] = KEY.exec(receipt.key) ?? [];
  const date = parseCivilDate(day);
  if (date === null) throw fail('key', 'the key of a line of the feed');
  if (!HASH.test(receipt.contentHash)) throw fail('contentHash', '32 hexadecimal digits');
  const { idempotencyKey, document = null, reason = null, accountingDate = null } = receipt;
  for (const [field, text] of Object.entries({ idempotencyKey, document, reason })) {
    if (text !== null && !isStorableText(text)) {
      throw fail(field, 'text without U+0000 and lone surrogates');
    }
  }
  if (accountingDate !== null && parseCivilDate(accountingDate) === null) {
    throw fail('accountingDate', 'a calendar date as YYYY-MM-DD');
  }
  return {
    idempotency_key: idempotencyKey,
    date,
    identity_hash: identity,
    occurrence: Number(occurrence),
    version: Number(version),
    content_hash: receipt.contentHash,
    status: receipt.status,
    document,
    reason,
    failure_kind: receipt.failureKind ?? null,
    accounting_date: accountingDate,
    is_final: receipt.final ?? false,
  };
}
