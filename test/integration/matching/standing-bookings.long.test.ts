/** Bookings that the ERP has not reversed, on the payables of other titles and of titles that come back. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { answerReceipts } from '../../../src/features/bookings/receipt-decisions.sql.ts';
import { releaseWaitingDays } from '../../../src/features/bookings/release.sql.ts';
import { takeReceipts } from '../../../src/features/bookings/take-receipts.sql.ts';
import { GRACE_DAYS } from '../../../src/features/matching/judgement.sql.ts';
import { matchByPerson, undoMatch } from '../../../src/features/matching/match-decisions.sql.ts';
import { AGENT, judgedWorldOfFile, SUPPLIER, THIRD_PARTY } from '../../support/judged-world.ts';
import { clearMatching, listMatches } from '../../support/matching-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { receiptOf } from '../../support/receipts.ts';

const { world, judged } = judgedWorldOfFile();
let date: CivilDate = DAY;
let other: CivilDate = DAY;
// The titles of the other tests have other values.
let value = 1700;
let title = '';
beforeEach(async () => {
  date = daysFrom(3, date);
  other = daysFrom(1, date);
  value += 10;
  title = `m ${value}`;
  await clearMatching(world.database);
});

const REST = 'rest 9999';
/** In the words of the tests, # is the value of the title. */
const named = (words: string) => words.replaceAll('#', String(value));
const state = (words: string) => judged.state(named(words));
const snapshot = (words?: string) => judged.snapshot(named(words ?? ''));
const pull = (titles: string, on = date) => judged.pull(on, named(`${titles}, ${REST}`));
/** The agent's payable that a posting of a line made. */
const made = (erpKey: string, bookingKey: string, openValue = '#') =>
  `${erpKey} ${openValue} bookingKey=${bookingKey} tax=${AGENT} code=AG`;
async function breaks(of: CivilDate | null = date): Promise<string[]> {
  await judged.match();
  const all = await judged.breaks(of);
  return all.filter((text) => !text.includes(' rest ') && !text.includes('unrelated'));
}
const lines = async (of: CivilDate) =>
  (await judged.lines(of)).filter((line) => !line.includes(' rest '));

const book = (isPosted = true, payable = 'k1 #', titles = title) =>
  judged.book(date, `${titles}, ${REST}`, named(payable), isPosted ? 'posted' : null);

/** The title leaves its date, which is signed off, and the ERP answers the reversal. */
async function withdraw(answer: 'posted' | 'failed', isFinal = false): Promise<void> {
  await judged.pull(date, REST);
  await judged.match();
  await judged.release(date);
  await judged.answer(date, answer, isFinal);
}

/** The key of the first line of the booking on a payable. */
async function bookingOf(erpKey: string): Promise<string> {
  const line = await world.database.prisma.bookingLine.findFirstOrThrow({
    where: { date, erpKey, version: 1 },
  });
  return `${date}:${line.identityHash.replaceAll('-', '')}:${line.occurrence}:1`;
}

interface Move {
  readonly isPosted?: false;
  readonly to?: string;
  /** With KEY of the line. */
  readonly states?: string;
  readonly kind?: string;
}
const moves: Record<string, Move> = {
  'posted, the payable is still open': { states: made('a1', 'KEY') },
  'posted, assigned without a key': { states: 'k1 0 paid as=assignment' },
  'posted, assigned with the key': { states: 'k1 0 paid as=assignment by=KEY' },
  'posted, the payee is the agent': { states: `k1 # payee=${AGENT}` },
  'released, not answered': { isPosted: false },
  'with another due date': { to: 'm # due=2099-07-02' },
  'with another value': { to: 'm 1600' },
  'under another order': { to: 'n #' },
  'under another order, not answered': { to: 'n #', isPosted: false },
  'and the agent was paid': {
    states: `k1 0 paid as=assignment, ${made('a1', 'KEY')} paid to=${AGENT}`,
    kind: 'anticipated_twice!',
  },
  'and the agent was paid with the payable': {
    states: `k1 # paid payee=${AGENT}`,
    kind: 'anticipated_twice!',
  },
};
test.each(Object.entries(moves))(
  'a title that moves to another date waits until the reversal of its booking is released: %s',
  async (_, { isPosted = true, states, kind = 'already_assigned', to = 'm #' }) => {
    const [uid = ''] = to.split(' ');
    await book(isPosted);
    if (states !== undefined) {
      await state(states.replaceAll('KEY', await judged.keyOf('m', date)));
    }
    await judged.pull(date, REST);
    await pull(to, other);
    expect(await breaks(other)).toEqual([`${kind} ${uid} k1`]);
    expect(await judged.waiting(other)).toEqual([uid]);
    await judged.release(other);
    expect(await lines(other)).toEqual([]);
    // The old date is signed off: its reversal is before the line of the new date in the feed.
    await judged.release(date);
    expect(await lines(date)).toEqual(['book m k1 1', 'reverse m k1 2']);
    // The ERP may refuse to reverse what the agent was paid for.
    const isPaid = kind === 'anticipated_twice!';
    expect(await judged.waiting(other)).toEqual(isPaid ? [uid] : []);
    await judged.answer(date, 'posted');
    await state('k1 #');
    await judged.match();
    expect(await judged.waiting(other)).toEqual([]);
  },
);

