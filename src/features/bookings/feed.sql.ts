import { createHash } from 'node:crypto';
import { type Static, type TSchema, Type } from 'typebox';
import type { Database, QueryClient } from '../../base/database/database.ts';
import {
  type ExportColumn,
  type ExportRow,
  type RowBatches,
  writeCsv,
  writeJsonl,
} from '../../base/export/table.ts';
import { InputError } from '../../base/runtime/errors.ts';
import type { Language } from '../../base/texts/texts.ts';
import {
  amount,
  date,
  id,
  instant,
  instantOrNull,
  orNull,
  text,
  textOrNull,
  words,
} from '../../console/api/schema-parts.ts';
import { DESTINATION_COLUMNS } from '../../core/title/destinations.sql.ts';
import { AMOUNT_COLUMNS, COLUMN_KINDS, VALUE_COLUMNS } from '../../core/title/title.ts';
import { Prisma } from '../../generated/prisma/client.ts';

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
const effect = words(['early_payment', 'payee_change', 'not_stated']);
export const position = Type.String({ pattern: '^(0|[1-9][0-9]{0,17})$', examples: ['0'] });

/** `booking_batch.digest` of rows with the columns of `booking_line`. */
export const BATCH_DIGEST = Prisma.sql`
  encode(sha256(convert_to(coalesce(string_agg(
    to_char(date, 'YYYY-MM-DD') || ':' || replace(identity_hash::text, '-', '') || ':' || occurrence || ':' || version
      || E'\n' || kind || E'\n' || replace(content_hash::text, '-', '') || E'\n', ''
    ORDER BY identity_hash, occurrence, version), ''), 'UTF8')), 'hex')`;

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
type OfferedLine = Static<typeof OfferedLine>;

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
export const keyOf = (table: 'line' | 'receipt') =>
  Prisma.raw(
    `to_char(${table}.date, 'YYYY-MM-DD') || ':' || replace(${table}.identity_hash::text, '-', '') || ':' || ${table}.occurrence || ':' || ${table}.version`,
  );

/** Refuses a role that sees no line of the feed. */
export async function requireErpRole(tx: QueryClient, role: string): Promise<void> {
  const [found] = await tx.$queryRaw<[{ isMember: boolean | null }?]>`
    SELECT pg_has_role(oid, to_regrole('conciliation_erp')::oid, 'USAGE') AS "isMember"
    FROM pg_roles WHERE rolname = ${role}`;
  if (found?.isMember === true) return;
  throw new InputError(
    `database-role: expected a login of this server that is a member of conciliation_erp; after "conciliation migrate --roles", make the login and run "GRANT conciliation_erp TO ${role}"`,
  );
}

/**
 * Returns the lines of a consumer after a position, and records the position as processed.
 * @param page.after the greatest `seq` that the consumer has processed; 0 at first
 * @throws InputError for a position that the feed does not have, such as one that a restore has lost; the error names the
 * position from which the consumer misses no line
 */
export async function readFeed(
  database: Database,
  consumer: string,
  page: { readonly after: bigint; readonly limit: number },
): Promise<FeedPage> {
  const { after } = page;
  const [{ safe }] = await database.prisma.$queryRaw<[{ safe: bigint }]>`
    SELECT conciliation.safe_position('booking_feed', ${after}::bigint) AS safe`;
  if (safe !== after) {
    throw new InputError(
      `after: the feed does not have the position ${after}: it was never given, or a restore has lost it; read again from ${safe}, and after a restore send all receipts again`,
      { context: { fault: 'lost_position', safe: safe.toString() } },
    );
  }
  await database.prisma.$executeRaw`
    UPDATE conciliation.booking_position SET last_seq = ${after}, acknowledged_at = now()
    WHERE consumer = ${consumer}`;
  return readLines(database, consumer, page);
}

async function readLines(
  database: Database,
  consumer: string,
  { after, limit }: { readonly after: bigint; readonly limit: number },
): Promise<FeedPage> {
  const lines = await database.prisma.$queryRaw<OfferedLine[]>`
    SELECT seq::text AS seq, key, succeeds_key AS "succeedsKey", kind, effect, payee_before AS "payeeBefore",
           payee_after AS "payeeAfter", erp_key AS "erpKey", posting_value::text AS "postingValue",
           accounting_date::text AS "accountingDate", accounting_basis AS "accountingBasis", state,
           batch_id::text AS "batchId", offered_at AS "offeredAt", date::text AS date,
           replace(content_hash::text, '-', '') AS "contentHash", ${title} AS title
    FROM conciliation.offered_line AS line
    WHERE seq > ${after} AND consumer = ${consumer} ORDER BY line.seq LIMIT ${limit}::int`;
  return { lines, next: lines.at(-1)?.seq ?? after.toString() };
}

