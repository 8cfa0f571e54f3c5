import { pipeline } from 'node:stream/promises';
import type { ClientBase, Pool } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { toStagingError } from '../database/database.ts';
import { toJsonText } from '../domain/json-text.ts';
import type { NamedAccounts } from '../domain/named-accounts.ts';
import type { Occurrences } from '../domain/occurrences.ts';
import { contentHash, identityHash, TITLE_COLUMNS, type Title } from '../domain/title.ts';

/**
 * Rows enter the tables by COPY in csv format, the only bytes of the product that do not go through
 * Prisma. Every text is quoted, so that neither a lone `\.` nor an unquoted empty string can mean
 * anything but itself.
 */
const CONTENT_COLUMNS = [...TITLE_COLUMNS, 'identity_hash', 'content_hash', 'raw_hash'];
const STAGED_TITLE_COLUMNS = ['fence', 'ordinal', ...CONTENT_COLUMNS];
const LOADED_TITLE_COLUMNS = [
  'first_pull_id',
  'last_change_pull_id',
  ...CONTENT_COLUMNS,
  'occurrence',
];
const STAGED_REJECT_COLUMNS = [
  'fence',
  'ordinal',
  'order_uid',
  'reasons',
  'raw',
  'raw_bytes',
  'raw_hash',
];

/** A title that broke the contract: where it stood, its text, and every reason. */
export interface RejectedTitle {
  /** Position in the response's `titles`, from 0. */
  readonly ordinal: number;
  /** order.uid; null where it cannot be read. */
  readonly orderUid: string | null;
  readonly reasons: readonly string[];
  /** The title's text, storable by PostgreSQL, cut to a bounded length. */
  readonly raw: string;
  /** Its whole length in the response, in bytes. */
  readonly rawBytes: number;
  /** SHA-256 of its bytes, first 128 bits in hexadecimal. */
  readonly rawHash: string;
}

/**
 * Where the titles of a response are copied to, which decides what stands around a title in its row:
 * `staged_title`, to be merged by what was staged; or `title` itself, in the merge's transaction.
 */
export type TitleTarget =
  | { readonly table: 'staged_title'; readonly fence: bigint }
  | {
      readonly table: 'title';
      readonly pullId: bigint;
      readonly occurrences: Occurrences;
      /** Takes note of the bank accounts that the titles name. */
      readonly accounts: NamedAccounts;
    };

/**
 * @param rawHash of the text that the title was read from, 32 hexadecimal digits
 * @param content the title's content hash
 */
export function encodeTitle(
  target: TitleTarget,
  ordinal: number,
  title: Title,
  rawHash: string,
  content = contentHash(title),
): string {
  let row = headOf(target);
  if (target.table === 'staged_title') row += ordinal;
  for (const column of TITLE_COLUMNS) {
    if (column === 'extra') {
      row += title.extra === null ? ',' : `,${quote(toJsonText(title.extra))}`;
      continue;
    }
    const value = title[column];
    if (value === null) row += ',';
    else if (typeof value === 'string') row += `,${quote(value)}`;
    else if (typeof value === 'boolean') row += value ? ',t' : ',f';
    else row += `,${value.written}`;
  }
  const identity = identityHash(title);
  row += `,${identity},${content},${rawHash}`;
  if (target.table === 'title') {
    row += `,${target.occurrences.next(identity)}`;
    target.accounts.addTitle(title);
  }
  return `${row}\n`;
}

/** What every row of a response begins with; in `staged_title`, the title's ordinal comes next. */
export function headOf(target: TitleTarget): string {
  return target.table === 'title' ? `${target.pullId},${target.pullId}` : `${target.fence},`;
}

export function encodeReject(fence: bigint, reject: RejectedTitle): string {
  const orderUid = reject.orderUid === null ? '' : quote(reject.orderUid);
  const reasons = `{${reject.reasons.map(quoteArrayItem).join(',')}}`;
  return `${fence},${reject.ordinal},${orderUid},${quote(reasons)},${quote(reject.raw)},${reject.rawBytes},${reject.rawHash}\n`;
}

function quote(text: string): string {
  return text.includes('"') ? `"${text.replaceAll('"', '""')}"` : `"${text}"`;
}

function quoteArrayItem(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/**
 * Copies encoded titles into `staged_title` as fast as the source yields and PostgreSQL takes them.
 * Nothing is visible unless the source ends well: an error in it fails the COPY as a whole.
 *
 * @returns the rows that PostgreSQL says it took
 * @throws what the source throws; StagingUnavailableError when the database goes away
 */
export function copyTitles(
  pool: Pool,
  source: AsyncIterable<Buffer | string>,
  signal: AbortSignal,
): Promise<number> {
  return copyInto(pool, 'staged_title', STAGED_TITLE_COLUMNS, source, signal);
}

/**
 * As `copyTitles`, into `title`, on a connection in the middle of its transaction. After an error it can
 * only be rolled back, to a savepoint or as a whole.
 */
export function copyIntoTitle(
  connection: ClientBase,
  source: AsyncIterable<Buffer | string>,
  signal: AbortSignal,
): Promise<number> {
  return copyOn(connection, 'title', LOADED_TITLE_COLUMNS, source, signal);
}

/** As `copyTitles`, into `staged_reject`. */
export function copyRejects(
  pool: Pool,
  source: AsyncIterable<Buffer | string>,
  signal: AbortSignal,
): Promise<number> {
  return copyInto(pool, 'staged_reject', STAGED_REJECT_COLUMNS, source, signal);
}

async function copyInto(
  pool: Pool,
  table: string,
  columns: readonly string[],
  source: AsyncIterable<Buffer | string>,
  signal: AbortSignal,
): Promise<number> {
  const client = await pool.connect().catch((error: unknown) => {
    throw toStagingError(error);
  });
  let failure: Error | undefined;
  try {
    // One COPY lasts as long as the platform's answer takes to arrive; silence on that side is
    // bounded by the client, so the session's statement_timeout would only cut slow answers off.
    await client.query('BEGIN');
    await client.query('SET LOCAL statement_timeout = 0');
    const rowCount = await copyOn(client, table, columns, source, signal);
    await client.query('COMMIT');
    return rowCount;
  } catch (error) {
    failure = error instanceof Error ? error : new Error('COPY failed');
    throw toStagingError(error);
  } finally {
    // After a failed COPY the protocol state is unknown; such a connection is not used again.
    client.release(failure);
  }
}

async function copyOn(
  connection: ClientBase,
  table: string,
  columns: readonly string[],
  source: AsyncIterable<Buffer | string>,
  signal: AbortSignal,
): Promise<number> {
  const copy = connection.query(
    copyFrom(`COPY conciliation.${table} (${columns.join(', ')}) FROM STDIN (FORMAT csv)`),
  );
  await pipeline(source, copy, { signal });
  return copy.rowCount;
}
