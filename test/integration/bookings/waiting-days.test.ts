/** Several days that wait for the matching at the same time. */
import { expect, test } from 'vitest';
import { readWaitingDays, releaseWaitingDays } from '../../../src/features/bookings/release.sql.ts';
import { runMatching } from '../../../src/features/matching/run-matching.sql.ts';
import { pullDay, signDay } from '../../support/days.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { payablesOf } from '../../support/matching-world.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';

const DATES = [DAY, daysFrom(1), daysFrom(2)];

const world = worldOfFile();

test('days that waited for the matching are released, also where the checks have run on several days', async () => {
  const { database } = world;
  await importPayables(database, payablesOf('k1 77'), 'snapshot');
  for (const date of DATES) await pullDay(world, date, { uid: `order of ${date}` });
  for (const date of DATES) await signDay(database, date, { by: 'rita' });
  expect(await releaseWaitingDays(database, {})).toEqual([]);
  await runMatching(database, { by: 'test' });
  expect(await releaseWaitingDays(database, {})).toEqual(DATES);
});

test('a day that waited is not released while a newer response of it is held', async () => {
  const { database, sandbox } = world;
  const date = daysFrom(3);
  const titles = ['1', '2'].map((number) => ({ uid: `held ${number}` }));
  await pullDay(world, date, ...titles);
  await signDay(database, date, { by: 'rita' });
  sandbox.setDayTexts(date, []);
  await world.pull(date);
  await runMatching(database, { by: 'test' });
  expect(await releaseWaitingDays(database, {})).toEqual([]);
  expect(await readWaitingDays(database, {})).toEqual([
    { fault: 'not_reconciled', days: 1, titles: 0, value: expect.any(String), dates: [date] },
  ]);
  await pullDay(world, date, ...titles);
  expect(await releaseWaitingDays(database, {})).toEqual([date]);
});
