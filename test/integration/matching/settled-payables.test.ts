/** Payables that the ERP has settled, wholly or in part, beside titles that have not been released. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { releaseWaitingDays } from '../../../src/bookings/release.sql.ts';
import type { CivilDate } from '../../../src/domain/business-day.ts';
import type { BreakKind } from '../../../src/matching/breaks.sql.ts';
import { checkPayables } from '../../../src/payables/payable-file.ts';
import { addPayables, beginImport, endImport } from '../../../src/payables/payable-import.sql.ts';
import { judgedWorld, type StatedPayable, SUPPLIER } from '../../support/judged-world.ts';
import { clearMatching, listMatches } from '../../support/matching-world.ts';
import { DAY, daysFrom, openPullWorld, type PullWorld } from '../../support/pull-world.ts';

let world: PullWorld;
let judged: ReturnType<typeof judgedWorld>;
let date: CivilDate = DAY;
/** The order of the title of a test. */
let uid = '';
let tests = 0;
beforeAll(async () => {
  world = await openPullWorld();
  judged = judgedWorld(world);
});
afterAll(() => world.close());
beforeEach(async () => {
  // The titles of other tests are of the same supplier and due date.
  if (tests > 0) await judged.pull(date, rest);
  date = daysFrom(7, date);
  tests += 1;
  uid = `order-${tests}`;
  await clearMatching(world.database);
});

type Stated = Partial<StatedPayable>;
const payable = (erpKey: string, openValue: string, more: Stated = {}): StatedPayable => ({
  erpKey,
  openValue,
  document: erpKey,
  ...more,
});
const PAID: Stated = { status: 'paid', paidTo: SUPPLIER };
const ofOrder = (more: Stated = {}): Stated => ({ ...more, orderUid: uid });
const rest = { uid: 'rest', value: '9999' };

const lines = async () => {
  const rows = await world.database.prisma.$queryRaw<{ line: string }[]>`
    SELECT kind || ' ' || order_uid AS line FROM conciliation.booking_line
    WHERE date = ${date}::date ORDER BY id`;
  return rows.map(({ line }) => line);
};
const named = (texts: readonly string[]) =>
  texts.filter((text) => !text.includes('rest')).map((text) => text.replace(uid, 'a'));
const breaks = async (of = date) => named(await judged.breaks(of));
const waiting = async (of = date) => named(await judged.waiting(of));

/** The title waits before and after the next run, and only the rest of the day is released. */
async function expectWait(kind: string): Promise<void> {
  expect(await waiting()).toContain('a');
  await judged.release(date);
  expect(await lines()).toEqual(['book rest']);
  await judged.match();
  expect(await waiting()).toContain('a');
  expect(await breaks()).toContain(kind);
}

test.each([
  ['without the order', false],
  ['with the order', true],
])('a payable of which less is open, without the whole value: %s', async (_, hasOrder) => {
  const more = hasOrder ? ofOrder() : {};
  await judged.pull(date, { uid, value: '1000' }, rest);
  await judged.state([payable('k1', '1000', more)]);
  await judged.match();
  await judged.state([payable('k1', '400', more)]);
  await expectWait('paid_in_part! a k1');
  await judged.state([payable('k1', '0', { ...more, paidTo: SUPPLIER })]);
  expect(await waiting()).toEqual(['a']);
  await judged.match();
  expect(await breaks()).toEqual(['paid_to_supplier! a k1']);
});

test('a part of a sum is paid: two titles of one payable, two payables of one title', async () => {
  await judged.pull(date, { uid, value: '900' }, { uid, value: '1100' }, rest);
  await judged.state([payable('k1', '2000', ofOrder())]);
  await judged.match();
  expect(named(await listMatches(world.database))).toEqual(['a=k1 sum', 'a=k1 sum']);
  await judged.state([payable('k1', '900', ofOrder())]);
  await expectWait('paid_in_part! a k1');
});

test('a part of one payable of a sum is paid', async () => {
  await judged.pull(date, { uid, value: '1000' }, rest);
  await judged.state([payable('k1', '400', ofOrder()), payable('k2', '600', ofOrder())]);
  await judged.match();
  await judged.state([payable('k1', '100', ofOrder())]);
  await expectWait('paid_in_part! a k1');
});

