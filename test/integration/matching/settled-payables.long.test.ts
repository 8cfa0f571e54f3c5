/** Payables that the ERP has settled, wholly or in part, beside titles that have not been released. */
import { expect, test } from 'vitest';
import { answerReceipts } from '../../../src/features/bookings/receipt-decisions.sql.ts';
import { releaseWaitingDays } from '../../../src/features/bookings/release.sql.ts';
import { takeReceipts } from '../../../src/features/bookings/take-receipts.sql.ts';
import { type BreakKind, GRACE_DAYS } from '../../../src/features/matching/judgement.sql.ts';
import { AGENT, orderWorldOfFile, SUPPLIER } from '../../support/judged-world.ts';
import { daysFrom } from '../../support/pull-world.ts';
import { receiptOf } from '../../support/receipts.ts';

const { world, judged, own, named, pull, state, breaks, waiting, ...matching } = orderWorldOfFile();

async function begin(payables: string, titles?: string): Promise<void> {
  await pull(titles);
  await state(payables);
  await judged.match();
}
const PAID = `paid to=${SUPPLIER}`;

/** Kind and order of the lines. */
const lines = async () =>
  named((await judged.lines(own.date)).map((line) => line.replace(/ \S+ \d+$/, '')));
const matches = async () => (await matching.matches()).join(', ');

/** The title waits before and after the next run, and only the rest of the day is released. */
async function expectWait(kind: string): Promise<void> {
  expect(await waiting()).toContain('a');
  await judged.release(own.date);
  expect(await judged.lines(own.date)).toEqual(['book rest - 1']);
  await judged.match();
  expect(await waiting()).toContain('a');
  expect(await breaks()).toContain(kind);
}

test.each([
  ['without the order', ''],
  ['with the order', ' order=#'],
])('a payable of which less is open, without the whole value: %s', async (_, order) => {
  await begin(`k1 1000${order}`);
  await state(`k1 400${order}`);
  await expectWait('paid_in_part! a k1');
  await state(`k1 0${order} to=${SUPPLIER}`);
  expect(await waiting()).toEqual(['a']);
  await judged.match();
  expect(await breaks()).toEqual(['paid_to_supplier! a k1']);
});

test.each([
  ['two titles of one payable', '# 900, # 1100', 'k1 2000 order=#', 'a=k1 sum, a=k1 sum', 900],
  [
    'two payables of one title',
    '# 1000',
    'k1 400 order=#, k2 600 order=#',
    'a=k1 sum, a=k2 sum',
    100,
  ],
])('a part of a sum is paid: %s', async (_, titles, payables, sum, left) => {
  await begin(payables, titles);
  expect(await matches()).toBe(sum);
  await state(`k1 ${left} order=#`);
  await expectWait('paid_in_part! a k1');
});

test.each([
  ['the due date is 20 days off', `k1 1000 order=# due=2099-07-20 ${PAID}`],
  ['less was paid', `k1 990 order=# ${PAID}`],
  ['one payable of two titles', `k1 2500 order=# ${PAID}`],
  ['a part of the payables is paid', `k1 400 order=# ${PAID}, k2 600 order=#`],
])('a paid payable names the order of a title that has no match: %s', async (_, payables) => {
  await begin(payables);
  await expectWait('paid_to_supplier! a k1');
});

test('a second payable of the order, paid and with nothing left, keeps a title that is matched by the order', async () => {
  await begin('k1 1000 order=#');
  await state(`k2 0 order=# ${PAID}`);
  await expectWait('paid_to_supplier! a k2');
});

test('of several payables of the order, those with another due date and value say nothing of the title', async () => {
  await begin(`k1 700 order=# ${PAID} due=2099-08-30, k2 800 order=# ${PAID} due=2099-09-30`);
  expect(await breaks()).toEqual(['missing_in_erp a -']);
  expect(await waiting()).toEqual([]);
});

test('a title that is restated before the release keeps the paid payable of its predecessor', async () => {
  await begin('k1 1000');
  await state(`k1 1000 ${PAID}`);
  await pull('# 1001');
  await pull('# 1002');
  await judged.match();
  await expectWait('paid_to_supplier! a k1');
});

