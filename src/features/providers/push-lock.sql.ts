import { type Database, type Transaction, toStagingError } from '../../base/database/database.ts';
import { StagingUnavailableError } from '../../base/runtime/errors.ts';

/**
 * The right to push providers, which at most one process has. It is the lock of a row, in a transaction of a
 * session without other work. While the platform answers, a heartbeat keeps the transaction from being idle for
 * longer than PostgreSQL permits (`idle_in_transaction_session_timeout`, see database.ts). So the lock ends with
 * the session, with the process, and a minute after the process was stopped or its network cut.
 */
export interface PushLock {
  /** Aborts with a StagingUnavailableError when the session, and with it the lock, is lost. */
  readonly lost: AbortSignal;
  /** @throws StagingUnavailableError unless the session still has the lock */
  assertHeld(tx: Transaction): Promise<void>;
  release(): Promise<void>;
}

/** Several fit into the time after which PostgreSQL ends an idle transaction. */
const HEARTBEAT_MS = 15_000;

/**
 * Returns null when another process, or another call in this one, has the lock.
 * @throws StagingUnavailableError when the database is not available
 */
export async function tryPushLock(database: Database): Promise<PushLock | null> {
  const client = await database.connect();
  const loss = new AbortController();
  const onEnd = () => loss.abort(lockLost());
  client.once('end', onEnd);
  let heartbeat: NodeJS.Timeout | undefined;
  const giveBack = (error?: Error) => {
    clearInterval(heartbeat);
    client.off('end', onEnd);
    client.release(error);
  };
  try {
    await client.query('BEGIN');
    const { rows } = await client.query<Holder>(
      `SELECT pid, backend_start::text AS "startedAt"
       FROM conciliation.program_lock JOIN pg_stat_activity ON pid = pg_backend_pid()
       WHERE name = 'push' FOR UPDATE OF program_lock SKIP LOCKED`,
    );
    const [holder] = rows;
    if (holder === undefined) {
      await client.query('COMMIT');
      giveBack();
      return null;
    }
    // The loss of the session is reported by its end.
    heartbeat = setInterval(() => client.query('SELECT').catch(() => {}), HEARTBEAT_MS);
    return {
      lost: loss.signal,
      assertHeld: (tx) => assertHeld(tx, holder),
      async release() {
        clearInterval(heartbeat);
        const failure = await client.query('COMMIT').then(() => undefined, toError);
        // A connection on which this failed is closed, which also releases the lock.
        giveBack(failure);
      },
    };
  } catch (error) {
    giveBack(toError(error));
    throw toStagingError(error);
  }
}

/** The session that has the lock. The number of a process may be used again. */
interface Holder {
  readonly pid: number;
  readonly startedAt: string;
}

/**
 * The program may have been suspended, or the network cut, until the server ended the session, and
 * another process may be pushing now.
 */
async function assertHeld(tx: Transaction, { pid, startedAt }: Holder): Promise<void> {
  const held = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM pg_stat_activity WHERE pid = ${pid} AND backend_start = ${startedAt}::timestamptz`;
  if (held.length === 0) throw lockLost();
}

function lockLost(): StagingUnavailableError {
  return new StagingUnavailableError('the session that held the right to push is gone');
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error('the session failed');
}
