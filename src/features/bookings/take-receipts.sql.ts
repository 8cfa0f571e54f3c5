import { type Static, Type } from 'typebox';
import type { Database } from '../../base/database/database.ts';
import { InputError } from '../../base/runtime/errors.ts';
import { parseCivilDate } from '../../base/values/business-day.ts';
import { isStorableText } from '../../base/values/field-fault.ts';
import { orNull, words } from '../../console/api/schema-parts.ts';
import { Prisma } from '../../generated/prisma/client.ts';
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

const given = (rows: readonly object[]) => Prisma.sql`
  jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS given (
    idempotency_key text, date date, identity_hash uuid, occurrence int, version int, content_hash uuid,
    status text, document text, reason text, failure_kind text, accounting_date date, is_final boolean)`;

/**
 * Stores receipts of a consumer and compares them with the lines. A receipt that is there already, with the same
 * idempotency key and content, is not stored again.
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
    const [conflict] = await tx.$queryRaw<[{ key: string }?]>`
      SELECT idempotency_key AS key FROM ${given(rows)} GROUP BY 1 HAVING count(DISTINCT to_jsonb(given)) > 1
      UNION ALL
      SELECT given.idempotency_key
      FROM ${given(rows)} JOIN conciliation.booking_receipt AS receipt
        ON receipt.consumer = ${consumer} AND receipt.idempotency_key = given.idempotency_key
      WHERE NOT to_jsonb(receipt) @> to_jsonb(given)
        -- The text that an erasure has replaced is not there to compare.
        AND coalesce(receipt.document, receipt.reason) !~ '^erased-[0-9]+$'
      LIMIT 1`;
    if (conflict !== undefined) {
      throw new InputError(
        `idempotencyKey: another receipt has the key ${JSON.stringify(conflict.key)}`,
        { context: { fault: 'idempotency_key' } },
      );
    }
    const stored = await tx.$executeRaw`
      INSERT INTO conciliation.booking_receipt
        (consumer, idempotency_key, date, identity_hash, occurrence, version, content_hash, status, document, reason,
         failure_kind, accounting_date, is_final)
      SELECT ${consumer}, given.* FROM ${given(rows)}
      ON CONFLICT (consumer, idempotency_key) DO NOTHING`;
    await settleReceipts(tx, null);
    return stored;
  }, RELEASE_TRANSACTION);
}

const KEY = /^(\d{4}-\d{2}-\d{2}):([0-9a-f]{32}):([1-9]\d{0,8}):([1-9]\d{0,8})$/;
const HASH = /^[0-9a-f]{32}$/;
/** With the blanks without a width. */
const BLANK = /^[\s\u200B-\u200D]*$/;

/**
 * Returns the columns of `booking_receipt`.
 * @throws InputError naming the field and what was expected
 */
function toRow(receipt: Receipt, index: number) {
  const fail = (field: string, expected: string) =>
    new InputError(`receipts[${index}].${field}: expected ${expected}`);
  const [, day = '', identity = '', occurrence, version] = KEY.exec(receipt.key) ?? [];
  const date = parseCivilDate(day);
  if (date === null) throw fail('key', 'the key of a line of the feed');
  if (!HASH.test(receipt.contentHash)) throw fail('contentHash', '32 hexadecimal digits');
  const { idempotencyKey, status, document = null, reason = null, final = false } = receipt;
  if (final && status !== 'failed') throw fail('final', 'true only with the status failed');
  for (const [field, text] of Object.entries({ idempotencyKey, document, reason })) {
    if (text !== null && !isStorableText(text)) {
      throw fail(field, 'text without U+0000 and lone surrogates');
    }
  }
  const isBlank = (text: string | null) => text === null || BLANK.test(text);
  if (isBlank(idempotencyKey)) throw fail('idempotencyKey', 'a text that is not blank');
  if (status === 'posted' && (isBlank(document) || reason !== null)) {
    throw fail(
      'document',
      '1 to 200 characters, not only blanks, and no reason, with the status posted',
    );
  }
  if (status === 'failed' && (isBlank(reason) || document !== null)) {
    throw fail(
      'reason',
      '1 to 2,000 characters, not only blanks, and no document, with the status failed',
    );
  }
  const { failureKind = null, accountingDate = null } = receipt;
  if (
    failureKind !== null &&
    (status !== 'failed' || !FAILURE_KINDS.some((kind) => kind === failureKind))
  ) {
    throw fail('failureKind', `one of ${FAILURE_KINDS.join(', ')}, with the status failed`);
  }
  const accounting = accountingDate === null ? null : parseCivilDate(accountingDate);
  if (
    accountingDate !== null &&
    (accounting === null || accounting < date || failureKind !== 'period_closed' || final)
  ) {
    throw fail(
      'accountingDate',
      `a calendar date as YYYY-MM-DD, from ${date} on, with the failureKind period_closed and without final`,
    );
  }
  return {
    idempotency_key: idempotencyKey,
    date,
    identity_hash: identity,
    occurrence: Number(occurrence),
    version: Number(version),
    content_hash: receipt.contentHash,
    status,
    document,
    reason,
    failure_kind: failureKind,
    accounting_date: accounting,
    is_final: final,
  };
}
