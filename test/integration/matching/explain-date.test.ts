import { afterAll, beforeAll, expect, test } from 'vitest';
import { explainDate } from '../../../src/matching/explain-date.sql.ts';
import { runMatching } from '../../../src/matching/run-matching.sql.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());

test('a match and a break are explained with both sides and the other candidates', async () => {
  world.sandbox.setDayTexts(DAY, [
    titleText({ uid: 'a', value: '10.10', dueDate: '2026-06-30' }),
    titleText({ uid: 'b', value: '20', dueDate: '2026-09-30' }),
  ]);
  await world.pull(DAY);
  await importPayables(world.database, [
    { erpKey: 'k1', openValue: '10.1', orderUid: 'a' },
    { erpKey: 'k2', openValue: '10.1', dueDate: '2026-12-30' },
    { erpKey: 'k3', openValue: '11' },
    { erpKey: 'k4', openValue: '20.01', dueDate: '2026-09-30' },
  ]);
  await runMatching(world.database, { by: 'test' });
  const { matches, breaks } = await explainDate(world.database, DAY);
  expect(matches).toMatchObject([
    {
      erpKey: 'k1',
      rule: 'order',
      ruleVersion: 2,
      madeBy: 'test',
      compared: [
        { field: 'order', title: 'a', payable: 'a', isSame: true },
        { field: 'supplier', title: 'P-1', payable: 'P-1', isSame: true },
        { field: 'dueDate', title: '2026-06-30', payable: '2026-06-30', isSame: true },
        { field: 'value', title: '10.10', payable: '10.1', isSame: true },
      ],
      otherCandidates: [
        { erpKey: 'k2', notTaken: 'the due dates are not within 5 days' },
        { erpKey: 'k3', notTaken: 'the value differs' },
      ],
    },
  ]);
  expect(breaks).toMatchObject([
    {
      kind: 'value_differs',
      erpKey: 'k4',
      compared: [
        { field: 'order' },
        { field: 'supplier' },
        { field: 'dueDate' },
        { isSame: false },
      ],
    },
  ]);
});
