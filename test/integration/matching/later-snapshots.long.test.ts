/** What the ERP states in several snapshots, with a run after each, has the result of one snapshot. */
import { describe, expect, test } from 'vitest';
import { matchByPerson } from '../../../src/features/matching/match-decisions.sql.ts';
import { AGENT, orderWorldOfFile, SUPPLIER, THIRD_PARTY } from '../../support/judged-world.ts';
import { addBooking, clearMatching, currentTitleId } from '../../support/matching-world.ts';
import { daysFrom } from '../../support/pull-world.ts';

const { world, judged, own, pull, breaks, waiting, matches, ...stating } = orderWorldOfFile();
const state = (...rows: readonly string[]) => stating.state(rows.join(', '));
const PAID = `paid to=${SUPPLIER}`;
const result = async () => {
  await judged.match();
  // Titles of one merge are numbered in any order.
  return {
    matches: await matches(),
    breaks: (await breaks()).toSorted(),
    waiting: await waiting(),
  };
};
/** What stands after each of the snapshots. */
const last = (history: readonly string[]) => [
  ...new Map(history.map((row) => [row.split(' ')[0], row])).values(),
];
const matchByRita = async (reason: string) => {
  const titleId = await currentTitleId(world.database, own.uid);
  await matchByPerson(
    world.database,
    { titleId, erpKeys: ['k1'] },
    { by: 'rita', code: 'other', reason },
  );
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
    await pull();
    await state(...last(history));
    const once = await result();
    const isMatch = found.includes('=');
    expect(once.matches).toEqual(isMatch ? [found] : []);
    expect(once.breaks).toEqual(isMatch ? [] : [found]);
    for (const steps of [history, last(history).reverse()]) {
      await clearMatching(world.database);
      for (const row of steps) {
        await state(row);
        await judged.match();
      }
      expect(await judged.match()).toMatchObject({ matched: 0, reopened: 0 });
      const several = await result();
      // The match of a payable that is paid later stays, and is judged.
      const paid = last(history).flatMap((row) =>
        row.includes(' paid ') ? [row.slice(0, 2)] : [],
      );
      const matches = several.matches.filter((text) => !paid.some((key) => text.includes(key)));
      expect({ ...several, matches }).toEqual(once);
    }
  },
);

test('a match that the rules make again is neither ended nor written', async () => {
  // On a due date without the titles of other tests, which are more than the candidates of a sum.
  const due = 'due=2098-01-31';
  await pull(`# 1000, sum 500 ${due}`);
  await state('k1 1000', `s1 200 order=sum ${due}`, `s2 300 order=sum ${due}`);
  await judged.match();
  const rows = () =>
    world.database.prisma.$queryRaw`SELECT xmin::text, * FROM conciliation.title_match ORDER BY id`;
  const before = await rows();
  expect(before).toHaveLength(3);
  await state('k9 7');
  expect(await judged.match()).toMatchObject({ matched: 0, reopened: 0 });
  expect(await rows()).toEqual(before);
});

test('a title of another order that comes later takes the payable of a match not away', async () => {
  await pull();
  await state('k1 1000');
  await judged.match();
  await pull('# 1000, b 1000');
  const found = { breaks: ['anticipated_twice! b k1'], waiting: ['b'] };
  expect(await result()).toEqual({ matches: ['a=k1 exact'], ...found });
});

test.each([
  ['of one date', 0],
  ['of two dates', 1],
])(
  'more titles than payables that fit them, of other orders and %s: all of them wait',
  async (_, days) => {
    const second = daysFrom(days, own.date);
    const b = `b 1000 agent=${THIRD_PARTY}`;
    await pull(days === 0 ? `# 1000, ${b}` : '# 1000');
    if (days > 0) await pull(b, second);
    await state('k1 1000');
    const both = days === 0 ? ['a', 'b'] : ['a'];
    expect(await result()).toEqual({
      matches: [],
      breaks: both.map((order) => `anticipated_twice! ${order} k1`),
      waiting: both,
    });
    expect(await waiting(second)).toEqual(days === 0 ? ['a', 'b'] : ['b']);
    await judged.resolve('anticipated_twice', 'k1', second);
    // A second payable, or a title less: they are in doubt, or matched.
    await state('k2 1000');
    const { breaks, ...doubted } = await result();
    expect(doubted).toEqual({ matches: [], waiting: [] });
    expect(breaks[0]).toEqual('in_doubt a k1');
    await state('k2 5');
    if (days === 0) await pull();
    else await judged.pull(second, 'rest 9999');
    expect(await result()).toEqual({ matches: ['a=k1 exact'], breaks: [], waiting: [] });
  },
);

describe.each(['released', 'posted', 'person'] as const)('a match that is %s stays', (how) => {
  const settle = async (first: string) => {
    await pull();
    await state(`k1 1000 ${first}`.trim());
    if (how === 'person') await matchByRita('seen');
    await judged.match();
    if (how === 'person') return;
    await judged.release(own.date);
    if (how === 'posted') await judged.answer(own.date, 'posted');
  };

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
    await settle(first);
    await state(later);
    // The release judges the payables as they are, before any run.
    const waits = found === null ? [] : ['a'];
    expect(await waiting()).toEqual(waits);
    expect(await result()).toMatchObject({
      matches: [expect.stringContaining('a=k1')],
      breaks: found === null ? [] : [`${found}! a k2`],
      waiting: waits,
    });
    if (found === null) return;
    await judged.resolve(found, 'k2', own.date);
    expect(await waiting()).toEqual([]);
  });
});

test('the payable that a person has left aside is judged once it changes', async () => {
  await pull();
  await state('k1 1000', `k2 1000 ${PAID}`);
  await judged.match();
  await matchByRita('another delivery');
  expect((await result()).breaks).toEqual([]);
  await state(`k2 1000 paid to=${AGENT}`);
  expect((await result()).breaks).toEqual(['already_assigned a k2']);
});

test('the payable of a booking of another order is no rival of a match', async () => {
  await pull();
  await state('k1 1000');
  await judged.match();
  await addBooking(world.database, 'z', 'k2');
  await state(`k2 1000 ${PAID}`);
  expect(await waiting()).toEqual([]);
  expect(await result()).toEqual({ matches: ['a=k1 exact'], breaks: [], waiting: [] });
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
  ])('and the next snapshot states it as %s', async (__, more, found) => {
    await pull();
    await state('k1 1000');
    await judged.match();
    await state(changed);
    expect((await result()).matches).toEqual([]);
    await state(`${changed} ${more}`);
    expect(await waiting()).toEqual(['a']);
    expect(await result()).toEqual({ matches: [], breaks: [found], waiting: ['a'] });
  });
});

test('a payable that a person has taken from the title says nothing of the title any more', async () => {
  await pull();
  await state('k1 1000');
  await judged.match();
  await world.database.prisma.titleMatch.updateMany({
    where: { erpKey: 'k1' },
    data: { endedAt: new Date(), endedBy: 'rita', endReason: 'another delivery' },
  });
  await state(`k1 1000.01 ${PAID}`);
  expect(await result()).toEqual({ matches: [], breaks: ['missing_in_erp a -'], waiting: [] });
});
