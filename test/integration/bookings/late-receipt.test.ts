/** A receipt that arrives while a person answers the receipts of its date. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readFeed } from '../../../src/features/bookings/feed.sql.ts';
import { answerReceipts } from '../../../src/features/bookings/receipt-decisions.sql.ts';
import { takeReceipts } from '../../../src/features/bookings/take-receipts.sql.ts';
import { pullDay, signDay } from '../../support/days.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { DAY } from '../../support/pull-world.ts';

const world = worldOfFile();

test('is not answered together with the others: the receipt waits for a separate answer', async () => {
  const { database } = world;
  await pullDay(world, DAY, {});
  await signDay(database, DAY);
  const { lines } = await readFeed(database, 'erp', { after: 0n, limit: 9 });
  const key = String(lines[0]?.key);
  const receiptOf = (suffix: string) => ({
    ...{ idempotencyKey: suffix, contentHash: 'ab'.repeat(16), status: 'posted' as const },
    ...{ key: key.replace(/1:1$/, suffix), document: 'FT-1', reason: null },
  });
  await takeReceipts(database, 'erp', [receiptOf('1:2')]);
  const work: Promise<unknown>[] = [];
  await database.prisma.$transaction(
    async (tx) => {
      // Stops the answer after its lines were entered, when it supersedes the first version.
      await tx.$executeRaw`
        SELECT FROM conciliation.booking_line WHERE date = ${DAY}::date AND version = 1 FOR UPDATE`;
      const seen = { date: DAY, first: 0, last: 1_000, count: 1 };
      const decision = { by: 'ana', reason: 'restored', bookingsFrom: DAY };
      work.push(answerReceipts(database, seen, 'recorded', decision));
      await lockWaits(database);
      const late = takeReceipts(database, 'erp', [receiptOf('2:1')]);
      work.push(late);
      await Promise.race([late, lockWaits(database, 2), sleep(5_000)]);
    },
    { timeout: 120_000 },
  );
  await Promise.all(work);
  expect(
    await database.prisma.bookingReceipt.findMany({
      select: { occurrence: true, version: true, outcome: true },
      orderBy: { id: 'asc' },
    }),
  ).toEqual([
    { occurrence: 1, version: 2, outcome: 'recorded' },
    { occurrence: 2, version: 1, outcome: 'unknown_key' },
  ]);
});
