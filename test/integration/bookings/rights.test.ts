/** The rows that the database user of a consumer can read and write with its own rights. */
import { Client } from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setConsumer } from '../../../src/bookings/consumers.ts';
import { settleReceipts } from '../../../src/bookings/receipts.sql.ts';
import { migrate } from '../../../src/database/migrate.ts';
import { createRoleUsers, type RoleUsers } from '../../support/database-roles.ts';
import { pullDay, signDay } from '../../support/days.ts';
import { pullWorldOfFile } from '../../support/file-worlds.ts';
import { DAY } from '../../support/pull-world.ts';

const BUYER = '90021382000122';

const world = pullWorldOfFile();
let users: RoleUsers[];
let [own, other]: Client[] = [];
beforeAll(async () => {
  await migrate({ databaseUrl: world.databaseUrl, logger: pino({ level: 'silent' }), roles: true });
  users = [await createRoleUsers(world.databaseUrl), await createRoleUsers(world.databaseUrl)];
  [own, other] = users.map((each) => new Client({ connectionString: each.urlOf('erp') }));
  await Promise.all([own?.connect(), other?.connect()]);
  const [ownRole, otherRole] = users.map((each) => each.nameOf('erp'));
  for (const [name, databaseRole = null, buyers] of [
    ['north', ownRole, [BUYER]],
    ['south', otherRole, []],
  ] as const) {
    await setConsumer(world.database, { name, databaseRole, apiKeyId: null, buyers }, 'test');
  }
});
afterAll(async () => {
  await Promise.all([own?.end(), other?.end()]);
  for (const each of users) await each.drop();
});

const read = async (client: Client | undefined, sql: string) =>
  (await client?.query(sql))?.rows ?? [];
const feed = (client: Client | undefined) =>
  read(client, 'SELECT * FROM conciliation.booking_feed ORDER BY seq');

const pull = (...uids: string[]) => pullDay(world, DAY, ...uids.map((uid) => ({ uid })));
const sign = () => signDay(world.database, DAY);

const insert = (client: Client | undefined, line: Record<string, unknown>, consumer: string) =>
  client?.query(
    `INSERT INTO conciliation.booking_receipt
       (consumer, idempotency_key, date, identity_hash, occurrence, version, content_hash, status, document)
     VALUES ($1, gen_random_uuid(), $2, $3, $4, $5, $6, 'posted', 'D-1')`,
    [
      consumer,
      ...['date', 'identity_hash', 'occurrence', 'version', 'content_hash'].map(
        (name) => line[name],
      ),
    ],
  );

test('a line is read by its consumer only, and not before its day is signed off', async () => {
  await pull('a');
  expect(await feed(own)).toEqual([]);
  await sign();
  expect(await feed(own)).toMatchObject([{ order_uid: 'a', kind: 'book', consumer: 'north' }]);
  await pull('a', 'b');
  expect(await feed(own)).toHaveLength(1);
  expect(await feed(other)).toEqual([]);
  for (const table of ['booking_line', 'booking_offer', 'booking_batch', 'title']) {
    await expect(read(own, `SELECT FROM conciliation.${table}`)).rejects.toThrow(
      'permission denied',
    );
  }
});

test('a receipt has the name of its author, and counts for a line of its author only', async () => {
  const [line] = await feed(own);
  await expect(insert(other, line, 'north')).rejects.toThrow('row-level security');
  await insert(other, line, 'south');
  await world.database.prisma.$transaction((tx) => settleReceipts(tx, null));
  expect(await feed(own)).toMatchObject([{ state: 'released' }]);
  expect(await read(other, 'SELECT outcome FROM conciliation.booking_receipt')).toEqual([
    { outcome: 'other_consumer' },
  ]);
  expect(await read(own, 'SELECT FROM conciliation.booking_receipt')).toEqual([]);
  await insert(own, line, 'north');
  await world.database.prisma.$transaction((tx) => settleReceipts(tx, null));
  expect(await feed(own)).toMatchObject([{ state: 'posted' }]);
});

test('a consumer moves its own position, and changes nothing else', async () => {
  const move = 'UPDATE conciliation.booking_position SET last_seq = 1';
  expect((await own?.query(move))?.rowCount).toBe(1);
  expect(await read(other, 'SELECT consumer, last_seq FROM conciliation.booking_position')).toEqual(
    [{ consumer: 'south', last_seq: '0' }],
  );
  for (const forged of [
    `UPDATE conciliation.booking_consumer SET database_role = 'x'`,
    `UPDATE conciliation.booking_receipt SET outcome = 'accepted', settled_at = now()`,
    'DELETE FROM conciliation.booking_receipt',
    `UPDATE conciliation.booking_feed SET state = 'posted'`,
  ]) {
    await expect(read(own, forged), forged).rejects.toThrow(/permission denied|cannot update view/);
  }
});

test('no lock that a consumer may take keeps a sign-off waiting', async () => {
  await pull('a', 'b', 'locked');
  await own?.query('BEGIN');
  await own?.query('SELECT FROM conciliation.booking_position FOR UPDATE');
  await own?.query('SAVEPOINT before');
  await expect(own?.query('SELECT FROM conciliation.booking_consumer FOR UPDATE')).rejects.toThrow(
    'permission denied',
  );
  await own?.query('ROLLBACK TO before');
  await own?.query('UPDATE conciliation.booking_position SET last_seq = 1');
  await sign();
  await own?.query('ROLLBACK');
  expect((await feed(own)).map(({ order_uid: uid }) => uid)).toContain('locked');
});
