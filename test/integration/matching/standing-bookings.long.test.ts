/** Bookings that the ERP has not reversed, on the payables of other titles and of titles that come back. */
import { beforeEach, describe, expect, test } from 'vitest';
import {
  answerReceipts,
  takeReceipts,
} from '../../../src/features/bookings/receipt-decisions.sql.ts';
import { GRACE_DAYS } from '../../../src/features/matching/judgement.sql.ts';
import { undoMatch } from '../../../src/features/matching/match-decisions.sql.ts';
import { readErpStages } from '../../../src/features/review/months/month-seal.sql.ts';
import {
  AGENT,
  type JudgedStep,
  judgedWorldOfFile,
  playerOf,
  SUPPLIER,
  THIRD_PARTY,
} from '../../support/judged-world.ts';
import { clearMatching, listMatches, matchPair } from '../../support/matching-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { receiptOf } from '../../support/receipts.ts';

const { world, judged } = judgedWorldOfFile();
let date = DAY;
// The titles of the other tests have other values. In the words of the tests, # is the value.
let value = 1700;
beforeEach(async () => {
  date = daysFrom(3, date);
  value += 10;
  await clearMatching(world.database);
});
const play = playerOf(
  { world, judged },
  { date: () => date, say: (words) => words.replaceAll('#', String(value)) },
);

const POSTED = { pull: 'm #', snapshot: 'k1 #', book: 'posted' } as const;
/** The agent's payable that the posting of a line made. */
const made = (erpKey: string, bookingKey = 'KEY(m)', openValue = '#') =>
  `${erpKey} ${openValue} bookingKey=${bookingKey} tax=${AGENT} code=AG`;
const partOf = (instalment: string) => (instalment === '' ? '' : ` instalment=${instalment}`);

interface Move {
  readonly book?: 'posted' | 'unanswered';
  readonly to?: string;
  readonly states?: string;
  readonly kind?: string;
}
const moves: Record<string, Move> = {
  'posted, the payable is still open': { states: made('a1') },
  'posted, assigned without a key': { states: 'k1 0 paid as=assignment' },
  'posted, assigned with the key': { states: 'k1 0 paid as=assignment by=KEY(m)' },
  'posted, the payee is the agent': { states: `k1 # payee=${AGENT}` },
  'released, not answered': { book: 'unanswered' },
  'with another due date': { to: 'm # due=2099-07-02' },
  'with another value': { to: 'm 1600' },
  'under another order': { to: 'n #' },
  'under another order, not answered': { to: 'n #', book: 'unanswered' },
  'and the agent was paid': {
    states: `k1 0 paid as=assignment, ${made('a1')} paid to=${AGENT}`,
    kind: 'anticipated_twice!',
  },
  'and the agent was paid with the payable': {
    states: `k1 # paid payee=${AGENT}`,
    kind: 'anticipated_twice!',
  },
};
test.each(Object.entries(moves))(
  'a title that moves to another date waits until the reversal of its booking is released: %s',
  (_, { book = 'posted', states, kind = 'already_assigned', to = 'm #' }) => {
    const [uid = ''] = to.split(' ');
    return play(
      { ...POSTED, book },
      ...(states === undefined ? [] : [{ state: states }]),
      { pull: '' },
      { on: 1, pull: to, breaks: `${kind} ${uid} k1`, waits: uid },
      { on: 1, release: true, lines: '' },
      // The old date is signed off: its reversal is before the line of the new date in the feed.
      { release: true, lines: 'book m k1 1, reverse m k1 2' },
      // The ERP may refuse to reverse what the agent was paid for.
      { on: 1, waits: kind === 'anticipated_twice!' ? uid : '' },
      { answer: 'posted' },
      { on: 1, state: 'k1 #', match: true, waits: '' },
    );
  },
);