test('a reversal that failed keeps the title that moved', async () => {
  await book();
  await pull(title, other);
  await withdraw('failed');
  expect(await breaks(other)).toEqual(['already_assigned m k1']);
  expect(await judged.waiting(other)).toEqual(['m']);
});

test('a posting that the ERP, restored, cannot make again explains no missing payable of a title that moved', async () => {
  await book();
  // The supplier was paid after the posting.
  await judged.answer(date, 'failed');
  await snapshot();
  await judged.pull(date, REST);
  await pull(title, other);
  expect(await breaks(other)).toEqual(['gone_from_erp! m k1']);
  await judged.release(date);
  expect(await judged.waiting(other)).toEqual(['m']);
  expect(await breaks(other)).toEqual(['gone_from_erp! m k1']);
});

test('two postings on one payable are urgent', async () => {
  await book();
  await judged.pull(date, REST);
  await pull(title, other);
  await judged.match();
  await judged.resolve('already_assigned', 'k1', other);
  await judged.release(other);
  expect(await lines(other)).toEqual(['book m k1 1']);
  expect(await breaks(other)).toEqual([]);
  await judged.answer(other, 'posted');
  expect(await breaks(other)).toEqual(['anticipated_twice! m k1']);
});

test('a payable on which a current title is booked is not booked for another one', async () => {
  await book();
  await pull(`n ${value}`, other);
  const { prisma } = world.database;
  const { id } = await prisma.titleMatch.findFirstOrThrow({ where: { endedAt: null } });
  const decision = { by: 'rita', code: 'other', reason: 'the other order has it' } as const;
  await undoMatch(world.database, id, decision);
  const n = await prisma.title.findFirstOrThrow({ where: { orderUid: 'n', acceptedDate: other } });
  await matchByPerson(world.database, { titleId: n.id, erpKeys: ['k1'] }, decision);
  expect(await breaks(other)).toEqual(['anticipated_twice! n k1']);
  expect(await judged.waiting(other)).toEqual(['n']);
});

test('a payable that was gone before the reversal of its booking waits for the next snapshot', async () => {
  await book();
  // The ERP states open payables only.
  await snapshot();
  await pull(title, other);
  await withdraw('posted');
  expect(await breaks(other)).toEqual(['already_assigned m k1']);
  expect(await judged.waiting(other)).toEqual(['m']);
  await snapshot();
  expect(await breaks(other)).toEqual(['gone_from_erp! m k1']);
  await snapshot('k1 #');
  expect(await breaks(other)).toEqual([]);
});

test('a payable that named its booking before it was gone waits too, for a title with another due date', async () => {
  title = `m ${value} due=2099-08-01`;
  const payable = 'k1 # order=m due=2099-08-01';
  await book(true, payable);
  const key = await judged.keyOf('m', date);
  await state(`${payable.replace('#', '0 paid as=assignment')} by=${key}`);
  await snapshot();
  await pull(`m ${value} due=2099-08-08`, other);
  await withdraw('posted');
  expect(await breaks(other)).toEqual(['already_assigned m k1']);
  expect(await judged.waiting(other)).toEqual(['m']);
  await snapshot();
  expect(await breaks(other)).toEqual(['gone_from_erp! m k1']);
});

test('another instalment of the order does not wait for the reversal of the first one', async () => {
  await book(true, 'k1 # order=m');
  await state('k2 800 due=2099-08-30 order=m');
  await judged.pull(date, REST);
  await pull(`m 800 due=2099-08-30`, other);
  expect(await breaks(other)).toEqual([]);
  expect(await judged.waiting(other)).toEqual([]);
});

