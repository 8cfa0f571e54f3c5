/** What the ERP states in several snapshots, with a run after each, has the result of one snapshot. */
import { describe, expect, test } from 'vitest';
import { matchByPerson } from '../../../src/features/matching/match-decisions.sql.ts';
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
} from '../../support/matching-world.ts';

const { world, judged, own, play } = orderWorldOfFile();
const matches = async () =>
  (await listMatches(world.database)).map((text) => text.replace(own.uid, 'a'));
const PAID = `paid to=${SUPPLIER}`;
/** What stands after each of the snapshots. */
const last = (history: readonly string[]) => [
  ...new Map(history.map((row) => [row.split(' ')[0], row])).values(),
];
const matchByRita = async (reason: string) => {
  const titleId = await currentTitleId(world.database, own.uid);
  const decision = { by: 'rita', code: 'other', reason } as const;
  await matchByPerson(world.database, { titleId, erpKeys: ['k1'] }, decision);
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
    world.database.prisma.$queryRaw`SELECT xmin::text, * FROM conciliation.title_match ORDER BY id`;
  const before = await rows();
  expect(before).toHaveLength(3);
  await play({ state: 'k9 7' });
  expect(await judged.match()).toMatchObject({ matched: 0, reopened: 0 });
  expect(await rows()).toEqual(before);
});

test('a title of another order that comes later takes the payable of a match not away', () =>
  play(
    { pull: '# 1000', state: 'k1 1000', match: true },
    { pull: '# 1000, b 1000', matches: 'a=k1 exact' },
    { breaks: 'anticipated_twice! b k1', waits: 'b' },
  ));

const RIVAL = `b 1000 agent=${THIRD_PARTY}`;
const ONE: JudgedStep = { matches: 'a=k1 exact', breaks: '', waits: '' };
test('more titles than payables that fit them, of other orders and of one date: all of them wait', () =>
  play(
    { pull: `# 1000, ${RIVAL}`, state: 'k1 1000', matches: '' },
    { breaks: 'anticipated_twice! a k1, anticipated_twice! b k1', waits: 'a, b' },
    { resolve: ['anticipated_twice', 'k1'] },
    // A second payable, or a title less: they are in doubt, or matched.
    { state: 'k2 1000', matches: '', breaks: 'in_doubt a k1, in_doubt b k1', waits: '' },
    { state: 'k2 5', pull: '# 1000', ...ONE },
  ));
test('more titles than payables that fit them, of other orders and of two dates: all of them wait', () =>
  play(
    { pull: '# 1000' },
    { on: 1, pull: RIVAL },
    { state: 'k1 1000', matches: '', breaks: 'anticipated_twice! a k1', waits: 'a' },
    { on: 1, waits: 'b', resolve: ['anticipated_twice', 'k1'] },
    { state: 'k2 1000', matches: '', breaks: 'in_doubt a k1', waits: '' },
    { on: 1, state: 'k2 5', pull: '' },
    ONE,
  ));

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
  await world.database.prisma.titleMatch.updateMany({
    where: { erpKey: 'k1' },
    data: { endedAt: new Date(), endedBy: 'rita', endReason: 'another delivery' },
  });
  await play(
    { state: `k1 1000.01 ${PAID}` },
    { matches: '', breaks: 'missing_in_erp a -', waits: '' },
  );
});
