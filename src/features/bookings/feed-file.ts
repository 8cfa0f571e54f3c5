import { createHash } from 'node:crypto';
import type { Database } from '../../base/database/database.ts';
import { writeCsv, writeJsonl } from '../../base/export/csv.ts';
import type { ExportColumn, ExportRow, RowBatches } from '../../base/export/table.ts';
import { InputError } from '../../base/runtime/errors.ts';
import type { Language } from '../../base/texts/texts.ts';
import { COLUMN_KINDS, VALUE_COLUMNS } from '../../core/title/title.ts';
import { DESTINATION_COLUMNS } from '../../core/title/title-hashes.sql.ts';
import { type OfferedLine, readFeed } from './feed.sql.ts';

export const FEED_FORMATS = ['csv', 'jsonl'] as const;
type FeedFormat = (typeof FEED_FORMATS)[number];

export interface FeedFileRequest {
  readonly consumer: string;
  /** The greatest `seq` that the consumer has processed; 0 at first. */
  readonly after: bigint;
  readonly format: FeedFormat;
  readonly locale: Language;
}

/** The counts, sums and hash of a file, known after all of its bytes were read. */
export interface FeedFileTotals {
  readonly lines: number;
  /** The position for the next file. */
  readonly next: string;
  /** Of the bytes of the file, in hexadecimal digits. */
  readonly sha256: string;
}

const LINES_A_PAGE = 1_000;

const OF_LINE: readonly (keyof OfferedLine)[] = [
  'seq',
  'key',
  'succeedsKey',
  'kind',
  'effect',
  'payeeBefore',
  'payeeAfter',
  'erpKey',
  'postingValue',
  'accountingDate',
  'accountingBasis',
  'state',
  'batchId',
  'offeredAt',
  'date',
  'contentHash',
];
const OF_TITLE = VALUE_COLUMNS.filter((name) => name !== 'accepted_date');
const KINDS: Partial<Record<keyof OfferedLine, ExportColumn['kind']>> = {
  ...{
    seq: 'integer',
    batchId: 'integer',
    date: 'date',
    accountingDate: 'date',
    postingValue: 'amount',
  },
};

/** The columns of `conciliation.booking_feed`, as far as a consumer needs them. */
const FEED_COLUMNS: readonly ExportColumn[] = [
  ...OF_LINE.map((field) => ({
    name: field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    kind: KINDS[field] ?? 'text',
  })),
  ...OF_TITLE.map((name) => ({ name, kind: COLUMN_KINDS[name] })),
  ...DESTINATION_COLUMNS.map((name) => ({ name, kind: 'text' }) as const),
];

/**
 * Writes the lines of the feed after a position as a file, and records the position as processed, as `readFeed`
 * does.
 * @returns the bytes, to be read once, and the totals of what was read
 * @throws InputError when the consumer does not exist, or the feed has not reached the position
 */
export async function openFeedFile(
  database: Database,
  request: FeedFileRequest,
): Promise<{ readonly bytes: AsyncIterable<Buffer>; readonly totals: () => FeedFileTotals }> {
  const { consumer, after, format, locale } = request;
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
      page = await readFeed(database, consumer, {
        after: BigInt(next),
        limit: LINES_A_PAGE,
        isProcessed: false,
      });
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
    ...[...OF_TITLE, ...DESTINATION_COLUMNS].map((name) => line.title[name] ?? null),
  ];
  return cells.map((cell) => {
    if (cell === null) return null;
    if (cell instanceof Date) return cell.toISOString();
    return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
  });
}
