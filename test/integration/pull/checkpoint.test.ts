import { expect, test } from 'vitest';
import { readCheckpoint } from '../../../src/core/planner/planner.sql.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const world = worldOfFile();

const checkpoint = async () => (await readCheckpoint(world.database))?.lastReconciledDate;

test('the checkpoint stops before a gap and passes it when the gap is closed', async () => {
  const days = [0, 1, 2, 3, 4].map((offset) => daysFrom(offset));
  const third = daysFrom(2);
  for (const date of days) world.sandbox.setDayTexts(date, [titleText({ date })]);
  world.sandbox.faults.add({ kind: 'status', status: 500, date: third, times: 'forever' });

  for (const date of days) {
    if (date !== third) await world.pull(date);
  }
  const failed = await world.attempt(third, {
    retry: { attempts: 1, backoffSeconds: 1 },
  });
  expect(failed.kind).toBe('failed');
  expect(await checkpoint()).toBe(daysFrom(1));
  const day = await world.database.prisma
    .$queryRaw`SELECT state FROM conciliation.day WHERE date = ${third}::date`;
  expect(day).toEqual([{ state: 'failed' }]);

  world.sandbox.faults.clear();
  await world.pull(third);
  expect(await checkpoint()).toBe(daysFrom(4));
});

test('the checkpoint never goes back when a reconciled day needs attention later', async () => {
  await world.serve(DAY, ['{}'], { withdrawalLimitPercent: 100 });
  expect(await checkpoint()).toBe(daysFrom(4));
});

test('gaps that are closed at the same moment are both passed', async () => {
  const dates = [5, 6, 7, 8, 9, 10].map((offset) => daysFrom(offset));
  for (const date of dates) world.sandbox.setDayTexts(date, [titleText({ date })]);
  await Promise.all(dates.map((date) => world.pull(date)));
  expect(await checkpoint()).toBe(daysFrom(10));
});
