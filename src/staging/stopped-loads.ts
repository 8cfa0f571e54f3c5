import type { Database } from './database.ts';
import { inStaging } from './in-staging.ts';

/**
 * Ends sessions of this database's user that have been copying into `title` for longer than a load may
 * take and wait for their process to go on: it was stopped in the middle, or is cut off. They hold the
 * change feed, and no timeout of PostgreSQL ends them, since none counts while COPY waits for its client.
 *
 * @param afterSeconds of copying
 * @returns how many were ended
 */
export function endStoppedLoads(database: Database, afterSeconds: number): Promise<number> {
  return inStaging(async () => {
    const ended = await database.prisma.$queryRaw<unknown[]>`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND usename = current_user AND state = 'active'
        AND wait_event = 'ClientRead' AND starts_with(query, 'COPY conciliation.title (')
        AND query_start < clock_timestamp() - make_interval(secs => ${afterSeconds}::float8)`;
    return ended.length;
  });
}
