/** Titles that name a changed bank account: held in the feed, not signed off, released by a person. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/domain/business-day.ts';
import { verifyDate } from '../../../src/integrity/verify-dates.ts';
import { signOffDays } from '../../../src/ledger/sign-off.sql.ts';
import { type ConsoleWorld, openConsole } from '../../support/console-client.ts';
import { daysFrom, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

let world: PullWorld;
let console: ConsoleWorld;
beforeAll(async () => {
  world = await openPullWorld();
  console = await openConsole(world.database, { fourEyes: true });
});
afterAll(async () => {
  await console.close();
  await world.close();
});

/** Each test has separate dates and a separate supplier. */
let round = 0;
let last = 0n;
beforeEach(async () => {
  round += 1;
  await readFeed();
});
const day = (index: number): CivilDate => daysFrom(round * 10 + index);

async function pull(date: CivilDate, ...titles: readonly (readonly [string, string])[]) {
  world.sandbox.setDayTexts(
    date,
    titles.map(([uid, account]) =>
      titleText({ uid, date })
        .replaceAll('P-1', `P-${round}`)
        .replace('52998224725', `supplier ${round}`)
        .replace('"account":"7654321"', `"account":"${account}"`),
    ),
  );
  return world.pull(date, { withdrawalLimitPercent: 100 });
}

/** The rows of the feed since the last call. */
async function readFeed() {
  const rows = await world.database.prisma.$queryRaw<
    { seq: bigint; uid: string; kind: string; held: boolean }[]
  >`
    SELECT change_seq AS seq, order_uid AS uid, change_kind AS kind, payment_hold AS held
    FROM conciliation.title_feed WHERE change_seq > ${last} ORDER BY change_seq`;
  last = rows.at(-1)?.seq ?? last;
  return rows.map(({ uid, kind, held }) => `${uid} ${kind} ${held ? 'held' : 'free'}`);
}

const confirmation = (id: bigint) => ({
  changes: String(id),
  decision: 'confirmed',
  reason: 'called them',
});

async function openChange() {
  return world.database.prisma.accountChange.findFirstOrThrow({ where: { state: 'open' } });
}

const sign = async (name: string, date: CivilDate) => {
  const where = { date: new Date(date) };
  const { contentDigest } = await world.database.prisma.day.findUniqueOrThrow({ where });
  const reviewer = await console.as('reviewer', name);
  return reviewer.post(`/api/days/${date}/sign-off`, { digest: contentDigest ?? '' });
};

test('the commit that brings a changed account holds its titles; one person acknowledges, another signs', async () => {
  await pull(day(0), ['a', '111']);
  await pull(day(1), ['b', '111'], ['c', '222'], ['d', '222']);
  expect(await readFeed()).toEqual([
    'a inserted free',
    'b inserted free',
    'c inserted held',
    'd inserted held',
  ]);
  const reviewer = await console.as('reviewer', 'rita');
  const page = await reviewer.get(`/days/${day(1)}`);
  expect(page.text).toContain('Titles whose payment is on hold: 2');
  expect(page.text).not.toContain(`action="/days/${day(1)}/sign-off"`);
  expect((await reviewer.get('/sign-offs')).text).toContain('Titles whose payment is on hold: 2');

  const refused = await sign('rita', day(1));
  expect([refused.status, refused.text]).toEqual([
    409,
    expect.stringContaining('acknowledge the change before the sign-off'),
  ]);
  const portuguese = await reviewer.post(
    `/days/${day(1)}/sign-off`,
    { digest: 'x' },
    { headers: { 'accept-language': 'pt-BR' } },
  );
  expect(portuguese.status).toBe(400);
  const seenDigest = (
    await world.database.prisma.day.findUniqueOrThrow({ where: { date: new Date(day(1)) } })
  ).contentDigest;
  const bulk = await signOffDays(world.database, [{ date: day(1), seenDigest: seenDigest ?? '' }], {
    by: 'helena',
    reason: null,
    fourEyes: true,
  });
  expect(bulk).toEqual([{ date: day(1), refusal: 'payment_held' }]);
  // The other day has no title on hold.
  expect((await sign('helena', day(0))).status).toBe(200);

  const { id } = await openChange();
  const path = '/account-changes/decide';
  expect((await reviewer.post(path, confirmation(id))).status).toBe(303);
  expect(await readFeed()).toEqual(['c payment_released free', 'd payment_released free']);
  expect(
    await world.database.prisma.auditEntry.findMany({
      where: { action: 'account_change.confirm', date: new Date(day(1)) },
      select: { actor: true, reason: true },
    }),
  ).toEqual([{ actor: 'rita', reason: 'called them' }]);

  const own = await sign('rita', day(1));
  expect([own.status, own.text]).toEqual([400, expect.stringContaining('may not sign it off')]);
  expect((await sign('helena', day(1))).status).toBe(200);
  const alterations = await verifyDate(world.database, day(1), new AbortController().signal);
  expect(alterations).toMatchObject({ alterations: [] });
});

test('a later title with the account is held from its own merge, and every date concerned needs a second person', async () => {
  await pull(day(0), ['a', '111']);
  await pull(day(1), ['b', '222']);
  await pull(day(2), ['c', '222']);
  expect(await readFeed()).toEqual(['a inserted free', 'b inserted held', 'c inserted held']);
  // The same response again changes nothing.
  await pull(day(2), ['c', '222']);
  expect(await readFeed()).toEqual([]);
  const { id } = await openChange();
  const reviewer = await console.as('reviewer', 'rita');
  await reviewer.post('/account-changes/decide', confirmation(id));
  expect(await readFeed()).toEqual(['b payment_released free', 'c payment_released free']);
  for (const date of [day(1), day(2)]) {
    expect((await sign('rita', date)).text).toContain('may not sign it off');
    expect((await sign('helena', date)).status).toBe(200);
  }
});

test('a withdrawn title is no longer held, and a title restated to another account is held by that change', async () => {
  await pull(day(0), ['a', '111']);
  await pull(day(1), ['b', '222'], ['c', '222'], ['d', '222']);
  await readFeed();
  await pull(day(1), ['b', '111'], ['d', '222']);
  expect((await readFeed()).sort()).toEqual(['b changed held', 'c withdrawn free']);
  const [away, back] = await world.database.prisma.accountChange.findMany({
    where: { state: 'open' },
    orderBy: { id: 'asc' },
  });
  const title = await world.database.prisma.title.findFirstOrThrow({
    where: { orderUid: 'd', acceptedDate: day(1) },
  });
  const reviewer = await console.as('reviewer', 'rita');
  const shown = await reviewer.get(`/titles/${title.id}`, { 'accept-language': 'pt-BR' });
  expect(shown.text).toContain('Pagamento retido');
  expect((await reviewer.get(`/api/titles/${title.id}`)).json()).toMatchObject({
    isPaymentHeld: true,
  });
  for (const [change, released] of [
    [away, 'd'],
    [back, 'b'],
  ] as const) {
    await reviewer.post(`/account-changes/${change?.id}/acknowledge`, { reason: 'called them' });
    expect(await readFeed()).toEqual([`${released} payment_released free`]);
  }
});