test('a refused reversal concerns no instalment that has a payable of its own', async () => {
  await book(true, 'k1 # order=m');
  await state(`k1 0 paid to=${AGENT}, k2 # due=2099-08-30 order=m`);
  await pull(`${title} due=2099-08-30`, other);
  await withdraw('failed', true);
  expect(await breaks()).toEqual(['reversal_refused! m k1']);
  expect(await breaks(other)).toEqual([]);
});

test.each([
  ['1/2', 'already_assigned i k1'],
  ['', 'reversal_refused! i k1'],
])(
  'a refused reversal on a far instalment is urgent for no title without a payable: %s',
  async (instalment, found) => {
    const part = instalment === '' ? '' : ` instalment=${instalment}`;
    await book(true, `k1 # order=i${part}`, `i ${value}`);
    await state(`k1 0 total=# paid to=${AGENT} order=i${part}`);
    await pull(`i ${value} due=2099-07-30`, other);
    await withdraw('failed', true);
    expect(await breaks()).toEqual(['reversal_refused! i k1']);
    expect(await breaks(other)).toEqual([found]);
    expect(await judged.waiting(other)).toEqual(['i']);
  },
);

test('a booking that is reversed on another payable concerns no instalment that is posted', async () => {
  // No title of another test has the order.
  const own = `i ${value}`;
  await book(true, 'k1 #, k2 # due=2099-08-30', `${own}, ${own} due=2099-08-30`);
  const [k1, k2] = [await bookingOf('k1'), await bookingOf('k2')];
  const agent = made('a1', k1, '0');
  await state(`k1 0 paid as=assignment by=${k1}, ${agent} paid`);
  await state(`k2 0 paid as=assignment due=2099-08-30 by=${k2}`);
  // The instalments leave the date, and the second one comes back.
  await judged.pull(date, REST);
  await judged.match();
  await pull(`${own} due=2099-08-30`);
  expect(await breaks()).toEqual([]);
  await judged.release(date);
  await world.database.prisma.bookingLine.updateMany({
    where: { date, kind: 'reverse', erpKey: 'k1' },
    data: { state: 'refused', failure: 'the agent was paid' },
  });
  const { id } = await world.database.prisma.title.findFirstOrThrow({
    where: { acceptedDate: date, status: 'withdrawn', orderUid: 'i' },
  });
  await judged.match();
  expect(
    await world.database.prisma.erpBreak.findMany({
      where: { kind: 'reversal_refused' },
      select: { titleId: true },
    }),
  ).toEqual([{ titleId: id }]);
});

test('a statement that is older than the reversal of its booking is no second booking', async () => {
  await book();
  const assigned = `k1 0 paid as=assignment by=${await judged.keyOf('m', date)}`;
  await state(assigned);
  await judged.pull(date, REST);
  await pull(title, other);
  await judged.match();
  await judged.release(date);
  await judged.release(other);
  expect(await lines(other)).toEqual(['book m k1 1']);
  await judged.answer(date, 'posted');
  expect(await breaks(other)).toEqual([]);
  await judged.answer(other, 'posted');
  expect(await breaks(other)).toEqual([]);
  // The ERP states open payables only.
  await snapshot();
  expect(await breaks(other)).toEqual([]);
  await state(assigned);
  expect(await breaks(other)).toEqual(['anticipated_twice! m k1']);
});

test('a receiver that a statement before a reversal names is not hidden by the reversal', async () => {
  await book();
  const key = await judged.keyOf('m', date);
  await judged.pull(date, REST);
  await pull(title, other);
  await judged.match();
  await judged.release(date);
  await judged.release(other);
  await state(`k1 0 paid to=${SUPPLIER} by=${key}`);
  await judged.answer(date, 'posted');
  expect(await breaks(other)).toEqual(['paid_to_supplier! m k1']);
});

test('the booking of another instalment does not settle a title whose payable is missing', async () => {
  await book(true, 'k2 # due=2099-08-30 order=m', `${title}, ${title} due=2099-08-30`);
  // The ERP was restored, and its rows have other keys.
  await snapshot(
    `k9 0 total=# paid as=assignment due=2099-08-30 order=m by=${await bookingOf('k2')}`,
  );
  await world.database.prisma.bookingLine.updateMany({
    where: { date, erpKey: null },
    data: { state: 'failed', failure: 'no payable' },
  });
  expect(await breaks()).toEqual(['missing_in_erp m -']);
});