const stories: Record<string, readonly JudgedStep[]> = {
  'a reversal that failed keeps the title that moved': [
    POSTED,
    { on: 1, pull: 'm #' },
    { pull: '', book: 'failed' },
    { on: 1, breaks: 'already_assigned m k1', waits: 'm' },
  ],
  'a posting that the ERP, restored, cannot make again explains no missing payable of a title that moved':
    [
      POSTED,
      // The supplier was paid after the posting.
      { answer: 'failed' },
      { snapshot: '', pull: '' },
      { on: 1, pull: 'm #', breaks: 'gone_from_erp! m k1' },
      { release: true },
      { on: 1, waits: 'm', breaks: 'gone_from_erp! m k1' },
    ],
  'two postings on one payable are urgent': [
    POSTED,
    { pull: '' },
    { on: 1, pull: 'm #', match: true, resolve: ['already_assigned', 'k1'] },
    { on: 1, release: true, lines: 'book m k1 1', breaks: '' },
    { on: 1, answer: 'posted', breaks: 'anticipated_twice! m k1' },
  ],
  'a payable that was gone before the reversal of its booking waits for the next snapshot': [
    POSTED,
    // The ERP states open payables only.
    { snapshot: '' },
    { on: 1, pull: 'm #' },
    { pull: '', book: 'posted' },
    { on: 1, breaks: 'already_assigned m k1', waits: 'm' },
    { on: 1, snapshot: '', breaks: 'gone_from_erp! m k1' },
    { on: 1, snapshot: 'k1 #', breaks: '' },
  ],
  'a payable that named its booking before it was gone waits too, for a title with another due date':
    [
      { pull: 'm # due=2099-08-01', snapshot: 'k1 # order=m due=2099-08-01', book: 'posted' },
      { state: 'k1 0 paid as=assignment order=m due=2099-08-01 by=KEY(m)' },
      { snapshot: '' },
      { on: 1, pull: 'm # due=2099-08-08' },
      { pull: '', book: 'posted' },
      { on: 1, breaks: 'already_assigned m k1', waits: 'm' },
      { on: 1, snapshot: '', breaks: 'gone_from_erp! m k1' },
    ],
  'another instalment of the order does not wait for the reversal of the first one': [
    { ...POSTED, snapshot: 'k1 # order=m' },
    { state: 'k2 800 due=2099-08-30 order=m', pull: '' },
    { on: 1, pull: 'm 800 due=2099-08-30', breaks: '', waits: '' },
  ],
  'a refused reversal concerns no instalment that has a payable of its own': [
    { ...POSTED, snapshot: 'k1 # order=m' },
    { state: `k1 0 paid to=${AGENT}, k2 # due=2099-08-30 order=m` },
    { on: 1, pull: 'm # due=2099-08-30' },
    { pull: '', book: 'refused', breaks: 'reversal_refused! m k1' },
    { on: 1, breaks: '' },
  ],
  'a statement that is older than the reversal of its booking is no second booking': [
    POSTED,
    { state: 'k1 0 paid as=assignment by=KEY(m)' },
    { pull: '' },
    { on: 1, pull: 'm #', match: true },
    { release: true },
    { on: 1, release: true, lines: 'book m k1 1' },
    { answer: 'posted' },
    { on: 1, breaks: '' },
    { on: 1, answer: 'posted', breaks: '' },
    // The ERP states open payables only.
    { on: 1, snapshot: '', breaks: '' },
    { on: 1, state: 'k1 0 paid as=assignment by=KEY(m)', breaks: 'anticipated_twice! m k1' },
  ],
  'a receiver that a statement before a reversal names is not hidden by the reversal': [
    POSTED,
    { pull: '' },
    { on: 1, pull: 'm #', match: true },
    { release: true },
    { on: 1, release: true },
    { state: `k1 0 paid to=${SUPPLIER} by=KEY(m)` },
    { answer: 'posted' },
    { on: 1, breaks: 'paid_to_supplier! m k1' },
  ],
  'a withdrawn title that two titles may continue does not stop the matching': [
    POSTED,
    // A copy on another date, and a restated due date.
    { on: 1, pull: 'm #' },
    { pull: 'm # due=2099-07-02', match: true },
    // The rules give the payable to the copy, which has the due date.
    { matches: 'm=k1 exact' },
  ],
  'a title that comes back after a refused reversal is not booked again': [
    POSTED,
    { state: `k1 0 paid to=${AGENT}`, pull: '', book: 'refused', breaks: 'reversal_refused! m k1' },
    { pull: 'm #', breaks: 'reversal_refused! m k1', waits: 'm' },
    { release: true, lines: 'book m k1 1, reverse m k1 2' },
    // A person accepts what is posted: the ERP replaces the posting, and does not post the title again.
    { resolve: ['reversal_refused', 'k1'], released: true },
    { lines: 'adjust m k1 3, book m k1 1, reverse m k1 2' },
    { answer: 'posted', breaks: '' },
  ],
  'a title that comes back after a failed reversal replaces its posting on the same payable': [
    POSTED,
    { state: 'k1 0 paid by=KEY(m)' },
    { pull: '', book: 'failed' },
    { pull: 'm #', breaks: '' },
    { release: true, lines: 'adjust m k1 3, book m k1 1, reverse m k1 2' },
    { answer: 'posted', breaks: '' },
  ],
  'a payable of the agent that stays open after the reversal is posted twice': [
    POSTED,
    { state: made('a1'), pull: '', book: 'posted', breaks: '' },
    { state: made('a1'), breaks: 'posted_twice! m a1' },
    { state: `${made('a1')} cancelled`, breaks: '' },
  ],
  'a payable of the agent that is paid after the reversal is posted twice, also once the supplier is paid':
    [
      POSTED,
      { state: made('a1'), pull: '', book: 'posted', breaks: '' },
      { state: made('a1', 'KEY(m)', '0 paid as=payment'), breaks: 'posted_twice! m a1' },
      { state: `k1 0 paid as=payment to=${SUPPLIER}`, breaks: 'posted_twice! m a1' },
    ],
  'the agent of a withdrawn title is paid, and the supplier too': [
    POSTED,
    { state: made('a1', 'KEY(m)', '0 paid as=payment'), pull: '', breaks: '' },
    { state: 'k1 0 paid as=payment by=KEY(m)', breaks: '' },
    { state: `k1 0 paid as=payment to=${SUPPLIER}`, breaks: 'paid_to_supplier! m k1' },
  ],
  'a title gives the payable back that the booking of another order has settled': [
    POSTED,
    { pull: '' },
    { on: 1, pull: 'n # due=2099-07-05', matches: 'n=k1 tolerance' },
    {
      on: 1,
      state: 'k1 0 total=# paid as=assignment by=KEY(m)',
      breaks: 'anticipated_twice! n k1',
    },
    { on: 1, state: 'k2 # due=2099-07-05', breaks: '', matches: 'n=k2 exact' },
  ],
  'what the booking of another date has changed is no alarm for a title of the payable that was reversed before':
    [
      POSTED,
      { pull: '' },
      { on: 1, pull: 'm #', match: true },
      { release: true, answer: 'posted' },
      { on: 1, book: 'posted' },
      { state: `k1 # payee=${AGENT}` },
      { on: 1, pull: '', book: 'posted' },
      { breaks: '' },
      { state: `k1 # payee=${AGENT}`, breaks: 'payee_changed! m k1' },
    ],
  'a restated title without a match waits while the payable of its order is paid': [
    { pull: 'm #', snapshot: '', book: 'unanswered', lines: 'book m - 1' },
    { state: 'k1 # order=m paid', pull: 'm # due=2099-07-02', breaks: 'paid_to_supplier! m k1' },
    { release: true, lines: 'book m - 1, reverse m - 2' },
  ],
};
test.each(Object.entries(stories))('%s', (_, steps) => play(...steps));

