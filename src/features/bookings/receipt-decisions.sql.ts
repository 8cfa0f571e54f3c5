/** How receipts are taken, and the answers of a person to those that do not fit. */
import { type Static, Type } from 'typebox';
import { type Decision, recordAudit } from '../../base/audit/audit.ts';
import type { Database, Transaction } from '../../base/database/database.ts';
import { takeLock } from '../../base/database/program-lock.sql.ts';
import { InputError } from '../../base/runtime/errors.ts';
import { type CivilDate, parseCivilDate } from '../../base/values/business-day.ts';
import { orNull, words } from '../../console/api/schema-parts.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { requireOtherSigner } from '../review/own-seal.sql.ts';
import { BOOKINGS_FROM, beginBookings } from './booking-start.sql.ts';
import { FAILURE_KINDS } from './feed.sql.ts';
import { HAS_NEWER, settleReceipts, supersede } from './receipts.sql.ts';
import {
  accounting,
  LINE_COUNTS,
  lockDay,
  RELEASE_TRANSACTION,
  type ReleaseRules,
  releaseSealedDay,
} from './release.sql.ts';
import { DOES_NOT_FIT } from './release-conditions.sql.ts';

/**
 * - `recorded`: the ERP has posted them. The next release replaces the content of every booking concerned. Of a receipt
 *   with another document, the line takes the document.
 * - `set_aside`: they have no effect from then on.
 */
export const RECEIPT_ANSWERS = ['recorded', 'set_aside'] as const;
export type ReceiptAnswer = (typeof RECEIPT_ANSWERS)[number];

/** The receipts of a date that a person saw: those without an answer from one `booking_receipt.id` to another. */
export interface SeenReceipts {
  readonly date: CivilDate;
  readonly first: number;
  readonly last: number;
  readonly count: number;
}

/**
 * Gives receipts of a date an answer. If the date has a seal that is not restated, and no other receipt of the date
 * waits for an answer, this transaction releases it.
 * @param decision.fourEyes whether the person who signed the day off may not answer. Absent: no.
 * @throws InputError if other receipts wait by now, the person may not answer, or no release would correct the posting,
 *   because the date is before BOOKINGS_FROM or was never pulled
 */
export function answerReceipts(
  database: Database,
  seen: SeenReceipts,
  answer: ReceiptAnswer,
  decision: Decision &
    ReleaseRules & { readonly bookingsFrom: CivilDate | null; readonly fourEyes?: boolean },
): Promise<void> {
  const { date, first, last, count } = seen;
  const chosen = Prisma.sql`receipt.date = ${date}::date AND ${DOES_NOT_FIT}
    AND receipt.id BETWEEN ${first}::bigint AND ${last}::bigint`;
  return database.prisma.$transaction(async (tx) => {
    await lockDay(tx, date);
    if (decision.fourEyes === true) await requireOtherSigner(tx, [date], decision.by);
    // Receipts are compared under this lock. So those that are counted here are those that the answer marks.
    await takeLock(tx, 'closing');
    await settleReceipts(tx, date);
    const [{ waiting }] = await tx.$queryRaw<[{ waiting: number }]>`
      SELECT count(*)::int AS waiting FROM conciliation.booking_receipt AS receipt WHERE ${chosen}`;
    if (waiting === 0 || waiting !== count) {
      throw new InputError(
        `${date}: ${waiting} receipts wait for an answer, and ${count} were shown`,
        {
          context: { fault: 'receipts_changed', date },
        },
      );
    }
    if (answer === 'recorded') {
      await beginBookings(tx, date, decision.bookingsFrom, decision.by);
      const [{ fault }] = await tx.$queryRaw<[{ fault: string | null }]>`
        SELECT CASE WHEN (${date}::date >= ${BOOKINGS_FROM}) IS NOT TRUE THEN 'before_bookings'
                    WHEN NOT EXISTS (SELECT FROM conciliation.day WHERE date = ${date}::date) THEN 'no_day'
               END AS fault`;
      if (fault !== null) {
        const reason = fault === 'no_day' ? 'was never pulled' : 'is before BOOKINGS_FROM';
        throw new InputError(`${date}: ${reason}, so no release would correct the posting`, {
          context: { fault, date },
        });
      }
      await recordPosted(tx, date, decision, chosen);
    }
    await tx.$executeRaw`
      UPDATE conciliation.booking_receipt AS receipt
      SET outcome = ${answer}, settled_at = now(), settled_by = ${decision.by} WHERE ${chosen}`;
    const { by: actor, reason } = decision;
    const details = { answer, receipts: waiting };
    await recordAudit(tx, { actor, action: 'bookings.receipts', date, reason, details });
    await releaseSealedDay(tx, date, decision);
  }, RELEASE_TRANSACTION);
}

/**
 * Records what the ERP has posted: the content of a line that it names, and a line for each key that has none. An
 * older receipt does not replace what a newer one of its key has recorded.
 */
async function recordPosted(
  tx: Transaction,
  date: CivilDate,
  { by, timeZone }: ReleaseRules & { readonly by: string },
  chosen: Prisma.Sql,
): Promise<void> {
  const posted = Prisma.sql`
    SELECT DISTINCT ON (identity_hash, occurrence, version) * FROM conciliation.booking_receipt AS receipt
    WHERE ${chosen} AND status = 'posted' AND NOT ${HAS_NEWER}
    ORDER BY identity_hash, occurrence, version, id DESC`;
  await tx.$executeRaw`
    UPDATE conciliation.booking_line AS line
    SET posted_hash = CASE WHEN receipt.outcome = 'other_content' THEN receipt.content_hash ELSE line.posted_hash END, state = 'posted', state_at = now(), failure = NULL,
        failure_kind = NULL, document = receipt.document
    FROM (${posted}) AS receipt
    WHERE (line.date, line.identity_hash, line.occurrence, line.version)
        = (receipt.date, receipt.identity_hash, receipt.occurrence, receipt.version)`;
  const [batch] = await tx.$queryRaw<[{ id: bigint }]>`
    WITH receipt AS MATERIALIZED (
      SELECT *, content_hash = '00000000-0000-0000-0000-000000000000' AS is_reversal
      FROM (${posted}) AS posted
      WHERE NOT EXISTS (
        SELECT FROM conciliation.booking_line AS line
        WHERE (line.date, line.identity_hash, line.occurrence, line.version)
            = (posted.date, posted.identity_hash, posted.occurrence, posted.version))
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
        (date, released_by, line_count, book_count, adjust_count, reverse_count, digest)
      SELECT ${date}::date, ${by}, ${LINE_COUNTS} FROM line
      RETURNING id
    ), written AS (
      INSERT INTO conciliation.booking_line
        (batch_id, consumer, date, identity_hash, occurrence, version, kind, content_hash, posted_hash, succeeds,
         accounting_date, accounting_basis, state, document)
      SELECT batch.id, line.consumer, line.date, line.identity_hash, line.occurrence, line.version, line.kind,
             line.content_hash, line.content_hash, line.succeeds, ${accounting(Prisma.sql`line`, timeZone)},
             'posted', line.document
      FROM batch CROSS JOIN line
    )
    SELECT id FROM batch`;
  await supersede(tx, date);
  // A reversal has no content, so its line can be offered: an ERP that is restored later reads it.
  await tx.$executeRaw`
    INSERT INTO conciliation.booking_offer (line_id)
    SELECT id FROM conciliation.booking_line WHERE batch_id = ${batch.id} AND kind = 'reverse'
    ORDER BY identity_hash, occurrence, version`;
}

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
