import { afterEach, beforeEach, expect, test } from 'vitest';
import { acknowledgeAccountChange } from '../../src/accounts/account-changes.sql.ts';
import type { CivilDate } from '../../src/domain/business-day.ts';
import { releasePull } from '../../src/pull/decisions.sql.ts';
import { DAY, daysFrom, openPullWorld, type PullWorld } from '../support/pull-world.ts';
import { titleText } from '../support/titles.ts';

let world: PullWorld;
beforeEach(async () => {
  world = await openPullWorld();
});
afterEach(() => world.close());
const t = (date: CivilDate, uid: string, account: string, status = {}) =>
  titleText({ uid, date, ...status }).replace('"account":"7654321"', `"account":"${account}"`);
async function pull(date: CivilDate, ...texts: string[]) {
  world.sandbox.setDayTexts(date, texts);
  return world.pull(date, { withdrawalLimitPercent: 100 });
}
const held = async () =>
  (await world.database.prisma.$queryRaw<{ name: string }[]>`
    SELECT DISTINCT title.order_uid || '@' || hold.accepted_date AS name FROM conciliation.payment_hold AS hold
    JOIN conciliation.account_change AS change ON change.id = hold.account_change_id
    JOIN conciliation.title ON title.id = hold.title_id WHERE change.acknowledged_at IS NULL ORDER BY 1`).map(({ name }) => name);

test('A, then B and back to A in one date, then B on another date', async () => {
  await pull(DAY, t(DAY, 'a', '1'));
  await pull(DAY, t(DAY, 'a', '2'));
  expect(await held()).toEqual([`a@${DAY}`]);
  await pull(DAY, t(DAY, 'a', '1'));
  console.log(await held());
  await pull(daysFrom(1), t(daysFrom(1), 'b', '2'));
  expect(await held()).toContain(`b@${daysFrom(1)}`);
});
test('backfill of an older date with an unknown account', async () => {
  await pull(daysFrom(5), t(daysFrom(5), 'a', '1'));
  await pull(DAY, t(DAY, 'b', '9'));
  expect(await held()).toContain(`b@${DAY}`);
});
test('moved to another date', async () => {
  await pull(DAY, t(DAY, 'x', '1'));
  await pull(daysFrom(1), t(daysFrom(1), 'a', '2'));
  await pull(daysFrom(2), t(daysFrom(2), 'a', '2'));
  await pull(daysFrom(1));
  expect(await held()).toEqual([`a@${daysFrom(2)}`]);
});
test('withdrawn and restored', async () => {
  await pull(DAY, t(DAY, 'x', '1'));
  await pull(daysFrom(1), t(daysFrom(1), 'a', '2'), t(daysFrom(1), 'z', '1'));
  await pull(daysFrom(1), t(daysFrom(1), 'z', '1'));
  expect(await held()).toEqual([]);
  await pull(daysFrom(1), t(daysFrom(1), 'a', '2'), t(daysFrom(1), 'z', '1'));
  expect(await held()).toEqual([`a@${daysFrom(1)}`]);
});
test('an account acknowledged once, then the old one is named beside it, on a newer date', async () => {
  await pull(DAY, t(DAY, 'x', '1'));
  await pull(daysFrom(1), t(daysFrom(1), 'a', '2'));
  const [change] = await world.database.prisma.accountChange.findMany();
  await acknowledgeAccountChange(world.database, change?.id ?? 0n, { by: 'ana', reason: 'ok' });
  // Account 1 was left. A newer date names it beside account 2.
  await pull(daysFrom(2), t(daysFrom(2), 'b', '1'), t(daysFrom(2), 'c', '2'));
  expect(await held()).toContain(`b@${daysFrom(2)}`);
});
test('released held pull with a changed account', async () => {
  await pull(DAY, t(DAY, 'x', '1'), t(DAY, 'y', '1'));
  world.sandbox.setDayTexts(DAY, [t(DAY, 'x', '2')]);
  const report = await world.pull(DAY, { withdrawalLimitPercent: 10 });
  expect(report.state).toBe('held');
  await releasePull(world.database, report.pullId, { by: 'ana', reason: 'r' });
  expect(await held()).toEqual([`x@${DAY}`]);
});
test('two changes of one title: acknowledging one leaves the other', async () => {
  await pull(DAY, titleText({ uid: 'x' }));
  await pull(daysFrom(1), titleText({ uid: 'a', date: daysFrom(1) }).replace('"account":"7654321"', '"account":"2"').replace('"account":"1234567"', '"account":"3"'));
  const changes = await world.database.prisma.accountChange.findMany();
  expect(changes).toHaveLength(2);
  await acknowledgeAccountChange(world.database, changes[0]?.id ?? 0n, { by: 'ana', reason: 'ok' });
  expect(await held()).toEqual([`a@${daysFrom(1)}`]);
});
test('the type of the key changes: the supplier is named without its external id', async () => {
  await pull(DAY, t(DAY, 'x', '1'));
  await pull(daysFrom(1), t(daysFrom(1), 'a', '2').replaceAll('"P-1"', 'null'));
  expect(await held()).toEqual([`a@${daysFrom(1)}`]);
});
test('blank digits and leading zeros', async () => {
  await pull(DAY, t(DAY, 'x', '1'));
  await pull(daysFrom(1), t(daysFrom(1), 'a', ' 1 '));
  expect(await held()).toEqual([]);
});
test('the account vanishes, then another one', async () => {
  await pull(DAY, t(DAY, 'x', '1'));
  await pull(DAY, t(DAY, 'x', ''));
  await pull(DAY, t(DAY, 'x', '5'));
  expect(await held()).toEqual([`x@${DAY}`]);
});
