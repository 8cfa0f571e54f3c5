/**
 * Positions of the feeds after a restore of the program's database, for readers that are newer than the backup and for
 * readers that are restored themselves from an older backup.
 */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { skipLostNumbers } from '../../../src/cli/setup.sql.ts';
import { readFeed } from '../../../src/features/bookings/feed.sql.ts';
import { DatabaseBackup } from '../../model/database-backup.ts';
import { withClient } from '../../support/client.ts';
import { pullDay, signDay } from '../../support/days.ts';
import { DAY, daysFrom, erpOfFile, worldOfFile } from '../../support/pull-world.ts';

const [X, Y] = [DAY, daysFrom(1)];

const world = worldOfFile();
const erp = erpOfFile(world);
let backup: DatabaseBackup;
beforeAll(async () => {
  backup = new DatabaseBackup(world.database.pool);
  await backup.prepare();
});
beforeEach(() => backup.clear());

async function sign(date: CivilDate, uids: readonly string[]): Promise<void> {
  await pullDay(world, date, ...uids.map((uid) => ({ uid })));
  await signDay(world.database, date);
}

/** The step `conciliation restored`. */
const restored = () => world.prisma.$transaction((tx) => skipLostNumbers(tx));

const read = async (after: bigint) => {
  const { lines, next } = await readFeed(world.database, 'erp', { after, limit: 1_000 });
  return { orders: lines.map(({ title }) => title['order_uid']), next: BigInt(next) };
};
const lost = (after: bigint) =>
  readFeed(world.database, 'erp', { after, limit: 1 }).then(
    () => null,
    (error: { context: unknown }) => error.context,
  );

test('an ERP that is restored from a backup older than the restore of the database misses no line, and is told', async () => {
  await backup.take();
  await sign(X, ['x1', 'x2', 'x3']);
  const { next: erpBackup } = await read(0n);
  await sign(Y, ['y1', 'y2', 'y3']);

  // The database is restored. This time Y is signed first.
  await backup.restore();
  const start = await restored();
  expect(start).toBeGreaterThan(10n ** 13n);
  expect(start).toBeLessThan(2n ** 53n);
  await sign(Y, ['y1', 'y2', 'y3']);
  await sign(X, ['x1', 'x2', 'x3']);
  const { orders, next } = await read(0n);
  expect(orders.toSorted()).toEqual(['x1', 'x2', 'x3', 'y1', 'y2', 'y3']);
  expect(next).toBeGreaterThan(start);
  expect((await read(next)).orders).toEqual([]);

  // The ERP is restored too, to its position before.
  expect(await lost(erpBackup)).toEqual({ fault: 'lost_position', safe: '0' });
  expect((await read(0n)).orders).toHaveLength(6);
});

test('the safe position is the last one that the restore has kept, in each further restore', async () => {
  await sign(X, ['a', 'b']);
  const { next: kept } = await read(0n);
  await backup.take();
  await sign(Y, ['c']);
  const { next: gone } = await read(kept);
  await backup.restore();
  // Nobody has run the step yet: the numbers may be given again, so no number after them is safe.
  expect(await lost(gone)).toEqual({ fault: 'lost_position', safe: '0' });
  const first = await restored();
  expect(await lost(gone)).toEqual({ fault: 'lost_position', safe: String(kept) });
  expect((await read(kept)).orders).toEqual([]);
  await sign(Y, ['d', 'e']);
  const { next: afterFirst } = await read(kept);
  // The same backup again: the numbers of the time between are not given again.
  await backup.restore();
  expect(await restored()).toBeGreaterThan(afterFirst);
  expect(await lost(afterFirst)).toEqual({ fault: 'lost_position', safe: String(kept) });
  expect(await lost(first)).toEqual({ fault: 'lost_position', safe: String(kept) });
  await sign(Y, ['f']);
  expect((await read(kept)).orders).toEqual(['f']);
});

test('the functions for SQL readers raise an error that names the safe position', async () => {
  await sign(X, ['a', 'b']);
  const reader =
    (name: string) =>
    (place: bigint, rows = 1_000) =>
      erp.client.query(`SELECT * FROM conciliation.${name}($1, $2)`, [place, rows]);
  const [feed, changes] = [reader('booking_feed_after'), reader('title_feed_after')];
  const kept = BigInt((await feed(0n)).rows.at(-1)?.seq);
  const keptChange = BigInt((await changes(0n)).rows.at(-1)?.change_seq);
  expect((await feed(0n, 1)).rows).toHaveLength(1);
  expect((await changes(0n, 1)).rows).toHaveLength(1);
  await backup.take();
  await sign(Y, ['c']);
  const gone = BigInt((await feed(kept)).rows.at(-1)?.seq);
  const goneChange = BigInt((await changes(keptChange)).rows.at(-1)?.change_seq);
  const goneTitle = (await changes(keptChange)).rows.at(-1)?.id;
  await backup.restore();
  const start = await restored();
  await expect(feed(gone)).rejects.toThrow(
    `booking_feed does not have the position ${gone}: it was never given, or a restore has lost it; read again from ${kept}`,
  );
  await expect(changes(goneChange)).rejects.toThrow(
    `title_feed does not have the position ${goneChange}: it was never given, or a restore has lost it; read again from ${keptChange}`,
  );
  await expect(changes(start + 10n ** 9n)).rejects.toThrow('read again from 0');
  expect((await feed(kept)).rows).toEqual([]);
  await sign(Y, ['c']);
  expect((await feed(kept)).rows).toMatchObject([{ order_uid: 'c' }]);
  // The lost title has another id now, and no other title gets the lost one.
  const again = await changes(keptChange);
  expect(again.rows).toHaveLength(1);
  expect(BigInt(again.rows[0]?.id)).toBeGreaterThanOrEqual(start);
  expect(again.rows[0]?.id).not.toBe(goneTitle);
});

test('the service may move the numbers forward, and the ERP may not', async () => {
  await expect(erp.client.query('SELECT conciliation.skip_numbers()')).rejects.toThrow(
    'permission denied',
  );
  await withClient(erp.users.urlOf('worker'), async (service) => {
    await service.query('SELECT conciliation.skip_numbers()');
    await expect(
      service.query(`SELECT setval('conciliation.booking_offer_seq_seq', 1)`),
    ).rejects.toThrow('permission denied');
  });
});
