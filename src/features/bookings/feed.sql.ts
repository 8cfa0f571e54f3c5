import { type Static, type TSchema, Type } from 'typebox';
import type { Database, QueryClient } from '../../base/database/database.ts';
import { InputError } from '../../base/runtime/errors.ts';
import {
  date,
  instant,
  instantOrNull,
  orNull,
  text,
  textOrNull,
  words,
} from '../../console/api/schema-parts.ts';
import { AMOUNT_COLUMNS, VALUE_COLUMNS } from '../../core/title/title.ts';
import { DESTINATION_COLUMNS } from '../../core/title/title-hashes.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { erpKeyOf, postingValueOf } from './release-conditions.sql.ts';

export const LINE_KINDS = ['book', 'adjust', 'reverse'] as const;
/** The states of a line. */
export const ANSWERS = ['released', 'posted', 'failed', 'refused', 'superseded'] as const;
/** Why a line failed. */
export const FAILURE_KINDS = [
  'period_closed',
  'supplier_unknown',
  'payable_unknown',
  'other',
] as const;
/** Why a line has its accounting date: the accepted date, the day of the release, or the date that the ERP named. */
export const ACCOUNTING_BASES = ['acceptance', 'event', 'erp'] as const;
/** What a line asks the ERP for. */
export const effect = words(['early_payment', 'payee_change', 'not_stated']);
export const position = Type.String({ pattern: '^(0|[1-9][0-9]{0,17})$', examples: ['0'] });

const TITLE_COLUMNS = VALUE_COLUMNS.filter((name) => name !== 'accepted_date');
type TitleValue = string | boolean | Readonly<Record<string, string>> | null;
const titleColumns: Record<string, TSchema> = {
  ...Object.fromEntries(TITLE_COLUMNS.map((name) => [name, textOrNull])),
  buyer_is_financial: orNull('boolean'),
  ...Object.fromEntries(
    DESTINATION_COLUMNS.map((name) => [
      name,
      Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()]),
    ]),
  ),
};

/** A line as the feed offers it. The values of the title are null in an adopted reversal. */
const OfferedLine = Type.Object({
  seq: position,
  key: text,
  succeedsKey: textOrNull,
  kind: words(LINE_KINDS),
  effect,
  payeeBefore: textOrNull,
  payeeAfter: textOrNull,
  erpKey: textOrNull,
  postingValue: orNull('string', {
    description:
      "The value to post, exact decimal: the payable's own, where a person has confirmed a difference. Null: taken from a receipt.",
  }),
  accountingDate: Type.String({
    description: 'The day on which the ERP enters the line in its books.',
  }),
  accountingBasis: words(ACCOUNTING_BASES),
  state: words(ANSWERS),
  batchId: text,
  offeredAt: instant,
  date,
  contentHash: text,
  title: Type.Unsafe<Readonly<Record<string, TitleValue>>>(
    Type.Object(titleColumns, {
      description: 'As in the database; amounts are exact decimals.',
    }),
  ),
});
export type OfferedLine = Static<typeof OfferedLine>;

export const FeedPage = Type.Object({
  lines: Type.Array(OfferedLine),
  next: Type.String({ ...position, description: 'The position to ask for next.' }),
});
type FeedPage = Static<typeof FeedPage>;

