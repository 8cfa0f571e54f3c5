import { type Static, Type } from 'typebox';
import type { Database } from '../../../base/database/database.ts';
import type { CivilDate } from '../../../base/values/business-day.ts';
import {
  count,
  date,
  dateOrNull,
  id,
  instant,
  text,
  textOrNull,
  words,
} from '../../../console/api/schema-parts.ts';
import type { ObstacleRules } from '../../../console/day-obstacle.ts';
import type { Principal } from '../../../console/shell/guard.ts';
import { maskErpTexts } from '../../../console/shell/masking.ts';
import { Prisma } from '../../../generated/prisma/client.ts';
import { FAILURE_KINDS, keyOf } from '../feed.sql.ts';
import { RECEIPT_ANSWERS } from '../receipt-decisions.sql.ts';
import { DOES_NOT_FIT, RECEIPT_QUESTIONS } from '../receipts.sql.ts';
import { readWaitingDays, type WaitingDays } from '../release.sql.ts';

const OUTCOMES = [
  'accepted',
  'unknown_key',
  'other_content',
  'other_document',
  'after_refusal',
  'other_consumer',
  ...RECEIPT_ANSWERS,
] as const;
type Outcome = (typeof OUTCOMES)[number];

const ListedReceipt = Type.Object({
  id,
  key: text,
  date,
  consumer: text,
  status: words(['posted', 'failed']),
  document: textOrNull,
  reason: textOrNull,
  failureKind: Type.Union([words(FAILURE_KINDS), Type.Null()]),
  accountingDate: dateOrNull,
  isFinal: Type.Boolean({ description: 'Failed, and the line is not offered again.' }),
  receivedAt: instant,
  outcome: Type.Unsafe<Outcome | null>({
    type: ['string', 'null'],
    enum: [...OUTCOMES, null],
    description: 'Null: not compared yet.',
  }),
});
export type ListedReceipt = Static<typeof ListedReceipt>;

export const KeptReceipts = Type.Object({ count, receipts: Type.Array(ListedReceipt) });

const LISTED = Prisma.sql`
  receipt.id::int AS id, ${keyOf('receipt')} AS key, receipt.date::text AS date, receipt.consumer, receipt.status,
  receipt.document, receipt.reason, receipt.failure_kind AS "failureKind",
  receipt.accounting_date::text AS "accountingDate", receipt.is_final AS "isFinal", receipt.received_at AS "receivedAt", receipt.outcome`;

/** Returns the newest receipts that wait for an answer, as this reader may see them, and their number. */
export async function readKeptReceipts(
  { prisma }: Database,
  limit: number,
  principal: Principal | null,
) {
  const rows = await prisma.$queryRaw<(ListedReceipt & { count: number })[]>`
    SELECT ${LISTED}, (count(*) OVER ())::int AS count FROM conciliation.booking_receipt AS receipt
    WHERE ${DOES_NOT_FIT} ORDER BY receipt.id DESC LIMIT ${limit}::int`;
  const receipts = rows.map(({ count: _, ...receipt }) => maskErpTexts(receipt, principal));
  return { count: rows[0]?.count ?? 0, receipts };
}

/** Returns the receipts for all versions of the booking that a line belongs to, in their order. */
export function readReceiptsOf(database: Database, lineId: bigint): Promise<ListedReceipt[]> {
  return database.prisma.$queryRaw<ListedReceipt[]>`
    SELECT ${LISTED}
    FROM conciliation.booking_line AS wanted
    JOIN conciliation.booking_receipt AS receipt USING (date, identity_hash, occurrence)
    WHERE wanted.id = ${lineId} ORDER BY receipt.id`;
}

/** What the seals of a day released, and what its present seal still has to release. */
export interface DayBookings {
  readonly date: CivilDate;
  readonly lines: number;
  readonly posted: number;
  /** Failed or refused. */
  readonly failed: number;
  /** Receipts that wait for an answer, and their original values. */
  readonly receipts: number;
  readonly receiptValue: string | null;
  /** Titles that had to wait at the newest release of the present seal. */
  readonly waiting: number;
  /** Why the present seal is not released completely; see `WaitingDays`. Absent: it is, or there is none. */
  readonly fault?: WaitingDays['fault'];
}

export async function readDayBookings(
  database: Database,
  dates: readonly CivilDate[],
  rules: ObstacleRules,
): Promise<ReadonlyMap<CivilDate, DayBookings>> {
  const [rows, waitingDays] = await Promise.all([
    database.prisma.$queryRaw<DayBookings[]>`
      SELECT wanted.date::text AS date, line.*, coalesce(question.receipts, 0) AS receipts,
             question.value AS "receiptValue",
             coalesce((SELECT batch.waiting_titles FROM conciliation.booking_batch AS batch
                       JOIN conciliation.sign_off AS seal ON seal.id = batch.sign_off_id AND seal.ended_at IS NULL
                       WHERE batch.date = wanted.date ORDER BY batch.id DESC LIMIT 1), 0) AS waiting
      FROM unnest(${dates}::text[]::date[]) AS wanted (date) CROSS JOIN LATERAL (
        SELECT count(*)::int AS lines, (count(*) FILTER (WHERE state IN ('posted', 'superseded')))::int AS posted,
               (count(*) FILTER (WHERE state IN ('failed', 'refused')))::int AS failed
        FROM conciliation.booking_line AS line WHERE line.date = wanted.date
      ) AS line
      LEFT JOIN (${RECEIPT_QUESTIONS}) AS question ON question.date::date = wanted.date`,
    readWaitingDays(database, rules),
  ]);
  const faults = new Map(
    waitingDays.flatMap(({ fault, dates: ofFault }) =>
      ofFault.map((date) => [date, fault] as const),
    ),
  );
  return new Map(
    rows.map((row) => {
      const fault = faults.get(row.date);
      return [row.date, fault === undefined ? row : { ...row, fault }];
    }),
  );
}
