import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { checkPayables } from '../../../src/payables/payable-file.ts';
import {
  addPayables,
  beginImport,
  endImport,
  IMPORT_KINDS,
  type ImportKind,
} from '../../../src/payables/payable-import.sql.ts';
import { InputError } from '../../../src/runtime/errors.ts';
import { clearMatching } from '../../support/matching-world.ts';
import { importPayables, type PayableFields } from '../../support/payables.ts';
import { openPullWorld, type PullWorld } from '../../support/pull-world.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());
beforeEach(() => clearMatching(world.database));

const begin = (kind: ImportKind = 'snapshot') =>
  beginImport(world.database.prisma, { kind, by: 'test' });
const add = (importId: bigint, payables: readonly PayableFields[]) => {
  const rows = payables.map((payable) => ({
    ...{ supplierExternalId: 'P-1', dueDate: '2026-06-30' },
    ...payable,
  }));
  return world.database.prisma.$transaction((tx) =>
    addPayables(tx, importId, [...checkPayables(rows)]),
  );
};
const end = (importId: bigint, announced: number | null) =>
  world.database.prisma.$transaction((tx) => endImport(tx, importId, { by: 'test', announced }));
const payables = () =>
  world.database.prisma.$queryRaw<unknown[]>`
    SELECT erp_key AS key, status, closed_at IS NOT NULL AS closed
    FROM conciliation.erp_payable ORDER BY erp_key`;

test('a snapshot does not undo a delta that began after it', async () => {
  await importPayables(world.database, [
    { erpKey: 'k1', openValue: '10' },
    { erpKey: 'k2', openValue: '20' },
  ]);
  const snapshot = await begin();
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '10', status: 'paid' }]);
  expect(
    await add(snapshot, [
      { erpKey: 'k1', openValue: '10' },
      { erpKey: 'k2', openValue: '20' },
    ]),
  ).toMatchObject({ inserted: 0, changed: 0, unchanged: 2, rejected: 0 });
  expect(await end(snapshot, null)).toMatchObject({ isComplete: true, closed: 0 });
  expect(await payables()).toEqual([
    { key: 'k1', status: 'paid', closed: false },
    { key: 'k2', status: 'open', closed: false },
  ]);
});

test('a snapshot without a payable closes nothing, unless the ERP states that there is none', async () => {
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '10' }]);
  expect(await end(await begin(), null)).toMatchObject({ isComplete: false, closed: 0 });
  expect(await end(await begin(), 0)).toMatchObject({ isComplete: true, closed: 1 });
});

test.each(IMPORT_KINDS)(
  'a %s that began before a complete snapshot opens nothing',
  async (kind) => {
    await importPayables(world.database, [{ erpKey: 'k1', openValue: '10' }]);
    const outdated = await begin(kind);
    await add(outdated, [{ erpKey: 'k2', openValue: '20' }]);
    const snapshot = await begin();
    await add(snapshot, [{ erpKey: 'k3', openValue: '30' }]);
    expect(await end(snapshot, 1)).toMatchObject({ isComplete: true, closed: 2 });
    const late = [
      { erpKey: 'k1', openValue: '10' },
      { erpKey: 'k4', openValue: '40' },
    ];
    await expect(add(outdated, late)).rejects.toThrow(InputError);
    await expect(end(outdated, null)).rejects.toThrow(InputError);
    expect(await payables()).toEqual([
      { key: 'k1', status: 'open', closed: true },
      { key: 'k2', status: 'open', closed: true },
      { key: 'k3', status: 'open', closed: false },
    ]);
  },
);
