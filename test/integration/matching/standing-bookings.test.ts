/** Bookings that the ERP has not reversed, on the payables of other titles and of titles that come back. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { releaseWaitingDays } from '../../../src/bookings/release.sql.ts';
import type { CivilDate } from '../../../src/domain/business-day.ts';
import { matchByPerson, undoMatch } from '../../../src/matching/match-decisions.sql.ts';
import {
  AGENT,
  type JudgedTitle,
  judgedWorld,
  type StatedPayable,
  SUPPLIER,
  THIRD_PARTY,
} from '../../support/judged-world.ts';
import { clearMatching, listMatches } from '../../support/matching-world.ts';
import { DAY, daysFrom, openPullWorld, type PullWorld } from '../../support/pull-world.ts';

let world: PullWorld;
let judged: ReturnType<typeof judgedWorld>;
let date: CivilDate = DAY;
let other: CivilDate = DAY;
// The titles of the other tests have other values.
let value = 1700;
let title: JudgedTitle;
let K1: StatedPayable;
beforeAll(async () => {
  world = await openPullWorld();
  judged = judgedWorld(world);
});
afterAll(() => world.close());
beforeEach(async () => {
  date = daysFrom(7, date);
  other = daysFrom(1, date);
  value += 10;
  title = { uid: 'm', value: String(value) };
  K1 = { erpKey: 'k1', openValue: title.value };
  await clearMatching(world.database);
});

const rest = { uid: 'rest', value: '9999' };
/** The agent's payable that a posting of a line made. */
const made = (erpKey: string, bookingKey: string, more: Partial<StatedPayable> = {}) => ({
  ...{ erpKey, bookingKey, openValue: title.value, supplierTaxId: AGENT, supplierExternalId: 'AG' },
  ...more,
});
const isOfRest = (text: string) => text.includes(' rest ') || text.includes('unrelated');
/** The breaks after a run of the matching. */
async function breaks(of: CivilDate | null = date): Promise<string[]> {
  await judged.match();
  return (await judged.breaks(of)).filter((text) => !isOfRest(text));
}
const lines = async (of: CivilDate) => {
  const rows = await world.database.prisma.$queryRaw<{ line: string }[]>`
    SELECT kind || ' ' || order_uid || ' ' || coalesce(erp_key, '-') || ' ' || version AS line
    FROM conciliation.booking_line WHERE date = ${of}::date AND order_uid <> 'rest' ORDER BY id`;
  return rows.map(({ line }) => line);
};

/** The title is matched with the payable, signed off, released and perhaps posted. */
async function book(isPosted = true, payable: StatedPayable = K1): Promise<void> {
  await judged.pull(date, title, rest);
  // A snapshot without a payable is not complete.
  await judged.state(
    [payable, { erpKey: 'unrelated', openValue: '1', supplierExternalId: 'P-9' }],
    'snapshot',
  );
  await judged.match();
  await judged.release(date);
  if (isPosted) await judged.answer(date, 'posted');
}

/** The title leaves its date, which is signed off, and the ERP answers the reversal. */
async function withdraw(answer: 'posted' | 'failed', isFinal = false): Promise<void> {
  await judged.pull(date, rest);
  await judged.match();
  await judged.release(date);
  await judged.answer(date, answer, isFinal);
}

