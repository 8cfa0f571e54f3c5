import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { undoMatch } from '../../../src/matching/match-decisions.sql.ts';
import { readDayMatching, readTitleMatches } from '../../../src/matching/match-reads.sql.ts';
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

const decision = { by: 'rita', reason: 'wrong documents' };
const lasting = () => listMatches(world.database);
const load = (
  ...payables: readonly { erpKey: string; openValue: string; [field: string]: string }[]
) => importPayables(world.database, payables);

test('a title is matched with the payables of its order that add up to its value', async () => {
  await pullTitles(world, [{ uid: 'a', value: '100.00' }]);
  await load(
    { erpKey: 'k1', openValue: '60.5', orderUid: 'a' },
    { erpKey: 'k2', openValue: '49.5', orderUid: 'a' },
    // A credit note is an item with a negative value.
    { erpKey: 'k3', openValue: '-10', orderUid: 'a' },
  );
  expect(await match(world.database)).toMatchObject({ matched: 1 });
  expect(await lasting()).toEqual(['a=k1 sum', 'a=k2 sum', 'a=k3 sum']);
  expect(await match(world.database)).toMatchObject({ matched: 0, reopened: 0 });
  expect(await readDayMatching(world.database, DAY, 30)).toMatchObject({ titles: 1, matched: 1 });
  // One payable changes, and the whole sum ends.
  await load({ erpKey: 'k2', openValue: '51', orderUid: 'a' });
  expect(await match(world.database)).toMatchObject({ matched: 0, reopened: 1 });
  expect(await lasting()).toEqual([]);
});

test('payables of one document are a sum; payables that share nothing are not', async () => {
  await pullTitles(world, [{ uid: 'a', value: '100' }]);
  await load(
    { erpKey: 'k1', openValue: '60', document: 'NF-1' },
    { erpKey: 'k2', openValue: '40', document: 'NF-2' },
  );
  expect(await match(world.database)).toMatchObject({ matched: 0 });
  // Another payable shares a document with one of the two.
  await load({ erpKey: 'k3', openValue: '7', document: 'NF-1' });
  expect(await match(world.database)).toMatchObject({ matched: 0 });
  await load({ erpKey: 'k3', openValue: '7', document: 'NF-1', status: 'cancelled' });
  // Leading zeros of a document do not count.
  await load({ erpKey: 'k1', openValue: '60', document: '0071' });
  await load({ erpKey: 'k2', openValue: '40', document: '71' });
  expect(await match(world.database)).toMatchObject({ matched: 1 });
});

test('titles of one order are matched with the payable of their sum, and undone together', async () => {
  await pullTitles(world, [
    { uid: 'a', value: '30' },
    { uid: 'a', value: '31' },
  ]);
  await load({ erpKey: 'k1', openValue: '61' });
  expect(await match(world.database)).toMatchObject({ matched: 1 });
  expect(await lasting()).toEqual(['a=k1 sum', 'a=k1 sum']);
  const [title] = await world.database.prisma.title.findMany({ where: { status: 'current' } });
  const [row] = await readTitleMatches(world.database, title?.id ?? 0n);
  expect(row).toMatchObject({ rule: 'sum', payable: { erpKey: 'k1' } });
  expect(row?.otherTitles).toHaveLength(1);
  await undoMatch(world.database, row?.id ?? 0n, decision);
  expect(await lasting()).toEqual([]);
  expect(await match(world.database)).toMatchObject({ matched: 0 });
});

test('two combinations, or a payable without the order that fits alone, leave the title without a match', async () => {
  await pullTitles(world, [{ uid: 'a', value: '100' }]);
  await load(
    { erpKey: 'k1', openValue: '60', orderUid: 'a' },
    { erpKey: 'k2', openValue: '40', orderUid: 'a' },
    { erpKey: 'k3', openValue: '40' },
  );
  expect(await match(world.database)).toMatchObject({ matched: 0 });
  await load({ erpKey: 'k3', openValue: '100', dueDate: '2026-07-02' });
  await match(world.database);
  expect(await lasting()).toEqual([]);
});