const PERSON = { by: 'rita', code: 'other', reason: 'they agree' } as const;

test('a payable on which a current title is booked is not booked for another one', async () => {
  await play(POSTED, { on: 1, pull: 'n #' });
  const { prisma } = world;
  const { id } = await prisma.titleMatch.findFirstOrThrow({ where: { endedAt: null } });
  await undoMatch(world.database, id, PERSON);
  const where = { orderUid: 'n', acceptedDate: daysFrom(1, date) };
  const n = await prisma.title.findFirstOrThrow({ where });
  await matchPair(world.database, { titleId: n.id, erpKeys: ['k1'] }, PERSON);
  await play({ on: 1, breaks: 'anticipated_twice! n k1', waits: 'n' });
});

test.each([
  ['1/2', 'already_assigned i k1'],
  ['', 'reversal_refused! i k1'],
])(
  'a refused reversal on a far instalment is urgent for no title without a payable: %s',
  (instalment, found) => {
    const part = partOf(instalment);
    return play(
      { pull: 'i #', snapshot: `k1 # order=i${part}`, book: 'posted' },
      { state: `k1 0 total=# paid to=${AGENT} order=i${part}` },
      { on: 1, pull: 'i # due=2099-07-30' },
      { pull: '', book: 'refused', breaks: 'reversal_refused! i k1' },
      { on: 1, breaks: found, waits: 'i' },
    );
  },
);