test.each<[string, StatedPayable[]]>([
  ['the due date is 20 days off', [payable('k1', '1000', { dueDate: '2099-07-20' })]],
  ['less was paid', [payable('k1', '990')]],
  ['one payable of two titles', [payable('k1', '2500')]],
  ['a part of the payables is paid', [payable('k1', '400'), payable('k2', '600')]],
])('a paid payable names the order of a title that has no match: %s', async (_, stated) => {
  await judged.pull(date, { uid, value: '1000' }, rest);
  const rows = stated.map((each, index) => ({
    ...each,
    ...ofOrder(index === 0 ? PAID : {}),
    erpKey: each.erpKey,
    openValue: each.openValue,
  }));
  await judged.state(rows);
  await judged.match();
  await expectWait('paid_to_supplier! a k1');
});

test('of several payables of the order, those with another due date and value say nothing of the title', async () => {
  await judged.pull(date, { uid, value: '1000' }, rest);
  await judged.state([
    payable('k1', '700', { ...ofOrder(PAID), dueDate: '2099-08-30' }),
    payable('k2', '800', { ...ofOrder(PAID), dueDate: '2099-09-30' }),
  ]);
  await judged.match();
  expect(await breaks()).toEqual(['missing_in_erp a -']);
  expect(await waiting()).toEqual([]);
});

test('a title that is restated before the release keeps the paid payable of its predecessor', async () => {
  await judged.pull(date, { uid, value: '1000' }, rest);
  await judged.state([payable('k1', '1000')]);
  await judged.match();
  await judged.state([payable('k1', '1000', PAID)]);
  await judged.pull(date, { uid, value: '1001' }, rest);
  await judged.pull(date, { uid, value: '1002' }, rest);
  await judged.match();
  await expectWait('paid_to_supplier! a k1');
});

const other = payable('other', '1000');
test.each<[string, StatedPayable]>([
  ['partly paid', payable('own', '600', { totalValue: '1000' })],
  ['wholly paid, and stated as open', payable('own', '0', { totalValue: '1000', orderUid: '#' })],
  ['of the order, with another value', payable('own', '1090', { orderUid: '#' })],
  ['of the order, due later', payable('own', '1000', { orderUid: '#', dueDate: '2099-07-30' })],
])('the own payable keeps the title from another one: %s', async (_, own) => {
  await judged.pull(date, { uid, value: '1000' }, rest);
  await judged.state([other, own['orderUid'] === '#' ? { ...own, orderUid: uid } : own]);
  await judged.match();
  expect(await listMatches(world.database)).toEqual([]);
  expect(await breaks()).not.toEqual([]);
});

test('a payable that is entered again under another key gets the title', async () => {
  const unrelated = payable('unrelated', '1', { supplierExternalId: 'P-9' });
  await judged.pull(date, { uid, value: '1000' }, rest);
  await judged.state([payable('k1', '1000', { document: 'NF' }), unrelated], 'snapshot');
  await judged.match();
  await judged.state([payable('k2', '1000', { document: 'NF' }), unrelated], 'snapshot');
  await judged.match();
  expect(named(await listMatches(world.database))).toEqual(['a=k2 exact']);
  expect(await waiting()).toEqual([]);
});

test('SQL after the start of a snapshot, in an older transaction, is not replaced by the snapshot', async () => {
  await judged.state([payable('k1', '1000')]);
  const { prisma } = world.database;
  const importId = await prisma.$transaction(async (tx) => {
    await tx.$queryRaw`SELECT now()::text`;
    const begun = await prisma.$transaction((other) =>
      beginImport(other, { kind: 'snapshot', by: 'test' }),
    );
    await tx.$executeRaw`UPDATE conciliation.erp_payable SET status = 'paid' WHERE erp_key = 'k1'`;
    return begun;
  });
  await prisma.$transaction(async (tx) => {
    const rows = [{ supplierExternalId: 'P-1', erpKey: 'k1', openValue: '1000' }];
    await addPayables(tx, importId, [...checkPayables(rows)]);
    expect(await endImport(tx, importId, { by: 'test', announced: 1 })).toMatchObject({
      outdated: 1,
      changed: 0,
    });
  });
  expect(await prisma.erpPayable.findFirst({ select: { status: true } })).toEqual({
    status: 'paid',
  });
});

