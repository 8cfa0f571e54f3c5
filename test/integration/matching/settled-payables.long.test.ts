/** Payables that the ERP has settled, wholly or in part, and what it states in several snapshots, with a run after each. */
import { describe, expect, test } from 'vitest';
import {
  answerReceipts,
  takeReceipts,
} from '../../../src/features/bookings/receipt-decisions.sql.ts';
import { type BreakKind, GRACE_DAYS } from '../../../src/features/matching/judgement.sql.ts';
import {
  AGENT,
  type JudgedStep,
  orderWorldOfFile,
  SUPPLIER,
  THIRD_PARTY,
} from '../../support/judged-world.ts';
import {
  addBooking,
  clearMatching,
  currentTitleId,
  listMatches,
  matchPair,
} from '../../support/matching-world.ts';
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
  ['payables of one title', '# 1000', 'k1 400 order=#, k2 600 order=#', 'a=k1 sum, a=k2 sum', 100],
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

const RIVAL = `b 1000 agent=${THIRD_PARTY}`;
const ONE: JudgedStep = { matches: 'a=k1 exact', breaks: '', waits: '' };
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
  'an invoice of the order that is entered again, and was never matched, is paid': [
    begin('k1 999 order=# due=2099-07-08 doc=NF'),
    { state: 'k1 999 order=# due=2099-07-08 doc=NF cancelled', breaks: 'cancelled_in_erp a k1' },
    { state: `k2 999 order=# due=2099-07-08 doc=NF ${PAID}` },
    ...kept('paid_to_supplier! a k2'),
  ],
  'a payable of nearly the value is paid before it was stated as open': [
    begin(`k1 1000.01 ${PAID}`),
    ...kept('paid_to_supplier! a k1'),
    // It has the value of another title.
    { pull: '# 1000, b 1000.01', match: true, waits: 'b' },
  ],
  'a title without a match is posted on one of two copies of an invoice, and the other one is paid':
    [
      begin('k1 1000 order=# doc=NF, k2 1000 order=# due=2099-07-02 doc=NF'),
      { breaks: 'in_doubt a k1', release: true, answer: 'posted' },
      { state: 'k1 0 total=1000 order=# doc=NF paid as=assignment by=KEY(#)' },
      { breaks: 'duplicated_in_erp a k2' },
      { state: 'k2 0 total=1000 order=# due=2099-07-02 doc=NF paid as=assignment', breaks: '' },
      { state: `k2 1000 order=# due=2099-07-02 doc=NF ${PAID}`, breaks: 'paid_to_supplier! a k2' },
    ],
  'of a payable of two titles, the rest is left to the supplier once the ERP has reversed one of them':
    [
      // On a due date without the titles of other tests, which are more than the candidates of a sum.
      {
        ...begin(
          'k1 1000 total=1000 order=# due=2098-05-20',
          '# 400 due=2098-05-20, # 600 due=2098-05-20',
        ),
        book: 'posted',
      },
      { pull: '# 400 due=2098-05-20', match: true, release: true, answer: 'posted' },
      { state: 'k1 700 total=1000 order=# due=2098-05-20' },
      { passDays: GRACE_DAYS + 1, breaks: 'still_open! a k1' },
      { state: 'k1 600 total=1000 order=# due=2098-05-20', breaks: '' },
    ],
  'the refused line of another title explains no payment': [
    { ...begin('k1 1000', 'b 1000'), book: 'refused' },
    { pull: '# 1000', state: `k1 1000 ${PAID}, k2 1000`, matches: '' },
    { breaks: 'paid_to_supplier! a k1', waits: 'a' },
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
  'of equal titles, each is released once and with its own payable, whichever waits': [
    begin('k1 1000 order=# doc=N, k2 1000 order=# doc=N', '# 1000, # 1000'),
    { state: `k1 1000 order=# doc=N ${PAID}`, release: true, lines: 'book a k2 1' },
    { state: 'k1 1000 order=# doc=N', released: true, lines: 'book a k1 1, book a k2 1' },
  ],
  'what the ERP has paid since the release keeps no adjustment waiting, nor those of other titles':
    [
      { ...begin('k1 7 order=#', '# 7, s 10 discount=1, s 10 discount=2'), book: 'unanswered' },
      { state: 'k1 7 order=# paid', pull: '# 7 discount=5, s 10 discount=1, s 10 discount=3' },
      { match: true, release: true },
      { lines: 'adjust a k1 2, adjust s - 2, book a k1 1, book s - 1, book s - 1' },
    ],
  'a title of another order that comes later takes the payable of a match not away': [
    { pull: '# 1000', state: 'k1 1000', match: true },
    { pull: '# 1000, b 1000', matches: 'a=k1 exact' },
    { breaks: 'anticipated_twice! b k1', waits: 'b' },
  ],
  'more titles than payables that fit them, of other orders and of one date: all of them wait': [
    { pull: `# 1000, ${RIVAL}`, state: 'k1 1000', matches: '' },
    { breaks: 'anticipated_twice! a k1, anticipated_twice! b k1', waits: 'a, b' },
    { resolve: ['anticipated_twice', 'k1'] },
    // A second payable, or a title less: they are in doubt, or matched.
    { state: 'k2 1000', matches: '', breaks: 'in_doubt a k1, in_doubt b k1', waits: '' },
    { state: 'k2 5', pull: '# 1000', ...ONE },
  ],
  'more titles than payables that fit them, of other orders and of two dates: all of them wait': [
    { pull: '# 1000' },
    { on: 1, pull: RIVAL },
    { state: 'k1 1000', matches: '', breaks: 'anticipated_twice! a k1', waits: 'a' },
    { on: 1, waits: 'b', resolve: ['anticipated_twice', 'k1'] },
    { state: 'k2 1000', matches: '', breaks: 'in_doubt a k1', waits: '' },
    { on: 1, state: 'k2 5', pull: '' },
    ONE,
  ],
};
test.each(Object.entries(stories))('%s', (_, steps) => play(...steps));

