/** Days that wait, and titles that wait because of their payables while the others of the day are released. */
import { beforeEach, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import {
  type AccountDecision,
  type ChangeListName,
  decideAccountChanges,
} from '../../../src/features/accounts/account-changes.sql.ts';
import { readFeed, readPayablesToBlock } from '../../../src/features/bookings/feed.sql.ts';
import {
  answerReceipts,
  takeReceipts,
} from '../../../src/features/bookings/receipt-decisions.sql.ts';
import { readReceiptQuestions } from '../../../src/features/bookings/receipts.sql.ts';
import {
  overdueReleases,
  readWaitingDays,
  releaseWaitingDays,
} from '../../../src/features/bookings/release.sql.ts';
import { undoMatch } from '../../../src/features/matching/match-decisions.sql.ts';
import { runMatching } from '../../../src/features/matching/run-matching.sql.ts';
import { Prisma } from '../../../src/generated/prisma/client.ts';
import { decideOpenChanges, pullDay, signDay } from '../../support/days.ts';
import {
  currentTitleId,
  matchPair,
  payablesOf,
  resolveListed,
  titlesOf,
} from '../../support/matching-world.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, freshDays, worldOfFile } from '../../support/pull-world.ts';
import { failureOf, receiptOf } from '../../support/receipts.ts';

const RULES = { bookingsFrom: DAY, payablesMaxAgeHours: 30 };

const world = worldOfFile();

const nextDay = freshDays();
let date: CivilDate;
beforeEach(async () => {
  date = nextDay();
  await world.prisma.$executeRaw`
    TRUNCATE conciliation.erp_payable, conciliation.erp_payable_import, conciliation.title_match CASCADE`;
});

const pull = (titles: string) => pullDay(world, date, ...titlesOf(titles));
const state = (...payables: readonly string[]) =>
  importPayables(world.database, payablesOf(payables.join(', ')), 'snapshot');
const match = () => runMatching(world.database, { by: 'test' });
const release = () => releaseWaitingDays(world.database, RULES);

const sign = () => signDay(world.database, date, RULES);

/** The lines as "kind order payable version discount", without the first ones. */
async function lines(first = 0): Promise<string[]> {
  const rows = await world.prisma.$queryRaw<{ text: string }[]>`
    SELECT concat_ws(' ', kind, order_uid, coalesce(erp_key, '-'), version, platform_discounted_value) AS text
    FROM conciliation.booking_line WHERE date = ${date}::date ORDER BY id`;
  return rows.slice(first).map(({ text }) => text);
}
async function offered() {
  const page = await readFeed(world.database, 'erp', { after: 0n, limit: 1_000 });
  return page.lines.filter((line) => line.date === date);
}
const take = (...receipts: Parameters<typeof takeReceipts>[2]) =>
  takeReceipts(world.database, 'erp', receipts);
const postAll = async () => take(...(await offered()).map((line) => receiptOf(line)));
/** What the ERP has to block, of titles of any date. */
const toBlock = () => readPayablesToBlock(world.database, { after: '', limit: 10 });
const toBlockNow = async () => (await toBlock()).filter((row) => row.date === date);
/** The batches as "lines waiting value". */
async function batches(): Promise<string[]> {
  const rows = await world.prisma.$queryRaw<{ text: string }[]>`
    SELECT concat_ws(' ', line_count, waiting_titles, original_value_sum) AS text
    FROM conciliation.booking_batch WHERE date = ${date}::date AND sign_off_id IS NOT NULL ORDER BY id`;
  return rows.map(({ text }) => text);
}

test('days that waited for the matching are released, also where the checks have run on several days', async () => {
  const dates = [date, nextDay(), nextDay()];
  await state('k1 77');
  for (const each of dates) await pullDay(world, each, { uid: `order of ${each}` });
  for (const each of dates) await signDay(world.database, each, RULES);
  expect(await release()).toEqual([]);
  await match();
  expect(await release()).toEqual(dates);
});

test('a day that waited is not released while a newer response of it is held', async () => {
  await state('k1 77');
  const titles = '1 1000.50, 2 1000.50';
  await pull(titles);
  await sign();
  await world.serve(date, []);
  await match();
  expect(await release()).toEqual([]);
  expect(await readWaitingDays(world.database, RULES)).toEqual([
    { fault: 'not_reconciled', days: 1, titles: 0, value: expect.any(String), dates: [date] },
  ]);
  await pull(titles);
  expect(await release()).toEqual([date]);
});

test('a title that was matched before the ERP paid its payable is not released; the others of the day are', async () => {
  await pull('h 10, i 20, j 30, free 5');
  const payables = ['H1 10 order=h', 'I1 20 order=i', 'J1 30 order=j', 'F1 5 order=free'] as const;
  await state(...payables);
  expect(await match()).toMatchObject({ matched: 4 });
  const paid = ['H1 10 order=h paid', 'I1 0 order=i paid', 'J1 30 order=j paid'] as const;
  await state(...paid, payables[3]);
  // The run of the matching has not seen the payments, or has: the release reads the payables itself.
  await sign();
  expect(await lines()).toEqual(['book free F1 1 12.34']);
  await match();
  expect(await release()).toEqual([]);
  expect(await batches()).toEqual(['1 3 5']);
  expect(await readWaitingDays(world.database, RULES)).toEqual([
    { fault: 'titles', days: 1, titles: 3, value: '60', dates: [date] },
  ]);

  // The ERP takes two payments back. The seal is released in a further batch, and completely with the last one.
  await state(payables[0], paid[1], payables[2], payables[3]);
  expect(await release()).toEqual([date]);
  expect((await lines(1)).sort()).toEqual(['book h H1 1 12.34', 'book j J1 1 12.34']);
  await state(...payables);
  expect(await release()).toEqual([date]);
  expect(await release()).toEqual([]);
  expect(await batches()).toEqual(['1 3 5', '2 1 40', '1 0 20']);
  expect(await readWaitingDays(world.database, RULES)).toEqual([]);
});

test('a day whose titles all wait has one batch without lines, and is alerted once the release is late', async () => {
  await pull('a 10');
  await state('A1 10 order=a paid');
  await match();
  await sign();
  await release();
  await release();
  expect(await batches()).toEqual(['0 1 0']);
  const { prisma } = world;
  const overdue = (ageMs: number) =>
    prisma.$queryRaw(overdueReleases(new Date(Date.now() + ageMs), RULES));
  expect(await overdue(60_000)).toEqual([{ date: new Date(date) }]);
  expect(await overdue(-60_000)).toEqual([]);
  await state('A1 10 order=a');
  expect(await release()).toEqual([date]);
  expect(await overdue(60_000)).toEqual([]);
});

test('a snapshot that is too old keeps the day from being released', async () => {
  await pull('z 10');
  await state('Z1 10 order=z');
  await match();
  await world.prisma.$executeRaw`
    UPDATE conciliation.erp_payable_import SET started_at = now() - interval '31 hours'`;
  await sign();
  expect(await lines()).toEqual([]);
  expect(await readWaitingDays(world.database, RULES)).toEqual([
    { fault: 'not_matched', days: 1, titles: 0, value: '10', dates: [date] },
  ]);
  await state('Z1 10 order=z');
  expect(await release()).toEqual([date]);
});

test('a batch offers its reversals first', async () => {
  const uids = ['p', 'q', 'r', 's'];
  await pull(uids.map((uid) => `${uid} 10`).join(', '));
  await sign();
  // Each title gets a successor with another due date.
  await pull(uids.map((uid) => `${uid} 10 due=2026-07-15`).join(', '));
  await sign();
  const kinds = (await offered()).slice(4).map(({ kind }) => kind);
  expect(kinds).toEqual([...Array(4).fill('reverse'), ...Array(4).fill('book')]);
});

test('a failed line is followed by one with the payable that was matched meanwhile', async () => {
  await pull('late 10');
  await sign();
  const [line] = await offered();
  if (line === undefined) throw new Error('no line');
  expect(line.erpKey).toBeNull();
  const unknown = failureOf(line, 'no payable', { failureKind: 'payable_unknown' });
  await take(unknown);
  await state('L1 10 order=late');
  expect(await match()).toMatchObject({ matched: 1 });
  expect(await release()).toEqual([date]);
  expect((await offered()).map(({ erpKey }) => erpKey)).toEqual([null, null, 'L1']);
  // The view shows lines to the database user of their consumer only.
  const setUser = (user: Prisma.Sql) => world.prisma.$executeRaw`
    UPDATE conciliation.booking_consumer SET database_role = ${user} WHERE name = 'erp'`;
  await setUser(Prisma.sql`CURRENT_USER`);
  const [inTable] = await world.prisma.$queryRaw<object[]>`
    SELECT erp_key AS key, accounting_date::text AS date FROM conciliation.booking_feed
    WHERE order_uid = 'late' ORDER BY seq DESC LIMIT 1`;
  await setUser(Prisma.sql`NULL`);
  expect(inTable).toEqual({ key: 'L1', date });
});

test('payables are to be blocked from the match until a line is posted', async () => {
  await pull('block 10');
  await state('A1 10 order=block company=C', 'Z 99');
  const blocked = toBlock;
  expect(await blocked()).toEqual([]);
  await match();
  expect(await blocked()).toMatchObject([
    {
      ...{ erpKey: 'A1', company: 'C', orderUid: 'block', date, supplier: 'P-1' },
      ...{ originalValue: '10', effect: 'payee_change', payeeAfter: '11222333000181' },
      ...{ state: 'not_released', matchedAt: expect.any(Date) },
    },
  ]);
  expect(await readPayablesToBlock(world.database, { after: 'A1', limit: 10 })).toEqual([]);
  await sign();
  expect(await blocked()).toMatchObject([{ state: 'released' }]);
  const [line] = await offered();
  if (line === undefined) throw new Error('no line');
  await take(failureOf(line, 'x', { isFinal: true }));
  expect(await blocked()).toMatchObject([{ state: 'refused' }]);
  await take(failureOf(line, 'x'));
  expect(await blocked()).toMatchObject([{ state: 'failed' }]);
  await take(receiptOf(line));
  expect(await blocked()).toEqual([]);
  // A restatement that is not answered yet: the version before is posted.
  await pull('block 10 discount=3');
  await match();
  await sign();
  expect(await lines()).toHaveLength(2);
  expect(await blocked()).toEqual([]);
});

test('what may be the payable of a title in a break is to be blocked until a person resolves the break', async () => {
  await pull('doubt 77');
  // The ERP has the document twice, and another payable of the supplier in another month.
  await state('K1 77 doc=7', 'K2 77 doc=7', 'K3 77 due=2031-01-01');
  await match();
  const blocked = async () =>
    (await toBlockNow()).map(({ erpKey, state, matchedAt }) => `${erpKey} ${state} ${matchedAt}`);
  expect(await blocked()).toEqual(['K1 not_released null', 'K2 not_released null']);
  await sign();
  await postAll();
  // The line had no payable, so the ERP may have left it open.
  await match();
  expect(await blocked()).toEqual(['K1 posted null', 'K2 posted null']);
  await resolveListed(
    world.database,
    {
      kind: 'duplicated_in_erp',
      title: Number(await currentTitleId(world.database, 'doubt')),
      payable: 'K1',
    },
    { by: 'rita', code: 'agreed', reason: 'K1 was cleared by hand' },
  );
  expect(await blocked()).toEqual([]);
});

test('beside a settled payable of the order, only an open one of the value and due date is to be blocked', async () => {
  await pull('settled 78');
  const blocked = async (...payables: readonly string[]) => {
    await state(...payables);
    await match();
    return (await toBlockNow()).map(({ erpKey }) => erpKey);
  };
  const near = 'K3 78 due=2026-07-02';
  expect(await blocked('K1 500 order=settled paid', 'K2 78', near)).toEqual(['K2']);
  expect(await blocked('K1 500 order=settled paid', near)).toEqual([]);
  expect(await blocked('K1 78 order=settled paid', 'K2 78')).toEqual([]);
});

test.each([
  ['a payable that is a cent off', 'cent 611', 'K1', ['K1 611.01']],
  ['the one that is a cent off, of two', 'two 622', 'K1', ['K1 622.01', 'K2 500']],
  ['no payable of quite another value', 'other 633', '', ['K1 500']],
  ['an equal payable beside a cancelled one', 'gone 644', 'K2', ['K1 644 cancelled', 'K2 644']],
  [
    'a document that the ERP has twice',
    'paper 655',
    'K1, K2',
    ['K1 655 doc=8 order=paper', 'K2 655.01 doc=8'],
  ],
])('is to be blocked: %s', async (_, title, expected, payables) => {
  await pull(title);
  await state(...payables);
  await match();
  const blocked = (await toBlockNow()).map(({ erpKey }) => erpKey);
  expect(blocked.join(', ')).toBe(expected);
});

test('the payable that a person matched is to be blocked where the title was withdrawn and is back', async () => {
  const { database } = world;
  await pull('back 670, rest 5');
  await state('K1 700');
  const titleId = await currentTitleId(database, 'back');
  await matchPair(
    database,
    { titleId, erpKeys: ['K1'] },
    { by: 'rita', code: 'agreed', reason: 'x' },
  );
  await pull('rest 5');
  await match();
  await pull('back 670, rest 5');
  await match();
  expect(await toBlockNow()).toMatchObject([{ erpKey: 'K1', orderUid: 'back', matchedAt: null }]);
});

test('a payable that a line without an answer names is to be blocked after the match has ended', async () => {
  const { database } = world;
  await pull('taken 83');
  await state('K1 83 order=taken');
  await match();
  await sign();
  const [line] = await offered();
  if (line === undefined) throw new Error('no line');
  const [{ id } = { id: 0n }] = await database.prisma.titleMatch.findMany({
    where: { erpKey: 'K1', endedAt: null },
  });
  await undoMatch(database, id, { by: 'rita', reason: 'K2 is the payable of the title' });
  await state('K1 83 order=taken', 'K2 83');
  await match();
  const blocked = async () => (await toBlockNow()).map(({ erpKey, state }) => `${erpKey} ${state}`);
  expect(await blocked()).toEqual(['K1 released', 'K2 released']);
  // The ERP has posted on the payable of the former match.
  await take(receiptOf(line));
  expect(await blocked()).toContain('K2 posted');
});

test('a payable is to be blocked again where a person has recorded that the ERP has reversed its booking', async () => {
  const { database } = world;
  await pull('undone 10');
  await state('A1 10 order=undone');
  await match();
  await sign();
  await postAll();
  await pull('undone 10 discount=3');
  await match();
  await sign();
  // The ERP has posted a reversal with the key of the adjustment, from a release that a restore has lost.
  const { key = '' } = (await offered()).at(-1) ?? {};
  await take(receiptOf({ key, contentHash: '0'.repeat(32) }));
  const [{ newest = 0 } = {}] = await readReceiptQuestions(database.prisma);
  await answerReceipts(database, { date, first: newest, last: newest, count: 1 }, 'recorded', {
    ...RULES,
    ...{ by: 'ana', reason: 'the database was restored' },
  });
  expect(await lines(2)).toEqual(['book undone A1 3 3']);
  expect(await toBlock()).toMatchObject([{ erpKey: 'A1', state: 'released' }]);
});

test('a confirmed account is refused after the sign-off, and not once the line of a title is released', async () => {
  const { database } = world;
  const party = 'code=P-77 taxId=11144477735';
  await pull(`a 10 ${party} account=111`);
  date = nextDay();
  await pull(`b 10 ${party} account=222, c 10 ${party} account=111`);
  const { id } = await database.prisma.accountChange.findFirstOrThrow({
    where: { partyKey: 'P-77' },
  });
  const decide = (state: AccountDecision, list: ChangeListName) =>
    decideAccountChanges(database, [id], { by: 'rita', state, list, reason: 'looked again' });
  await decide('confirmed', 'open');
  // The day waits for a run of the matching.
  await state('K1 1');
  await sign();
  await decide('refused', 'decided');
  await match();
  expect(await release()).toEqual([date]);
  expect(await lines()).toEqual(['book c - 1 12.34']);
  await decide('confirmed', 'refused');
  expect(await release()).toEqual([date]);
  expect(await lines(1)).toEqual(['book b - 1 12.34']);
  const refused = { context: { fault: 'account_line', date, orderUid: 'b' } };
  await expect(decide('refused', 'decided')).rejects.toMatchObject(refused);
  expect(await database.prisma.accountChange.findUnique({ where: { id } })).toMatchObject({
    state: 'confirmed',
  });
  // The title names the former account again, and the line that names the other one is out still.
  await pull(`b 10 ${party} account=111, c 10 ${party} account=111`);
  await expect(decide('refused', 'decided')).rejects.toMatchObject(refused);
  await decideOpenChanges(database, 'confirmed', 'rita');
  await sign();
  await match();
  await release();
  expect(await lines(2)).toEqual(['adjust b - 2 12.34']);
  await decide('refused', 'decided');
});
