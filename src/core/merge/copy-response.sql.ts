import { pipeline } from 'node:stream/promises';
import type { Pool } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { type Database, toStagingError } from '../../base/database/database.ts';
import { RowsLostError } from '../../base/runtime/errors.ts';
import { reachFaultPoint } from '../../base/runtime/fault-points.ts';
import type { Attempt } from '../ledger/pull-ledger.sql.ts';
import { dayWindow } from '../planner/pull-plan.ts';
import type { ConciliationResponse } from '../platform/conciliation-client.ts';
import { ResponseReader } from '../reader/response-reader.ts';
import { COPY_END, COPY_START, type RejectedTitle, ROW_COLUMNS } from '../reader/title-row.ts';
import type { PullParts } from '../work/pull-parts.ts';
import type { KnownDay } from './known-day.sql.ts';
import type { ReadResponse } from './merge.sql.ts';

/** A response whose header has arrived, and what the pull knows beside it. */
export interface FetchedResponse {
  readonly attempt: Attempt;
  readonly response: ConciliationResponse;
  /** The state of the date before the request. */
  readonly known: KnownDay;
  /** Whether the date was over when the request was sent. */
  readonly dateWasClosed: boolean;
}

/**
 * Reads a response, and puts its titles and rejects into the staging tables. Ends well only when the
 * document has closed, the transfer has ended cleanly, and PostgreSQL has taken as many rows as titles
 * were read.
 *
 * @throws PlatformContractError when the response is not the documented document
 * @throws PlatformUnavailableError when the transfer broke off
 * @throws StagingUnavailableError if the database becomes unavailable; RowsLostError if a row was not taken
 */
export async function stageResponse(
  { database, onProgress }: PullParts,
  { attempt, response, known, dateWasClosed }: FetchedResponse,
  signal: AbortSignal,
): Promise<ReadResponse> {
  const { date, fence } = attempt;
  const reader = new ResponseReader(response, {
    fence,
    window: dayWindow(date),
    known: known.titles,
    versions: new Map([[date, known.contentVersion]]),
    onProgress,
  });
  let storedRejects = 0;
  /** Passes on the rows of titles, and stores the rejects on a separate connection meanwhile. */
  async function* titleRows(): AsyncGenerator<Buffer> {
    for await (const { rows, rejects } of reader.read()) {
      if (rejects.length > 0) storedRejects += await insertRejects(database, fence, rejects);
      yield* rows;
      reachFaultPoint('mid-copy');
    }
  }

  const copiedTitles = await copyRows(database.pool, titleRows(), signal);
  reachFaultPoint('copy-done');
  const read = reader.result;
  reachFaultPoint('verify');
  // Every title that was read must be a row, or nothing is merged.
  if (copiedTitles !== read.accepted || storedRejects !== read.rejected) {
    throw new RowsLostError('PostgreSQL took another number of rows than were sent', {
      context: {
        copiedTitles,
        readTitles: read.accepted,
        storedRejects,
        readRejects: read.rejected,
      },
    });
  }
  return {
    httpStatus: response.httpStatus,
    responseBytes: response.bytesReceived(),
    dateWasClosed,
    known: { baseChangedAt: known.baseChangedAt, titles: read.knownTitles, missing: read.missing },
    accepted: read.accepted,
    rejected: read.rejected,
    fold: read.folds.at(date),
    drift: read.drift,
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
export async function copyRows(pool: Pool, rows: Rows, signal: AbortSignal): Promise<number> {
  const client = await pool.connect().catch((error: unknown) => {
    throw toStagingError(error);
  });
  let failure: Error | undefined;
  try {
    await client.query('BEGIN');
    // COPY lasts as long as the platform's response takes to arrive. The platform client limits that
    // time, so statement_timeout would only end slow responses.
    await client.query('SET LOCAL statement_timeout = 0');
    const columns = ROW_COLUMNS.join(', ');
    const copy = client.query(
      copyFrom(`COPY conciliation.staged_title (${columns}) FROM STDIN (FORMAT binary)`),
    );
    await pipeline(toDocument(rows), copy, { signal });
    await client.query('COMMIT');
    return copy.rowCount;
  } catch (error) {
    failure = error instanceof Error ? error : new Error('COPY failed');
    throw toStagingError(error);
  } finally {
    // The protocol state after a failed COPY is unknown, so that connection is not used again.
    client.release(failure);
  }
}

async function* toDocument(rows: Rows): AsyncGenerator<Buffer> {
  yield COPY_START;
  yield* rows;
  yield COPY_END;
}
