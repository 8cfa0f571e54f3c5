import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eraseParty } from '../../../src/privacy/erase-party.sql.ts';
import { startTotals } from '../../../src/schedule/keep-totals.ts';
import { readStaleDate, refreshTotals } from '../../../src/schedule/schedule-totals.sql.ts';
import { withClient } from '../../support/client.ts';
import { DAY, daysFrom, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());

const stale = () => readStaleDate(world.database);
const pull = (uid: string, date = DAY) => {
  world.sandbox.setDayTexts(date, [titleText({ uid, date })]);
  return world.pull(date, { withdrawalLimitPercent: 100 });
};

test('the loop computes the totals of every date, the latest first', async () => {
  await pull('a');
  await pull('b', daysFrom(1));
  expect(await stale()).toBe(daysFrom(1));
  const loop = startTotals({
    database: world.database,
    logger: pino({ level: 'silent' }),
    intervalMs: 100,
  });
  await expect.poll(stale).toBeNull();
  await pull('c', daysFrom(2));
  await expect.poll(stale).toBeNull();
  await loop.stop();
  // Merges are not counted as SQL of a user, whether the titles were staged or loaded.
  await pull('c2', daysFrom(1));
  expect(await world.database.prisma.titleEpoch.findFirst()).toMatchObject({ epoch: 1n });
  await refreshTotals(world.database, daysFrom(1));
});

test('a pull that changes nothing leaves the totals current, a merge does not', async () => {
  await pull('c', daysFrom(2));
  expect(await stale()).toBeNull();
  world.sandbox.setDayTexts(daysFrom(2), [
    titleText({ uid: 'c', date: daysFrom(2), discount: '77' }),
  ]);
  await world.pull(daysFrom(2));
  expect(await stale()).toBe(daysFrom(2));
  await refreshTotals(world.database, daysFrom(2));
  expect(await stale()).toBeNull();
});

test('SQL of a user makes the totals of every date stale', async () => {
  await withClient(world.databaseUrl, (client) =>
    client.query('UPDATE conciliation.title SET original_value = 7 WHERE accepted_date = $1', [
      DAY,
    ]),
  );
  expect(await stale()).toBe(daysFrom(2));
  for (let date = await stale(); date !== null; date = await stale()) {
    await refreshTotals(world.database, date);
  }
});

test('an erasure removes the totals of its dates, and a computation from older titles fails', async () => {
  const erase = () =>
    eraseParty(world.database, {
      party: { taxId: '11222333000181', externalId: null },
      by: 'test',
      reason: 'a test',
      isDryRun: false,
    });
  await withClient(world.databaseUrl, async (client) => {
    await client.query('DELETE FROM conciliation.schedule_date WHERE date = $1', [DAY]);
    // As `refreshTotals` begins, with the titles of before the erasure.
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await client.query('SELECT FROM conciliation.title LIMIT 1');
    await erase();
    await expect(
      client.query(
        `INSERT INTO conciliation.schedule_date (date, epoch) VALUES ($1, 1)
         ON CONFLICT (date) DO UPDATE SET epoch = excluded.epoch`,
        [DAY],
      ),
    ).rejects.toMatchObject({ code: '40001' });
    await client.query('ROLLBACK');
  });
  const { database } = world;
  const [{ rows }] = await database.prisma.$queryRaw<[{ rows: number }]>`
    SELECT count(*)::int AS rows FROM conciliation.schedule_total`;
  expect(rows).toBe(0);
  expect(await stale()).toBe(daysFrom(2));
});