const agentOf = (key: string, more: Partial<StatedPayable>) => [made('a1', key, more)];
interface Move {
  readonly isPosted?: boolean;
  readonly to?: Partial<JudgedTitle>;
  readonly states?: (key: string) => readonly StatedPayable[];
  readonly kind?: string;
}
const moves: Record<string, Move> = {
  'posted, the payable is still open': { states: (key) => agentOf(key, {}) },
  'posted, assigned without a key': {
    states: () => [{ ...K1, status: 'paid', openValue: '0', settledAs: 'assignment' }],
  },
  'posted, assigned with the key': {
    states: (key) => [
      { ...K1, status: 'paid', openValue: '0', settledAs: 'assignment', settledBy: key },
    ],
  },
  'posted, the payee is the agent': { states: () => [{ ...K1, payee: AGENT }] },
  'released, not answered': { isPosted: false },
  'with another due date': { to: { dueDate: '2099-07-02' } },
  'with another value': { to: { value: '1600' } },
  'under another order': { to: { uid: 'n' } },
  'under another order, not answered': { to: { uid: 'n' }, isPosted: false },
  'and the agent was paid': {
    states: (key) => [
      { ...K1, status: 'paid', openValue: '0', settledAs: 'assignment' },
      ...agentOf(key, { status: 'paid', paidTo: AGENT }),
    ],
    kind: 'anticipated_twice!',
  },
  'and the agent was paid with the payable': {
    states: () => [{ ...K1, status: 'paid', payee: AGENT }],
    kind: 'anticipated_twice!',
  },
};
test.each(Object.keys(moves))(
  'a title that moves to another date waits until the reversal of its booking is released: %s',
  async (name) => {
    const { isPosted = true, states, kind = 'already_assigned', ...move } = moves[name] ?? {};
    const to = { ...title, ...move.to };
    await book(isPosted);
    if (states !== undefined) await judged.state(states(await judged.keyOf('m', date)));
    await judged.pull(date, rest);
    await judged.pull(other, to, rest);
    expect(await breaks(other)).toEqual([`${kind} ${to.uid} k1`]);
    expect(await judged.waiting(other)).toEqual([to.uid]);
    await judged.release(other);
    expect(await lines(other)).toEqual([]);
    // The old date is signed off: its reversal is before the line of the new date in the feed.
    await judged.release(date);
    expect(await lines(date)).toEqual(['book m k1 1', 'reverse m k1 2']);
    // The ERP may refuse to reverse what the agent was paid for.
    const isPaid = kind === 'anticipated_twice!';
    expect(await judged.waiting(other)).toEqual(isPaid ? [to.uid] : []);
    await judged.answer(date, 'posted');
    await judged.state([K1]);
    await judged.match();
    expect(await judged.waiting(other)).toEqual([]);
  },
);

test('a reversal that failed keeps the title that moved', async () => {
  await book();
  await judged.pull(other, title, rest);
  await withdraw('failed');
  expect(await breaks(other)).toEqual(['already_assigned m k1']);
  expect(await judged.waiting(other)).toEqual(['m']);
});

test('two postings on one payable are urgent', async () => {
  await book();
  await judged.pull(date, rest);
  await judged.pull(other, title, rest);
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
  await judged.pull(other, { ...title, uid: 'n' }, rest);
  const { prisma } = world.database;
  const { id } = await prisma.titleMatch.findFirstOrThrow({ where: { endedAt: null } });
  const decision = { by: 'rita', reason: 'the other order has it' };
  await undoMatch(world.database, id, decision);
  const n = await prisma.title.findFirstOrThrow({ where: { orderUid: 'n', acceptedDate: other } });
  await matchByPerson(world.database, { titleId: n.id, erpKey: 'k1' }, decision);
  expect(await breaks(other)).toEqual(['anticipated_twice! n k1']);
  expect(await judged.waiting(other)).toEqual(['n']);
});

test('another instalment of the order does not wait for the reversal of the first one', async () => {
  await book(true, { ...K1, orderUid: 'm' });
  await judged.state([{ erpKey: 'k2', openValue: '800', dueDate: '2099-08-30', orderUid: 'm' }]);
  await judged.pull(date, rest);
  await judged.pull(other, { uid: 'm', value: '800', dueDate: '2099-08-30' }, rest);
  expect(await breaks(other)).toEqual([]);
  expect(await judged.waiting(other)).toEqual([]);
});

test('a title that comes back after a refused reversal is not booked again', async () => {
  await book();
  await judged.state([{ ...K1, openValue: '0', status: 'paid', paidTo: AGENT }]);
  await withdraw('failed', true);
  expect(await breaks()).toEqual(['reversal_refused! m k1']);
  await judged.pull(date, title, rest);
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
  const key = await judged.keyOf('m', date);
  await judged.state([{ ...K1, openValue: '0', status: 'paid', settledBy: key }]);
  await withdraw('failed');
  await judged.pull(date, title, rest);
  expect(await breaks()).toEqual([]);
  await judged.release(date);
  expect(await lines(date)).toEqual(['book m k1 1', 'reverse m k1 2', 'adjust m k1 3']);
  await judged.answer(date, 'posted');
  expect(await breaks()).toEqual([]);
});

