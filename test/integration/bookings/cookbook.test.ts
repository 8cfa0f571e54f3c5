/** The statements of the first booking in docs/bookings.md run as they are, with the rights of the ERP. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { skipLostNumbers } from '../../../src/cli/setup.sql.ts';
import { settleReceipts } from '../../../src/features/bookings/receipts.sql.ts';
import { DatabaseBackup } from '../../model/database-backup.ts';
import { pullDay, signDay } from '../../support/days.ts';
import { DAY, erpOfFile, worldOfFile } from '../../support/pull-world.ts';

const world = worldOfFile();
const erp = erpOfFile(world);
let statements: string[];
beforeAll(async () => {
  await world.prisma.$executeRaw`CREATE SCHEMA erp`;
  await world.prisma.$executeRawUnsafe(`GRANT ALL ON SCHEMA erp TO "${erp.users.nameOf('erp')}"`);
  const document = await readFile(join(import.meta.dirname, '../../../docs/bookings.md'), 'utf8');
  const section = document.split('## First booking\n')[1]?.split('\n## ')[0] ?? '';
  statements = [...section.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql = '']) => sql);
  expect(statements).toHaveLength(6);
});
afterAll(() => world.prisma.$executeRaw`DROP SCHEMA erp CASCADE`);

async function sign(...titles: Parameters<typeof pullDay>[2][]): Promise<void> {
  await pullDay(world, DAY, ...titles);
  await signDay(world.database, DAY);
}

const settle = () => world.prisma.$transaction((tx) => settleReceipts(tx, null));

/** Runs the statements after the first one, lets the service read the receipts, and returns the last answer. */
async function post() {
  for (const statement of statements.slice(1, -1)) await erp.client.query(statement);
  await settle();
  return (await erp.client.query(statements.at(-1) ?? '')).rows;
}
const posted = async () =>
  (await erp.client.query('SELECT kind, value, document FROM erp.posting ORDER BY kind, document'))
    .rows;

test('lines are posted once, a restatement replaces, and a withdrawal reverses', async () => {
  await erp.client.query(statements[0] ?? '');
  await sign({ uid: 'a', value: '10.10' }, { uid: 'b', value: '20' });
  expect(await post()).toEqual([
    { kind: 'book', state: 'posted', lines: '2', original_value: '30.10' },
  ]);
  const first = await posted();
  expect(first).toHaveLength(2);
  // A receipt of an attempt before arrives late.
  await world.prisma.$executeRaw`
    INSERT INTO conciliation.booking_receipt (consumer, idempotency_key, date, identity_hash, occurrence, version, content_hash, status, reason)
    SELECT consumer, 'late', date, identity_hash, occurrence, version, content_hash, 'failed', 'late'
    FROM conciliation.booking_line WHERE order_uid = 'b'`;
  await settle();
  expect(await post()).toMatchObject([{ kind: 'book', state: 'posted', lines: '2' }]);
  expect(await posted()).toEqual(first);
  await sign({ uid: 'a', value: '10.10', discount: '3' });
  expect(await post()).toContainEqual(
    expect.objectContaining({ kind: 'adjust', state: 'posted', lines: '1' }),
  );
  expect((await posted()).map(({ kind }) => kind)).toEqual(['adjust', 'reverse']);
  expect(await world.prisma.bookingReceipt.count()).toBe(6);
  // The position is the end of the feed.
  const { rows } = await erp.client.query('SELECT last_seq FROM conciliation.booking_position');
  expect(rows).toEqual([{ last_seq: '5' }]);
  expect((await erp.client.query(statements[1] ?? '')).rows).toEqual([]);
});

test('after a restore of the program, the receipts state what the ERP has posted, and not what the feed offers', async () => {
  const a = { uid: 'a', value: '10.10', discount: '3' };
  const backup = new DatabaseBackup(world.database.pool);
  await backup.prepare();
  await backup.take();
  await sign(a, { uid: 'c', value: '5' });
  await post();
  const before = await posted();
  await backup.restore();
  await world.prisma.$transaction((tx) => skipLostNumbers(tx));
  // The platform has restated the title meanwhile.
  await sign(a, { uid: 'c', value: '5', discount: '4' });
  const error = await erp.client.query(statements[1] ?? '').catch((fault: Error) => fault);
  const position = /read again from (\d+)$/.exec(String(error))?.[1];
  await erp.client.query('UPDATE erp.position SET seq = $1', [position]);
  await post();
  expect(await posted()).toEqual(before);
  const line = await world.prisma.bookingLine.findFirst({ where: { orderUid: 'c' } });
  expect(line).toMatchObject({ state: 'released' });
  const kept = { outcome: 'other_content', identityHash: line?.identityHash ?? '' };
  expect(await world.prisma.bookingReceipt.count({ where: kept })).toBe(1);
});
