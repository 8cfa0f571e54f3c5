import { afterAll, beforeAll, expect, test } from 'vitest';
import { eraseParty } from '../../../src/privacy/erase-party.sql.ts';
import { listMatches, match, pullTitles } from '../../support/matching-world.ts';
import { importPayables } from '../../support/payables.ts';
import { openPullWorld, type PullWorld } from '../../support/pull-world.ts';

/** The provider of `titleText`. */
const TAX_ID = '52998224725';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());

test('an erasure reaches the payables of the ERP and their rejects, and the match lasts', async () => {
  const { database } = world;
  await pullTitles(world, [{ uid: 'a', value: '10' }]);
  await importPayables(database, [
    { erpKey: 'k1', openValue: '10', supplierTaxId: TAX_ID },
    { erpKey: 'k2', openValue: '20', supplierExternalId: 'P-2', payee: TAX_ID },
    { erpKey: 'k3', openValue: 'not an amount', supplierTaxId: TAX_ID },
    { erpKey: 'k4', openValue: '30', supplierExternalId: 'P-2', supplierTaxId: '11222333000181' },
  ]);
  await match(database);
  const { pseudonym, counts } = await eraseParty(database, {
    party: { taxId: TAX_ID, externalId: null },
    by: 'test',
    reason: 'a test',
    isDryRun: false,
  });
  expect(counts).toMatchObject({ payables: 2, payableRejects: 1 });
  expect(
    await database.prisma.erpPayable.findMany({
      select: { supplierExternalId: true, supplierTaxId: true, payee: true },
      orderBy: { erpKey: 'asc' },
    }),
  ).toEqual([
    { supplierExternalId: pseudonym, supplierTaxId: null, payee: null },
    { supplierExternalId: 'P-2', supplierTaxId: null, payee: null },
    { supplierExternalId: 'P-2', supplierTaxId: '11222333000181', payee: null },
  ]);
  expect(await database.prisma.erpPayableReject.findMany({ select: { raw: true } })).toEqual([
    { raw: '' },
  ]);
  await match(database);
  expect(await listMatches(database)).toEqual(['a=k1 exact']);
});