test.each([
  ['1/2', '2099-07-30', 'paid', 'paid_to_supplier i k1'],
  ['1/2', '2099-07-30', 'gone', 'gone_from_erp i k1'],
  ['1/2', '2099-07-15', 'paid', 'paid_to_supplier! i k1'],
  ['', '2099-07-30', 'paid', 'paid_to_supplier! i k1'],
])(
  'a title without a payable waits where the supplier was paid for a far instalment of the order: %s due %s %s',
  async (instalment, due, how, found) => {
    await pull(`i ${value}`);
    const part = instalment === '' ? '' : ` instalment=${instalment}`;
    await snapshot(`k1 # total=# order=i due=${due}${part}`);
    if (how === 'paid') await state(`k1 0 total=# paid to=${SUPPLIER} order=i due=${due}${part}`);
    else await snapshot();
    expect(await breaks()).toEqual([found]);
    expect(await judged.waiting(date)).toEqual(['i']);
  },
);

test.each([
  ['2/2', 'in_doubt i k1'],
  ['', 'anticipated_twice! i k1'],
])(
  'two titles of an order that are due far apart are no rivals for an open instalment: %s',
  async (instalment, found) => {
    await pull(`i ${value} due=2099-06-08, i ${value} due=2099-07-15`);
    const part = instalment === '' ? '' : ` instalment=${instalment}`;
    await snapshot(`k1 # order=i due=2099-07-08${part}`);
    expect(await breaks()).toEqual([found, found]);
  },
);

test('a withdrawn title that two titles may continue does not stop the matching', async () => {
  await book();
  // A copy on another date, and a restated due date.
  await pull(title, other);
  await pull(`${title} due=2099-07-02`);
  await judged.match();
  // The rules give the payable to the copy, which has the due date.
  expect(await listMatches(world.database)).toEqual(['m=k1 exact']);
});

test('a title waits for the reversal of a booking that a person has recorded after a restore', async () => {
  const { database } = world;
  await pull(`${title} due=2099-07-02`);
  const key = `${date}:${'0'.repeat(28)}${value}:1:1`;
  await takeReceipts(database, 'erp', [receiptOf({ key, contentHash: '1'.repeat(32) })]);
  await state(`k1 0 paid as=assignment order=m by=${key}`);
  expect(await breaks()).toEqual(['anticipated_twice! m k1']);
  const seen = { date, first: 0, last: 1_000_000, count: 1 };
  const decision = { by: 'ana', reason: 'restored', bookingsFrom: DAY };
  await answerReceipts(database, seen, 'recorded', decision);
  expect(await breaks()).toEqual(['already_assigned m k1']);
  await judged.release(date);
  expect(await judged.waiting(date)).toEqual(['m']);
  await judged.answer(date, 'posted');
  // The row is older than the reversal.
  expect(await breaks()).toEqual(['already_assigned m k1']);
  await state('k1 # order=m');
  expect(await breaks()).toEqual([]);
});

test('a title that comes back after a refused reversal is not booked again', async () => {
  await book();
  await state(`k1 0 paid to=${AGENT}`);
  await withdraw('failed', true);
  expect(await breaks()).toEqual(['reversal_refused! m k1']);
  await pull(title);
  expect(await breaks()).toEqual(['reversal_refused! m k1']);
  expect(await judged.waiting(date)).toEqual(['m']);
  await judged.release(date);
  expect(await lines(date)).toEqual(['book m k1 1', 'reverse m k1 2']);
  // A person accepts what is posted: the ERP replaces the posting, and does not post the title again.
  await judged.resolve('reversal_refused', 'k1', date);
  expect(await releaseWaitingDays(world.database, {})).toContain(date);
  expect(await lines(date)).toEqual(['book m k1 1', 'reverse m k1 2', 'adjust m k1 3']);
  await judged.answer(date, 'posted');
  expect(await breaks()).toEqual([]);
});

test('a title that comes back after a failed reversal replaces its posting on the same payable', async () => {
  await book();
  await state(`k1 0 paid by=${await judged.keyOf('m', date)}`);
  await withdraw('failed');
  await pull(title);
  expect(await breaks()).toEqual([]);
  await judged.release(date);
  expect(await lines(date)).toEqual(['book m k1 1', 'reverse m k1 2', 'adjust m k1 3']);
  await judged.answer(date, 'posted');
  expect(await breaks()).toEqual([]);
});