test('of two restated titles of one identity, the one that does not wait adjusts its own line', async () => {
  const { bookingLine } = world.prisma;
  const both = begin('k1 1000 doc=N, k2 1000 doc=N', '# 1000, # 1000');
  await play({ ...both, book: 'unanswered' });
  const where = { date: own.date, orderUid: own.uid };
  const [first, second] = await bookingLine.findMany({ where, orderBy: { occurrence: 'asc' } });
  await play(
    { state: `${first?.erpKey} 600 total=1000 doc=N` },
    { pull: '# 1000 discount=3, # 1000 discount=4', match: true, waits: 'a', release: true },
  );
  const adjusted = { kind: 'adjust', occurrence: 2, erpKey: second?.erpKey };
  expect(await bookingLine.findMany({ where: { ...where, version: 2 } })).toMatchObject([adjusted]);
});

test.each([
  ['posted', ''],
  ['failed', ''],
  ['unanswered', ''],
  ['posted', 'k1 1000 doc=NF cancelled, '],
  ['failed', 'k1 1000 doc=NF cancelled, '],
] as const)(
  'a payable that is entered again after the release is that of the title: %s %s',
  (book, former) =>
    play(
      { ...begin('k1 1000 doc=NF'), book },
      { snapshot: `${former}k2 1000 doc=NF`, matches: 'a=k2 exact', breaks: '' },
      // The ERP has lost what it posted, and would pay the supplier.
      { passDays: GRACE_DAYS + 1, breaks: book === 'posted' ? 'still_open! a k2' : '' },
    ),
);

test('of two titles of an order that one response restates, each keeps the payable of its due date or value', async () => {
  await play(
    begin('k1 1000, k2 1000 due=2099-07-29', '# 1000, # 1000 due=2099-07-29'),
    { state: `k2 0 total=1000 due=2099-07-29 ${PAID}` },
    { pull: '# 1000 due=2099-07-15, # 999 due=2099-07-29', match: true, waits: 'a' },
    { release: true },
  );
  expect(await judged.breaks(own.date)).toContain(`paid_to_supplier! ${own.uid} k2`);
  const released = await world.prisma.bookingLine.findMany({
    where: { date: own.date, orderUid: own.uid },
  });
  expect(released.map(({ originalValue }) => Number(originalValue))).toEqual([1000]);
});

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

