import { afterAll, beforeAll, expect, test } from 'vitest';
import { eraseParty } from '../../src/privacy/erase-party.sql.ts';
import { importPayables } from '../support/payables.ts';
import { DAY, openPullWorld, type PullWorld } from '../support/pull-world.ts';
import { titleText } from '../support/titles.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());

test('an erasure reaches the payables of the ERP and their rejects', async () => {
  const { database, sandbox } = world;
  sandbox.setDayTexts(DAY, [titleText()]);
  await world.pull(DAY);
  await importPayables(database, [
    { erpKey: 'k1', openValue: '10', supplierTaxId: '52998224725', payee: '52998224725' },
    { erpKey: 'k2', openValue: 'x', supplierTaxId: '52998224725' },
  ]);
  await eraseParty(database, { party: { taxId: '52998224725', externalId: null }, by: 'ana', reason: 'asked', isDryRun: false });
  const [{ left }] = await database.prisma.$queryRaw<[{ left: string[] }]>`
    SELECT array_agg(place) AS left FROM (
      SELECT 'erp_payable' AS place FROM conciliation.erp_payable AS p WHERE p::text LIKE '%52998224725%'
      UNION ALL SELECT 'erp_payable_reject' FROM conciliation.erp_payable_reject AS r WHERE r::text LIKE '%52998224725%'
      UNION ALL SELECT 'check_finding' FROM conciliation.check_finding AS r WHERE r::text LIKE '%52998224725%'
      UNION ALL SELECT 'pull' FROM conciliation.pull AS r WHERE r::text LIKE '%52998224725%'
      UNION ALL SELECT 'match' FROM conciliation.title_match AS r WHERE r::text LIKE '%52998224725%') AS places`;
  expect(left).toBeNull();
});