test.each([
  ['paid to the supplier', { settledAs: 'payment', paidTo: SUPPLIER }, 'paid_to_supplier!'],
  ['paid to a third party', { settledAs: 'assignment', paidTo: THIRD_PARTY }, 'paid_to_supplier!'],
  [
    'open again, the payee is a third party',
    { status: 'open', openValue: '9', payee: THIRD_PARTY },
    'payee_changed!',
  ],
  ['paid to the agent', { settledAs: 'assignment', paidTo: AGENT }, null],
] as const)('the key of a booking does not hide a stated receiver: %s', async (_, more, kind) => {
  await book();
  const key = await judged.keyOf('m', date);
  await judged.state([{ ...K1, openValue: '0', status: 'paid', settledBy: key, ...more }]);
  expect(await breaks()).toEqual(kind === null ? [] : [`${kind} m k1`]);
});

test('a payable of the agent of an older version is posted twice once the ERP states it after the adjustment', async () => {
  await book();
  const key = await judged.keyOf('m', date);
  await judged.state([made('a1', key)]);
  await judged.pull(date, { ...title, discount: '3' }, rest);
  await judged.match();
  await judged.release(date);
  const second = made('a2', key.replace(/1$/, '2'));
  await judged.state([second]);
  await judged.answer(date, 'posted');
  // A delta does not state the payable that the ERP has deleted.
  expect(await breaks()).toEqual([]);
  await judged.state([made('a1', key, { status: 'paid', openValue: '0' }), second]);
  expect(await breaks()).toEqual([]);
  await judged.state([made('a1', key), second]);
  expect(await breaks()).toEqual(['posted_twice! m a2']);
});

test('a payable of the agent that stays open after the reversal is posted twice', async () => {
  await book();
  const agent = made('a1', await judged.keyOf('m', date));
  await judged.state([agent]);
  await withdraw('posted');
  expect(await breaks()).toEqual([]);
  await judged.state([agent]);
  expect(await breaks()).toEqual(['posted_twice! m a1']);
  await judged.state([{ ...agent, status: 'cancelled' }]);
  expect(await breaks()).toEqual([]);
});

test.each([
  ['in one step', 1],
  ['in two steps', 0],
])('a payable whose whole value the ERP lowers is paid in part: %s', async (_, skipped) => {
  await judged.pull(date, title);
  await judged.state([{ ...K1, totalValue: title.value }]);
  await judged.match();
  for (const totalValue of [title.value, '600'].slice(skipped)) {
    await judged.state([{ ...K1, openValue: '600', totalValue }]);
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
  const settledBy = await judged.keyOf('m', date);
  await judged.state([{ ...K1, status: 'paid', settledAs: 'assignment', settledBy }]);
  await judged.pull(other, { ...title, uid: 'n' });
  // The list of all dates has both titles, and that of a date has one.
  const all = await breaks(null);
  expect(all.filter((text) => text.endsWith(' k1'))).toEqual(['anticipated_twice! n k1']);
  expect(await judged.waiting(other)).toEqual(['n']);
});

test.each([
  ['with another due date', { dueDate: '2099-07-02' }, false],
  ['with another value', { value: '1650' }, false],
  ['on another date', {}, true],
] as const)(
  'a title that a person matched and that is restated %s after its posting does not stop the matching',
  async (_, change, isMoved) => {
    const payable = { erpKey: 'k2', openValue: '1234' };
    await judged.pull(date, title, rest);
    await judged.state([payable], 'delta');
    await judged.match();
    const { id } = await world.database.prisma.title.findFirstOrThrow({
      where: { acceptedDate: date, orderUid: 'm', status: 'current' },
    });
    await matchByPerson(
      world.database,
      { titleId: id, erpKey: 'k2' },
      { by: 'ana', reason: 'they agree' },
    );
    await judged.release(date);
    await judged.answer(date, 'posted');
    if (isMoved) await judged.pull(other, title, rest);
    await judged.pull(date, ...(isMoved ? [] : [{ ...title, ...change }]), rest);
    await judged.match();
    await judged.match();
    expect(await listMatches(world.database)).toEqual([expect.stringMatching(/^m=k2 /)]);
  },
);
