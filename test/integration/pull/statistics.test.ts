/** Plans that must not follow what the statistics of `title` say while it grows. */
import { expect, test, vi } from 'vitest';
import { PATIENCE_MS } from '../../support/patience.ts';
import { clientOfFile, daysFrom, worldOfFile } from '../../support/pull-world.ts';

const TITLES = 1_000;

const world = worldOfFile();
const client = clientOfFile(() => world.databaseUrl);

async function pullDays(from: number, count: number, titles = TITLES) {
  for (let day = from; day < from + count; day += 1) {
    world.sandbox.setDaySize(daysFrom(day), titles);
    await world.pull(daysFrom(day));
  }
}

/**
 * Rows of `title` since the last call that were read without an index, and by the index of its key, in which the dates
 * are not apart. Sessions report them at their end.
 */
async function readRows(): Promise<{ scanned: number; byKey: number }> {
  await client.query(`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`);
  await vi.waitFor(async () => {
    const { rowCount } = await client.query(`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`);
    expect(rowCount).toBe(0);
  }, PATIENCE_MS);
  const { rows } = await client.query(`
    SELECT seq_tup_read::int AS scanned, idx_tup_read::int AS "byKey"
    FROM pg_stat_user_tables JOIN pg_stat_user_indexes AS key USING (relid)
    WHERE relid = 'conciliation.title'::regclass AND indexrelname = 'title_pkey'`);
  await client.query('SELECT pg_stat_reset()');
  return rows[0];
}

test('no date is looked up by reading the whole table, although statistics know of two dates', async () => {
  await readRows();
  await pullDays(0, 2);
  await client.query('ANALYZE conciliation.title');
  await pullDays(2, 10);
  expect(await readRows()).toEqual({ scanned: 0, byKey: 0 });

  // Nor where some of the titles differ.
  await pullDays(2, 3, TITLES - 50);
  expect(await readRows()).toMatchObject({ scanned: 0 });
});
