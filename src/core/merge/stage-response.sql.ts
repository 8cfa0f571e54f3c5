import { pipeline } from 'node:stream/promises';
import type { Pool, PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Database } from '../../base/database/database.ts';
import { mapErrors, toStagingError } from '../../base/database/database-error.ts';
import { reachFaultPoint } from '../../base/runtime/fault-points.ts';
import type { Attempt } from '../ledger/pull-ledger.sql.ts';
import type { ConciliationResponse } from '../platform/conciliation-client.ts';
import { KnownTexts } from '../reader/known-texts.ts';
import { type ReadOptions, ResponseReader } from '../reader/response-reader.ts';
import { COPY_END, COPY_START, type RejectedTitle, ROW_COLUMNS } from '../reader/title-row.ts';
import type { ReadResponse } from './merge.sql.ts';

/** The titles that a date has before its response is read. */
export interface KnownDay {
  /**
   * `day.changed_at` at that time, to the microsecond. The merge compares it, to detect that the titles
   * have changed since. Null: no title is known.
   */
  readonly baseChangedAt: string | null;
  readonly texts: KnownTexts;
}

/** The titles of a larger date are compared in the database. The hashes take about 160 bytes a title while they arrive. */
const MAX_KNOWN_TITLES = 250_000;

/**
 * Reads the hashes of the texts of all titles that the date of an attempt has. No title is known of a date
 * with more than `maxTitles` titles, and of a date that an earlier fetch may still change: a difference
 * from its titles would no longer hold when it is merged.
 *
 * @throws StagingUnavailableError if the database becomes unavailable
 */
export function readKnownDay(
  pool: Pool,
  { date, fence }: Pick<Attempt, 'date' | 'fence'>,
  maxTitles: number = MAX_KNOWN_TITLES,
): Promise<KnownDay> {
  return onConnection(pool, async (client) => {
    // In parts, because the driver would hold a value of the whole date several times.
    const { rows: parts } = await client.query<{
      changedAt: string;
      titles: number;
      pairs: Buffer;
    }>(
      `SELECT day.changed_at::text AS "changedAt", title_count AS titles,
         string_agg(uuid_send(raw_hash) || uuid_send(content_hash), '' ORDER BY raw_hash) AS pairs
       FROM conciliation.day JOIN conciliation.title ON accepted_date = date AND status = 'current'
       WHERE date = $1::date AND title_count <= $2 AND NOT EXISTS (
         SELECT FROM conciliation.pull WHERE pull.date = day.date AND state = 'running' AND fence < $3)
       GROUP BY date, substr(uuid_send(raw_hash), 1, 2) ORDER BY substr(uuid_send(raw_hash), 1, 2)`,
      [date, maxTitles, fence],
    );
    const texts = new KnownTexts(Buffer.concat(parts.map(({ pairs }) => pairs)));
    const [part] = parts;
    // Another number is a change by hand. Then no title is known, and the merge compares the titles themselves.
    if (part?.titles !== texts.titles) return { baseChangedAt: null, texts: new KnownTexts() };
    return { baseChangedAt: part.changedAt, texts };
  });
}

/** A response whose header has arrived, and what the pull knows beside it. */
interface FetchedResponse {
  readonly attempt: Attempt;
  readonly response: ConciliationResponse;
  /** The state of the date before the request. */
  readonly known: KnownDay;
  /** Whether the date was over when the request was sent. */
  readonly dateWasClosed: boolean;
}

/**
 * Reads a response, and puts its titles and rejects into the staging tables. Ends well only when the
 * document has closed and the transfer has ended cleanly. The merge counts the staged rows.
 *
 * @throws PlatformContractError when the response is not the documented document
 * @throws PlatformUnavailableError when the transfer broke off
 * @throws StagingUnavailableError if the database becomes unavailable
 */
export async function stageResponse(
  {
    database,
    onProgress,
  }: { readonly database: Database; readonly onProgress?: ReadOptions['onProgress'] },
  { attempt, response, known, dateWasClosed }: FetchedResponse,
  signal: AbortSignal,
): Promise<ReadResponse> {
  const { date, fence } = attempt;
  const reader = new ResponseReader(response, {
    fence,
    window: { from: date, to: date },
    known: known.texts,
    promoted: attempt.content.fields,
    onProgress,
  });
  /** Passes on the rows of titles, and stores the rejects on a separate connection meanwhile. */
  async function* titleRows(): AsyncGenerator<Buffer> {
    for await (const { rows, rejects } of reader.read()) {
      if (rejects.length > 0) await insertRejects(database, fence, rejects);
      yield* rows;
      reachFaultPoint('mid-copy');
    }
  }

  await copyRows(database.pool, titleRows(), signal);
  reachFaultPoint('copy-done');
  reachFaultPoint('verify');
  return {
    ...reader.result,
    httpStatus: response.httpStatus,
    responseBytes: response.bytesReceived(),
    dateWasClosed,
    baseChangedAt: known.baseChangedAt,
  };
}

/** Returns the number of rows that PostgreSQL has taken. */
export function insertRejects(
  { prisma }: Pick<Database, 'prisma'>,
  fence: bigint,
  rejects: readonly RejectedTitle[],
): Promise<number> {
  return prisma.$executeRaw`
    INSERT INTO conciliation.staged_reject (fence, ordinal, order_uid, reasons, raw, raw_bytes, raw_hash)
    SELECT ${fence}::bigint, reject.* FROM json_to_recordset(${JSON.stringify(rejects)}::json)
      AS reject (ordinal int, "orderUid" text, reasons text[], raw text, "rawBytes" bigint, "rawHash" uuid)`;
}

/** Rows in the format of `title-row.ts`. */
type Rows = AsyncIterable<Buffer> | Iterable<Buffer>;

/**
 * Copies rows into `staged_title` on a connection of its own, in a transaction that is committed only if `rows` ends without
 * an error.
 * @returns the number of rows that PostgreSQL has taken
 * @throws the errors of `rows`
 * @throws StagingUnavailableError when the connection to the database is lost
 */
export function copyRows(pool: Pool, rows: Rows, signal: AbortSignal): Promise<number> {
  return onConnection(pool, async (client) => {
    // COPY lasts as long as the platform's response takes to arrive. The platform client limits that
    // time, so statement_timeout would only end slow responses.
    await client.query('BEGIN; SET LOCAL statement_timeout = 0');
    const columns = ROW_COLUMNS.join(', ');
    const copy = client.query(
      copyFrom(`COPY conciliation.staged_title (${columns}) FROM STDIN (FORMAT binary)`),
    );
    await pipeline(toDocument(rows), copy, { signal });
    await client.query('COMMIT');
    return copy.rowCount;
  });
}

/** After a failed COPY the state of the protocol is unknown, so that connection is not used again. */
async function onConnection<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await mapErrors(pool.connect());
  let failure: Error | undefined;
  try {
    return await work(client);
  } catch (error) {
    failure = error instanceof Error ? error : new Error('the work on a connection failed');
    throw toStagingError(error);
  } finally {
    client.release(failure);
  }
}

async function* toDocument(rows: Rows): AsyncGenerator<Buffer> {
  yield COPY_START;
  yield* rows;
  yield COPY_END;
}
