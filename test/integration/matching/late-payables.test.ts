import { afterAll, beforeAll, expect, test } from 'vitest';
import { readReleaseFaults } from '../../../src/bookings/release-conditions.sql.ts';
import { readWaitingTitles } from '../../../src/bookings/unposted.sql.ts';
import { checkDays } from '../../../src/checks/check-day.sql.ts';
import { isMatchingDue } from '../../../src/matching/run-matching.sql.ts';
import { ANY_DAY_RULES } from '../../support/check-rules.ts';
import { clearMatching, match, pullTitles } from '../../support/matching-world.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, openPullWorld, type PullWorld } from '../../support/pull-world.ts';

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

test('a title whose payable the ERP has paid after the run waits, and its day does not', async () => {
  await clearMatching(world.database);
  await pullTitles(world, [{ uid: 'a', value: '10' }]);
  await checkDays(world.database, ANY_DAY_RULES);
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '10' }], 'snapshot');
  await match(world.database);
  const waiting = async () => {
    const faults = await readReleaseFaults(world.database.prisma, DAY, {});
    expect(faults).toEqual([]);
    return (await readWaitingTitles(world.database, DAY)).map(({ orderUid }) => orderUid);
  };
  expect(await waiting()).toEqual([]);
  // Payables of other titles or of none.
  await importPayables(world.database, [
    { erpKey: 'k2', openValue: '11', status: 'paid' },
    { erpKey: 'k3', openValue: '10', dueDate: '2026-07-01', status: 'paid' },
  ]);
  expect(await waiting()).toEqual([]);
  await importPayables(world.database, [
    { erpKey: 'k2', openValue: '11', orderUid: 'a', status: 'paid' },
  ]);
  expect(await waiting()).toEqual(['a']);
  await importPayables(world.database, [{ erpKey: 'k2', openValue: '11', status: 'paid' }]);
  expect(await waiting()).toEqual([]);
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '10', status: 'paid' }]);
  expect(await waiting()).toEqual(['a']);
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '10' }]);
  expect(await waiting()).toEqual([]);
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '0', status: 'paid' }]);
  expect(await waiting()).toEqual(['a']);
});
