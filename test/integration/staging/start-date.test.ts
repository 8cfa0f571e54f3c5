import { afterAll, beforeAll, expect, test } from 'vitest';
import { readCheckpoint } from '../../../src/staging/reads.ts';
import { correctStartDate } from '../../../src/staging/start-date.ts';
import { DAY, daysFrom, openPullWorld, type PullWorld } from '../../support/pull-world.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());

test('a start date that is corrected while dates are merged counts them all', async () => {
  const decision = { by: 'test', reason: 'test' };
  // The ledger begins ever earlier: after each round, with two more dates before.
  for (let first = 0; first > -40; first -= 2) {
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
    });
  }
});
