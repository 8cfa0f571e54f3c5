/** Several days that wait for the matching at the same time. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readWaitingDays, releaseWaitingDays } from '../../../src/bookings/release.sql.ts';
import { checkDays } from '../../../src/checks/check-day.sql.ts';
import { signOffDay } from '../../../src/ledger/sign-off.sql.ts';
import { runMatching } from '../../../src/matching/run-matching.sql.ts';
import { ANY_DAY_RULES } from '../../support/check-rules.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, daysFrom, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const DATES = [DAY, daysFrom(1), daysFrom(2)];

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());

test('days that waited for the matching are released, also where the checks have run on several days', async () => {
  const { database, sandbox } = world;
  await importPayables(database, [{ erpKey: 'k1', openValue: '77' }], 'snapshot');
  for (const date of DATES) {
    sandbox.setDayTexts(date, [titleText({ uid: `order of ${date}`, date })]);
    await world.pull(date);
  }
  await checkDays(database, ANY_DAY_RULES);
  for (const date of DATES) {
    const { contentDigest } = await database.prisma.day.findUniqueOrThrow({ where: { date } });
    await signOffDay(database, date, {
      ...{ by: 'rita', reason: null, seenDigest: contentDigest ?? '', fourEyes: false },
      bookingsFrom: DAY,
    });
  }
  expect(await releaseWaitingDays(database, {})).toEqual([]);
  await runMatching(database, { by: 'test' });
  expect(await releaseWaitingDays(database, {})).toEqual(DATES);
});

test('a day that waited is not released while a newer response of it is held', async () => {
  const { database, sandbox } = world;
  const date = daysFrom(3);
  const titles = ['1', '2'].map((number) => titleText({ uid: `held ${number}`, date }));
  sandbox.setDayTexts(date, titles);
  await world.pull(date);
  await checkDays(database, ANY_DAY_RULES);
  const { contentDigest } = await database.prisma.day.findUniqueOrThrow({ where: { date } });
  await signOffDay(database, date, {
    ...{ by: 'rita', reason: null, seenDigest: contentDigest ?? '', fourEyes: false },
    bookingsFrom: DAY,
  });
  sandbox.setDayTexts(date, []);
  await world.pull(date);
  await runMatching(database, { by: 'test' });
  expect(await releaseWaitingDays(database, {})).toEqual([]);
  expect(await readWaitingDays(database, {})).toEqual([
    { fault: 'not_reconciled', days: 1, titles: 0, value: expect.any(String), dates: [date] },
  ]);
  sandbox.setDayTexts(date, titles);
  await world.pull(date);
  expect(await releaseWaitingDays(database, {})).toEqual([date]);
});
