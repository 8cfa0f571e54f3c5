import { beforeEach, expect, test } from 'vitest';
import { InputError } from '../../../src/base/runtime/errors.ts';
import { checkPayables } from '../../../src/features/matching/payables/payable-file.ts';
import {
  addPayables,
  beginImport,
  endImport,
  IMPORT_KINDS,
  type ImportKind,
} from '../../../src/features/matching/payables/payable-import.sql.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { clearMatching } from '../../support/matching-world.ts';
import { lastAudit } from '../../support/pages-world.ts';
import { importPayables, type PayableFields } from '../../support/payables.ts';

const world = worldOfFile();
beforeEach(() => clearMatching(world.database));

const open = (erpKey: string, openValue: string) => ({ erpKey, openValue });
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
  await importPayables(world.database, [open('k1', '10'), open('k2', '20')]);
  const snapshot = await begin();
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '10', status: 'paid' }]);
  expect(await add(snapshot, [open('k1', '10'), open('k2', '20')])).toMatchObject({
    inserted: 0,
    changed: 0,
    unchanged: 1,
    outdated: 1,
    rejected: 0,
  });
  expect(await end(snapshot, null)).toMatchObject({ isComplete: true, closed: 0 });
  expect(await payables()).toEqual([
    { key: 'k1', status: 'paid', closed: false },
    { key: 'k2', status: 'open', closed: false },
  ]);
});

test('a snapshot without a payable closes nothing, unless the ERP states that there is none', async () => {
  await importPayables(world.database, [open('k1', '10')]);
  expect(await end(await begin(), null)).toMatchObject({ isComplete: false, closed: 0 });
  expect(await end(await begin(), 0)).toMatchObject({ isComplete: true, closed: 1 });
});

test.each(IMPORT_KINDS)(
  'a %s that began before a complete snapshot opens nothing',
  async (kind) => {
    await importPayables(world.database, [open('k1', '10')]);
    const outdated = await begin(kind);
    await add(outdated, [open('k2', '20')]);
    const snapshot = await begin();
    await add(snapshot, [open('k3', '30')]);
    expect(await end(snapshot, 1)).toMatchObject({ isComplete: true, closed: 2 });
    const late = [open('k1', '10'), open('k4', '40')];
    await expect(add(outdated, late)).rejects.toThrow(InputError);
    await expect(end(outdated, null)).rejects.toThrow(InputError);
    expect(await payables()).toEqual([
      { key: 'k1', status: 'open', closed: true },
      { key: 'k2', status: 'open', closed: true },
      { key: 'k3', status: 'open', closed: false },
    ]);
  },
);

const states = () =>
  world.database.prisma.$queryRaw<unknown[]>`
    SELECT erp_key AS key, open_value::text AS value, version, import_id IS NULL AS sql,
           closed_at IS NOT NULL AS closed
    FROM conciliation.erp_payable ORDER BY erp_key`;

/** Which of two statements about a payable lasts: that of the import that began first, or SQL that came after. */
test('a snapshot neither replaces nor closes what the ERP wrote by SQL after its start', async () => {
  await importPayables(world.database, [open('k1', '10'), open('k2', '20'), open('k3', '30')]);
  const snapshot = await begin();
  await world.database.prisma.$executeRaw`
    UPDATE conciliation.erp_payable SET open_value = open_value + 1 WHERE erp_key IN ('k1', 'k2')`;
  expect(await add(snapshot, [open('k1', '10'), open('k3', '30')])).toMatchObject({
    changed: 0,
    unchanged: 1,
    outdated: 1,
  });
  expect(await end(snapshot, null)).toMatchObject({ isComplete: true, closed: 0 });
  expect(await states()).toMatchObject([
    { key: 'k1', value: '11', closed: false },
    { key: 'k2', value: '21', closed: false },
    { key: 'k3', value: '30', closed: false },
  ]);
});

test('SQL after the start of a snapshot, in an older transaction, is not replaced by the snapshot', async () => {
  await importPayables(world.database, [open('k1', '10')]);
  const snapshot = await world.database.prisma.$transaction(async (tx) => {
    await tx.$queryRaw`SELECT now()::text`;
    const begun = await begin();
    await tx.$executeRaw`UPDATE conciliation.erp_payable SET open_value = 11`;
    return begun;
  });
  expect(await add(snapshot, [open('k1', '10')])).toMatchObject({ outdated: 1, changed: 0 });
  expect(await states()).toMatchObject([{ value: '11' }]);
});

test('a repeated request of an import does not undo SQL that came between', async () => {
  const snapshot = await begin();
  const batch = [open('k1', '10')];
  await add(snapshot, batch);
  await world.database.prisma.$executeRaw`UPDATE conciliation.erp_payable SET open_value = 11`;
  expect(await add(snapshot, batch)).toMatchObject({ outdated: 1, rejected: 0 });
  expect(await states()).toMatchObject([{ value: '11' }]);
});

