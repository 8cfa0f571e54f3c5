import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';

/** Reads the database after each change, on a separate connection that may be lost at any time. */
export interface Poller {
  /** Ends after one last look that succeeded. */
  stop(): Promise<void>;
}

const RETRY_MS = 100;

/** Tables that are not there yet are an outage like any other. */
const OUTAGE = /^(08|57P|53|42P01|3F000|25P02|55006)|^(ECONN|EPIPE)/;

/** Cheap beside any look: the planner has nothing to do, and no table is read. */
const SNAPSHOT = { name: 'snapshot', text: 'SELECT pg_current_snapshot()::text AS snapshot' };

/**
 * Looks at once, and from then on whenever a transaction has begun or ended since: as long as the
 * snapshot is the same, so is every row that a look would see, and it is spared.
 *
 * @param look an error of `look` that is not an outage is a defect of the test, and `stop` throws the error
 */
export function startPolling(
  databaseUrl: string,
  intervalMs: number,
  look: (client: Client) => Promise<void>,
): Poller {
  let isStopping = false;
  let failure: unknown = null;

  const session = async (): Promise<boolean> => {
    const client = new Client({
      connectionString: databaseUrl,
      application_name: 'observer',
      connectionTimeoutMillis: 30_000,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      // Of this session only: a server that was killed may give numbers of transactions out again.
      let lastSnapshot = '';
      for (;;) {
        const isLast = isStopping;
        // Read before the look, which may see more: then the next one only sees it twice.
        const { rows } = await client.query<{ snapshot: string }>(SNAPSHOT);
        const snapshot = rows[0]?.snapshot ?? '';
        if (isLast || snapshot !== lastSnapshot) await look(client);
        if (isLast) return true;
        lastSnapshot = snapshot;
        await sleep(intervalMs);
      }
    } catch (error) {
      if (!isOutage(error)) failure = error;
      return failure !== null;
    } finally {
      await client.end().catch(() => {});
    }
  };
  const ended = (async () => {
    while (!(await session())) await sleep(RETRY_MS);
  })();
  return {
    async stop() {
      isStopping = true;
      await ended;
      if (failure !== null) throw failure;
    },
  };
}

function isOutage(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code === 'string') return OUTAGE.test(code);
  return /terminated|timeout|ended|not queryable/i.test(String(message));
}