test.each([
  ['the supplier', SUPPLIER, 'paid_to_supplier! a m1', 'a'],
  ['a third party', THIRD_PARTY, 'paid_to_supplier! a m1', 'a'],
  ['the agent', AGENT, '', ''],
])('what a posting has made for the agent is paid to %s', (_, receiver, breaks, waits) =>
  play(
    { ...begin('k1 1000 order=#'), book: 'posted' },
    { state: `k1 0 order=# paid as=assignment, m1 1000 bookingKey=KEY(#) paid to=${receiver}` },
    { breaks, pull: '# 1000 discount=5', match: true, waits },
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

const matches = async () =>
  (await listMatches(world.database)).map((text) => text.replace(own.uid, 'a'));
/** What stands after each of the snapshots. */
const last = (history: readonly string[]) => [
  ...new Map(history.map((row) => [row.split(' ')[0], row])).values(),
];
const matchByRita = async (reason: string) => {
  const titleId = await currentTitleId(world.database, own.uid);
  const decision = { by: 'rita', code: 'other', reason } as const;
  await matchPair(world.database, { titleId, erpKeys: ['k1'] }, decision);
};

const ORDER = 'k2 1000 order=#';
/** What the ERP states one after the other, and the match or the break of the title then. */
const judgedAsOne: Record<string, string> = {
  'a payable of the order appears, open': `k1 1000, ${ORDER} -> a=k2 order`,
  'a payable of the order appears, open, with another value':
    'k1 1000, k2 1090 order=# -> value_differs a k2',
  'a payable of the order appears, paid': `k1 1000, ${ORDER} ${PAID} -> paid_to_supplier! a k2`,
  'a payable of the order appears, paid, due four days later': `k1 1000, ${ORDER} ${PAID} due=2099-07-04 -> paid_to_supplier! a k2`,
  'an equal payable appears, paid': `k1 1000, k2 1000 ${PAID} -> paid_to_supplier! a k2`,
  'an equal payable appears, open': 'k1 1000, k2 1000 -> in_doubt a k1',
  'the exact payable appears after one that is due three days later, and is paid': `k1 1000 due=2099-07-03, k2 1000, k2 1000 ${PAID} -> paid_to_supplier! a k2`,
  'a second payable of the order appears, paid': `k1 1000 order=#, ${ORDER} ${PAID} -> paid_to_supplier! a k2`,
  'an equal payable gets the order': `k1 1000, k2 1000, ${ORDER} -> a=k2 order`,
  'the sum of two payables, then one payable of the order':
    'k1 400 order=#, k2 600 order=#, k3 1000 order=# -> a=k3 order',
};

test.each(Object.entries(judgedAsOne))(
  'the order of the snapshots does not matter: %s',
  async (_, words) => {
    const [stated = '', found = ''] = words.split(' -> ');
    const history = stated.split(', ');
    const isMatch = found.includes('=');
    const breaks = isMatch ? '' : found;
    await play(
      { pull: '# 1000', state: last(history).join(', ') },
      { matches: isMatch ? found : '', breaks },
    );
    const once = await judged.waiting(own.date);
    for (const steps of [history, last(history).reverse()]) {
      await clearMatching(world.database);
      await play(...steps.map((state) => ({ state, match: true as const })));
      expect(await judged.match()).toMatchObject({ matched: 0, reopened: 0 });
      await play({ breaks });
      expect(await judged.waiting(own.date)).toEqual(once);
      // The match of a payable that is paid later stays, and is judged.
      const paid = last(history).flatMap((row) =>
        row.includes(' paid ') ? [row.slice(0, 2)] : [],
      );
      const others = (await matches()).filter((text) => !paid.some((key) => text.includes(key)));
      expect(others).toEqual(isMatch ? [found] : []);
    }
  },
);

test('a match that the rules make again is neither ended nor written', async () => {
  // On a due date without the titles of other tests, which are more than the candidates of a sum.
  const due = 'due=2098-01-31';
  const sum = `s1 200 order=sum ${due}, s2 300 order=sum ${due}`;
  await play({ pull: `# 1000, sum 500 ${due}`, state: `k1 1000, ${sum}`, match: true });
  const rows = () =>
    world.prisma.$queryRaw`SELECT xmin::text, * FROM conciliation.title_match ORDER BY id`;
  const before = await rows();
  expect(before).toHaveLength(3);
  await play({ state: 'k9 7' });
  expect(await judged.match()).toMatchObject({ matched: 0, reopened: 0 });
  expect(await rows()).toEqual(before);
});

describe.each(['released', 'posted', 'person'] as const)('a match that is %s stays', (how) => {
  test.each([
    ['of the order, paid', '', `${ORDER} ${PAID}`, 'paid_to_supplier'],
    ['of the order, with another value, paid', '', `k2 1090 order=# ${PAID}`, 'paid_to_supplier'],
    ['equal, paid', '', `k2 1000 ${PAID}`, 'paid_to_supplier'],
    ['equal, of the order, paid', 'order=#', `${ORDER} ${PAID}`, 'paid_to_supplier'],
    ['nearer, paid', 'due=2099-07-03', `k2 1000 ${PAID}`, 'paid_to_supplier'],
    [
      'equal, settled by another booking',
      '',
      `k2 1000 paid by=2026-01-02:${'0'.repeat(32)}:1:1`,
      'anticipated_twice',
    ],
    ['by another rule, paid', '', `k2 1000 ${PAID} due=2099-07-01`, null],
    ['farther away, paid', 'due=2099-07-02', `k2 1000 ${PAID} due=2099-07-03`, null],
    ['another instalment of the order, paid', 'order=#', `${ORDER} ${PAID} due=2099-07-30`, null],
    ['the same document, cancelled', 'doc=N', 'k2 1000 doc=N cancelled', null],
    ['equal, open', '', 'k2 1000', null],
  ] as const)('and a later payable is judged: %s', async (_, first, later, found) => {
    await play({ pull: '# 1000', state: `k1 1000 ${first}`.trim() });
    if (how === 'person') await matchByRita('seen');
    await play({ match: true });
    if (how !== 'person') await play({ release: true });
    if (how === 'posted') await play({ answer: 'posted' });
    // The release judges the payables as they are, before any run.
    const waits = found === null ? '' : 'a';
    await play(
      { state: later, waits },
      { breaks: found === null ? '' : `${found}! a k2`, waits },
      ...(found === null ? [] : [{ resolve: [found, 'k2'] as const, waits: '' }]),
    );
    expect(await matches()).toEqual([expect.stringContaining('a=k1')]);
  });
});

test('the payable that a person has left aside is judged once it changes', async () => {
  await play({ pull: '# 1000', state: `k1 1000, k2 1000 ${PAID}`, match: true });
  await matchByRita('another delivery');
  await play(
    { breaks: '' },
    { state: `k2 1000 paid to=${AGENT}`, breaks: 'already_assigned a k2' },
  );
});

test('the payable of a booking of another order is no rival of a match', async () => {
  await play({ pull: '# 1000', state: 'k1 1000', match: true });
  await addBooking(world.database, 'z', 'k2');
  await play({ state: `k2 1000 ${PAID}`, waits: '' }, ONE);
});

describe.each([
  ['the value', 'k1 1000.01'],
  ['the due date', 'k1 1000 due=2099-07-20'],
  ['no due date', 'k1 1000 due='],
  ['the code of the supplier', 'k1 1000 code=P-7'],
  ['the currency', 'k1 1000 currency=USD'],
])('a payable of a match is corrected: %s', (_, changed) => {
  test.each([
    ['paid to the supplier', PAID, 'paid_to_supplier! a k1'],
    ['cancelled', 'cancelled', 'cancelled_in_erp a k1'],
    ['assigned', 'paid as=assignment', 'already_assigned a k1'],
  ])('and the next snapshot states it as %s', (__, more, breaks) =>
    play(
      { pull: '# 1000', state: 'k1 1000', match: true },
      { state: changed, matches: '' },
      { state: `${changed} ${more}`, waits: 'a' },
      { matches: '', breaks, waits: 'a' },
    ),
  );
});

test('a payable that a person has taken from the title says nothing of the title any more', async () => {
  await play({ pull: '# 1000', state: 'k1 1000', match: true });
  await world.prisma.titleMatch.updateMany({
    where: { erpKey: 'k1' },
    data: { endedAt: new Date(), endedBy: 'rita', endReason: 'another delivery' },
  });
  await play(
    { state: `k1 1000.01 ${PAID}` },
    { matches: '', breaks: 'missing_in_erp a -', waits: '' },
  );
});
