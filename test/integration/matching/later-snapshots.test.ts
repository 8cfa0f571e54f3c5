/** What the ERP states in several snapshots, with a run after each, has the result of one snapshot. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/domain/business-day.ts';
import { matchByPerson } from '../../../src/matching/match-decisions.sql.ts';
import {
  AGENT,
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

const rest = { uid: 'rest', value: '9999' };
type Stated = Partial<StatedPayable>;
const payable = (erpKey: string, { orderUid, ...more }: Stated = {}): StatedPayable => ({
  openValue: '1000',
  document: erpKey,
  ...more,
  ...(orderUid !== undefined && { orderUid: orderUid === '#' ? uid : orderUid }),
  erpKey,
});
const PAID: Stated = { status: 'paid', paidTo: SUPPLIER };
const OF_ORDER: Stated = { orderUid: '#' };
const named = (texts: readonly string[]) =>
  texts.filter((text) => !text.includes('rest')).map((text) => text.replace(uid, 'a'));
const result = async () => {
  await judged.match();
  return {
    matches: named(await listMatches(world.database)),
    breaks: named(await judged.breaks(date)),
    waiting: named(await judged.waiting(date)).toSorted(),
  };
};
/** What stands after each of the snapshots. */
type History = readonly (readonly [string, Stated])[];
const last = (history: History) => [...new Map(history).entries()];

const judgedAsOne: Record<string, readonly [History, string | null, string | null]> = {
  'a payable of the order appears, open': [
    [
      ['k1', {}],
      ['k2', OF_ORDER],
    ],
    'a=k2 order',
    null,
  ],
  'a payable of the order appears, open, with another value': [
    [
      ['k1', {}],
      ['k2', { ...OF_ORDER, openValue: '1090' }],
    ],
    null,
    'in_doubt a k1',
  ],
  'a payable of the order appears, paid': [
    [
      ['k1', {}],
      ['k2', { ...OF_ORDER, ...PAID }],
    ],
    null,
    'paid_to_supplier! a k2',
  ],
  'a payable of the order appears, paid, due four days later': [
    [
      ['k1', {}],
      ['k2', { ...OF_ORDER, ...PAID, dueDate: '2099-07-04' }],
    ],
    null,
    'paid_to_supplier! a k2',
  ],
  'an equal payable appears, paid': [
    [
      ['k1', {}],
      ['k2', PAID],
    ],
    null,
    'paid_to_supplier! a k2',
  ],
  'an equal payable appears, open': [
    [
      ['k1', {}],
      ['k2', {}],
    ],
    null,
    'in_doubt a k1',
  ],
  'the exact payable appears after one that is due three days later, and is paid': [
    [
      ['k1', { dueDate: '2099-07-03' }],
      ['k2', {}],
      ['k2', PAID],
    ],
    null,
    'paid_to_supplier! a k2',
  ],
  'a second payable of the order appears, paid': [
    [
      ['k1', OF_ORDER],
      ['k2', { ...OF_ORDER, ...PAID }],
    ],
    null,
    'paid_to_supplier! a k2',
  ],
  'an equal payable gets the order': [
    [
      ['k1', {}],
      ['k2', {}],
      ['k2', OF_ORDER],
    ],
    'a=k2 order',
    null,
  ],
  'the sum of two payables, then one payable of the order': [
    [
      ['k1', { ...OF_ORDER, openValue: '400' }],
      ['k2', { ...OF_ORDER, openValue: '600' }],
      ['k3', OF_ORDER],
    ],
    'a=k3 order',
    null,
  ],
};

test.each(Object.entries(judgedAsOne))(
  'the order of the snapshots does not matter: %s',
  async (_, [history, match, found]) => {
    await judged.pull(date, { uid, value: '1000' }, rest);
    await judged.state(last(history).map(([key, more]) => payable(key, more)));
    const once = await result();
    expect(once.matches).toEqual(match === null ? [] : [match]);
    expect(once.breaks).toEqual(found === null ? [] : [found]);
    for (const steps of [history, [...last(history)].reverse()]) {
      await clearMatching(world.database);
      for (const [key, more] of steps) {
        await judged.state([payable(key, more)]);
        await judged.match();
      }
      expect(await judged.match()).toMatchObject({ matched: 0, reopened: 0 });
      const several = await result();
      // The match of a payable that is paid later stays, and is judged.
      const paid = last(history).flatMap(([key, more]) => (more.status === 'paid' ? [key] : []));
      const matches = several.matches.filter((text) => !paid.some((key) => text.includes(key)));
      expect({ ...several, matches }).toEqual(once);
    }
  },
);

