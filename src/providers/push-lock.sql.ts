import { type Database, type Transaction, toStagingError } from '../database/database.ts';
import { StagingUnavailableError } from '../runtime/errors.ts';

/**
 * For a bigint key PostgreSQL shows two halves. This key fits the lower half, so the upper one is
 * 0.
 */
const PUSH_LOCK = 720_160_431n;

/**
 * The right to push providers, which at most one process has. It is an advisory lock of a session
 * without other work: it needs no transaction, which would have to stay open during the platform's
 * answer, and it ends with the process.
 */
export interface PushLock {
  /** Aborts with a StagingUnavailableError when the session, and with it the lock, is lost. */
  readonly lost: AbortSignal;
  /** @throws StagingUnavailableError unless the session still has the lock */
  assertHeld(tx: Transaction): Promise<void>;
  release(): Promise<void>;
}

/**
 * Returns null when another process, or another call in this one, has the lock.
 * @throws StagingUnavailableError when the database is not available
 */
export async function tryPushLock(database: Database): Promise<PushLock | null> {
  const client = await database.connect();
  const loss = new AbortController();
  const onEnd = () => loss.abort(lockLost());
  client.once('end', onEnd);
  const giveBack = (error?: Error) => {
    client.off('end', onEnd);
    client.release(error);
  };
  try {
    const { rows } = await client.query<{ locked: boolean; pid: number }>(
      'SELECT pg_try_advisory_lock($1::bigint) AS locked, pg_backend_pid() AS pid',
      [PUSH_LOCK],
    );
    if (rows[0]?.locked !== true) {
      giveBack();
      return null;
    }
    const { pid } = rows[0];
    return {
      lost: loss.signal,
      assertHeld: (tx) => assertHeld(tx, pid),
      async release() {
        const failure = await client
          .query('SELECT pg_advisory_unlock($1::bigint)', [PUSH_LOCK])
          .then(() => undefined, toError);
        // A connection on which this failed is closed, which also releases the lock.
        giveBack(failure);
      },
    };
  } catch (error) {
    giveBack(toError(error));
    throw toStagingError(error);
  }
}

/**
 * The program may have been suspended, or the network cut, until the server ended the session, and
 * another process may be pushing now.
 */
async function assertHeld(tx: Transaction, pid: number): Promise<void> {
  const held = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM pg_locks
    WHERE locktype = 'advisory' AND pid = ${pid} AND granted
      AND classid = 0 AND objid = ${PUSH_LOCK}::bigint::oid AND objsubid = 1`;
  if (held.length === 0) throw lockLost();
}

function lockLost(): StagingUnavailableError {
  return new StagingUnavailableError('the session that held the right to push is gone');
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error('the session failed');
}
