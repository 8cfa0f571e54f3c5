import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkDays } from '../../src/checks/check-day.sql.ts';
import type { CivilDate } from '../../src/domain/business-day.ts';
import { ANY_DAY_RULES } from '../support/check-rules.ts';
import { daysFrom, openPullWorld, type PullWorld } from '../support/pull-world.ts';
import { titleText } from '../support/titles.ts';

const LIMITS = { duplicatePercent: 25, growthFactor: 5, changedPercent: 50, valueFactor: 20 };
let world: PullWorld;
beforeEach(async () => {
  world = await openPullWorld();
});
afterEach(() => world.close());
const week = (index: number): CivilDate => daysFrom(7 * index);
const of = (date: CivilDate, buyer: string, count: number, value = '1000.00') =>
  Array.from({ length: count }, (_, i) =>
    titleText({ date, uid: `${buyer}-${i}`, value }).replace('90021382000122', buyer),
  );
async function pull(date: CivilDate, texts: string[], more = {}) {
  world.sandbox.setDayTexts(date, texts);
  return world.pull(date, { plausibility: LIMITS, ...more });
}
const X = '90021382000122';
const Y = '11444777000161';
for (const alwaysStage of [false, true]) {
  test(`one known buyer is missing, another is there; staged ${alwaysStage}`, async () => {
    for (const i of [0, 1, 2, 3]) await pull(week(i), of(week(i), X, 40));
    await checkDays(world.database, ANY_DAY_RULES);
    expect(await pull(week(4), of(week(4), Y, 40), { alwaysStage })).toMatchObject({ state: 'held', holdReason: 'buyer_missing' });
  });
  test(`one known buyer, two in the response, the known one's doubled; staged ${alwaysStage}`, async () => {
    for (const i of [0, 1, 2, 3]) await pull(week(i), of(week(i), X, 40));
    await checkDays(world.database, ANY_DAY_RULES);
    const x = of(week(4), X, 30);
    expect(await pull(week(4), [...x, ...x, ...of(week(4), Y, 90)], { alwaysStage })).toMatchObject({ state: 'held', holdReason: 'duplicates' });
  });
  test(`an empty first answer; staged ${alwaysStage}`, async () => {
    for (const i of [0, 1, 2, 3]) await pull(week(i), [...of(week(i), X, 40), ...of(week(i), Y, 40)]);
    await checkDays(world.database, ANY_DAY_RULES);
    expect(await pull(week(4), [], { alwaysStage })).toMatchObject({ state: 'held' });
  });
}
test('a buyer vanishes in a restatement of due dates together with another', async () => {
  for (const i of [0, 1, 2, 3]) await pull(week(i), [...of(week(i), X, 40), ...of(week(i), Y, 40)]);
  await checkDays(world.database, ANY_DAY_RULES);
  // Day pulled while not over, nothing yet of X: is it held again and again?
  expect(await pull(week(4), of(week(4), Y, 40))).toMatchObject({ state: 'held' });
  expect(await pull(week(4), [...of(week(4), Y, 40), ...of(week(4), X, 40)])).toMatchObject({ state: 'merged' });
  // then all of X withdrawn, a fifth of the day
  await checkDays(world.database, ANY_DAY_RULES);
  expect(await pull(week(4), of(week(4), Y, 40), { withdrawalLimitPercent: 60 })).toMatchObject({ state: 'held' });
});
test('withdrawn titles restored in number', async () => {
  await pull(week(0), of(week(0), X, 400));
  await pull(week(0), of(week(0), X, 3), { withdrawalLimitPercent: 100 });
  console.log(await pull(week(0), of(week(0), X, 400)));
});
