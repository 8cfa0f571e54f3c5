import type { Database } from '../../base/database/database.ts';
import { InputError } from '../../base/runtime/errors.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { AMOUNT_COLUMNS, VALUE_COLUMNS } from '../../core/title/title.ts';
import { DESTINATION_COLUMNS } from '../../core/title/title-hashes.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';

/** A line as the feed offers it. Amounts are decimal text, exact; the other columns of a title as in `title`. */
export interface OfferedLine {
  readonly seq: string;
  readonly key: string;
  readonly succeedsKey: string | null;
  readonly kind: 'book' | 'adjust' | 'reverse';
  readonly effect: 'early_payment' | 'payee_change' | 'not_stated';
  readonly payeeBefore: string | null;
  readonly payeeAfter: string | null;
  readonly erpKey: string | null;
  readonly state: string;
  readonly batchId: string;
  readonly offeredAt: Date;
  readonly date: CivilDate;
  readonly contentHash: string;
  /** The value columns of `title`; null in an adopted reversal. */
  readonly title: Readonly<
    Record<string, string | boolean | Readonly<Record<string, string>> | null>
  >;
}

export interface FeedPage {
  readonly lines: readonly OfferedLine[];
  /** The position to ask for next. */
  readonly next: string;
}

// The names are constants of domain/. No input reaches Prisma.raw.
const AMOUNTS: ReadonlySet<string> = new Set(AMOUNT_COLUMNS);
const title = Prisma.raw(
  `jsonb_build_object(${[...VALUE_COLUMNS, ...DESTINATION_COLUMNS]
    .filter((name) => name !== 'accepted_date')
    .map((name) => `'${name}', line.${name}${AMOUNTS.has(name) ? '::text' : ''}`)
    .join(', ')})`,
);
const keyOf = (version: string) =>
  Prisma.raw(
    `to_char(line.date, 'YYYY-MM-DD') || ':' || replace(line.identity_hash::text, '-', '') || ':' || line.occurrence || ':' || line.${version}`,
  );

/**
 * Returns the lines of a consumer after a position, and records the position as processed.
 * @param page.after the greatest `seq` that the consumer has processed; 0 at first
 * @param page.isProcessed false: the consumer has read up to `after`, and has not processed it
 * @throws InputError for a position that the feed does not have, because the database was restored; the error names the
 * position from which the consumer misses no line
 */
export async function readFeed(
  database: Database,
  consumer: string,
  page: { readonly after: bigint; readonly limit: number; readonly isProcessed?: boolean },
): Promise<FeedPage> {
  const { after, limit, isProcessed = true } = page;
  const [{ safe }] = await database.prisma.$queryRaw<[{ safe: bigint }]>`
    SELECT conciliation.safe_position('booking_feed', ${after}::bigint) AS safe`;
  if (safe !== after) {
    throw new InputError(
      `after: the feed does not have the position ${after}; the database was restored, so read again from ${safe} and send all receipts again`,
      { context: { fault: 'lost_position', safe: safe.toString() } },
    );
  }
  if (isProcessed) {
    await database.prisma.$executeRaw`
      UPDATE conciliation.booking_position SET last_seq = ${after}, acknowledged_at = now()
      WHERE consumer = ${consumer}`;
  }
  const lines = await database.prisma.$queryRaw<OfferedLine[]>`
    SELECT offer.seq::text AS seq, ${keyOf('version')} AS key, ${keyOf('succeeds')} AS "succeedsKey", line.kind,
           CASE WHEN line.buyer_is_financial THEN 'early_payment'
                WHEN NOT line.buyer_is_financial THEN 'payee_change' ELSE 'not_stated' END AS effect,
           line.provider_identification AS "payeeBefore",
           CASE WHEN line.buyer_is_financial THEN line.provider_identification
                ELSE line.financial_agent_identification END AS "payeeAfter",
           line.erp_key AS "erpKey", line.state, line.batch_id::text AS "batchId",
           offer.offered_at AS "offeredAt", line.date::text AS date,
           replace(line.content_hash::text, '-', '') AS "contentHash", ${title} AS title
    FROM conciliation.booking_offer AS offer JOIN conciliation.booking_line AS line ON line.id = offer.line_id
    WHERE offer.seq > ${after} AND line.consumer = ${consumer}
    ORDER BY offer.seq LIMIT ${limit}::int`;
  return { lines, next: lines.at(-1)?.seq ?? after.toString() };
}