// No title of another test has the order.
test('a booking that is reversed on another payable concerns no instalment that is posted', async () => {
  await play(
    { pull: 'p #, p # due=2099-08-30', snapshot: 'k1 #, k2 # due=2099-08-30', book: 'posted' },
    { state: `k1 0 paid as=assignment by=LINE(k1), ${made('a1', 'LINE(k1)', '0')} paid` },
    { state: 'k2 0 paid as=assignment due=2099-08-30 by=LINE(k2)' },
    // The instalments leave the date, and the second one comes back.
    { pull: '', match: true },
    { pull: 'p # due=2099-08-30', breaks: '' },
    { release: true },
  );
  const { prisma } = world;
  await prisma.bookingLine.updateMany({
    where: { date, kind: 'reverse', erpKey: 'k1' },
    data: { state: 'refused', failure: 'the agent was paid' },
  });
  const { id } = await prisma.title.findFirstOrThrow({
    where: { acceptedDate: date, status: 'withdrawn', orderUid: 'p' },
  });
  await judged.match();
  const where = { kind: 'reversal_refused' };
  expect(await prisma.erpBreak.findMany({ where, select: { titleId: true } })).toEqual([
    { titleId: id },
  ]);
});

test('the booking of another instalment does not settle a title whose payable is missing', async () => {
  await play(
    { pull: 'm #, m # due=2099-08-30', snapshot: 'k2 # due=2099-08-30 order=m', book: 'posted' },
    // The ERP was restored, and its rows have other keys.
    { snapshot: 'k9 0 total=# paid as=assignment due=2099-08-30 order=m by=LINE(k2)' },
  );
  await world.prisma.bookingLine.updateMany({
    where: { date, erpKey: null },
    data: { state: 'failed', failure: 'no payable' },
  });
  await play({ breaks: 'missing_in_erp m -' });
});

test.each([
  ['1/2', '2099-07-30', 'paid', 'paid_to_supplier i k1'],
  ['1/2', '2099-07-30', 'gone', 'gone_from_erp i k1'],
  ['1/2', '2099-07-15', 'paid', 'paid_to_supplier! i k1'],
  ['', '2099-07-30', 'paid', 'paid_to_supplier! i k1'],
])(
  'a title without a payable waits where the supplier was paid for a far instalment of the order: %s due %s %s',
  (instalment, due, how, found) => {
    const part = `total=# order=i due=${due}${partOf(instalment)}`;
    return play(
      { pull: 'i #', snapshot: `k1 # ${part}` },
      how === 'paid' ? { state: `k1 0 paid to=${SUPPLIER} ${part}` } : { snapshot: '' },
      { breaks: found, waits: 'i' },
    );
  },
);

test.each([
  ['2/2', 'in_doubt i k1'],
  ['', 'anticipated_twice! i k1'],
])(
  'two titles of an order that are due far apart are no rivals for an open instalment: %s',
  (instalment, found) =>
    play(
      { pull: 'i # due=2099-06-08, i # due=2099-07-15' },
      {
        snapshot: `k1 # order=i due=2099-07-08${partOf(instalment)}`,
        breaks: `${found}, ${found}`,
      },
    ),
);

