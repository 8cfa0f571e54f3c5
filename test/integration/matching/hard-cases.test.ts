import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listBreaks } from '../../../src/matching/breaks.sql.ts';
import { matchByPerson } from '../../../src/matching/match-decisions.sql.ts';
import { clearMatching, listMatches, match, pullTitles } from '../../support/matching-world.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());
beforeEach(() => clearMatching(world.database));

const lasting = async () => {
  await match(world.database);
  return listMatches(world.database);
};
const load = (...payables: Parameters<typeof importPayables>[1]) =>
  importPayables(world.database, payables);

async function breaks(): Promise<string[]> {
  const { breaks: found } = await listBreaks(world.database, {
    kind: null,
    date: null,
    supplier: null,
    offset: 0,
    limit: 50,
  });
  return found.map(
    ({ kind, title, payable }) => `${kind} ${title?.orderUid ?? '-'} ${payable?.erpKey ?? '-'}`,
  );
}

test('a partial payment keeps the match; a greater value ends the match', async () => {
  await pullTitles(world, [{ uid: 'a', value: '100' }]);
  await load({ erpKey: 'k1', openValue: '100', orderUid: 'a' });
  expect(await lasting()).toEqual(['a=k1 order']);
  await load({ erpKey: 'k1', openValue: '40', orderUid: 'a' });
  expect(await lasting()).toEqual(['a=k1 order']);
  expect(await breaks()).toEqual(['paid_in_part a k1']);
  await load({ erpKey: 'k1', openValue: '140', orderUid: 'a' });
  expect(await lasting()).toEqual([]);
  expect(await breaks()).toEqual(['value_differs a k1']);
});

test('a paid payable of the order is paid to the supplier, also where the ERP states what is left of it', async () => {
  await pullTitles(world, [
    { uid: 'a', value: '10' },
    { uid: 'b', value: '20', dueDate: '2026-07-30' },
    { uid: 'c', value: '30', dueDate: '2026-08-30' },
  ]);
  await load(
    { erpKey: 'k1', openValue: '0', orderUid: 'a', status: 'paid' },
    // Another instalment of the order.
    { erpKey: 'k2', openValue: '0.00', orderUid: 'b', status: 'paid', dueDate: '2026-06-30' },
    { erpKey: 'k4', openValue: '0.00', orderUid: 'b', status: 'paid', dueDate: '2026-05-30' },
    // Nothing tells what was paid.
    { erpKey: 'k3', openValue: '0', status: 'paid', dueDate: '2026-08-30' },
  );
  expect(await lasting()).toEqual([]);
  expect(await breaks()).toEqual([
    'paid_to_supplier a k1',
    'missing_in_erp c -',
    'missing_in_erp b -',
  ]);
});

test('instalments of one order are told apart by their due dates', async () => {
  await pullTitles(world, [
    { uid: 'a', value: '50', dueDate: '2026-06-30' },
    { uid: 'a', value: '50', dueDate: '2026-07-30' },
  ]);
  await load(
    { erpKey: 'k1', openValue: '50', orderUid: 'a', instalment: '1/2', dueDate: '2026-06-30' },
    { erpKey: 'k2', openValue: '50', orderUid: 'a', instalment: '2/2', dueDate: '2026-07-30' },
  );
  expect(await lasting()).toEqual(['a=k1 order', 'a=k2 order']);
});

test('instalments that the platform has as one title are a break of the value', async () => {
  await pullTitles(world, [{ uid: 'a', value: '100' }]);
  await load(
    { erpKey: 'k1', openValue: '50', orderUid: 'a', dueDate: '2026-06-30' },
    { erpKey: 'k2', openValue: '50', orderUid: 'a', dueDate: '2026-07-30' },
  );
  expect(await lasting()).toEqual([]);
  expect(await breaks()).toEqual(['value_differs a k1']);
});