const ages = () =>
  world.database.prisma.$queryRaw<unknown[]>`
    SELECT erp_key AS key, payable.stated_at = import.started_at AS as_of_start
    FROM conciliation.erp_payable AS payable, conciliation.erp_payable_import AS import
    WHERE import.id = (SELECT max(id) FROM conciliation.erp_payable_import) ORDER BY erp_key`;

test('a payable counts as of the start of the import that stated or closed it', async () => {
  await importPayables(world.database, [open('k1', '10'), open('k2', '20')]);
  const snapshot = await begin();
  await add(snapshot, [open('k1', '10')]);
  expect(await ages()).toEqual([
    { key: 'k1', as_of_start: true },
    { key: 'k2', as_of_start: false },
  ]);
  expect(await end(snapshot, 1)).toMatchObject({ closed: 1 });
  expect(await ages()).toEqual([
    { key: 'k1', as_of_start: true },
    { key: 'k2', as_of_start: true },
  ]);
});

const stateK = (fields: Partial<PayableFields>, kind: ImportKind = 'delta') =>
  importPayables(world.database, [{ erpKey: 'k', openValue: '100.00', ...fields }], kind);
const stored = async () =>
  (
    await world.database.prisma.$queryRaw<unknown[]>`
      SELECT open_value::text AS value, status, version FROM conciliation.erp_payable`
  )[0];

test('a late repetition of a delta changes nothing and is counted', async () => {
  await stateK({ openValue: '100.00', version: '9' });
  await stateK({ openValue: '40.00', version: '10' });
  expect(await stateK({ openValue: '100.00', version: '9' })).toMatchObject({
    changed: 0,
    unchanged: 0,
    outdated: 1,
    rejected: 0,
  });
  expect(await stored()).toEqual({ value: '40.00', status: 'open', version: '10' });
});

test('a later snapshot replaces a newer version, and names the payable', async () => {
  await stateK({ openValue: '40.00', version: '2' });
  const snapshot = await begin();
  expect(await add(snapshot, [{ erpKey: 'k', openValue: '100.00', version: '1' }])).toMatchObject({
    changed: 1,
    outdated: 0,
    downgraded: 1,
    downgradedKeys: ['k'],
  });
  expect(await end(snapshot, 1)).toMatchObject({ isComplete: true, downgraded: 1 });
  expect(await stored()).toMatchObject({ value: '100.00', version: '1' });
  expect(await lastAudit(world)).toMatchObject({
    details: { changed: 1, downgraded: 1, incomparable: 0, outdated: 0 },
  });
});

test.each([
  ['9', '10', true],
  ['+7', '007', false],
  ['2026-03-09', '2026-03-10', true],
  ['2026-03-10T09:00:00-03:00', '2026-03-10T11:30:00Z', false],
  ['2026-03-10T09:00-0300', '2026-03-10T12:00:00.001Z', true],
  ['2026-03-10 09:00:00', '2026-03-10T10:00', true],
  // Where the order is unknown, the later import is taken.
  ['2026-03-09', '2026-03-10T10:00:00', null],
  ['2026-03-10T09:00:00', '2026-03-10T10:00:00Z', null],
  ['2026-02-30', '2026-03-10', null],
  ['v1', 'v2', null],
  ['1', '2026-03-10', null],
  ['1.9', '1.10', null],
  [undefined, '2', null],
])('version %s after %s: older %s', async (version, present, isOlder) => {
  await stateK({ openValue: '40.00', version: present });
  const late = { openValue: '100.00', ...(version !== undefined && { version }) };
  expect(await stateK(late)).toMatchObject({
    changed: isOlder === true ? 0 : 1,
    outdated: isOlder === true ? 1 : 0,
    incomparable: isOlder === null ? 1 : 0,
  });
  expect(await stored()).toMatchObject({ value: isOlder === true ? '40.00' : '100.00' });
});

test('two deltas at once leave the newer version, in either order of their numbers', async () => {
  const { prisma } = world.database;
  for (const [first, second, value] of [
    ['2', '1', '2.00'],
    ['1', '2', '2.00'],
  ] as const) {
    await clearMatching(world.database);
    const versionOf = (version: string) => [
      { erpKey: 'k', openValue: `${version}.00`, version, supplierExternalId: 'P-1' },
    ];
    const [a, b] = [await begin('delta'), await begin('delta')];
    let waiting: Promise<unknown> = Promise.resolve();
    await prisma.$transaction(async (tx) => {
      await addPayables(tx, a, [...checkPayables(versionOf(first))]);
      // It reads no row of `k`, and waits for the key.
      waiting = add(b, versionOf(second));
      await lockWaits(world.database);
    });
    await waiting;
    expect(await stored()).toMatchObject({ value });
  }
});