test.each([
  // The row is older than the reversal.
  { answer: 'posted', breaks: 'already_assigned m k1' },
  { answer: 'refused', breaks: 'already_assigned m k1' },
] as const)(
  'a title waits for the reversal of a booking that a person has recorded after a restore: $answer',
  async (end) => {
    const { database } = world;
    await play({ pull: 'm # due=2099-07-02' });
    const key = `${date}:${'0'.repeat(28)}${value}:1:1`;
    await takeReceipts(database, 'erp', [receiptOf({ key, contentHash: '1'.repeat(32) })]);
    await play({
      ...{ state: `k1 0 paid as=assignment order=m by=${key}`, breaks: 'anticipated_twice! m k1' },
    });
    const seen = { date, first: 0, last: 1_000_000, count: 1 };
    await answerReceipts(database, seen, 'recorded', {
      ...{ by: 'ana', reason: 'restored', bookingsFrom: DAY },
    });
    await play({ breaks: 'already_assigned m k1' }, { release: true, waits: 'm' }, end);
    if (end.answer === 'posted') await play({ state: 'k1 # order=m', breaks: '' });
  },
);

test.each([
  ['paid to the supplier', `0 paid as=payment to=${SUPPLIER}`, 'paid_to_supplier! m k1'],
  ['paid to a third party', `0 paid as=assignment to=${THIRD_PARTY}`, 'paid_to_supplier! m k1'],
  ['open again, the payee is a third party', `9 payee=${THIRD_PARTY}`, 'payee_changed! m k1'],
  ['paid to the agent', `0 paid as=assignment to=${AGENT}`, ''],
])('the key of a booking does not hide a stated receiver: %s', (_, stated, breaks) =>
  play(POSTED, { state: `k1 ${stated} by=KEY(m)`, breaks }),
);

test('a payable of the agent of an older version is posted twice once the ERP states it after the adjustment', async () => {
  await play(POSTED, { state: made('a1') }, { pull: 'm # discount=3', match: true, release: true });
  const second = made('a2', (await judged.keyOf('m', date)).replace(/1$/, '2'));
  await play(
    { state: second },
    // A delta does not state the payable that the ERP has deleted.
    { answer: 'posted', breaks: '' },
    { state: `${made('a1', 'KEY(m)', '0')} paid, ${second}`, breaks: '' },
    { state: `${made('a1')}, ${second}`, breaks: 'posted_twice! m a2' },
    // The agent has been paid twice.
    { state: made('a1', 'KEY(m)', '0 paid as=payment'), breaks: 'posted_twice! m a2' },
    { state: second.replace('#', '0 paid as=payment'), breaks: 'posted_twice! m a2' },
  );
});

test.each([
  ['not answered', {}],
  ['posted', { answer: 'posted' }],
] as const)(
  'the agent was paid before the title became an early payment: the adjustment is %s',
  async (_, answer) => {
    const paid = made('a1', 'KEY(m)', '0 paid as=payment');
    await play(POSTED, { state: `k1 0 paid as=assignment by=KEY(m), ${paid}`, breaks: '' });
    await judged.pull(date, [{ uid: 'm', value: String(value), isEarly: true }]);
    await play(
      { match: true, release: true, ...answer },
      { state: paid, breaks: 'posted_twice! m a1' },
    );
  },
);

test('a booking counts as posted once, whatever lines it has had, and not after its reversal', async () => {
  const sum = async () => (await readErpStages(world.database, { from: date, to: date })).sum;
  await play(POSTED, { pull: 'm # discount=3', match: true, release: true, answer: 'posted' });
  // Each day has a further title, of 9999.
  expect(await sum()).toMatchObject({ posted: 2, postedValue: `${value + 9999}` });
  await play({ pull: '', book: 'posted' });
  expect(await sum()).toMatchObject({ posted: 1, postedValue: '9999' });
});