/** The position of a consumer in the feed. */
export interface ConsumerLag {
  readonly name: string;
  readonly lastSeq: string;
  readonly acknowledgedAt: Date | null;
  /** Open lines after the position. A line that the ERP has posted is not open. */
  readonly behind: number;
  /** When the first of them was offered. Null: none. */
  readonly behindSince: Date | null;
}

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

export const FEED_FORMATS = ['csv', 'jsonl'] as const;
const LINES_A_PAGE = 1_000;

const OF_LINE = Object.keys(OfferedLine.properties).filter(
  (name): name is keyof OfferedLine => name !== 'title',
);
const KINDS: Partial<Record<keyof OfferedLine, ExportColumn['kind']>> = {
  ...{ seq: 'integer', batchId: 'integer', postingValue: 'amount' },
  ...{ date: 'date', accountingDate: 'date' },
};

/** The columns of `conciliation.booking_feed`, as far as a consumer needs them. */
const FEED_COLUMNS: readonly ExportColumn[] = [
  ...OF_LINE.map((field) => ({
    name: field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    kind: KINDS[field] ?? 'text',
  })),
  ...TITLE_COLUMNS.map((name) => ({ name, kind: COLUMN_KINDS[name] })),
  ...DESTINATION_COLUMNS.map((name) => ({ name, kind: 'text' }) as const),
];

/**
 * Writes the lines of the feed after a position as a file, and records the position as processed, as `readFeed`
 * does.
 * @returns the bytes, to be read once, and then the counts, the position for the next file, and the SHA-256 of the bytes
 * @throws InputError when the consumer does not exist, or the feed has not reached the position
 */
export async function openFeedFile(
  database: Database,
  file: {
    readonly consumer: string;
    /** The greatest `seq` that the consumer has processed; 0 at first. */
    readonly after: bigint;
    readonly format: (typeof FEED_FORMATS)[number];
    readonly locale: Language;
  },
) {
  const { consumer, after, format, locale } = file;
  if ((await database.prisma.bookingConsumer.count({ where: { name: consumer } })) === 0) {
    throw new InputError(`consumer: there is no consumer ${consumer}`);
  }
  const first = await readFeed(database, consumer, { after, limit: LINES_A_PAGE });
  const hash = createHash('sha256');
  let lines = 0;
  let next = first.next;
  async function* readRows(): RowBatches {
    for (let page = first; page.lines.length > 0; ) {
      yield page.lines.map(toRow);
      lines += page.lines.length;
      next = page.next;
      page = await readLines(database, consumer, { after: BigInt(next), limit: LINES_A_PAGE });
    }
  }
  async function* hashed(): AsyncGenerator<Buffer> {
    const bytes =
      format === 'csv'
        ? writeCsv(FEED_COLUMNS, readRows(), locale, 'en')
        : writeJsonl(FEED_COLUMNS, readRows());
    for await (const chunk of bytes) {
      hash.update(chunk);
      yield chunk;
    }
  }
  return {
    bytes: hashed(),
    totals: () => ({ lines, next, sha256: hash.copy().digest('hex') }),
  };
}

function toRow(line: OfferedLine): ExportRow {
  const cells = [
    ...OF_LINE.map((field) => line[field]),
    ...[...TITLE_COLUMNS, ...DESTINATION_COLUMNS].map((name) => line.title[name] ?? null),
  ];
  return cells.map((cell) => {
    if (cell === null) return null;
    if (cell instanceof Date) return cell.toISOString();
    return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
  });
}

/** A row of `payables_to_block`. */
export const PayableToBlock = Type.Object({
  erpKey: text,
  company: textOrNull,
  titleId: id,
  orderUid: text,
  date,
  supplier: textOrNull,
  originalValue: amount,
  effect,
  payeeAfter: textOrNull,
  matchedAt: instantOrNull,
  state: words(['not_released', ...ANSWERS]),
});
type PayableToBlock = Static<typeof PayableToBlock>;

/**
 * Returns the payables to block after a key, in the order of their keys. The rows of one payable are never divided.
 * @param page.limit the number of payables
 */
export function readPayablesToBlock(
  database: Database,
  page: { readonly after: string; readonly limit: number },
): Promise<PayableToBlock[]> {
  return database.prisma.$queryRaw<PayableToBlock[]>`
    SELECT erp_key AS "erpKey", company, title_id::float8 AS "titleId", order_uid AS "orderUid",
           accepted_date::text AS date, provider_external_id AS supplier, original_value::text AS "originalValue",
           effect, payee_after AS "payeeAfter", matched_at AS "matchedAt", state
    FROM (SELECT *, dense_rank() OVER (ORDER BY erp_key) AS place FROM conciliation.payables_to_block
          WHERE erp_key > ${page.after}) AS listed
    WHERE place <= ${page.limit}::int ORDER BY erp_key, title_id`;
}
