/** Titles that name a changed bank account: held in the feed, not signed off, released by a person. */
import { beforeEach, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { LASTING_HOLDS } from '../../../src/features/accounts/payment-holds.sql.ts';
import { signOffDays } from '../../../src/features/review/sign-off.sql.ts';
import { digestOf, findAlterations } from '../../support/days.ts';
import { lastAudit, pagesForFile } from '../../support/pages-world.ts';
import { daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const { world, console, viewer, reviewer } = pagesForFile();

/** Each test has separate dates and a separate supplier. */
let round = 0;
let last = 0n;
beforeEach(async () => {
  round += 1;
  await world.prisma.$executeRaw`
    TRUNCATE conciliation.account_change, conciliation.payment_hold`;
  await readFeed();
});
const day = (index: number): CivilDate => daysFrom(round * 10 + index);

/** Titles of this test's supplier, as "order account". */
async function pull(date: CivilDate, ...titles: readonly string[]) {
  const supplier = { code: `P-${round}`, taxId: `supplier ${round}` };
  return world.serve(
    date,
    titles.map((words) => {
      const [uid = '', account = ''] = words.split(' ');
      return titleText({ ...supplier, uid, account, date });
    }),
    { withdrawalLimitPercent: 100 },
  );
}

/** The rows of the feed since the last call. Those of one merge are numbered in any order. */
async function readFeed() {
  const rows = await world.prisma.$queryRaw<
    { seq: bigint; uid: string; kind: string; held: boolean }[]
  >`
    SELECT change_seq AS seq, order_uid AS uid, change_kind AS kind, payment_hold AS held
    FROM conciliation.title_feed WHERE change_seq > ${last} ORDER BY change_seq`;
  last = rows.at(-1)?.seq ?? last;
  const texts = rows.map(({ uid, kind, held }) => `${uid} ${kind} ${held ? 'held' : 'free'}`);
  return texts.sort().join(', ');
}

const lastingHolds = (id: bigint) =>
  world.prisma.$queryRaw<{ uid: string }[]>`
    SELECT order_uid AS uid FROM (${LASTING_HOLDS}) AS hold
    JOIN conciliation.title ON title.id = hold.title_id WHERE account_change_id = ${id}`;

const openChange = () => world.prisma.accountChange.findFirstOrThrow({ where: { state: 'open' } });
/** Rita decides about a change of a list. */
const decide = (id: bigint, decision: string, list = 'open', reason = 'called them') =>
  reviewer.post('/account-changes/decide', { changes: String(id), list, decision, reason });
const confirm = (id: bigint) => decide(id, 'confirmed');
const expectSecondPerson = async (date: CivilDate) => {
  expect((await sign('rita', date)).text).toContain('another user has to sign it off');
  expect((await sign('helena', date)).status).toBe(303);
};

const sign = async (name: string, date: CivilDate) => {
  const digest = await digestOf(world.database, date);
  return (await console.as('reviewer', name)).post(`/days/${date}/sign-off`, { digest });
};

test('a return to a replaced account holds later titles, and none that named the account before', async () => {
  await pull(day(0), 'a 111');
  await pull(day(1), 'b 222');
  const { id } = await openChange();
  await confirm(id);
  await pull(day(2), 'c 111');
  expect(await lastingHolds((await openChange()).id)).toEqual([{ uid: 'c' }]);
  expect(await findAlterations(world.database, day(0))).toEqual([]);
  // No account is accepted any more, so that the open one is no other account than the party had.
  await decide(id, 'refused');
  await pull(day(3), 'd 111');
  expect(await readFeed()).toMatch(/, d inserted held$/);
});

test('the commit that brings a changed account holds its titles; one person confirms, another signs', async () => {
  await pull(day(0), 'a 111');
  await pull(day(1), 'b 111', 'c 222', 'd 222');
  expect(await readFeed()).toBe(
    'a inserted free, b inserted free, c inserted held, d inserted held',
  );
  const page = await reviewer.get(`/days/${day(1)}`);
  expect(page.text).toContain('Titles whose payment is on hold: 2');
  expect(page.text).not.toContain(`action="/days/${day(1)}/sign-off"`);
  expect((await reviewer.get('/sign-offs?show=kept')).text).toContain(
    'Titles whose payment is on hold: 2',
  );

  const refused = await sign('rita', day(1));
  expect([refused.status, refused.text]).toEqual([
    409,
    expect.stringContaining('Confirm the account, then sign the day off'),
  ]);
  const portuguese = await reviewer.post(
    `/days/${day(1)}/sign-off`,
    { digest: 'x' },
    { headers: { 'accept-language': 'pt-BR' } },
  );
  expect(portuguese.status).toBe(400);
  const seen = { date: day(1), seenDigest: await digestOf(world.database, day(1)) };
  const signing = { by: 'helena', reason: null, fourEyes: true };
  const bulk = await signOffDays(world.database, [seen], signing);
  expect(bulk).toEqual([{ date: day(1), refusal: 'payment_held' }]);
  // The other day has no title on hold.
  expect((await sign('helena', day(0))).status).toBe(303);

  const { id } = await openChange();
  expect((await confirm(id)).status).toBe(303);
  expect(await readFeed()).toBe('c payment_decided free, d payment_decided free');
  const entries = await world.prisma.auditEntry.findMany({
    where: { action: 'account_change.confirm', date: new Date(day(1)) },
    select: { actor: true, reason: true, details: true },
  });
  expect(entries).toEqual([
    { actor: 'rita', reason: 'called them', details: { accountChangeIds: [Number(id)] } },
  ]);
  // A change is confirmed once.
  expect((await confirm(id)).status).toBe(400);

  expect((await sign('rita', day(1))).status).toBe(400);
  await expectSecondPerson(day(1));
  expect(await findAlterations(world.database, day(1))).toEqual([]);
});

test('a later title with the account is held from its own merge, and every date concerned needs a second person', async () => {
  await pull(day(0), 'a 111');
  await pull(day(1), 'b 222');
  await pull(day(2), 'c 222');
  expect(await readFeed()).toBe('a inserted free, b inserted held, c inserted held');
  // The same response again changes nothing.
  await pull(day(2), 'c 222');
  expect(await readFeed()).toBe('');
  const { id } = await openChange();
  await confirm(id);
  expect(await readFeed()).toBe('b payment_decided free, c payment_decided free');
  for (const date of [day(1), day(2)]) await expectSecondPerson(date);
});

const stateOf = async (id: bigint) => {
  const change = await world.prisma.accountChange.findUniqueOrThrow({ where: { id } });
  return [change.state, change.decidedBy];
};

test('a withdrawn title is no longer held, nor a title restated to the accepted account', async () => {
  await pull(day(0), 'a 111');
  await pull(day(1), 'b 222', 'c 222', 'd 222');
  await readFeed();
  await pull(day(1), 'b 111', 'd 222');
  expect(await readFeed()).toBe('b changed free, c withdrawn free');
  const { id } = await openChange();
  const title = await world.prisma.title.findFirstOrThrow({
    where: { orderUid: 'd', acceptedDate: day(1) },
  });
  const shown = await reviewer.get(`/titles/${title.id}`, { 'accept-language': 'pt-BR' });
  expect(shown.text).toContain('Pagamento bloqueado');
  expect((await reviewer.get(`/api/titles/${title.id}`)).json()).toMatchObject({
    isPaymentHeld: true,
  });
  await confirm(id);
  expect(await readFeed()).toBe('d payment_decided free');
});

test('a change ends by itself when its titles name the accepted account again, and not before', async () => {
  await pull(day(0), 'a 111');
  await pull(day(1), 'b 222', 'c 222');
  const { id } = await openChange();
  // A newer title names the accepted account. The changed account still has titles, which stay on hold.
  await pull(day(2), 'd 111');
  await pull(day(1), 'b 111', 'c 222');
  expect(await stateOf(id)).toEqual(['open', null]);
  expect(await lastingHolds(id)).toEqual([{ uid: 'c' }]);
  await pull(day(1), 'b 111', 'c 111');
  expect(await stateOf(id)).toEqual(['returned', 'account-watch']);
  expect(await lastAudit(world, { action: 'account_change.return' })).toMatchObject({
    ...{ actor: 'account-watch', date: day(1) },
  });
  // An older day that is pulled afterwards is not held, and both days can be signed off by one person.
  await pull(day(-3), 'e 111');
  expect(await world.prisma.accountChange.count({ where: { state: 'open' } })).toBe(0);
  expect((await sign('rita', day(1))).status).toBe(303);
  expect((await sign('rita', day(-3))).status).toBe(303);
  // The account was not confirmed by that: it is a change again, also in a late title of its old date.
  await pull(day(1), 'b 111', 'c 111', 'f 222');
  expect(await openChange()).toMatchObject({ acceptedDate: day(1) });
});

test('a refused account stays blocked, until a person confirms it', async () => {
  await pull(day(0), 'a 111');
  await pull(day(1), 'b 222');
  const { id } = await openChange();
  await readFeed();
  // A form states a list by a repeated field.
  const twice = { changes: [String(id), String(id)], decision: 'refused', reason: 'they deny it' };
  const form = { list: 'open', ...twice };
  expect((await reviewer.post('/account-changes/decide', form)).status).toBe(303);
  expect((await decide(id, 'refused')).status).toBe(400);
  // The page of another person still shows the change as open.
  expect((await decide(id, 'confirmed')).status).toBe(400);
  expect((await decide(id, 'refused', 'refused')).status).toBe(400);
  expect(await stateOf(id)).toEqual(['refused', 'rita']);
  expect(await readFeed()).toBe('');
  expect((await sign('helena', day(1))).status).toBe(409);
  // A later title with the account is held by the same change, and the accepted account ends nothing.
  await pull(day(2), 'c 222', 'd 111');
  expect(await readFeed()).toBe('c inserted held, d inserted free');
  await pull(day(1), 'b 111');
  await pull(day(2), 'c 111', 'd 111');
  expect(await stateOf(id)).toEqual(['refused', 'rita']);
  await pull(day(3), 'e 222');
  expect(await world.prisma.accountChange.count({ where: { state: 'open' } })).toBe(0);
  await readFeed();
  expect((await decide(id, 'parallel', 'refused')).status).toBe(303);
  expect(await readFeed()).toBe('e payment_decided free');
  expect((await sign('rita', day(1))).text).toContain('another user has to sign it off');
  expect((await sign('helena', day(3))).status).toBe(303);
});

test('a wrong confirmation is undone: all titles that name the account are held again, also those merged since', async () => {
  await pull(day(0), 'a 111');
  await pull(day(1), 'b 222');
  const { id } = await openChange();
  await confirm(id);
  await pull(day(2), 'c 222', 'd 111');
  await readFeed();
  expect((await reviewer.get('/account-changes?state=decided')).text).toContain('value="refused"');
  expect((await decide(id, 'refused', 'decided')).status).toBe(303);
  expect(await stateOf(id)).toEqual(['refused', 'rita']);
  expect(await readFeed()).toBe('b payment_decided held, c payment_decided held');
  for (const date of [day(1), day(2)]) {
    expect((await sign('helena', date)).status).toBe(409);
    const where = { action: 'account_change.refuse', date: new Date(date) };
    expect(await world.prisma.auditEntry.count({ where })).toBe(1);
    expect(await findAlterations(world.database, date)).toEqual([]);
  }
  expect((await decide(id, 'parallel', 'refused')).status).toBe(303);
  expect(await readFeed()).toBe('b payment_decided free, c payment_decided free');
});

test('one form decides about all changes of the chosen parties, with their titles and money', async () => {
  const texts = (date: CivilDate, account: string) =>
    ['x', 'y', 'z'].flatMap((party) =>
      [1, 2].map((place) =>
        titleText({
          ...{ uid: `${party}${place}`, date, value: '1500.00', account },
          ...{ code: `${party}-${round}`, taxId: `${party} ${round}` },
        }),
      ),
    );
  for (const [index, account] of ['111', '222'].entries()) {
    await world.serve(day(index), texts(day(index), account));
  }
  await readFeed();
  const page = await reviewer.get('/account-changes');
  expect(page.text.match(/>2<\/td><td[^>]*>3,000\.00<\/td>/g)).toHaveLength(3);
  expect(page.text).toMatch(/<tfoot>.*>6<\/td><td[^>]*>9,000\.00<\/td>/s);
  const boxes = [...page.text.matchAll(/name="changes" value="(\d+)"/g)].map(([, ids]) => ids);
  expect(boxes).toHaveLength(3);
  const listed = (await reviewer.get('/api/account-changes')).json();
  expect(listed).toMatchObject({
    ...{ total: 3, sums: { held_titles: 6, held_value: '9000.00' } },
    rows: Array(3).fill({ heldTitles: 2, heldValue: '3000.00' }),
  });

  const form = { list: 'open', decision: 'confirmed', reason: 'called them' };
  const send = (fields: Record<string, string | string[]>, person = reviewer) =>
    person.post('/account-changes/decide', fields);
  const [first = '', second = '', third = ''] = boxes;
  for (const wrong of [
    form,
    { ...form, changes: '999999' },
    { ...form, changes: first, reason: '' },
    { list: 'open', changes: first, reason: 'x' },
    // All of them or none.
    { ...form, changes: [first, '999999'] },
  ]) {
    expect((await send(wrong)).status).toBe(400);
  }
  expect(await readFeed()).toBe('');
  expect((await send({ ...form, changes: first }, viewer)).status).toBe(403);

  const done = await send({ ...form, changes: [first, second] });
  expect([done.status, done.location]).toEqual([303, '/account-changes?notice=account_confirmed']);
  expect((await readFeed()).split(', ')).toHaveLength(4);
  // One entry for the date.
  const date = new Date(day(1));
  const action = 'account_change.confirm';
  expect(await world.prisma.auditEntry.count({ where: { action, date } })).toBe(1);
  expect((await reviewer.get('/api/account-changes')).json()).toMatchObject({ total: 1 });
  await send({ ...form, decision: 'refused', changes: third });
  expect((await reviewer.get('/account-changes?state=refused')).text).toContain('value="parallel"');
  expect((await viewer.get('/')).text).toContain(
    '2 titles are on hold because the account was refused',
  );
  const shown = (await viewer.get(`/days/${day(1)}`)).text;
  expect(shown).toContain('<a href="/account-changes?state=refused">');
});
