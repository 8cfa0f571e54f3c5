/** BOOKINGS_FROM is moved while signed-off days wait for their release. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { deriveAlerts } from '../../../src/alerts/derive-alerts.sql.ts';
import { enterBookedOutside } from '../../../src/bookings/booked-outside.sql.ts';
import { readWaitingDays, releaseWaitingDays } from '../../../src/bookings/release.sql.ts';
import { checkDays } from '../../../src/checks/check-day.sql.ts';
import type { CivilDate } from '../../../src/domain/business-day.ts';
import { signOffDay } from '../../../src/ledger/sign-off.sql.ts';
import { runMatching } from '../../../src/matching/run-matching.sql.ts';
import { ANY_DAY_RULES } from '../../support/check-rules.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, daysFrom, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const NEXT = daysFrom(1);
const LATER = daysFrom(30);
const HOURS_AFTER = 25 * 3_600_000;

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());

let date: CivilDate = DAY;
beforeEach(async () => {
  date = date === DAY ? NEXT : daysFrom(1, date);
});

async function pull(...discounts: string[]) {
  world.sandbox.setDayTexts(
    date,
    discounts.map((discount, index) => titleText({ uid: `order ${index}`, date, discount })),
  );
  await world.pull(date);
  await checkDays(world.database, ANY_DAY_RULES);
}

async function sign(bookingsFrom: CivilDate | null) {
  const { contentDigest } = await world.database.prisma.day.findUniqueOrThrow({ where: { date } });
  await signOffDay(world.database, date, {
    ...{ by: 'rita', reason: null, seenDigest: contentDigest ?? '', fourEyes: false },
    bookingsFrom,
  });
}

const lines = () => world.database.prisma.bookingLine.count({ where: { date } });
const enter = (bookingsFrom: CivilDate) =>
  enterBookedOutside(
    world.database,
    {
      ...{ from: date, to: date, titles: 1, originalValue: '1000.50' },
      ...{ signedBefore: null, bookingsFrom },
    },
    { by: 'ana', reason: 'booked by hand' },
  );

/** Whether the alert about days that are not released is raised a day after now. */
async function isWaitingAlerted(bookingsFrom: CivilDate | null): Promise<boolean> {
  const { database } = world;
  await deriveAlerts(database, new Date(Date.now() + HOURS_AFTER), {
    ...{ timeZone: 'America/Sao_Paulo', maxLagDays: 1_000_000, maxIdleHours: 1_000_000 },
    bookingsFrom,
  });
  const where = { kind: 'booking_waiting', resolvedAt: null };
  return (await database.prisma.alert.count({ where })) > 0;
}

test('a day that waited is not released once BOOKINGS_FROM is a later date, and is entered as booked outside', async () => {
  const { database } = world;
  await importPayables(database, [{ erpKey: 'k1', openValue: '77' }], 'snapshot');
  await pull('1');
  await sign(DAY);
  expect(await lines()).toBe(0);
  await runMatching(database, { by: 'test' });
  expect(await releaseWaitingDays(database, { bookingsFrom: LATER })).toEqual([]);
  expect(await lines()).toBe(0);
  expect(await readWaitingDays(database, { bookingsFrom: LATER })).toEqual([
    { fault: 'booked_outside', days: 1, titles: 0, dates: [date] },
  ]);
  expect(await enter(LATER)).toEqual([date]);
  expect(await readWaitingDays(database, { bookingsFrom: LATER })).toEqual([]);
  expect(await releaseWaitingDays(database, { bookingsFrom: DAY })).toEqual([]);
  const { state } = await database.prisma.bookingLine.findFirstOrThrow({ where: { date } });
  expect(state).toBe('posted');
});

test('a day that waited and is signed off again after BOOKINGS_FROM was moved later releases nothing', async () => {
  await pull('1');
  await sign(DAY);
  expect(await lines()).toBe(0);
  await pull('2');
  await runMatching(world.database, { by: 'test' });
  await sign(LATER);
  expect(await lines()).toBe(0);
  await expect(enter(DAY)).rejects.toThrow('no signed-off day waits');
  expect(await enter(LATER)).toEqual([date]);
});

test('a day from BOOKINGS_FROM on whose first seal is older raises the alert until its bookings are recorded', async () => {
  await pull('1');
  await sign(null);
  await runMatching(world.database, { by: 'test' });
  expect(await isWaitingAlerted(null)).toBe(false);
  expect(await isWaitingAlerted(date)).toBe(true);
  await enter(date);
  expect(await isWaitingAlerted(date)).toBe(false);
});

test('a day before BOOKINGS_FROM raises the alert once another content is signed off', async () => {
  await pull('1');
  await sign(null);
  await runMatching(world.database, { by: 'test' });
  expect(await isWaitingAlerted(LATER)).toBe(false);
  await pull('2');
  await sign(LATER);
  expect(await isWaitingAlerted(LATER)).toBe(true);
});
