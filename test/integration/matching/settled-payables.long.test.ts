/** Payables that the ERP has settled, wholly or in part, beside titles that have not been released. */
import { expect, test } from 'vitest';
import { answerReceipts } from '../../../src/features/bookings/receipt-decisions.sql.ts';
import { takeReceipts } from '../../../src/features/bookings/take-receipts.sql.ts';
import type { BreakKind } from '../../../src/features/matching/judgement.sql.ts';
import { AGENT, type JudgedStep, orderWorldOfFile, SUPPLIER } from '../../support/judged-world.ts';
import { receiptOf } from '../../support/receipts.ts';

const { world, judged, own, play } = orderWorldOfFile();

const begin = (state: string, pull = '# 1000') => ({ pull, state, match: true as const });
const PAID = `paid to=${SUPPLIER}`;

/** The title waits before and after the next run, and only the rest of the day is released. */
const kept = (breaks: string, waits = 'a'): JudgedStep[] => [
  { waits, release: true, lines: 'book rest - 1' },
  { breaks, waits },
];

test.each([
  ['without the order', ''],
  ['with the order', ' order=#'],
])('a payable of which less is open, without the whole value: %s', (_, order) =>
  play(begin(`k1 1000${order}`), { state: `k1 400${order}` }, ...kept('paid_in_part! a k1'), {
    state: `k1 0${order} to=${SUPPLIER}`,
    waits: 'a',
    breaks: 'paid_to_supplier! a k1',
  }),
);

test.each([
  ['two titles of one payable', '# 900, # 1100', 'k1 2000 order=#', 'a=k1 sum, a=k1 sum', 900],
  [
    'two payables of one title',
    '# 1000',
    'k1 400 order=#, k2 600 order=#',
    'a=k1 sum, a=k2 sum',
    100,
  ],
])('a part of a sum is paid: %s', (_, titles, payables, matches, left) => {
  const all = (text: string) =>
    titles
      .split(', ')
      .map(() => text)
      .join(', ');
  return play(
    begin(payables, titles),
    { matches, state: `k1 ${left} order=#` },
    ...kept(all('paid_in_part! a k1'), all('a')),
  );
});

test.each([
  ['the due date is 20 days off', `k1 1000 order=# due=2099-07-20 ${PAID}`],
  ['less was paid', `k1 990 order=# ${PAID}`],
  ['one payable of two titles', `k1 2500 order=# ${PAID}`],
  ['a part of the payables is paid', `k1 400 order=# ${PAID}, k2 600 order=#`],
])('a paid payable names the order of a title that has no match: %s', (_, payables) =>
  play(begin(payables), ...kept('paid_to_supplier! a k1')),
);

const stories: Record<string, readonly JudgedStep[]> = {
  'a second payable of the order, paid and with nothing left, keeps a title that is matched by the order':
    [
      begin('k1 1000 order=#'),
      { state: `k2 0 order=# ${PAID}` },
      ...kept('paid_to_supplier! a k2'),
    ],
  'of several payables of the order, those with another due date and value say nothing of the title':
    [
      begin(`k1 700 order=# ${PAID} due=2099-08-30, k2 800 order=# ${PAID} due=2099-09-30`),
      { breaks: 'missing_in_erp a -', waits: '' },
    ],
  'a title that is restated before the release keeps the paid payable of its predecessor': [
    begin('k1 1000'),
    { state: `k1 1000 ${PAID}` },
    { pull: '# 1001' },
    { pull: '# 1002', match: true },
    ...kept('paid_to_supplier! a k1'),
  ],
  'a payable that is entered again under another key gets the title': [
    { pull: '# 1000' },
    { snapshot: 'k1 1000 doc=NF', matches: 'a=k1 exact' },
    { snapshot: 'k2 1000 doc=NF', matches: 'a=k2 exact', waits: '' },
  ],
  'a receivable that comes back waits where the ERP has refused the reversal': [
    begin('k1 1000 order=#'),
    { release: true, answer: 'posted' },
    { pull: '', book: 'refused' },
    { on: 1, pull: '# 1000 due=2099-07-09', breaks: 'reversal_refused! a k1', waits: 'a' },
  ],
  'of two equal titles of which one is released, a payment on the payable of the other keeps that one alone':
    [
      begin('k1 1000 order=# doc=N, k2 1000 order=# doc=N', '# 1000, # 1000'),
      { state: `k1 1000 order=# doc=N ${PAID}`, release: true, lines: 'book a k2 1' },
      { state: `k1 1000 order=# doc=N ${PAID}, k2 1000 order=# doc=N ${PAID}` },
      { pull: '# 1000 discount=20, # 1000 discount=20', match: true, waits: 'a, a' },
      { release: true, lines: 'book a k2 1' },
    ],
};
test.each(Object.entries(stories))('%s', (_, steps) => play(...steps));

