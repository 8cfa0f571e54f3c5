import { afterAll, beforeAll, expect, test } from 'vitest';
import { isMatchingDue } from '../../../src/matching/run-matching.sql.ts';
import { match, pullTitles } from '../../support/matching-world.ts';
import { importPayables } from '../../support/payables.ts';
import { openPullWorld, type PullWorld } from '../../support/pull-world.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());

const isDue = () => isMatchingDue(world.database, 24);

test.each([
  [
    'new',
    `INSERT INTO conciliation.erp_payable (erp_key, supplier_external_id, open_value) VALUES ('k2', 'P-1', 20)`,
  ],
  ['changed', `UPDATE conciliation.erp_payable SET status = 'paid' WHERE erp_key = 'k1'`],
])('a %s payable that is committed after a run began makes a run due', async (_, statement) => {
  await pullTitles(world, [{ uid: 'a', value: '10' }]);
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '10' }], 'snapshot');
  await match(world.database);
  expect(await isDue()).toBe(false);
  await world.database.prisma.$transaction(
    async (tx) => {
      await tx.$executeRawUnsafe(statement);
      await match(world.database);
      expect(await isDue()).toBe(false);
    },
    { timeout: 60_000 },
  );
  expect(await isDue()).toBe(true);
  await match(world.database);
  expect(await isDue()).toBe(false);
});
