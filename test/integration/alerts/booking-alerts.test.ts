import { beforeAll, expect, test } from 'vitest';
import { setConsumer } from '../../../src/features/bookings/consumers.ts';
import { readFeed } from '../../../src/features/bookings/feed.sql.ts';
import { takeReceipts } from '../../../src/features/bookings/receipt-decisions.sql.ts';
import { releaseWaitingDays } from '../../../src/features/bookings/release.sql.ts';
import { checkAnyDay, signDay } from '../../support/days.ts';
import { match } from '../../support/matching-world.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, daysFrom, worldOfFile } from '../../support/pull-world.ts';
import { failureOf, receiptOf } from '../../support/receipts.ts';
import { titlesOf, titleText } from '../../support/titles.ts';
import { openKeys, readAlerts } from './alert-table.ts';

const HOUR = 3_600_000;
const FIVE_MINUTES = 300_000;
/** The buyer of `titleText`. */
const BUYER = '90021382000122';

const world = worldOfFile();
let releasedAt: number;
beforeAll(async () => {
  const consumer = { databaseRole: null, apiKeyId: null };
  await setConsumer(world.database, { ...consumer, name: 'sul', buyers: [BUYER] }, 'test');
  const uids = ['a', 'b', 'c'];
  await world.serve(DAY, titlesOf(uids));
  await signDay(world.database, DAY, { bookingsFrom: DAY });
  const batch = await world.prisma.bookingBatch.findFirstOrThrow();
  releasedAt = batch.releasedAt.getTime();
});

async function kindsAfter(milliseconds: number): Promise<string[]> {
  const open = await openKeys(world.database, new Date(releasedAt + milliseconds));
  return open.filter((key) => key.startsWith('booking_'));
}

const feed = (after: bigint) => readFeed(world.database, 'sul', { after, limit: 100 });

async function answer(status: 'posted' | 'failed') {
  const { lines } = await feed(0n);
  const receipts = lines.map((line) =>
    status === 'posted' ? receiptOf(line) : failureOf(line, 'closed period'),
  );
  await takeReceipts(world.database, 'sul', receipts);
}

test('a consumer that does not read is behind within five minutes of the limit of a day', async () => {
  expect(await kindsAfter(24 * HOUR - 1_000)).toEqual([]);
  expect(await kindsAfter(24 * HOUR + FIVE_MINUTES)).toEqual(['booking_overdue:sul']);
  const [alert] = await readAlerts(world.database);
  expect(alert).toMatchObject({ message: expect.stringContaining('sul') });
});

test('a stated position ends the alert, also when stated twice, and an earlier one raises it again', async () => {
  const { next } = await feed(0n);
  await feed(BigInt(next));
  await feed(BigInt(next));
  expect(await kindsAfter(24 * HOUR + FIVE_MINUTES)).toEqual([]);
  await feed(0n);
  expect(await kindsAfter(24 * HOUR + FIVE_MINUTES)).toEqual(['booking_overdue:sul']);
});

test('lines without an answer are overdue after two days', async () => {
  const { next } = await feed(0n);
  await feed(BigInt(next));
  expect(await kindsAfter(48 * HOUR - 1_000)).toEqual([]);
  expect(await kindsAfter(48 * HOUR + FIVE_MINUTES)).toEqual(['booking_overdue']);
});

test('failed lines raise an alert until they are posted, and are not overdue as well', async () => {
  await answer('failed');
  const { next } = await feed(0n);
  await feed(BigInt(next));
  expect(await kindsAfter(48 * HOUR + FIVE_MINUTES)).toEqual(['booking_failed']);
  await answer('posted');
  expect(await kindsAfter(48 * HOUR + FIVE_MINUTES)).toEqual([]);
});

test('a consumer that posts without a stated position is not behind', async () => {
  await feed(0n);
  expect(await kindsAfter(48 * HOUR)).toEqual([]);
});

test('a signed-off day that is not released, although no person has to decide, raises an alert after a day', async () => {
  const date = daysFrom(1, DAY);
  await world.serve(date, [titleText({ uid: 'w', date })]);
  await checkAnyDay(world.database);
  // The payables are known, and no matching has run.
  await importPayables(world.database, [{ erpKey: 'AP-1', openValue: '7' }], 'snapshot');
  await signDay(world.database, date, { bookingsFrom: DAY });
  const seal = await world.prisma.signOff.findFirstOrThrow({ orderBy: { id: 'desc' } });
  const signed = seal.signedOffAt.getTime() - releasedAt;
  expect(await kindsAfter(signed + 24 * HOUR - 1_000)).not.toContain('booking_waiting');
  expect(await kindsAfter(signed + 24 * HOUR + FIVE_MINUTES)).toContain('booking_waiting');
  await match(world.database);
  expect(await releaseWaitingDays(world.database, {})).toEqual([date]);
  expect(await kindsAfter(signed + 24 * HOUR + FIVE_MINUTES)).not.toContain('booking_waiting');
});
