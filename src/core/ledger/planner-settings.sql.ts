import type { Transaction } from '../../base/database/database.ts';
import { Prisma } from '../../generated/prisma/client.ts';

/**
 * Configures PostgreSQL's planner for the transaction of a merge, which must not depend on statistics:
 * the staging tables are filled and emptied all day, `title` doubles within seconds in a backfill, and
 * autovacuum may analyse either at any moment.
 *
 * - Rows of an attempt are matched with others by hashing or sorting. A planner that expects one row
 *   compares 10,000 with 10,000 one by one, which takes minutes.
 * - Rows of large tables are looked up by an index. Rows named by another statement are named by an
 *   array of keys, `id = ANY(ARRAY(SELECT …))`, which an index answers. By statistics of a minute ago,
 *   when `title` had ten dates, each date is a tenth of the table.
 * - Rows are grouped by hashing. A planner that expects one row sorts 100,000 wide rows to group them.
 */
export async function configurePlanner(tx: Transaction): Promise<void> {
  await tx.$executeRaw`SELECT ${PLANNER_SETTINGS}`;
}

/** The output columns of a statement that configures the planner. */
export const PLANNER_SETTINGS = Prisma.sql`
  -- Room for a hash of narrow rows. A larger hash goes to disk and takes several times as long.
  set_config('work_mem', '64MB', true), set_config('enable_nestloop', 'off', true),
  set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true)`;

export async function resetPlanner(tx: Transaction): Promise<void> {
  await tx.$executeRaw`
    SELECT set_config(name, reset_val, true) FROM pg_settings
    WHERE name IN ('enable_nestloop', 'enable_seqscan', 'enable_sort')`;
}