test('a match that the rules make again is neither ended nor written', async () => {
  await judged.pull(date, { uid, value: '1000' }, { uid: `${uid} sum`, value: '500' }, rest);
  await judged.state([
    payable('k1'),
    payable('s1', { openValue: '200', orderUid: `${uid} sum` }),
    payable('s2', { openValue: '300', orderUid: `${uid} sum` }),
  ]);
  await judged.match();
  const rows = () =>
    world.database.prisma.$queryRaw`SELECT xmin::text, * FROM conciliation.title_match ORDER BY id`;
  const before = await rows();
  await judged.state([payable('k9', { openValue: '7' })]);
  expect(await judged.match()).toMatchObject({ matched: 0, reopened: 0 });
  expect(await rows()).toEqual(before);
});

test('a title of another order that comes later takes the payable of a match not away', async () => {
  await judged.pull(date, { uid, value: '1000' }, rest);
  await judged.state([payable('k1')]);
  await judged.match();
  await judged.pull(date, { uid, value: '1000' }, { uid: 'b', value: '1000' }, rest);
  expect(await result()).toEqual({
    matches: ['a=k1 exact'],
    breaks: ['anticipated_twice! b k1'],
    waiting: ['b'],
  });
});

test.each([
  ['of one date', 0],
  ['of two dates', 1],
])(
  'more titles than payables that fit them, of other orders and %s: all of them wait',
  async (_, days) => {
    const second = daysFrom(days, date);
    const a = { uid, value: '1000' };
    const b = { uid: 'b', value: '1000', agent: THIRD_PARTY };
    await judged.pull(date, a, ...(days === 0 ? [b] : []), rest);
    if (days > 0) await judged.pull(second, b, rest);
    await judged.state([payable('k1')]);
    const twice = { matches: [], breaks: ['anticipated_twice! a k1'], waiting: ['a'] };
    expect(await result()).toEqual({
      ...twice,
      ...(days === 0 && {
        breaks: [...twice.breaks, 'anticipated_twice! b k1'],
        waiting: ['a', 'b'],
      }),
    });
    expect(named(await judged.waiting(second)).toSorted()).toEqual(days === 0 ? ['a', 'b'] : ['b']);
    await judged.resolve('anticipated_twice', 'k1', second);
    // A second payable, or a title less: they are in doubt, or matched.
    await judged.state([payable('k2')]);
    const both = await result();
    expect(both.matches).toEqual([]);
    expect(both.breaks[0]).toEqual('in_doubt a k1');
    expect(both.waiting).toEqual([]);
    await judged.state([payable('k2', { openValue: '5' })]);
    if (days === 0) await judged.pull(date, a, rest);
    else await judged.pull(second, rest);
    expect(await result()).toEqual({ matches: ['a=k1 exact'], breaks: [], waiting: [] });
  },
);

describe.each(['released', 'posted', 'person'] as const)('a match that is %s stays', (state) => {
  const settle = async (first: Stated = {}) => {
    await judged.pull(date, { uid, value: '1000' }, rest);
    await judged.state([payable('k1', first)]);
    if (state === 'person') {
      const { id } = await world.database.prisma.title.findFirstOrThrow({
        where: { orderUid: uid, status: 'current' },
      });
      await matchByPerson(
        world.database,
        { titleId: id, erpKey: 'k1' },
        { by: 'rita', reason: 'seen' },
      );
      await judged.match();
      return;
    }
    await judged.match();
    await judged.release(date);
    if (state === 'posted') await judged.answer(date, 'posted');
  };

  test.each<[string, Stated, Stated, string | null]>([
    ['of the order, paid', {}, { ...OF_ORDER, ...PAID }, 'paid_to_supplier! a k2'],
    [
      'of the order, with another value, paid',
      {},
      { ...OF_ORDER, ...PAID, openValue: '1090' },
      'paid_to_supplier! a k2',
    ],
    ['equal, paid', {}, PAID, 'paid_to_supplier! a k2'],
    ['equal, of the order, paid', OF_ORDER, { ...OF_ORDER, ...PAID }, 'paid_to_supplier! a k2'],
    ['nearer, paid', { dueDate: '2099-07-03' }, PAID, 'paid_to_supplier! a k2'],
    [
      'equal, settled by another booking',
      {},
      { status: 'paid', settledBy: '2026-01-02:00000000000000000000000000000000:1:1' },
      'anticipated_twice! a k2',
    ],
    ['by another rule, paid', {}, { ...PAID, dueDate: '2099-07-01' }, null],
    ['farther away, paid', { dueDate: '2099-07-02' }, { ...PAID, dueDate: '2099-07-03' }, null],
    [
      'another instalment of the order, paid',
      OF_ORDER,
      { ...OF_ORDER, ...PAID, dueDate: '2099-07-30' },
      null,
    ],
    [
      'the same document, cancelled',
      { document: 'N' },
      { document: 'N', status: 'cancelled' },
      null,
    ],
    ['equal, open', {}, {}, null],
  ])('and a later payable is judged: %s', async (_, first, later, found) => {
    await settle(first);
    await judged.state([payable('k2', later)]);
    // The release judges the payables as they are, before any run.
    const waits = found !== null;
    expect(named(await judged.waiting(date))).toEqual(waits ? ['a'] : []);
    expect(await result()).toMatchObject({
      matches: [expect.stringContaining('a=k1')],
      breaks: found === null ? [] : [found],
      waiting: waits ? ['a'] : [],
    });
    if (found === null) return;
    await judged.resolve(
      found.startsWith('paid') ? 'paid_to_supplier' : 'anticipated_twice',
      'k2',
      date,
    );
    expect(named(await judged.waiting(date))).toEqual([]);
  });
});