test('a receivable that comes back waits where the ERP has refused the reversal', async () => {
  await judged.pull(date, { uid, value: '1000' }, rest);
  await judged.state([payable('k1', '1000', ofOrder())]);
  await judged.match();
  await judged.release(date);
  await judged.answer(date, 'posted');
  await judged.pull(date, rest);
  await judged.match();
  await judged.release(date);
  await judged.answer(date, 'failed', true);
  const back = daysFrom(1, date);
  await judged.pull(back, { uid, value: '1000', dueDate: '2099-07-09' });
  await judged.match();
  expect(await breaks(back)).toContain('reversal_refused! a k1');
  expect(await waiting(back)).toEqual(['a']);
});

/** What the ERP states after the first line was released. */
const paidSince: readonly [string, Stated, string][] = [
  ['paid to the supplier', PAID, 'paid_to_supplier!'],
  ['paid in part', { openValue: '600', totalValue: '1000' }, 'paid_in_part!'],
  ['settled by the booking of another title', { settledBy: '' }, 'anticipated_twice!'],
];
test.each(
  paidSince.flatMap(([what, more, kind]) =>
    (['released', 'failed', 'posted'] as const)
      // A posted line explains that less is open.
      .filter((state) => kind !== 'paid_in_part!' || state !== 'posted')
      .map((state) => [what, state, more, kind] as const),
  ),
)(
  'a title keeps its line where the payable is %s since the release, and the line is %s',
  async (_, state, more, kind) => {
    const sibling = `sibling of ${uid}`;
    await judged.pull(date, { uid, value: '1000' }, { uid: sibling, value: '2000' }, rest);
    await judged.state([payable('k1', '1000', ofOrder()), payable('k2', '2000')]);
    await judged.match();
    await judged.release(date);
    if (state !== 'released') await judged.answer(date, state);
    const other =
      more['settledBy'] === undefined ? {} : { settledBy: await judged.keyOf(sibling, date) };
    await judged.state([payable('k1', '1000', { ...ofOrder(), ...more, ...other })]);
    const restated = [
      { uid, value: '1000', discount: '20' },
      { uid: sibling, value: '2000', discount: '21' },
    ];
    await judged.pull(date, ...restated, rest);
    await judged.match();
    expect(await breaks()).toContain(`${kind} a k1`);
    expect(await waiting()).toEqual(['a']);
    await judged.release(date);
    const released = named(await lines()).toSorted();
    expect(released).toEqual(['adjust sibling of a', 'book a', 'book sibling of a']);
    // A person decides, and the line is adjusted.
    await judged.resolve(kind.replace('!', '') as BreakKind, 'k1', date);
    expect(await releaseWaitingDays(world.database, {})).toEqual([date]);
    expect(named(await lines())).toContain('adjust a');
  },
);

test('of two equal titles of which one is released, a payment on the payable of the other keeps that one alone', async () => {
  await judged.pull(date, { uid, value: '1000' }, { uid, value: '1000' }, rest);
  const of = { openValue: '1000', orderUid: uid };
  const k1 = { erpKey: 'k1', ...of };
  const k2 = { erpKey: 'k2', ...of };
  const paidK1: StatedPayable = { ...k1, ...PAID };
  await judged.state([k1, k2]);
  await judged.match();
  await judged.state([paidK1]);
  await judged.release(date);
  const before = named(await lines());
  expect(before).toEqual(['book a']);
  await judged.state([paidK1, { ...k2, ...PAID }]);
  await judged.pull(
    date,
    { uid, value: '1000', discount: '20' },
    { uid, value: '1000', discount: '20' },
    rest,
  );
  await judged.match();
  expect(await waiting()).toEqual(['a', 'a']);
  await judged.release(date);
  expect(named(await lines())).toEqual(before);
});