test.each([
  ['in one step', ['600']],
  ['in two steps', ['#', '600']],
])('a payable whose whole value the ERP lowers is paid in part: %s', (_, totals) =>
  play(
    { pull: 'm #', state: 'k1 # total=#', match: true },
    ...totals.map((total) => ({
      ...{ state: `k1 600 total=${total}`, breaks: 'paid_in_part! m k1' },
    })),
    { waits: 'm', matches: 'm=k1 exact' },
  ),
);

test('a payable that the booking of a title without a match has settled is not for another title', async () => {
  await play(
    { pull: 'm #', book: 'posted' },
    { state: 'k1 # paid as=assignment by=KEY(m)' },
    { on: 1, pull: 'n #', match: true, waits: 'n' },
  );
  // The list of all dates has both titles, and that of a date has one.
  const all = await judged.breaks();
  expect(all.filter((text) => text.endsWith(' k1'))).toEqual(['anticipated_twice! n k1']);
});

test.each([
  ['with another due date', 'm # due=2099-07-02', false],
  ['with another value', 'm 1650', false],
  ['on another date', 'm #', true],
])(
  'a title that a person matched and that is restated %s after its posting does not stop the matching',
  async (_, restated, isMoved) => {
    await play({ pull: 'm #', state: 'k2 1234', match: true });
    const { id } = await world.prisma.title.findFirstOrThrow({
      where: { acceptedDate: date, orderUid: 'm', status: 'current' },
    });
    await matchPair(world.database, { titleId: id, erpKeys: ['k2'] }, PERSON);
    await play(
      { release: true, answer: 'posted' },
      ...(isMoved ? [{ on: 1, pull: restated }, { pull: '' }] : [{ pull: restated }]),
      { match: true },
      { match: true },
    );
    expect(await listMatches(world.database)).toEqual([expect.stringMatching(/^m=k2 /)]);
  },
);

const unanswered: Record<string, { book: 'failed' | 'unanswered'; stated: string; kind: string }> =
  {
    'paid, its line has no answer': {
      ...{ book: 'unanswered', stated: 'k1 # paid', kind: 'paid_to_supplier' },
    },
    'paid, its line failed': { book: 'failed', stated: 'k1 # paid', kind: 'paid_to_supplier!' },
    'gone, its line has no answer': { book: 'unanswered', stated: '', kind: 'gone_from_erp' },
    'gone, its line failed': { book: 'failed', stated: '', kind: 'gone_from_erp!' },
  };
describe.each(['# due=2099-07-02', '8#'])('restated as %s', (restated) => {
  test.each(Object.entries(unanswered))(
    'a title waits while the payable is paid to a receiver that is not stated: %s',
    (_, { book, stated, kind }) =>
      play(
        { ...POSTED, book },
        { snapshot: stated, pull: `m ${restated}`, breaks: `${kind} m k1` },
        // The reversal of the old booking is on its way, and changes nothing.
        { release: true, lines: 'book m k1 1, reverse m k1 2', breaks: `${kind} m k1` },
        { released: false, lines: 'book m k1 1, reverse m k1 2' },
        { passDays: GRACE_DAYS + 1, breaks: `${kind.replace('!', '')}! m k1` },
      ),
  );
});

test.each(['3', '4', '7'])(
  'a title whose fee is restated keeps its booking beside a title of the same identity that waits: %s',
  (discount) =>
    play(
      { ...POSTED, book: 'unanswered' },
      { pull: 'm #, m # discount=5', breaks: 'anticipated_twice! m k1' },
      // The ERP has posted the line, and not yet answered.
      { snapshot: '', pull: `m # discount=${discount}, m # discount=5` },
      { breaks: 'anticipated_twice! m k1' },
      { release: true, lines: 'adjust m k1 2, book m k1 1', waits: 'm' },
    ),
);

test.each([
  ['2099-07-30', 'already_assigned i -'],
  ['2099-07-10', 'reversal_refused! i -'],
])(
  'a refused reversal of a booking without a payable concerns the title of a near due date: %s',
  (due, breaks) =>
    play(
      { pull: 'i #', snapshot: '', book: 'posted' },
      { on: 1, pull: `i # due=${due}` },
      { pull: '', book: 'refused' },
      { on: 1, breaks, waits: 'i' },
    ),
);
