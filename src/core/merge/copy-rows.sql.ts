import { pipeline } from 'node:stream/promises';
import type { Pool } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { toStagingError } from '../../base/database/database.ts';
import { COPY_END, COPY_START } from '../reader/binary-row.ts';
import { ROW_COLUMNS, type RowTable } from '../reader/title-row.ts';

/** Rows in the format of `binary-row.ts`. */
type Rows = AsyncIterable<Buffer> | Iterable<Buffer>;

/**
 * Copies rows into a table on a connection of its own, in a transaction that is committed only if `rows` ends without
 * an error.
 * @returns the number of rows that PostgreSQL has taken
 * @throws the errors of `rows`
 * @throws StagingUnavailableError when the connection to the database is lost
 */
export async function copyRows(
  pool: Pool,
  table: RowTable,
  rows: Rows,
  signal: AbortSignal,
): Promise<number> {
  const client = await pool.connect().catch((error: unknown) => {
    throw toStagingError(error);
  });
  let failure: Error | undefined;
  try {
    await client.query('BEGIN');
    // COPY lasts as long as the platform's response takes to arrive. The platform client limits that
    // time, so statement_timeout would only end slow responses.
    await client.query('SET LOCAL statement_timeout = 0');
    const columns = ROW_COLUMNS[table].join(', ');
    const copy = client.query(
      copyFrom(`COPY conciliation.${table} (${columns}) FROM STDIN (FORMAT binary)`),
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