test.each([
  ['partly paid', 'own 600 total=1000'],
  ['wholly paid, and stated as open', 'own 0 total=1000 order=#'],
  ['of the order, with another value', 'own 1090 order=#'],
  ['of the order, due later', 'own 1000 order=# due=2099-07-30'],
])('the own payable keeps the title from another one: %s', async (_, own) => {
  await begin(`other 1000, ${own}`);
  expect(await matches()).toBe('');
  expect(await breaks()).not.toEqual([]);
});

test('a payable that is entered again under another key gets the title', async () => {
  await pull();
  for (const key of ['k1', 'k2']) {
    await state(`${key} 1000 doc=NF, unrelated 1 code=P-9`, 'snapshot');
    await judged.match();
    expect(await matches()).toBe(`a=${key} exact`);
  }
  expect(await waiting()).toEqual([]);
});

test.each(['posted', 'failed', null] as const)(
  'a payable that is entered again after the release is that of the title: %s',
  async (answer) => {
    await begin('k1 1000 doc=NF');
    await judged.release(own.date);
    if (answer !== null) await judged.answer(own.date, answer);
    await state('k2 1000 doc=NF, unrelated 1 code=P-9', 'snapshot');
    await judged.match();
    expect(await matches()).toBe('a=k2 exact');
    expect(await breaks()).toEqual([]);
    // The ERP has lost what it posted, and would pay the supplier.
    await judged.passDays(GRACE_DAYS + 1);
    await judged.match();
    expect(await breaks()).toEqual(answer === 'posted' ? ['still_open! a k2'] : []);
  },
);

test('of two titles of an order that one response restates, each keeps the payable of its due date or value', async () => {
  await begin('k1 1000, k2 1000 due=2099-07-29', '# 1000, # 1000 due=2099-07-29');
  await state(`k2 0 total=1000 due=2099-07-29 ${PAID}`);
  await pull('# 1000 due=2099-07-15, # 999 due=2099-07-29');
  await judged.match();
  expect((await breaks()).filter((text) => text.includes('k2'))).toEqual([
    'paid_to_supplier! a k2',
  ]);
  expect(await waiting()).toEqual(['a']);
  await judged.release(own.date);
  const released = await world.database.prisma.bookingLine.findMany({
    where: { date: own.date, orderUid: own.uid },
  });
  expect(released.map(({ originalValue }) => Number(originalValue))).toEqual([1000]);
});

test('a receivable that comes back waits where the ERP has refused the reversal', async () => {
  await begin('k1 1000 order=#');
  await judged.release(own.date);
  await judged.answer(own.date, 'posted');
  await pull('rest 1');
  await judged.match();
  await judged.release(own.date);
  await judged.answer(own.date, 'failed', true);
  const back = daysFrom(1, own.date);
  await judged.pull(back, `${own.uid} 1000 due=2099-07-09`);
  await judged.match();
  expect(await breaks(back)).toContain('reversal_refused! a k1');
  expect(await waiting(back)).toEqual(['a']);
});

/** What the ERP states after the first line was released. SIBLING is the key of another title's line. */
const paidSince: readonly [string, string, BreakKind][] = [
  ['paid to the supplier', `1000 ${PAID}`, 'paid_to_supplier'],
  ['paid in part', '600 total=1000', 'paid_in_part'],
  ['settled by the booking of another title', '1000 by=SIBLING', 'anticipated_twice'],
];
test.each(
  paidSince.flatMap(([what, more, kind]) =>
    (['released', 'failed', 'posted'] as const)
      // A posted line explains that less is open.
      .filter((state) => kind !== 'paid_in_part' || state !== 'posted')
      .map((state) => [what, state, more, kind] as const),
  ),
)(
  'a title keeps its line where the payable is %s since the release, and the line is %s',
  async (_, answer, more, kind) => {
    await begin('k1 1000 order=#, k2 2000', '# 1000, sibling-of-# 2000');
    await judged.release(own.date);
    if (answer !== 'released') await judged.answer(own.date, answer);
    const sibling = await judged.keyOf(`sibling-of-${own.uid}`, own.date);
    await state(`k1 ${more.replace('SIBLING', sibling)} order=#`);
    await pull('# 1000 discount=20, sibling-of-# 2000 discount=21');
    await judged.match();
    expect(await breaks()).toContain(`${kind}! a k1`);
    expect(await waiting()).toEqual(['a']);
    await judged.release(own.date);
    expect((await lines()).toSorted()).toEqual([
      'adjust sibling-of-a',
      'book a',
      'book sibling-of-a',
    ]);
    // A person decides, and the line is adjusted.
    await judged.resolve(kind, 'k1', own.date);
    expect(await releaseWaitingDays(world.database, {})).toEqual([own.date]);
    expect(await lines()).toContain('adjust a');
  },
);

