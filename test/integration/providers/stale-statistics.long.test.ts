import { expect, test } from 'vitest';
import { pushWorldOfFile } from '../../support/file-world.ts';
import { providerOf, writeProviders } from '../../support/provider-rows.ts';

const world = pushWorldOfFile();

const ROWS = 20_000;
const BATCH = 100;

interface Reads {
  readonly read: number;
  readonly updated: number;
}

/** The numbers of rows that sessions have read and written so far; sessions report them seconds later. */
async function readsOfTable(): Promise<Reads> {
  const [row] = await world.database.prisma.$queryRaw<[Reads]>`
    SELECT (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int AS read,
           n_tup_upd::int AS updated
    FROM pg_stat_user_tables WHERE relid = 'conciliation.provider'::regclass`;
  return row;
}

test('a batch reads little beyond its own rows, for any number of waiting rows and any statistics', async () => {
  // The statistics have one row, as after an ERP's first night, until the table is analyzed.
  const query = (sql: string) => world.database.pool.query(sql);
  await query('ALTER TABLE conciliation.provider SET (autovacuum_enabled = off)');
  await writeProviders(world.database, [providerOf(ROWS)]);
  await query('ANALYZE conciliation.provider');
  await writeProviders(
    world.database,
    Array.from({ length: ROWS }, (_, number) => providerOf(number)),
  );

  const before = await readsOfTable();
  expect(await world.push()).toMatchObject({ kind: 'done', synced: BATCH });
  // Each row is written before the request and after its answer.
  await expect
    .poll(async () => (await readsOfTable()).updated)
    .toBeGreaterThanOrEqual(before.updated + 2 * BATCH);
  expect((await readsOfTable()).read - before.read).toBeLessThan(ROWS / 4);
});
