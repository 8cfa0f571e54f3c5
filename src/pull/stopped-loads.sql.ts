import type { Database } from '../database/database.ts';

/** A session that copies into `title`. */
interface CopyingSession {
  readonly pid: number;
  /** Of this COPY, to the microsecond. */
  readonly startedAt: string;
  readonly bytes: string;
}

/**
 * Ends sessions of this database's user that copy into `title` and wait for a process that sends nothing,
 * because it was stopped or lost its network. Such a session keeps the row of its date locked. No timeout
 * of PostgreSQL ends it, because none applies while COPY waits for its client.
 *
 * @param silentMs without a byte after which a session is ended; longer than a running process waits for
 *   the platform
 * @returns a function that checks the sessions once and returns the number of sessions that it ended. The
 *   check that finds a session first does not end it.
 */
export function createStoppedLoadWatch(
  database: Database,
  silentMs: number,
): () => Promise<number> {
  let seen = new Map<string, number>();
  return async () => {
    const sessions = await database.prisma.$queryRaw<CopyingSession[]>`
      SELECT activity.pid, activity.query_start::text AS "startedAt",
             progress.bytes_processed::text AS bytes
      FROM pg_stat_activity activity
      JOIN pg_stat_progress_copy progress USING (pid)
      WHERE activity.datname = current_database() AND activity.usename = current_user
        AND activity.wait_event = 'ClientRead'
        AND progress.relid = 'conciliation.title'::regclass AND progress.command = 'COPY FROM'`;
    const now = performance.now();
    const keyOf = ({ pid, startedAt, bytes }: CopyingSession) => `${pid} ${startedAt} ${bytes}`;
    const since = (session: CopyingSession) => seen.get(keyOf(session)) ?? now;
    const stopped = sessions.filter((session) => now - since(session) > silentMs);
    seen = new Map(sessions.map((session) => [keyOf(session), since(session)]));
    for (const { pid } of stopped) {
      await database.prisma.$queryRaw`SELECT pg_terminate_backend(${pid}::int)`;
    }
    return stopped.length;
  };
}
