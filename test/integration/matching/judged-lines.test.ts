/** Payables that lines explain, titles that follow others, and payables that belong to another title. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/domain/business-day.ts';
import { listBreaks } from '../../../src/matching/breaks.sql.ts';
import { GRACE_DAYS } from '../../../src/matching/judgement.sql.ts';
import { AGENT, judgedWorld, type StatedPayable, THIRD_PARTY } from '../../support/judged-world.ts';
import { clearMatching, listMatches } from '../../support/matching-world.ts';
import { DAY, daysFrom, openPullWorld, type PullWorld, TODAY } from '../../support/pull-world.ts';

let world: PullWorld;
let judged: ReturnType<typeof judgedWorld>;
let date: CivilDate = DAY;
beforeAll(async () => {
  world = await openPullWorld();
  judged = judgedWorld(world);
});
afterAll(() => world.close());
beforeEach(async () => {
  date = daysFrom(7, date);
  await clearMatching(world.database);
});

const rest = { uid: 'rest', value: '9999' };
const payable = (erpKey: string, openValue: string, more: Partial<StatedPayable> = {}) => ({
  erpKey,
  openValue,
  ...more,
});
const breaks = async () => {
  await judged.match();
  return (await judged.breaks(date)).filter((text) => !text.includes(' rest '));
};
const lines = async () => {
  const rows = await world.database.prisma.$queryRaw<{ line: string }[]>`
    SELECT kind || ' ' || order_uid || ' ' || coalesce(erp_key, '-') AS line
    FROM conciliation.booking_line WHERE date >= ${date}::date AND order_uid <> 'rest' ORDER BY id`;
  return rows.map(({ line }) => line);
};

/** Titles that are matched by their orders, signed off, released and perhaps posted. */
async function release(
  titles: readonly { uid: string; value: string; dueDate?: string }[],
  payables: readonly StatedPayable[],
  { isPosted }: { readonly isPosted: boolean },
): Promise<void> {
  await judged.pull(date, ...titles, rest);
  // A snapshot without a payable is not complete.
  const unrelated = payable('unrelated', '1', { supplierExternalId: 'P-9' });
  await judged.state([...payables, unrelated], 'snapshot');
  await judged.match();
  await judged.release(date);
  if (isPosted) await judged.answer(date, 'posted');
}

test.each([
  [
    'B: the exact payable is paid, one is due 5 days later',
    { status: 'paid' },
    'paid_to_supplier!',
  ],
  ['C: the exact payable is gone', null, 'gone_from_erp!'],
  [
    'E: the exact payable is cancelled',
    { status: 'cancelled', document: 'NF' },
    'cancelled_in_erp',
  ],
] as const)('no other payable takes the place of the one that fits. %s', async (_, more, kind) => {
  await judged.pull(date, { uid: 'a', value: '1500' });
  const near = payable('k2', '1500', { dueDate: '2099-07-05', document: 'NF-2' });
  await judged.state([payable('k1', '1500', { document: 'NF-1' }), near], 'snapshot');
  await judged.state(more === null ? [near] : [payable('k1', '1500', more), near], 'snapshot');
  expect(await breaks()).toEqual([`${kind} a k1`]);
  expect(await judged.waiting(date)).toEqual(['a']);
  expect(await listMatches(world.database)).toEqual([]);
});

test('F: two invoices of one day and value, and one of them is paid', async () => {
  await judged.pull(date, { uid: 'a', value: '1500' });
  await judged.state(
    [
      payable('k1', '1500', { status: 'paid', document: 'N1' }),
      payable('k2', '1500', { document: 'N2' }),
    ],
    'snapshot',
  );
  expect(await breaks()).toEqual(['paid_to_supplier! a k1']);
});

test.each([
  ['paid with the value', { status: 'paid' }],
  ['paid, nothing left, with the order', { openValue: '0', status: 'paid', orderUid: 'a' }],
  ['paid, nothing left, without the order', { openValue: '0', status: 'paid' }],
  ['cancelled', { status: 'cancelled' }],
] as const)('the write-off of a posted title without a match is no break: %s', async (_, more) => {
  await release([{ uid: 'a', value: '1500' }], [], { isPosted: true });
  await judged.state([payable('k1', '1500', more)]);
  // The ERP has cancelled what it has posted: a break, and no instruction to enter the payable.
  expect(await breaks()).toEqual(_ === 'cancelled' ? ['cancelled_in_erp a k1'] : []);
});

test('the successor of a restated title keeps the payable that the booking of its predecessor has settled', async () => {
  const restated = { uid: 'a', value: '1600', dueDate: '2099-07-07' };
  await release([{ uid: 'a', value: '1600' }], [payable('k1', '1600', { orderUid: 'a' })], {
    isPosted: true,
  });
  await judged.state([payable('k1', '1600', { orderUid: 'a', status: 'paid' })]);
  expect(await breaks()).toEqual([]);
  await judged.pull(date, restated, rest);
  expect(await breaks()).toEqual([]);
  expect(await listMatches(world.database)).toEqual(['a=k1 order']);
  expect(await judged.waiting(date)).toEqual([]);
  await judged.release(date);
  expect((await lines()).toSorted()).toEqual(['book a k1', 'book a k1', 'reverse a k1']);
  expect(await breaks()).toEqual([]);
  await judged.answer(date, 'posted');
  expect(await breaks()).toEqual([]);
});

