import type { QueryResultRow } from 'pg';
import Cursor from 'pg-cursor';
import type { Database } from '../database/database.ts';
import { mapErrors } from '../database/database-error.ts';
import { ShutdownError } from '../runtime/errors.ts';

/** The tables as of one instant. */
export interface Snapshot {
  query<Row extends QueryResultRow>(text: string, values: unknown[]): Promise<Row[]>;
  /** Reads through a cursor, so memory does not grow with the number of rows. */
  read<Row>(
    text: string,
    values: unknown[],
    config?: Cursor.CursorQueryConfig,
  ): AsyncGenerator<Row[], void, undefined>;
}

/** A small number, so that V8 collects the rows while they are young objects. More rows are not faster. */
const ROWS_PER_READ = 50;

/**
 * Calls `use` with a snapshot. Concurrent merges do not change what it reads.
 * @throws ShutdownError when `signal` is aborted
 */
export async function withSnapshot<T>(
  database: Database,
  signal: AbortSignal,
  use: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  const client = await mapErrors(database.pool.connect());
  let isReleased = false;
  // The connection is closed and not reused, because an open cursor would remain on it. That also ends a running query.
  const release = () => {
    if (!isReleased) client.release(true);
    isReleased = true;
  };
  signal.addEventListener('abort', release, { once: true });
  try {
    signal.throwIfAborted();
    await mapErrors(client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'));
    // It includes the time between two reads of a cursor, so it would measure the reader of the output.
    await mapErrors(client.query('SET LOCAL statement_timeout = 0'));
    return await use({
      async query<Row extends QueryResultRow>(text: string, values: unknown[]) {
        return (await mapErrors(client.query<Row>(text, values))).rows;
      },
      async *read<Row>(text: string, values: unknown[], config: Cursor.CursorQueryConfig = {}) {
        const cursor = client.query(new Cursor<Row>(text, values, config));
        for (;;) {
          const rows = await mapErrors(cursor.read(ROWS_PER_READ));
          if (rows.length === 0) return;
          yield rows;
        }
      },
    });
  } catch (error) {
    if (signal.aborted) throw new ShutdownError('the export was interrupted', { cause: error });
    throw error;
  } finally {
    signal.removeEventListener('abort', release);
    release();
  }
}
