import { expect, test } from 'vitest';
import { erase } from '../../support/erase.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { listMatches, match, pullTitles } from '../../support/matching-world.ts';
import { importPayables } from '../../support/payables.ts';

/** The provider of `titleText`. */
const TAX_ID = '52998224725';

const world = worldOfFile();

/** The latest instant as of which a row counts. */
async function readAge(): Promise<string> {
  const [row] = await world.database.prisma.$queryRaw<[{ at: string }]>`
    SELECT max(stated_at)::text AS at FROM conciliation.erp_payable`;
  return row.at;
}

test('an erasure reaches the payables of the ERP and their rejects, and the match lasts', async () => {
  const { database } = world;
  await pullTitles(world, [{ uid: 'a', value: '10' }]);
  await importPayables(database, [
    { erpKey: 'k1', openValue: '10', supplierTaxId: TAX_ID },
    { erpKey: 'k2', openValue: '20', supplierExternalId: 'P-2', payee: TAX_ID },
    { erpKey: 'k3', openValue: 'not an amount', supplierTaxId: TAX_ID },
    { erpKey: 'k4', openValue: '30', supplierExternalId: 'P-2', supplierTaxId: '11222333000181' },
    { erpKey: 'k5', openValue: '50', supplierExternalId: 'P-2', paidTo: TAX_ID },
  ]);
  await match(database);
  const before = await readAge();
  const { pseudonym, counts } = await erase(database, { taxId: TAX_ID });
  expect(counts).toMatchObject({ payables: 3, payableRejects: 1 });
  expect(
    await database.prisma.erpPayable.findMany({
      select: { supplierExternalId: true, supplierTaxId: true, payee: true, paidTo: true },
      orderBy: { erpKey: 'asc' },
    }),
  ).toEqual([
    { supplierExternalId: pseudonym, supplierTaxId: null, payee: null, paidTo: null },
    { supplierExternalId: 'P-2', supplierTaxId: null, payee: null, paidTo: null },
    { supplierExternalId: 'P-2', supplierTaxId: '11222333000181', payee: null, paidTo: null },
    { supplierExternalId: 'P-2', supplierTaxId: null, payee: null, paidTo: null },
  ]);
  // An erasure states nothing about the payables.
  const [{ isKept }] = await database.prisma.$queryRaw<[{ isKept: boolean }]>`
    SELECT max(stated_at) <= ${before}::timestamptz + interval '1 microsecond' AS "isKept"
    FROM conciliation.erp_payable`;
  expect(isKept).toBe(true);
  expect(await database.prisma.erpPayableReject.findMany({ select: { raw: true } })).toEqual([
    { raw: '' },
  ]);
  await match(database);
  expect(await listMatches(database)).toEqual(['a=k1 exact']);
});