test.each([
  ['paid to the supplier', `0 paid as=payment to=${SUPPLIER}`, ['paid_to_supplier! m k1']],
  ['paid to a third party', `0 paid as=assignment to=${THIRD_PARTY}`, ['paid_to_supplier! m k1']],
  ['open again, the payee is a third party', `9 payee=${THIRD_PARTY}`, ['payee_changed! m k1']],
  ['paid to the agent', `0 paid as=assignment to=${AGENT}`, []],
])('the key of a booking does not hide a stated receiver: %s', async (_, stated, found) => {
  await book();
  await state(`k1 ${stated} by=${await judged.keyOf('m', date)}`);
  expect(await breaks()).toEqual(found);
});

test('a payable of the agent of an older version is posted twice once the ERP states it after the adjustment', async () => {
  await book();
  const key = await judged.keyOf('m', date);
  await state(made('a1', key));
  await pull(`${title} discount=3`);
  await judged.match();
  await judged.release(date);
  const second = made('a2', key.replace(/1$/, '2'));
  await state(second);
  await judged.answer(date, 'posted');
  // A delta does not state the payable that the ERP has deleted.
  expect(await breaks()).toEqual([]);
  await state(`${made('a1', key, '0')} paid, ${second}`);
  expect(await breaks()).toEqual([]);
  await state(`${made('a1', key)}, ${second}`);
  expect(await breaks()).toEqual(['posted_twice! m a2']);
});

test('a payable of the agent that stays open after the reversal is posted twice', async () => {
  await book();
  const agent = made('a1', await judged.keyOf('m', date));
  await state(agent);
  await withdraw('posted');
  expect(await breaks()).toEqual([]);
  await state(agent);
  expect(await breaks()).toEqual(['posted_twice! m a1']);
  await state(`${agent} cancelled`);
  expect(await breaks()).toEqual([]);
});

test.each([
  ['in one step', ['600']],
  ['in two steps', ['#', '600']],
])('a payable whose whole value the ERP lowers is paid in part: %s', async (_, totals) => {
  await judged.pull(date, title);
  await state('k1 # total=#');
  await judged.match();
  for (const total of totals) {
    await state(`k1 600 total=${total}`);
    expect(await breaks()).toEqual(['paid_in_part! m k1']);
  }
  expect(await judged.waiting(date)).toEqual(['m']);
  expect(await listMatches(world.database)).toEqual(['m=k1 exact']);
});

test('a payable that the booking of a title without a match has settled is not for another title', async () => {
  await judged.pull(date, title);
  await judged.match();
  await judged.release(date);
  await judged.answer(date, 'posted');
  await state(`k1 # paid as=assignment by=${await judged.keyOf('m', date)}`);
  await judged.pull(other, `n ${value}`);
  // The list of all dates has both titles, and that of a date has one.
  const all = await breaks(null);
  expect(all.filter((text) => text.endsWith(' k1'))).toEqual(['anticipated_twice! n k1']);
  expect(await judged.waiting(other)).toEqual(['n']);
});

test.each([
  ['with another due date', 'm # due=2099-07-02', false],
  ['with another value', 'm 1650', false],
  ['on another date', 'm #', true],
])(
  'a title that a person matched and that is restated %s after its posting does not stop the matching',
  async (_, restated, isMoved) => {
    await pull(title);
    await state('k2 1234');
    await judged.match();
    const { id } = await world.database.prisma.title.findFirstOrThrow({
      where: { acceptedDate: date, orderUid: 'm', status: 'current' },
    });
    const decision = { by: 'ana', code: 'other', reason: 'they agree' } as const;
    await matchByPerson(world.database, { titleId: id, erpKeys: ['k2'] }, decision);
    await judged.release(date);
    await judged.answer(date, 'posted');
    if (isMoved) await judged.pull(other, title);
    await judged.pull(date, isMoved ? REST : named(`${restated}, ${REST}`));
    await judged.match();
    await judged.match();
    expect(await listMatches(world.database)).toEqual([expect.stringMatching(/^m=k2 /)]);
  },
);