test('a credit note alone is matched with no title', async () => {
  await pullTitles(world, [{ uid: 'a', value: '10' }]);
  await load({ erpKey: 'k1', openValue: '-10', orderUid: 'a' });
  expect(await lasting()).toEqual([]);
  expect(await breaks()).toEqual(['value_differs a k1']);
});

test('a payable that names another order is left to the title of that order', async () => {
  await pullTitles(world, [{ uid: 'a', value: '10' }]);
  await load({ erpKey: 'k1', openValue: '10', orderUid: 'later' });
  expect(await lasting()).toEqual([]);
  expect(await breaks()).toEqual(['in_doubt a k1', 'missing_on_platform - k1']);
  await pullTitles(world, [
    { uid: 'a', value: '10' },
    { uid: 'later', value: '10' },
  ]);
  await load({ erpKey: 'k2', openValue: '10', orderUid: 'a' });
  expect(await lasting()).toEqual(['a=k2 order', 'later=k1 order']);
});

test('copies that arrive after the match of the first one are matched, whatever their keys', async () => {
  const title = { uid: 'a', value: '10' };
  await pullTitles(world, [title]);
  await load({ erpKey: 'k9', openValue: '10' });
  expect(await lasting()).toEqual(['a=k9 exact']);
  await pullTitles(world, [title, title, title]);
  await load({ erpKey: 'k10', openValue: '10' }, { erpKey: 'k8', openValue: '10' });
  expect(await lasting()).toEqual(['a=k10 exact', 'a=k8 exact', 'a=k9 exact']);
});

test('copies that differ in the scale of a value only are a set', async () => {
  await pullTitles(world, [
    { uid: 'a', value: '1000' },
    { uid: 'a', value: '1000.00' },
  ]);
  await load({ erpKey: 'k1', openValue: '1000.0' }, { erpKey: 'k2', openValue: '1000' });
  expect(await lasting()).toEqual(['a=k1 exact', 'a=k2 exact']);
});

test.each([
  ['""', { supplierTaxId: '52998224725' }],
  ['"  "', { supplierTaxId: '52998224725' }],
  ['" P-1 "', {}],
])('blanks are no code of the supplier, and do not change one: %s', async (code, supplier) => {
  world.sandbox.setDayTexts(DAY, [
    titleText({ uid: 'a', value: '10' }).replaceAll('"P-1"', code),
    titleText({ uid: 'b', value: '20' }).replaceAll('"P-1"', code),
  ]);
  await world.pull(DAY, { withdrawalLimitPercent: 100 });
  await load(
    { erpKey: 'k1', openValue: '10', ...supplier },
    { erpKey: 'k2', openValue: '21', ...supplier },
  );
  expect(await lasting()).toEqual(['a=k1 exact']);
  expect(await breaks()).toEqual(['value_differs b k2']);
});

/** Titles of a day whose suppliers have no code of the ERP. */
async function pullTaxIds(...titles: readonly (readonly [string, string])[]) {
  world.sandbox.setDayTexts(
    DAY,
    titles.map(([uid, taxId]) =>
      titleText({ uid, value: '10', dueDate: '2026-06-30' })
        .replaceAll('"P-1"', 'null')
        .replaceAll(/("provider":\s*\{[^}]*"identification":\s*)"[^"]*"/g, `$1"${taxId}"`),
    ),
  );
  await world.pull(DAY, { withdrawalLimitPercent: 100 });
  expect(
    await world.database.prisma.title.count({
      where: { providerExternalId: null, providerIdentification: titles[0]?.[1] ?? '' },
    }),
  ).toBeGreaterThan(0);
}
const ofTaxId = (erpKey: string, supplierTaxId: string) => ({
  erpKey,
  openValue: '10',
  supplierExternalId: '',
  supplierTaxId,
});

const HEAD_OFFICE = '44555666000181';
const BRANCH = '44555666000262';