test.each([
  ['partly paid', 'own 600 total=1000'],
  ['wholly paid, and stated as open', 'own 0 total=1000 order=#'],
  ['of the order, with another value', 'own 1090 order=#'],
  ['of the order, due later', 'own 1000 order=# due=2099-07-30'],
])('the own payable keeps the title from another one: %s', async (_, payable) => {
  await play(begin(`other 1000, ${payable}`), { matches: '' });
  expect((await judged.breaks(own.date)).filter((text) => text.includes(own.uid))).not.toEqual([]);
});

/** What the ERP states after the first line was released. */
const paidSince: readonly [string, string, BreakKind][] = [
  ['paid to the supplier', `1000 ${PAID}`, 'paid_to_supplier'],
  ['paid in part', '600 total=1000', 'paid_in_part'],
  ['settled by the booking of another title', '1000 by=KEY(sibling-of-#)', 'anticipated_twice'],
];
test.each(
  paidSince.flatMap(([what, more, kind]) =>
    (['unanswered', 'failed', 'posted'] as const)
      // A posted line explains that less is open.
      .filter((answer) => kind !== 'paid_in_part' || answer !== 'posted')
      .map((answer) => [what, answer, more, kind] as const),
  ),
)(
  'a title keeps its line where the payable is %s since the release, and the line is %s',
  async (_, book, more, kind) => {
    await play(
      { ...begin('k1 1000 order=#, k2 2000', '# 1000, sibling-of-# 2000'), book },
      { state: `k1 ${more} order=#` },
      { pull: '# 1000 discount=20, sibling-of-# 2000 discount=21', match: true },
    );
    expect(await judged.breaks(own.date)).toContain(`${kind}! ${own.uid} k1`);
    const adjusted = 'adjust sibling-of-a k2 2, book a k1 1, book sibling-of-a k2 1';
    await play(
      { waits: 'a', release: true, lines: adjusted },
      // A person decides, and the line is adjusted.
      { resolve: [kind, 'k1'], released: true, lines: `adjust a k1 2, ${adjusted}` },
    );
  },
);

test.each([
  ['at once', [], 'paid as=payment', 'paid_to_supplier! a k1'],
  ['after it was open and gone', ['', null], 'paid as=payment', 'paid_to_supplier! a k1'],
  ['to the agent', [], `paid as=payment to=${AGENT}`, ''],
  ['and the ERP does not say how', [], 'paid', ''],
])(
  'a payable that the posting has settled without a payment is paid: %s',
  (_, meanwhile, now, breaks) =>
    play(
      { ...begin('k1 1000 order=#'), book: 'posted' },
      ...['paid as=assignment', ...meanwhile].map((words) => ({
        snapshot: words === null ? '' : `k1 1000 order=# ${words}`.trim(),
        breaks: '',
      })),
      { state: `k1 1000 order=# ${now}`, breaks },
    ),
);

test('after a restore of the database, the answered receipts explain what the lost lines have settled', async () => {
  const { database } = world;
  const [assigned, changed] = [`written-off-${own.uid}`, own.uid];
  await play({ pull: `${assigned} 1000, ${changed} 2000, never-# 3000` });
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
  await play({
    state: `k1 0 paid order=${assigned} as=assignment by=${keys[0]}, k2 2000 order=# payee=${AGENT}, k3 3000 order=never-#`,
    // A snapshot before the answers.
    breaks: 'already_assigned written-off-a k1, payee_changed a k2',
  });
  const seen = { date: own.date, first: 0, last: 1_000_000, count: 2 };
  const decision = { by: 'ana', reason: 'restored', bookingsFrom: own.date };
  await answerReceipts(database, seen, 'recorded', decision);
  await play({ breaks: '', waits: '', release: true }, { breaks: '' });
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