test('the payable that a person has left aside is judged once it changes', async () => {
  await judged.pull(date, { uid, value: '1000' }, rest);
  await judged.state([payable('k1'), payable('k2', PAID)]);
  await judged.match();
  const { id } = await world.database.prisma.title.findFirstOrThrow({
    where: { orderUid: uid, status: 'current' },
  });
  await matchByPerson(
    world.database,
    { titleId: id, erpKey: 'k1' },
    { by: 'rita', reason: 'another delivery' },
  );
  expect((await result()).breaks).toEqual([]);
  await judged.state([payable('k2', { ...PAID, paidTo: AGENT })]);
  expect((await result()).breaks).toEqual(['already_assigned a k2']);
});

test('the payable of a booking of another order is no rival of a match', async () => {
  await judged.pull(date, { uid, value: '1000' }, rest);
  await judged.state([payable('k1')]);
  await judged.match();
  await world.database.prisma.$executeRaw`
    WITH batch AS (
      INSERT INTO conciliation.booking_batch
        (date, released_by, line_count, book_count, adjust_count, reverse_count, original_value_sum,
         platform_discounted_value_sum, financial_discounted_value_sum, buyer_discounted_value_sum,
         billing_fee_sum, money_transfer_fee_sum, digest)
      VALUES ('2026-03-01', 'test', 1, 1, 0, 0, 10, 0, 0, 0, 0, 0, '') RETURNING id
    )
    INSERT INTO conciliation.booking_line
      (batch_id, consumer, date, identity_hash, occurrence, version, kind, content_hash, state, erp_key, title_id,
       order_uid)
    SELECT id, (SELECT min(name) FROM conciliation.booking_consumer), '2026-03-01', md5('z')::uuid, 1, 1, 'book',
           md5('')::uuid, 'posted', 'k2', 0, 'z' FROM batch`;
  await judged.state([payable('k2', PAID)]);
  expect(named(await judged.waiting(date))).toEqual([]);
  expect(await result()).toEqual({ matches: ['a=k1 exact'], breaks: [], waiting: [] });
});

const changes: readonly [string, Stated][] = [
  ['the value', { openValue: '1000.01' }],
  ['the due date', { dueDate: '2099-07-20' }],
  ['no due date', { dueDate: '' }],
  ['the code of the supplier', { supplierExternalId: 'P-7' }],
  ['the currency', { currency: 'USD' }],
];
describe.each(changes)('a payable of a match is corrected: %s', (_, change) => {
  test.each<[string, Stated, string]>([
    ['paid to the supplier', PAID, 'paid_to_supplier! a k1'],
    ['cancelled', { status: 'cancelled' }, 'cancelled_in_erp a k1'],
    ['assigned', { status: 'paid', settledAs: 'assignment' }, 'already_assigned a k1'],
  ])('and the next snapshot states it as %s', async (__, more, found) => {
    await judged.pull(date, { uid, value: '1000' }, rest);
    await judged.state([payable('k1')]);
    await judged.match();
    await judged.state([payable('k1', change)]);
    const { matches } = await result();
    expect(matches).toEqual([]);
    await judged.state([payable('k1', { ...change, ...more })]);
    expect(named(await judged.waiting(date))).toEqual(['a']);
    expect(await result()).toEqual({ matches: [], breaks: [found], waiting: ['a'] });
  });
});

test('a payable that a person has taken from the title says nothing of the title any more', async () => {
  await judged.pull(date, { uid, value: '1000' }, rest);
  await judged.state([payable('k1')]);
  await judged.match();
  await world.database.prisma.titleMatch.updateMany({
    where: { erpKey: 'k1' },
    data: { endedAt: new Date(), endedBy: 'rita', endReason: 'another delivery' },
  });
  await judged.state([payable('k1', { ...PAID, openValue: '1000.01' })]);
  expect(await result()).toEqual({ matches: [], breaks: ['missing_in_erp a -'], waiting: [] });
});
