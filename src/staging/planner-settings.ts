import type { Prisma } from '../generated/prisma/client.ts';

/**
 * From here to the end of the transaction, rows of one attempt are matched with others by hashing or
 * sorting. The staging tables are filled and emptied all day, so their statistics say nothing about the
 * rows at hand, and a planner that expects one row compares 10,000 with 10,000 one by one: minutes,
 * where hashing them takes a moment.
 *
 * Rows of large tables have to be named by an array of keys, `id = ANY(ARRAY(SELECT …))`, which their
 * index answers; a join with the table as such would read all of it.
 */
export async function forbidNestedLoops(tx: Prisma.TransactionClient): Promise<void> {
  // Room for a hash of narrow rows: what does not fit goes to disk and costs several times as much.
  await tx.$executeRaw`
    SELECT set_config('enable_nestloop', 'off', true), set_config('work_mem', '64MB', true)`;
}

export async function allowNestedLoops(tx: Prisma.TransactionClient): Promise<void> {
  await tx.$executeRaw`SET LOCAL enable_nestloop TO DEFAULT`;
}

/**
 * Titles of a few dates are looked up by their index, whatever the statistics say. A backfill doubles the
 * dates of `title` within seconds; by statistics of a minute ago, when it had ten, each is a tenth of
 * a table that has become large, and is looked for by reading all of it.
 *
 * @param lookUp one statement or several that read `title` by date and match nothing with it
 */
export async function lookUpByIndex<T>(
  tx: Prisma.TransactionClient,
  lookUp: () => Promise<T>,
): Promise<T> {
  await tx.$executeRaw`SET LOCAL enable_seqscan TO off`;
  const result = await lookUp();
  await tx.$executeRaw`SET LOCAL enable_seqscan TO DEFAULT`;
  return result;
}