test('more candidates than the limit leave no sum', async () => {
  await pullTitles(world, [{ uid: 'a', value: '100' }]);
  const noise = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      erpKey: `n${index}`,
      openValue: String(1000 + 2 ** index),
    }));
  const parts = [
    { erpKey: 'k1', openValue: '60', orderUid: 'a' },
    { erpKey: 'k2', openValue: '40', orderUid: 'a' },
  ];
  await load(...parts, ...noise(11));
  expect(await match(world.database)).toMatchObject({ matched: 0 });
  await load({ erpKey: 'n10', openValue: '5', status: 'cancelled' });
  expect(await match(world.database)).toMatchObject({ matched: 1 });
});

test('a payable of a sum that has more titles than the limit leaves no sum', async () => {
  const titles = (noise: number) => [
    { uid: 'a', value: '100' },
    ...Array.from({ length: noise }, (_, index) => ({
      uid: `noise-${index}`,
      value: String(1000 + 2 ** index),
    })),
  ];
  await pullTitles(world, titles(12));
  await load(
    { erpKey: 'k1', openValue: '60', orderUid: 'a' },
    { erpKey: 'k2', openValue: '40', orderUid: 'a' },
  );
  expect(await match(world.database)).toMatchObject({ matched: 0 });
  await pullTitles(world, titles(11));
  expect(await match(world.database)).toMatchObject({ matched: 1 });
});

test('a payable without code whose tax identifier has more titles than the limit is no item of a sum', async () => {
  const pullWithOtherCode = async (count: number) => {
    const dueDate = '2026-06-30';
    const others = Array.from({ length: count }, (_, index) =>
      titleText({ uid: `other-${index}`, value: String(1000 + 2 ** index), dueDate }),
    );
    world.sandbox.setDayTexts(DAY, [
      titleText({ uid: 'a', value: '100', dueDate }),
      ...others.map((text) => text.replaceAll('"P-1"', '"P-2"')),
    ]);
    await world.pull(DAY, { withdrawalLimitPercent: 100 });
  };
  await pullWithOtherCode(12);
  await load(
    // The titles of both codes are candidates of this payable, and one title is a candidate of the others.
    {
      erpKey: 'k1',
      openValue: '60',
      orderUid: 'a',
      supplierExternalId: '',
      supplierTaxId: '52998224725',
    },
    { erpKey: 'k2', openValue: '40', orderUid: 'a' },
    { erpKey: 'k3', openValue: '7', orderUid: 'a' },
  );
  expect(await match(world.database)).toMatchObject({ matched: 0 });
  await pullWithOtherCode(11);
  expect(await match(world.database)).toMatchObject({ matched: 1 });
  expect(await lasting()).toEqual(['a=k1 sum', 'a=k2 sum']);
});

test('a payable that fits another title alone is no item of a sum', async () => {
  const other = [1, 2].map((number) => ({ uid: `u${number}`, value: '40', dueDate: '2026-07-02' }));
  await pullTitles(world, [{ uid: 'a', value: '100' }, ...other]);
  await load(
    { erpKey: 'k1', openValue: '60', orderUid: 'a' },
    { erpKey: 'k2', openValue: '40', orderUid: 'a' },
    { erpKey: 'k3', openValue: '7', orderUid: 'a' },
  );
  expect(await match(world.database)).toMatchObject({ matched: 0 });
  await pullTitles(world, [{ uid: 'a', value: '100' }]);
  expect(await match(world.database)).toMatchObject({ matched: 1 });
});

test('a title that fits another payable alone is no item of a sum', async () => {
  await pullTitles(
    world,
    ['60', '40', '7'].map((value) => ({ uid: 'a', value })),
  );
  const other = ['o1', 'o2'].map((erpKey) => ({ erpKey, openValue: '40', dueDate: '2026-07-02' }));
  await load({ erpKey: 'k1', openValue: '100' }, ...other);
  expect(await match(world.database)).toMatchObject({ matched: 0 });
  await load(...other.map((payable) => ({ ...payable, openValue: '5' })));
  expect(await match(world.database)).toMatchObject({ matched: 1 });
});

test('a sum of six items is not matched', async () => {
  await pullTitles(world, [{ uid: 'a', value: '63' }]);
  await load(
    ...[1, 2, 4, 8, 16, 32].map((part) => ({
      erpKey: `k${part}`,
      openValue: String(part),
      orderUid: 'a',
    })),
  );
  expect(await match(world.database)).toMatchObject({ matched: 0 });
});