const unanswered: Record<string, { answer: 'failed' | null; stated: string; kind: string }> = {
  'paid, its line has no answer': { answer: null, stated: 'k1 # paid', kind: 'paid_to_supplier' },
  'paid, its line failed': { answer: 'failed', stated: 'k1 # paid', kind: 'paid_to_supplier!' },
  'gone, its line has no answer': { answer: null, stated: '', kind: 'gone_from_erp' },
  'gone, its line failed': { answer: 'failed', stated: '', kind: 'gone_from_erp!' },
};
describe.each(['# due=2099-07-02', '8#'])('restated as %s', (restated) => {
  test.each(Object.entries(unanswered))(
    'a title waits while the payable is paid to a receiver that is not stated: %s',
    async (_, { answer, stated, kind }) => {
      await book(false);
      if (answer !== null) await judged.answer(date, answer);
      await snapshot(stated);
      await pull(`m ${restated}`);
      expect(await breaks()).toEqual([`${kind} m k1`]);
      await judged.release(date);
      // The reversal of the old booking is on its way, and changes nothing.
      expect(await lines(date)).toEqual(['book m k1 1', 'reverse m k1 2']);
      expect(await breaks()).toEqual([`${kind} m k1`]);
      expect(await releaseWaitingDays(world.database, {})).toEqual([]);
      expect(await lines(date)).toEqual(['book m k1 1', 'reverse m k1 2']);
      await judged.passDays(GRACE_DAYS + 1);
      expect(await breaks()).toEqual([`${kind.replace('!', '')}! m k1`]);
    },
  );
});

test.each(['3', '4', '7'])(
  'a title whose fee is restated keeps its booking beside a title of the same identity that waits: %s',
  async (discount) => {
    await book(false);
    const second = `${title} discount=5`;
    await pull(`${title}, ${second}`);
    expect(await breaks()).toEqual(['anticipated_twice! m k1']);
    // The ERP has posted the line, and not yet answered.
    await snapshot();
    await pull(`${title} discount=${discount}, ${second}`);
    expect(await breaks()).toEqual(['anticipated_twice! m k1']);
    await judged.release(date);
    expect(await lines(date)).toEqual(['book m k1 1', 'adjust m k1 2']);
    expect(await judged.waiting(date)).toEqual(['m']);
  },
);

test('a restated title without a match waits while the payable of its order is paid', async () => {
  await book(false, '');
  expect(await lines(date)).toEqual(['book m - 1']);
  await state('k1 # order=m paid');
  await pull(`${title} due=2099-07-02`);
  expect(await breaks()).toEqual(['paid_to_supplier! m k1']);
  await judged.release(date);
  expect(await lines(date)).toEqual(['book m - 1', 'reverse m - 2']);
});

test.each([
  ['2099-07-30', 'already_assigned i -'],
  ['2099-07-10', 'reversal_refused! i -'],
])(
  'a refused reversal of a booking without a payable concerns the title of a near due date: %s',
  async (due, found) => {
    await book(true, '', `i ${value}`);
    await pull(`i ${value} due=${due}`, other);
    await withdraw('failed', true);
    expect(await breaks(other)).toEqual([found]);
    expect(await judged.waiting(other)).toEqual(['i']);
  },
);

test('a title gives the payable back that the booking of another order has settled', async () => {
  await book();
  await judged.pull(date, REST);
  await pull('n # due=2099-07-05', other);
  await judged.match();
  expect(await listMatches(world.database)).toContain('n=k1 tolerance');
  await state(`k1 0 total=# paid as=assignment by=${await judged.keyOf('m', date)}`);
  expect(await breaks(other)).toEqual(['anticipated_twice! n k1']);
  await state('k2 # due=2099-07-05');
  expect(await breaks(other)).toEqual([]);
  expect(await listMatches(world.database)).toContain('n=k2 exact');
});

test('what the booking of another date has changed is no alarm for a title of the payable that was reversed before', async () => {
  await book();
  await judged.pull(date, REST);
  await pull(title, other);
  await judged.match();
  await judged.release(date);
  await judged.answer(date, 'posted');
  await judged.match();
  await judged.release(other);
  await judged.answer(other, 'posted');
  await state(`k1 # payee=${AGENT}`);
  await judged.pull(other, REST);
  await judged.match();
  await judged.release(other);
  await judged.answer(other, 'posted');
  expect(await breaks()).toEqual([]);
  await state(`k1 # payee=${AGENT}`);
  expect(await breaks()).toEqual(['payee_changed! m k1']);
});
