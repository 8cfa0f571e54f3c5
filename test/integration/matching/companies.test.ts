/** The companies of payables, the buyers that they stand for, and the tax identifiers of financial agents. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  clearMatching,
  listMatches,
  match,
  pullTitles,
  TITLE_AGENT,
  TITLE_BUYER,
} from '../../support/matching-world.ts';
import { importPayables } from '../../support/payables.ts';
import { openPullWorld, type PullWorld } from '../../support/pull-world.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());
beforeEach(() => clearMatching(world.database));

const OTHER_BUYER = '44555666000181';
const BRANCH = '90021382000203';
const load = (...payables: Parameters<typeof importPayables>[1]) =>
  importPayables(world.database, payables);
const matched = async () => {
  await match(world.database);
  return listMatches(world.database);
};
const mapTo = (company: string, buyer: string) =>
  world.database.prisma.companyBuyer.create({
    data: { company, buyer, confirmedBy: 'rita', reason: 'list of branches' },
  });
const setPayable = (erpKey: string, data: { bookingKey?: string; currency?: string }) =>
  world.database.prisma.erpPayable.update({ where: { erpKey }, data });

describe('companies', () => {
  test('that are CNPJs divide equal titles of ten buyers', async () => {
    const cnpjs = Array.from({ length: 10 }, (_, index) => cnpjOf(`${10 + index}345678`));
    await pullTitles(
      world,
      cnpjs.map((buyer, index) => ({ uid: `t${index}`, value: '10', buyer })),
    );
    await load(
      ...cnpjs.map((company, index) => ({ erpKey: `k${index}`, openValue: '10', company })),
    );
    expect(await matched()).toEqual(cnpjs.map((_, index) => `t${index}=k${index} exact`));
  });

  test('are compared with a buyer that has lost its zeros', async () => {
    await pullTitles(world, [
      { uid: 'a', value: '10', buyer: '191' },
      { uid: 'b', value: '10', buyer: OTHER_BUYER },
    ]);
    await load({ erpKey: 'k1', openValue: '10', company: '00.000.000/0001-91' });
    expect(await matched()).toEqual(['a=k1 exact']);
  });

  test('of another CNPJ root are never matched, not even by the order', async () => {
    await pullTitles(world, [{ uid: 'a', value: '10' }]);
    await load({ erpKey: 'k1', openValue: '10', orderUid: 'a', company: '44.555.666/0001-81' });
    expect(await matched()).toEqual([]);
    await load({ erpKey: 'k1', openValue: '10', orderUid: 'a', company: '90.021.382/0001-22' });
    expect(await matched()).toEqual(['a=k1 order']);
  });

  test('that are another branch are not matched where both sides name both branches', async () => {
    await pullTitles(world, [{ uid: 'a', value: '10' }]);
    await load({ erpKey: 'k1', openValue: '10', company: BRANCH });
    // A contract names the head office for its branches.
    expect(await matched()).toEqual(['a=k1 exact']);
    await clearMatching(world.database);
    await pullTitles(world, [
      { uid: 'a', value: '10' },
      { uid: 'b', value: '20', buyer: BRANCH },
    ]);
    await load(
      { erpKey: 'k1', openValue: '10', company: BRANCH },
      { erpKey: 'k2', openValue: '99', company: TITLE_BUYER },
    );
    expect(await matched()).toEqual([]);
  });

  test('with a code match the only buyer, and no title of several buyers until a person maps the code', async () => {
    await pullTitles(world, [{ uid: 'a', value: '10' }]);
    await load({ erpKey: 'k1', openValue: '10', company: '02' });
    expect(await matched()).toEqual(['a=k1 exact']);
    await clearMatching(world.database);
    await pullTitles(world, [
      { uid: 'a', value: '10' },
      { uid: 'b', value: '10', buyer: OTHER_BUYER },
    ]);
    await load({ erpKey: 'k1', openValue: '10', company: '02' });
    expect(await matched()).toEqual([]);
    await mapTo('02', OTHER_BUYER);
    expect(await matched()).toEqual(['b=k1 exact']);
  });

  test('with a code end the match of another buyer when a person maps the code', async () => {
    await pullTitles(world, [{ uid: 'a', value: '10' }]);
    await load({ erpKey: 'k1', openValue: '10', company: '02' });
    expect(await matched()).toEqual(['a=k1 exact']);
    await mapTo('02', OTHER_BUYER);
    expect(await matched()).toEqual([]);
    const { endReason } = await world.database.prisma.titleMatch.findFirstOrThrow();
    expect(endReason).toBe('the company is another buyer');
  });

  test('with a code beside another company match nothing by supplier, value and due date', async () => {
    await pullTitles(world, [{ uid: 'a', value: '10' }]);
    await load(
      { erpKey: 'k1', openValue: '10', company: '02' },
      // Paid long ago: the ERP has this company too.
      { erpKey: 'k2', openValue: '99', company: '01', status: 'paid', dueDate: '2026-01-30' },
    );
    expect(await matched()).toEqual([]);
    await mapTo('02', TITLE_BUYER);
    expect(await matched()).toEqual(['a=k1 exact']);
  });

  test('that stand for several buyers match the titles of each', async () => {
    await pullTitles(world, [
      { uid: 'a', value: '10' },
      { uid: 'b', value: '20', buyer: OTHER_BUYER },
    ]);
    await load(
      { erpKey: 'k1', openValue: '10', company: '02' },
      { erpKey: 'k2', openValue: '20', company: '02' },
    );
    await mapTo('02', TITLE_BUYER);
    expect(await matched()).toEqual(['a=k1 exact']);
    await mapTo('02', OTHER_BUYER);
    expect(await matched()).toEqual(['a=k1 exact', 'b=k2 exact']);
  });

  test.each([
    ['a code', '02'],
    ['no company', ''],
    ['14 characters with wrong check digits', '90021382000123'],
  ])(
    'among several: %s is matched with order, supplier, value and due date',
    async (_, company) => {
      await pullTitles(world, [
        { uid: 'a', value: '10' },
        { uid: 'b', value: '20' },
        { uid: 'c', value: '30', buyer: OTHER_BUYER },
      ]);
      await load(
        { erpKey: 'k1', openValue: '10', orderUid: 'a', company },
        { erpKey: 'k2', openValue: '20', orderUid: 'b', dueDate: '2026-07-01', company },
        { erpKey: 'k3', openValue: '30', company },
      );
      expect(await matched()).toEqual(['a=k1 order']);
    },
  );

  test('of an unknown payable leave an equal payable of the buyer in doubt', async () => {
    await pullTitles(world, [
      { uid: 'a', value: '10' },
      { uid: 'b', value: '20', buyer: OTHER_BUYER },
    ]);
    await load(
      { erpKey: 'k1', openValue: '10', company: TITLE_BUYER },
      { erpKey: 'k2', openValue: '10', company: '02' },
    );
    expect(await matched()).toEqual([]);
    await mapTo('02', OTHER_BUYER);
    expect(await matched()).toEqual(['a=k1 exact']);
  });

  test('of a sum are those of its titles', async () => {
    await pullTitles(world, [
      { uid: 'a', value: '100' },
      { uid: 'b', value: '20', buyer: OTHER_BUYER },
    ]);
    const parts = (company: string) => [
      { erpKey: 'k1', openValue: '60', document: 'NF-1', company },
      { erpKey: 'k2', openValue: '40', document: 'NF-1', company },
    ];
    await load(...parts(OTHER_BUYER));
    expect(await matched()).toEqual([]);
    await load(...parts('02'));
    expect(await matched()).toEqual([]);
    await mapTo('02', TITLE_BUYER);
    expect(await matched()).toEqual(['a=k1 sum', 'a=k2 sum']);
  });
});

describe('payables of the financial agent', () => {
  const ofSupplier = (supplierTaxId: string) => ({
    erpKey: 'k1',
    openValue: '10',
    orderUid: 'a',
    supplierTaxId,
  });

  test.each([
    ['the agent', TITLE_AGENT],
    ['a branch of the agent', '11222333000262'],
  ])('are no candidates: the supplier is %s', async (_, taxId) => {
    await pullTitles(world, [{ uid: 'a', value: '10' }]);
    await load(ofSupplier(taxId));
    expect(await matched()).toEqual([]);
    await load(ofSupplier(OTHER_BUYER));
    expect(await matched()).toEqual(['a=k1 order']);
  });

  test('are no candidates where the supplier is the administrator of the agent, as a person has confirmed', async () => {
    await pullTitles(world, [{ uid: 'a', value: '10' }]);
    await world.database.prisma.partyEquivalent.create({
      data: { taxId: TITLE_AGENT, sameAs: OTHER_BUYER, confirmedBy: 'rita', reason: 'contract' },
    });
    await load(ofSupplier('44555666000262'));
    expect(await matched()).toEqual([]);
    await world.database.prisma.partyEquivalent.updateMany({
      data: { endedAt: new Date(), endedBy: 'rita' },
    });
    expect(await matched()).toEqual(['a=k1 order']);
  });

  test('are no candidates and no alternatives where a posting has made them', async () => {
    await pullTitles(world, [{ uid: 'a', value: '10' }]);
    await load({ erpKey: 'k1', openValue: '10' }, { erpKey: 'k2', openValue: '10' });
    await setPayable('k2', { bookingKey: `2026-03-02:${'0'.repeat(32)}:1:1` });
    expect(await matched()).toEqual(['a=k1 exact']);
  });
});

test('only payables in BRL, or without a currency, are matched', async () => {
  await pullTitles(world, [
    { uid: 'a', value: '10' },
    { uid: 'b', value: '20' },
  ]);
  await load({ erpKey: 'k1', openValue: '10' }, { erpKey: 'k2', openValue: '20' });
  await setPayable('k1', { currency: 'USD' });
  await setPayable('k2', { currency: 'BRL' });
  expect(await matched()).toEqual(['b=k2 exact']);
  // A match ends where the currency turns out to be another.
  await setPayable('k2', { currency: 'EUR' });
  expect(await matched()).toEqual([]);
});

test('blanks around the order and the code of a title do not count', async () => {
  await pullTitles(world, [{ uid: 'a   ', value: '10' }]);
  await load({ erpKey: 'k1', openValue: '10', orderUid: 'a' });
  expect(await matched()).toEqual(['a   =k1 order']);
});

/** A CNPJ of a root, with right check digits. */
function cnpjOf(root: string): string {
  const checkDigit = (digits: string) => {
    const sum = Array.from(digits, Number).reduce(
      (total, digit, at) => total + digit * (2 + ((digits.length - 1 - at) % 8)),
      0,
    );
    return String(sum % 11 < 2 ? 0 : 11 - (sum % 11));
  };
  const first = `${root}0001${checkDigit(`${root}0001`)}`;
  return first + checkDigit(first);
}