test('a title that moved to another accepted date keeps its payable, and is one of two until the old date is pulled and signed off', async () => {
  const other = daysFrom(1, date);
  await release([{ uid: 'm', value: '1700' }], [payable('k1', '1700', { orderUid: 'm' })], {
    isPosted: true,
  });
  await judged.state([payable('k1', '1700', { orderUid: 'm', status: 'paid' })]);
  await judged.pull(other, { uid: 'm', value: '1700' });
  await judged.match();
  expect(await judged.breaks(other)).toEqual(['anticipated_twice! m k1']);
  expect(await judged.waiting(other)).toEqual(['m']);
  await judged.pull(date, rest);
  await judged.match();
  expect(await judged.breaks(other)).toEqual(['already_assigned m k1']);
  expect(await listMatches(world.database)).toEqual(['m=k1 order']);
  expect(await judged.waiting(other)).toEqual(['m']);
  await judged.release(date);
  await judged.match();
  expect(await judged.breaks(other)).toEqual([]);
  expect(await judged.waiting(other)).toEqual([]);
});

test('after the release: less is open, paid without an answer, paid in part', async () => {
  await release(
    [
      { uid: 'a', value: '100' },
      { uid: 'b', value: '200' },
      { uid: 'c', value: '300' },
    ],
    [
      payable('k1', '100', { orderUid: 'a' }),
      payable('k2', '200', { orderUid: 'b' }),
      payable('k3', '300', { orderUid: 'c' }),
    ],
    { isPosted: false },
  );
  await judged.state([
    payable('k1', '60', { orderUid: 'a' }),
    payable('k2', '200', { orderUid: 'b', status: 'paid' }),
    payable('k3', '299', { orderUid: 'c', status: 'paid' }),
  ]);
  expect(await breaks()).toEqual(['paid_in_part! a k1']);
  expect(await listMatches(world.database)).toEqual(['a=k1 order', 'b=k2 order', 'c=k3 order']);
  await judged.passDays(GRACE_DAYS + 1);
  expect(await breaks()).toEqual([
    'paid_to_supplier! c k3',
    'paid_to_supplier! b k2',
    'paid_in_part! a k1',
  ]);
});

test('a posting on a payable of several titles makes no other title of it differ, and a part that was paid does', async () => {
  const dueDate = '2098-01-31';
  const titles = [
    { uid: 's', value: '100', dueDate },
    { uid: 's', value: '200', dueDate },
  ];
  const of = { orderUid: 's', dueDate, totalValue: '300' };
  await release(titles, [payable('k1', '300', of)], { isPosted: false });
  expect(await listMatches(world.database)).toEqual(['s=k1 sum', 's=k1 sum']);
  await world.database.prisma.$executeRaw`
    UPDATE conciliation.booking_line SET state = 'posted' WHERE date = ${date}::date AND original_value = 100`;
  await judged.state([payable('k1', '200', of)]);
  expect(await breaks()).toEqual([]);
  await judged.state([payable('k1', '150', of)]);
  expect(await breaks()).toEqual(['paid_in_part! s k1', 'paid_in_part! s k1']);
  expect(await listMatches(world.database)).toEqual(['s=k1 sum', 's=k1 sum']);
});

test('the payable of another title: anticipated twice, and never an instruction to enter the payable', async () => {
  await release([{ uid: 'a', value: '1501' }], [payable('k1', '1501')], { isPosted: false });
  date = daysFrom(1, date);
  await judged.pull(date, { uid: 'b', value: '1501' });
  expect(await breaks()).toEqual(['anticipated_twice! b k1']);
  expect(await judged.waiting(date)).toEqual(['b']);
  await judged.state([payable('k1', '1501', { status: 'paid' })]);
  expect(await breaks()).toEqual(['anticipated_twice! b k1']);
});

test('the payable that a posting made has no title, and two of one booking are posted twice', async () => {
  await release([{ uid: 'a', value: '1502' }], [payable('k1', '1502')], { isPosted: true });
  const key = await judged.keyOf('a', date);
  const made = (erpKey: string) => ({
    ...payable(erpKey, '1502', { bookingKey: key, orderUid: 'x', document: 'N' }),
  });
  await judged.state([payable('k1', '0', { status: 'paid' }), made('m1')]);
  expect(await breaks()).toEqual([]);
  expect((await judged.breaks()).filter((text) => text.includes(' m1'))).toEqual([]);
  await judged.state([made('m2')]);
  expect(await breaks()).toEqual(['posted_twice! a m2']);
});

