/** The explanation of each match and each break of a date. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { explainDate } from '../../../src/matching/explain-date.sql.ts';
import { matchByPerson, undoMatch } from '../../../src/matching/match-decisions.sql.ts';
import { runMatching } from '../../../src/matching/run-matching.sql.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, daysFrom, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
  world.sandbox.setDayTexts(DAY, [
    titleText({ uid: 'exact', value: '10.10' }),
    titleText({ uid: 'late', value: '20.00' }),
    titleText({ uid: 'doubt', value: '30.00' }),
    titleText({ uid: 'person', value: '40.00' }),
    titleText({ uid: 'undone', value: '50.00' }),
    titleText({ uid: 'foreign', value: '70.00' }),
    titleText({ uid: 'odd', value: '80.00' }),
  ]);
  await world.pull(DAY);
  world.sandbox.setDayTexts(daysFrom(1), [
    titleText({ uid: 'other', date: daysFrom(1), value: '60' }),
  ]);
  await world.pull(daysFrom(1));
  await importPayables(world.database, [
    { erpKey: 'k-exact', openValue: '10.1', orderUid: 'exact' },
    { erpKey: 'k-late', openValue: '20', dueDate: '2026-08-30' },
    { erpKey: 'k-doubt-1', openValue: '30', document: 'NF-1' },
    { erpKey: 'k-doubt-2', openValue: '30', document: 'NF-2' },
    { erpKey: 'k-person', openValue: '39.00' },
    { erpKey: 'k-undone', openValue: '50', orderUid: 'undone' },
    { erpKey: 'k-foreign', openValue: '70', orderUid: 'elsewhere' },
    { erpKey: 'k-company', openValue: '80', company: '44555666000181' },
    { erpKey: 'k-agent', openValue: '80', supplierTaxId: '11222333000181' },
    { erpKey: 'k-supplier', openValue: '80', orderUid: 'odd', supplierExternalId: 'P-9' },
    { erpKey: 'k-paid', openValue: '10.10', status: 'paid' },
    { erpKey: 'k-other', openValue: '60', orderUid: 'other' },
    {
      erpKey: 'k-stranger',
      openValue: '50',
      orderUid: 'undone',
      supplierExternalId: 'P-9',
      status: 'cancelled',
    },
  ]);
  await runMatching(world.database, { by: 'test' });
  const decision = { by: 'rita', reason: 'a discount of one real' };
  await matchByPerson(
    world.database,
    { titleId: await titleId('person'), erpKey: 'k-person' },
    decision,
  );
  const { id } = await world.database.prisma.titleMatch.findFirstOrThrow({
    where: { erpKey: 'k-undone', endedAt: null },
  });
  await undoMatch(world.database, id, decision);
  await runMatching(world.database, { by: 'test' });
});
afterAll(() => world.close());

const titleId = async (orderUid: string) =>
  (await world.database.prisma.title.findFirstOrThrow({ where: { orderUid } })).id;

async function titleOf(orderUid: string) {
  const { titles } = await explainDate(world.database, DAY);
  const found = titles.find((title) => title.orderUid === orderUid);
  if (found === undefined) throw new Error(`no title ${orderUid}`);
  return found;
}
const candidatesOf = async (orderUid: string) =>
  (await titleOf(orderUid)).candidates.map(({ payable, notTaken }) => [payable.erpKey, notTaken]);

test('a match has its rule, the version and both values of each compared field', async () => {
  const { match } = await titleOf('exact');
  expect(match).toMatchObject({ rule: 'order', version: 4, madeBy: 'test', reason: null });
  expect(match?.payables[0]?.compared).toEqual([
    { field: 'orderUid', title: 'exact', payable: 'exact', isEqual: true },
    { field: 'supplier', title: 'P-1', payable: 'P-1', isEqual: true },
    { field: 'value', title: '10.10', payable: '10.1', isEqual: true },
    { field: 'dueDate', title: '2026-06-30', payable: '2026-06-30', isEqual: true },
  ]);
  expect(await candidatesOf('exact')).toContainEqual(['k-paid', 'not_open']);
});

test('a match of a person has the reason', async () => {
  const { match } = await titleOf('person');
  expect(match).toMatchObject({ rule: 'person', madeBy: 'rita', reason: 'a discount of one real' });
  expect(match?.payables[0]?.compared).toContainEqual({
    field: 'value',
    title: '40.00',
    payable: '39.00',
    isEqual: false,
  });
});

test('each other candidate has the reason why it is not the match', async () => {
  expect(await candidatesOf('doubt')).toEqual(
    expect.arrayContaining([
      ['k-doubt-1', 'not_unique'],
      ['k-doubt-2', 'not_unique'],
      ['k-exact', 'matched'],
    ]),
  );
  expect(await candidatesOf('late')).toContainEqual(['k-late', 'due_date']);
  expect(await candidatesOf('late')).toContainEqual(['k-person', 'matched']);
  expect(await candidatesOf('undone')).toContainEqual(['k-undone', 'undone']);
  expect(await candidatesOf('undone')).toContainEqual(['k-stranger', 'not_open']);
  expect(await candidatesOf('foreign')).toContainEqual(['k-foreign', 'other_order']);
  expect(await candidatesOf('late')).toContainEqual(['k-doubt-1', 'value']);
  expect(await candidatesOf('odd')).toContainEqual(['k-company', 'company']);
  expect(await candidatesOf('odd')).toContainEqual(['k-agent', 'not_compared']);
  expect(await candidatesOf('odd')).toContainEqual(['k-supplier', 'supplier']);
});

test('the titles and the breaks are those of the date', async () => {
  const { titles, breaks } = await explainDate(world.database, DAY);
  expect(titles.map(({ orderUid }) => orderUid)).toEqual([
    'doubt',
    'exact',
    'foreign',
    'late',
    'odd',
    'person',
    'undone',
  ]);
  expect(breaks.map(({ kind, title }) => [kind, title?.orderUid])).toEqual([
    ['in_doubt', 'odd'],
    ['in_doubt', 'foreign'],
    ['in_doubt', 'undone'],
    ['in_doubt', 'doubt'],
    ['due_date_differs', 'late'],
  ]);
});