test.each([
  ['at once', [], 'paid as=payment', ['paid_to_supplier! a k1']],
  ['after it was open and gone', ['', 'gone'], 'paid as=payment', ['paid_to_supplier! a k1']],
  ['to the agent', [], `paid as=payment to=${AGENT}`, []],
  ['and the ERP does not say how', [], 'paid', []],
])(
  'a payable that the posting has settled without a payment is paid: %s',
  async (_, meanwhile, now, expected) => {
    await begin('k1 1000 order=#');
    await judged.release(own.date);
    await judged.answer(own.date, 'posted');
    for (const words of ['paid as=assignment', ...meanwhile]) {
      await state(
        words === 'gone' ? 'k2 1 code=P-9' : `k1 1000 order=# ${words}`.trim(),
        'snapshot',
      );
      await judged.match();
      expect(await breaks()).toEqual([]);
    }
    await state(`k1 1000 order=# ${now}`);
    await judged.match();
    expect(await breaks()).toEqual(expected);
  },
);

test('after a restore of the database, the answered receipts explain what the lost lines have settled', async () => {
  const { database } = world;
  const [assigned, changed] = [`written-off-${own.uid}`, own.uid];
  await pull(`${assigned} 1000, ${changed} 2000, never-# 3000`);
  const keys = [await judged.keyOf(assigned, own.date), await judged.keyOf(changed, own.date)];
  const posted = await database.prisma.title.findMany({
    where: { orderUid: { in: [assigned, changed] } },
    orderBy: { originalValue: 'asc' },
    select: { contentHash: true },
  });
  const receipts = posted.map(({ contentHash }, index) =>
    receiptOf({ key: keys[index] ?? '', contentHash: contentHash.replaceAll('-', '') }),
  );
  await takeReceipts(database, 'erp', receipts);
  await state(
    `k1 0 paid order=${assigned} as=assignment by=${keys[0]}, k2 2000 order=# payee=${AGENT}, k3 3000 order=never-#`,
  );
  await judged.match();
  // A snapshot before the answers.
  expect((await breaks()).toSorted()).toEqual([
    'already_assigned written-off-a k1',
    'payee_changed a k2',
  ]);
  const seen = { date: own.date, first: 0, last: 1_000_000, count: 2 };
  const decision = { by: 'ana', reason: 'restored', bookingsFrom: own.date };
  await answerReceipts(database, seen, 'recorded', decision);
  await judged.match();
  expect(await breaks()).toEqual([]);
  expect(await waiting()).toEqual([]);
  await judged.release(own.date);
  await judged.match();
  expect(await breaks()).toEqual([]);
  const lines = await database.prisma.bookingLine.groupBy({
    by: ['kind'],
    where: { batch: { signOffId: { not: null } } },
    orderBy: { kind: 'asc' },
    _count: true,
  });
  expect(lines).toEqual([
    { kind: 'adjust', _count: 2 },
    { kind: 'book', _count: 2 },
  ]);
});

test('of two equal titles of which one is released, a payment on the payable of the other keeps that one alone', async () => {
  await begin('k1 1000 order=# doc=N, k2 1000 order=# doc=N', '# 1000, # 1000');
  await state(`k1 1000 order=# doc=N ${PAID}`);
  await judged.release(own.date);
  const before = await lines();
  expect(before).toEqual(['book a']);
  await state(`k1 1000 order=# doc=N ${PAID}, k2 1000 order=# doc=N ${PAID}`);
  await pull('# 1000 discount=20, # 1000 discount=20');
  await judged.match();
  expect(await waiting()).toEqual(['a', 'a']);
  await judged.release(own.date);
  expect(await lines()).toEqual(before);
});