test('a payable in another currency is no payable of a title, and no break of its own', async () => {
  await judged.pull(date, { uid: 'a', value: '1500' });
  await judged.state([payable('k1', '1500', { currency: 'USD', orderUid: 'a' })]);
  expect(await breaks()).toEqual(['missing_in_erp a -']);
  await judged.state([payable('k1', '1500', { currency: 'USD', orderUid: 'x' })]);
  expect(await judged.breaks()).not.toContain('missing_on_platform - k1');
});

test('a title that falls due before its release is urgent, and does not wait', async () => {
  await judged.pull(date, { uid: 'a', value: '1504', dueDate: TODAY });
  await judged.state([payable('k1', '1504', { dueDate: TODAY })], 'snapshot');
  expect(await breaks()).toEqual(['due_before_release! a k1']);
  expect(await judged.waiting(date)).toEqual([]);
  await judged.release(date);
  expect(await breaks()).toEqual([]);
});

test('after a posted reversal the agent must not be paid', async () => {
  await release([{ uid: 'a', value: '1503' }], [payable('k1', '1503')], { isPosted: true });
  await judged.state([payable('k1', '1503', { payee: AGENT })]);
  await judged.pull(date, rest);
  await judged.match();
  await judged.release(date);
  expect(await breaks()).toEqual([]);
  await judged.answer(date, 'posted');
  // What the ERP stated before the receipt says nothing about the reversal.
  expect(await breaks()).toEqual([]);
  await judged.state([payable('k1', '1503', { payee: AGENT })], 'snapshot');
  expect(await breaks()).toEqual(['payee_changed! a k1']);
  await judged.state([payable('k1', '1503')], 'snapshot');
  expect(await breaks()).toEqual([]);
});

test('a reversal that the ERP refuses for good is urgent, and what was posted stays expected', async () => {
  await release([{ uid: 'r', value: '1507' }], [payable('k1', '1507')], { isPosted: true });
  await judged.state([payable('k1', '0', { status: 'paid', paidTo: AGENT })]);
  await judged.pull(date, rest);
  await judged.match();
  await judged.release(date);
  await judged.answer(date, 'failed');
  expect(await breaks()).toEqual([]);
  await judged.answer(date, 'failed', true);
  expect(await breaks()).toEqual(['reversal_refused! r k1']);
  // The booking explains its own payable, and not that of another instalment of the order.
  date = daysFrom(1, date);
  await judged.pull(date, { uid: 'r', value: '1508' });
  await judged.state([payable('k2', '1508', { status: 'paid' })]);
  expect(await breaks()).toEqual(['paid_to_supplier! r k2']);
});

test('a restated agent: the payee that the posted line asked for is expected until another line is posted', async () => {
  await release([{ uid: 'a', value: '1509' }], [payable('k1', '1509')], { isPosted: true });
  await judged.state([payable('k1', '1509', { payee: AGENT })]);
  expect(await breaks()).toEqual([]);
  await judged.pull(date, { uid: 'a', value: '1509', agent: THIRD_PARTY }, rest);
  expect(await breaks()).toEqual([]);
  await judged.release(date);
  expect(await breaks()).toEqual([]);
  await judged.answer(date, 'posted');
  expect(await breaks()).toEqual(['payee_changed! a k1']);
  await judged.state([payable('k1', '1509', { payee: THIRD_PARTY })]);
  expect(await breaks()).toEqual([]);
});

test('a list tells the agent from a third party', async () => {
  await judged.pull(date, { uid: 'a', value: '1505' }, { uid: 'b', value: '1600' });
  const stated = [payable('k1', '1505'), payable('k2', '1600')];
  await judged.state(stated, 'snapshot');
  await judged.match();
  await judged.state([
    payable('k1', '1505', { payee: '11222333000262' }),
    payable('k2', '1600', { payee: THIRD_PARTY }),
  ]);
  await judged.match();
  const { breaks: found } = await listBreaks(world.database, {
    ...{ kind: 'payee_changed', date, supplier: null, offset: 0, limit: 9 },
  });
  expect(found.map(({ payable: side }) => [side?.erpKey, side?.payee])).toEqual([
    ['k2', 'other'],
    ['k1', 'agent'],
  ]);
});

test('a break that a person has resolved does not keep the title any more, and the payable that changes does again', async () => {
  await judged.pull(date, { uid: 'a', value: '1506' });
  await judged.state([payable('k1', '1506')], 'snapshot');
  await judged.match();
  // The release sees the change before any run does.
  await judged.state([payable('k1', '1506', { status: 'paid' })]);
  expect(await judged.waiting(date)).toEqual(['a']);
  await judged.resolve('paid_to_supplier', 'k1', date);
  expect(await judged.waiting(date)).toEqual([]);
  await judged.state([payable('k1', '1506', { status: 'paid', paidTo: THIRD_PARTY })]);
  expect(await judged.waiting(date)).toEqual(['a']);
});
