import { expect, test } from 'vitest';
import { correctStartDate } from '../../../src/cli/ledger.sql.ts';
import { readCheckpoint } from '../../../src/core/planner/planner.sql.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';

const GAP = daysFrom(-200);

const world = worldOfFile();

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
  await correctStartDate(world.database, DAY, decision);
  // The ledger begins ever earlier: after each round, with two more dates before.
  for (let first = 0; first > -12; first -= 2) {
    const [earlier, later] = [daysFrom(first - 2), daysFrom(first - 1)];
    await Promise.all([
      world.pull(earlier),
      correctStartDate(world.database, earlier, decision),
      world.pull(later),
      ...(first === 0 ? [world.pull(DAY)] : []),
    ]);
    expect(await readCheckpoint(world.database)).toEqual({
      startDate: earlier,
      lastReconciledDate: DAY,
      pause: null,
    });
  }
});