test('another branch of the company counts as the supplier only if the branch is unambiguous', async () => {
  await pullTaxIds(['a', HEAD_OFFICE]);
  await load(ofTaxId('k1', BRANCH));
  expect(await lasting()).toEqual(['a=k1 exact']);
  await clearMatching(world.database);
  // The ERP has two branches, so the branch counts, and the title is a break.
  await pullTaxIds(['a', HEAD_OFFICE]);
  await load(ofTaxId('k1', BRANCH), { ...ofTaxId('k2', '44555666000343'), openValue: '99' });
  expect(await lasting()).toEqual([]);
  expect(await breaks()).toEqual(['in_doubt a k1']);
});

test('the match of a person leaves a branch in doubt', async () => {
  await pullTaxIds(['a', HEAD_OFFICE], ['b', HEAD_OFFICE]);
  await load(ofTaxId('k1', BRANCH), { ...ofTaxId('k2', '44555666000343'), openValue: '99' });
  const { id } = await world.database.prisma.title.findFirstOrThrow({
    where: { orderUid: 'b', status: 'current' },
  });
  const decision = { by: 'rita', reason: 'confirmed' };
  await matchByPerson(world.database, { titleId: id, erpKey: 'k2' }, decision);
  expect(await lasting()).toEqual(['b=k2 person']);
});

test('masks and leading zeros of a tax identifier do not count', async () => {
  for (const [title, payable] of [
    ['1234567890', '01234567890'],
    ['0000000000191', '00.000.000/0001-91'],
    ['\u00a044.555.666/0001-81', HEAD_OFFICE],
  ] as const) {
    await pullTaxIds(['a', title]);
    await load(ofTaxId('k1', payable));
    expect(await lasting()).toEqual(['a=k1 exact']);
    await clearMatching(world.database);
  }
});

test.each([
  // The title may mean the CPF or the CNPJ.
  ['191', '00000000191'],
  ['191', '00000000000191'],
  ['00000000191', '00000000000191'],
  // The mask says CPF.
  ['000.000.001-91', '00000000000191'],
  // Wrong check digits: a text, which has no CNPJ root.
  ['44555666000180', HEAD_OFFICE],
])('the title of %s is not matched with a payable of %s', async (title, payable) => {
  await pullTaxIds(['a', title]);
  await load(ofTaxId('k1', payable));
  expect(await lasting()).toEqual([]);
});

test('an alphanumeric CNPJ is compared in upper case', async () => {
  await pullTaxIds(['a', '12abc34501de35']);
  await load(ofTaxId('k1', '12.ABC.345/01DE-35'));
  expect(await lasting()).toEqual(['a=k1 exact']);
});

test('leading zeros of a document do not hide a duplicate', async () => {
  await pullTitles(world, [{ uid: 'a', value: '10' }]);
  await load(
    { erpKey: 'k1', openValue: '10', document: '00123' },
    { erpKey: 'k2', openValue: '10', document: '123' },
  );
  expect(await lasting()).toEqual([]);
  expect(await breaks()).toEqual(['duplicated_in_erp a k1']);
});

test("a person's match without its title or payable stays, and is a break", async () => {
  await pullTitles(world, [
    { uid: 'a', value: '10' },
    { uid: 'b', value: '20' },
  ]);
  await load(
    { erpKey: 'k1', openValue: '11' },
    { erpKey: 'k2', openValue: '21', supplierExternalId: 'P-9' },
  );
  for (const [orderUid, erpKey] of [
    ['a', 'k1'],
    ['b', 'k2'],
  ] as const) {
    const { id } = await world.database.prisma.title.findFirstOrThrow({
      where: { orderUid, status: 'current' },
    });
    const decision = { by: 'rita', reason: 'confirmed' };
    await matchByPerson(world.database, { titleId: id, erpKey }, decision);
  }
  await pullTitles(world, [{ uid: 'b', value: '20' }]);
  await load({ erpKey: 'k2', openValue: '21', supplierExternalId: 'P-9', status: 'cancelled' });
  expect(await lasting()).toEqual(['a=k1 person', 'b=k2 person']);
  expect(await breaks()).toEqual(['match_lost b k2', 'match_lost a k1']);
});
