/** The rows that the database user of a consumer can read and write with its own rights. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { takeReceipts } from '../../../src/features/bookings/receipt-decisions.sql.ts';
import { settleReceipts } from '../../../src/features/bookings/receipts.sql.ts';
import { pullDay, signDay } from '../../support/days.ts';
import { DAY, type ErpUser, erpOfFile, worldOfFile } from '../../support/pull-world.ts';
import { failureOf } from '../../support/receipts.ts';

const BUYER = '90021382000122';

const world = worldOfFile();
const own = erpOfFile(world, 'north', [BUYER]);
const other = erpOfFile(world, 'south');

const read = async ({ client }: ErpUser, sql: string) => (await client.query(sql)).rows;
const feed = (erp: ErpUser) => read(erp, 'SELECT * FROM conciliation.booking_feed ORDER BY seq');

const pull = (...uids: string[]) => pullDay(world, DAY, ...uids.map((uid) => ({ uid })));
const sign = () => signDay(world.database, DAY);

/** Writes a receipt as an ERP does, with these fields of its own. */
function send({ client }: ErpUser, fields: Readonly<Record<string, unknown>>, more = '') {
  const receipt = {
    ...{ consumer: 'north', idempotency_key: randomUUID(), date: DAY, occurrence: 1, version: 1 },
    ...{ identity_hash: randomUUID(), content_hash: randomUUID() },
    ...{ status: 'posted', document: 'D-1', ...fields },
  };
  const places = Object.keys(receipt).map((_, index) => `$${index + 1}`);
  return client.query(
    `INSERT INTO conciliation.booking_receipt (${Object.keys(receipt)}) VALUES (${places}) ${more}`,
    Object.values(receipt),
  );
}
const keyOf = (line: Record<string, unknown>) => ({
  ...{ date: line['date'], identity_hash: line['identity_hash'], version: line['version'] },
  ...{ occurrence: line['occurrence'], content_hash: line['content_hash'] },
});

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

const settle = () => world.prisma.$transaction((tx) => settleReceipts(tx, null));

test('a receipt has the name of its author, and counts for a line of its author only', async () => {
  const [line] = await feed(own);
  await expect(send(other, keyOf(line))).rejects.toThrow('row-level security');
  await send(other, { ...keyOf(line), consumer: 'south' });
  await settle();
  expect(await feed(own)).toMatchObject([{ state: 'released' }]);
  expect(await read(other, 'SELECT outcome FROM conciliation.booking_receipt')).toEqual([
    { outcome: 'other_consumer' },
  ]);
  expect(await read(own, 'SELECT FROM conciliation.booking_receipt')).toEqual([]);
  await send(own, keyOf(line));
  await settle();
  expect(await feed(own)).toMatchObject([{ state: 'posted' }]);
});

test('an older receipt that is committed later changes nothing', async () => {
  const [{ key, content_hash: contentHash, ...line }] = await feed(own);
  await own.client.query('BEGIN');
  await send(own, keyOf({ ...line, content_hash: contentHash }));
  await takeReceipts(world.database, 'north', [failureOf({ key, contentHash }, 'undone')]);
  await own.client.query('COMMIT');
  await settle();
  expect(await feed(own)).toMatchObject([{ state: 'failed' }, { state: 'failed' }]);
});

test.each([
  ['occurrence', 0, 'occurrence: expected at least 1'],
  ['status', 'done', 'status: expected posted or failed'],
  ['document', null, 'document: expected 1 to 200 characters, not only blanks'],
  ['document', ' \u00a0\u200b\t', 'document: expected 1 to 200 characters, not only blanks'],
  ['idempotency_key', '  ', 'idempotency_key: expected 1 to 200 characters, not only blanks'],
  ['reason', 'x', 'reason: expected null with the status posted'],
  ['is_final', true, 'is_final: expected true only with the status failed'],
  ['failure_kind', 'other', 'failure_kind: expected period_closed, supplier_unknown'],
  ['accounting_date', DAY, `accounting_date: expected a date from ${DAY} on`],
])(
  'a receipt with a wrong %s is refused with the name of the field: %j',
  async (field, value, fault) => {
    const key = field === 'idempotency_key' ? String(value) : 'x';
    await expect(send(own, { idempotency_key: key, [field]: value })).rejects.toThrow(
      `receipt "${key}": ${fault}`,
    );
  },
);

test('another receipt with a used key is refused, and a repeated one is dropped', async () => {
  // The receipt of no line keeps its date from being released.
  const hashes = { identity_hash: '0'.repeat(32), content_hash: '0'.repeat(32) };
  const receipt = { idempotency_key: 'used', date: '2001-01-01', ...hashes };
  const repeat = (document: string) =>
    send(own, { ...receipt, document }, 'ON CONFLICT DO NOTHING');
  expect((await repeat('D-1')).rowCount).toBe(1);
  expect((await repeat('D-1')).rowCount).toBe(0);
  await expect(repeat('D-2')).rejects.toThrow(
    'receipt "used": idempotency_key: expected a key that no other receipt has',
  );
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