// The names are constants of core/title. No input reaches Prisma.raw.
const AMOUNTS: ReadonlySet<string> = new Set(AMOUNT_COLUMNS);
const title = Prisma.raw(
  `jsonb_build_object(${[...TITLE_COLUMNS, ...DESTINATION_COLUMNS]
    .map((name) => `'${name}', line.${name}${AMOUNTS.has(name) ? '::text' : ''}`)
    .join(', ')})`,
);
/** The key of a row of `booking_line` or `booking_receipt`, which names a line. */
export const keyOf = (table: 'line' | 'receipt', version = 'version') =>
  Prisma.raw(
    `to_char(${table}.date, 'YYYY-MM-DD') || ':' || replace(${table}.identity_hash::text, '-', '') || ':' || ${table}.occurrence || ':' || ${table}.${version}`,
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
    SELECT offer.seq::text AS seq, ${keyOf('line')} AS key, ${keyOf('line', 'succeeds')} AS "succeedsKey", line.kind,
           CASE WHEN line.buyer_is_financial THEN 'early_payment'
                WHEN NOT line.buyer_is_financial THEN 'payee_change' ELSE 'not_stated' END AS effect,
           line.provider_identification AS "payeeBefore",
           CASE WHEN line.buyer_is_financial THEN line.provider_identification
                ELSE line.financial_agent_identification END AS "payeeAfter",
           -- The ERP did not find the payable of a failed line, which may have been matched since.
           CASE WHEN line.state = 'failed' THEN coalesce(${erpKeyOf(Prisma.sql`line.title_id`)}, line.erp_key)
                ELSE line.erp_key END AS "erpKey",
           (CASE WHEN line.state = 'failed'
                   THEN coalesce(${postingValueOf(Prisma.sql`line.title_id`, Prisma.sql`line.original_value`)}, line.posting_value)
                 ELSE line.posting_value END)::text AS "postingValue", line.accounting_date::text AS "accountingDate",
           line.accounting_basis AS "accountingBasis", line.state, line.batch_id::text AS "batchId",
           offer.offered_at AS "offeredAt", line.date::text AS date,
           replace(line.content_hash::text, '-', '') AS "contentHash", ${title} AS title
    FROM conciliation.booking_offer AS offer JOIN conciliation.booking_line AS line ON line.id = offer.line_id
    WHERE offer.seq > ${after} AND line.consumer = ${consumer}
    ORDER BY offer.seq LIMIT ${limit}::int`;
  return { lines, next: lines.at(-1)?.seq ?? after.toString() };
}

/** The position of a consumer in the feed. */
export const ConsumerLag = Type.Object({
  name: text,
  lastSeq: text,
  acknowledgedAt: instantOrNull,
  behind: Type.Integer({
    minimum: 0,
    description: 'Open lines after the position. A line that the ERP has posted is not open.',
  }),
  behindSince: Type.Unsafe<Date | null>({
    ...instantOrNull,
    description: 'When the first of them was offered. Null: none.',
  }),
});
export type ConsumerLag = Static<typeof ConsumerLag>;

/** The consumers with their lag, as `ConsumerLag`, by name. */
export const CONSUMER_LAGS = Prisma.sql`
  WITH open AS (
    SELECT line.consumer, line.id, max(offer.seq) AS seq, max(offer.offered_at) AS offered_at
    FROM conciliation.booking_line AS line
    JOIN conciliation.booking_offer AS offer ON offer.line_id = line.id
    WHERE line.state IN ('released', 'failed')
    GROUP BY line.id
  )
  SELECT place.consumer AS name, place.last_seq::text AS "lastSeq", place.acknowledged_at AS "acknowledgedAt",
         count(open.id)::int AS behind, min(open.offered_at) AS "behindSince"
  FROM conciliation.booking_position AS place
  LEFT JOIN open ON open.consumer = place.consumer AND open.seq > place.last_seq
  GROUP BY place.consumer ORDER BY place.consumer`;

export const readConsumerLags = (tx: QueryClient): Promise<ConsumerLag[]> =>
  tx.$queryRaw(CONSUMER_LAGS);

/** The newest offer after the position of a consumer. */
export interface UnreadOffer {
  readonly consumer: string;
  readonly seq: string;
  readonly offeredAt: Date;
}

/** Returns the consumers that have open lines after their position, by name. */
export function readUnreadOffers(tx: QueryClient): Promise<UnreadOffer[]> {
  return tx.$queryRaw<UnreadOffer[]>`
    SELECT DISTINCT ON (line.consumer) line.consumer, offer.seq::text AS seq, offer.offered_at AS "offeredAt"
    FROM conciliation.booking_position AS place
    JOIN conciliation.booking_line AS line ON line.consumer = place.consumer AND line.state IN ('released', 'failed')
    JOIN conciliation.booking_offer AS offer ON offer.line_id = line.id AND offer.seq > place.last_seq
    ORDER BY line.consumer, offer.seq DESC`;
}
