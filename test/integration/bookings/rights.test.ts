/** The rows that the database user of a consumer can read and write with its own rights. */
import { expect, test } from 'vitest';
import { settleReceipts } from '../../../src/features/bookings/receipts.sql.ts';
import { pullDay, signDay } from '../../support/days.ts';
import { type ErpUser, erpOfFile, worldOfFile } from '../../support/file-world.ts';
import { DAY } from '../../support/pull-world.ts';

const BUYER = '90021382000122';

const world = worldOfFile();
const own = erpOfFile(world, 'north', [BUYER]);
const other = erpOfFile(world, 'south');

const read = async ({ client }: ErpUser, sql: string) => (await client.query(sql)).rows;
const feed = (erp: ErpUser) => read(erp, 'SELECT * FROM conciliation.booking_feed ORDER BY seq');

const pull = (...uids: string[]) => pullDay(world, DAY, ...uids.map((uid) => ({ uid })));
const sign = () => signDay(world.database, DAY);

const insert = ({ client }: ErpUser, line: Record<string, unknown>, consumer: string) =>
  client.query(
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

test.each([
  ['occurrence', '0', 'occurrence: expected at least 1'],
  ['status', `'done'`, 'status: expected posted or failed'],
  [
    'document',
    'NULL',
    'document: expected 1 to 200 characters, not only blanks, with the status posted',
  ],
  ['document', `E' \\u00a0\\u200b\\t'`, 'document: expected 1 to 200 characters, not only blanks'],
  ['idempotency_key', `'  '`, 'idempotency_key: expected 1 to 200 characters, not only blanks'],
  ['reason', `'x'`, 'reason: expected null with the status posted'],
  ['is_final', 'true', 'is_final: expected true only with the status failed'],
  ['failure_kind', `'other'`, 'failure_kind: expected period_closed, supplier_unknown'],
  ['accounting_date', 'date', `accounting_date: expected a date from ${DAY} on`],
])(
  'a receipt with a wrong %s is refused with the name of the field',
  async (field, value, fault) => {
    const receipt = {
      ...{
        consumer: `'north'`,
        idempotency_key: `'x'`,
        date: `'${DAY}'`,
        occurrence: '1',
        version: '1',
      },
      ...{
        identity_hash: 'gen_random_uuid()',
        content_hash: 'gen_random_uuid()',
        status: `'posted'`,
      },
      ...{ document: `'D'`, [field]: value.replace('date', `'${DAY}'`) },
    };
    const insertion = `INSERT INTO conciliation.booking_receipt (${Object.keys(receipt)})
    VALUES (${Object.values(receipt)})`;
    await expect(read(own, insertion)).rejects.toThrow(fault);
  },
);

test('another receipt with a used key is refused, and a repeated one is dropped', async () => {
  const repeat = (document: string) =>
    own.client.query(
      `INSERT INTO conciliation.booking_receipt
         (consumer, idempotency_key, date, identity_hash, occurrence, version, content_hash, status, document)
       VALUES ('north', 'used', $1, $2, 1, 1, $2, 'posted', $3) ON CONFLICT DO NOTHING`,
      // The receipt of no line keeps its date from being released.
      ['2001-01-01', '0'.repeat(32), document],
    );
  expect((await repeat('D-1')).rowCount).toBe(1);
  expect((await repeat('D-1')).rowCount).toBe(0);
  await expect(repeat('D-2')).rejects.toThrow('idempotency_key: another receipt has the key');
});

test('a consumer moves its own position, and changes nothing else', async () => {
  const move = 'UPDATE conciliation.booking_position SET last_seq = 1';
  expect((await own.client.query(move)).rowCount).toBe(1);
  expect(await read(other, 'SELECT consumer, last_seq FROM conciliation.booking_position')).toEqual(
    [{ consumer: 'south', last_seq: '0' }],
  );
  await expect(read(own, move.replace('1', '999'))).rejects.toThrow(
    'position: booking_feed does not have the position 999',
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
  await own.client.query('BEGIN');
  await own.client.query('SELECT FROM conciliation.booking_position FOR UPDATE');
  await own.client.query('SAVEPOINT before');
  await expect(
    own.client.query('SELECT FROM conciliation.booking_consumer FOR UPDATE'),
  ).rejects.toThrow('permission denied');
  await own.client.query('ROLLBACK TO before');
  await own.client.query('UPDATE conciliation.booking_position SET last_seq = 1');
  await sign();
  await own.client.query('ROLLBACK');
  expect((await feed(own)).map(({ order_uid: uid }) => uid)).toContain('locked');
});
