import { afterAll, beforeAll, expect, test } from 'vitest';
import { listMatches, match, pullTitles } from '../support/matching-world.ts';
import { importPayables } from '../support/payables.ts';
import { openPullWorld, type PullWorld } from '../support/pull-world.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());
test('equal rows are matched as a set also where one of them is replaced', async () => {
  await pullTitles(world, [{ uid: 'a', value: '10' }, { uid: 'a', value: '10' }]);
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '10' }, { erpKey: 'k2', openValue: '10' }], 'snapshot');
  await match(world.database);
  expect(await listMatches(world.database)).toHaveLength(2);
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '10', status: 'cancelled' }]);
  await match(world.database);
  await importPayables(world.database, [{ erpKey: 'k3', openValue: '10' }]);
  await match(world.database);
  expect(await listMatches(world.database)).toHaveLength(2);
});
