import { expect, test } from 'vitest';
import { correctStartDate } from '../../../src/cli/ledger.sql.ts';
import { readCheckpoint } from '../../../src/core/ledger/pull-requests.sql.ts';
import { DAY, daysFrom, worldOfFile } from '../../support/pull-world.ts';
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
  const failed = await world.attempt(third, { retry: { attempts: 1, backoffSeconds: 1 } });
  expect(failed.kind).toBe('failed');
  expect(await checkpoint()).toBe(daysFrom(1));
  const where = { date: third };
  const day = await world.prisma.day.findUniqueOrThrow({ where });
  expect(day.state).toBe('failed');

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

const GAP = daysFrom(-200);
const LATEST = daysFrom(-100);
const decision = { by: 'test', reason: 'test' };

test('a corrected start date takes the checkpoint back to before the first gap', async () => {
  const correct = (days: number) => correctStartDate(world.database, daysFrom(days, GAP), decision);
  for (const days of [-3, -2, 1, 2]) await world.pull(daysFrom(days, GAP));
  expect(await correct(1)).toMatchObject({ lastReconciledDate: daysFrom(2, GAP) });
  expect(await correct(-3)).toMatchObject({ lastReconciledDate: daysFrom(-2, GAP) });
  expect(await correct(0)).toMatchObject({ lastReconciledDate: null });
  expect(await correct(2)).toMatchObject({ lastReconciledDate: daysFrom(2, GAP) });
});

test('a start date that is corrected while dates are merged counts them all', async () => {
  await correctStartDate(world.database, LATEST, decision);
  // The ledger begins ever earlier: after each round, with two more dates before.
  for (let first = 0; first > -12; first -= 2) {
    const [earlier, later] = [daysFrom(first - 2, LATEST), daysFrom(first - 1, LATEST)];
    await Promise.all([
      world.pull(earlier),
      correctStartDate(world.database, earlier, decision),
      world.pull(later),
      ...(first === 0 ? [world.pull(LATEST)] : []),
    ]);
    expect(await readCheckpoint(world.database)).toEqual({
      startDate: earlier,
      lastReconciledDate: LATEST,
      pause: null,
    });
  }
});
