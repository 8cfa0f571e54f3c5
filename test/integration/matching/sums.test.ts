import { beforeEach, expect, test } from 'vitest';
import { readTitleMatches } from '../../../src/features/matching/break-list.sql.ts';
import { undoMatch } from '../../../src/features/matching/match-decisions.sql.ts';
import { readErpStages } from '../../../src/features/review/months/month-seal.sql.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { clearMatching, match, play, type Step } from '../../support/matching-world.ts';
import { DAY } from '../../support/pull-world.ts';

const world = worldOfFile();
beforeEach(() => clearMatching(world.database));

/** Rows that no sum has, each with another value. */
const noise = (count: number, more = '') =>
  Array.from({ length: count }, (_, index) => `n${index} ${1000 + 2 ** index}${more}`).join(', ');
const PARTS = 'k1 60 order=a, k2 40 order=a';
const SUM = 'a=k1 sum, a=k2 sum';

const cases: Record<string, readonly Step[]> = {
  'payables of one document are a sum; payables that share nothing are not': [
    { titles: 'a 100', load: 'k1 60 doc=NF-1, k2 40 doc=NF-2', matches: '' },
    // Another payable shares a document with one of the two.
    { load: 'k3 7 doc=NF-1', matches: '' },
    // Leading zeros of a document do not count.
    { load: 'k3 7 doc=NF-1 cancelled, k1 60 doc=0071, k2 40 doc=71', matches: SUM },
  ],
  'two combinations, or a payable without the order that fits alone, leave the title without a match':
    [
      { titles: 'a 100', load: `${PARTS}, k3 40`, matches: '' },
      { load: 'k3 100 due=2026-07-02', matches: '' },
    ],
  'more candidates than the limit leave no sum': [
    { titles: 'a 100', load: `${PARTS}, ${noise(11)}`, matches: '' },
    { load: 'n10 5 cancelled', matches: SUM },
  ],
  'a payable of a sum that has more titles than the limit leaves no sum': [
    { titles: `a 100, ${noise(12)}`, load: PARTS, matches: '' },
    { titles: `a 100, ${noise(11)}`, matches: SUM },
  ],
  'a payable without code whose tax identifier has more titles than the limit is no item of a sum':
    [
      { titles: `a 100, ${noise(12, ' code=P-2')}` },
      // The titles of both codes are candidates of this payable, and one title is a candidate of the others.
      { load: 'k1 60 order=a code= tax=52998224725' },
      { load: 'k2 40 order=a, k3 7 order=a', matches: '' },
      { titles: `a 100, ${noise(11, ' code=P-2')}`, matches: SUM },
    ],
  'a payable that fits another title alone is no item of a sum': [
    { titles: 'a 100, u1 40 due=2026-07-02, u2 40 due=2026-07-02' },
    { load: `${PARTS}, k3 7 order=a`, matches: '' },
    { titles: 'a 100', matches: SUM },
  ],
  'a title that fits another payable alone is no item of a sum': [
    { titles: 'a 60, a 40, a 7' },
    { load: 'k1 100, o1 40 due=2026-07-02, o2 40 due=2026-07-02', matches: '' },
    { load: 'o1 5 due=2026-07-02, o2 5 due=2026-07-02', matches: 'a=k1 sum, a=k1 sum' },
  ],
  'a sum of six items is not matched': [
    {
      titles: 'a 63',
      load: [1, 2, 4, 8, 16, 32].map((part) => `k${part} ${part} order=a`).join(', '),
    },
    { matches: '' },
  ],
};
test.each(Object.entries(cases))('%s', (_, steps) => play(world, steps));

test('a title is matched with the payables of its order that add up to its value', async () => {
  // A credit note is an item with a negative value.
  const load = 'k1 60.5 order=a, k2 49.5 order=a, k3 -10 order=a';
  await play(world, [{ titles: 'a 100.00', load }]);
  expect(await match(world.database)).toMatchObject({ matched: 1 });
  await play(world, [{ matches: 'a=k1 sum, a=k2 sum, a=k3 sum' }]);
  expect(await match(world.database)).toMatchObject({ matched: 0, reopened: 0 });
  const { sum } = await readErpStages(world.database, { from: DAY, to: DAY });
  expect(sum).toMatchObject({ titles: 1, agreed: 1 });
  // One payable changes, and the whole sum ends.
  await play(world, [{ load: 'k2 51 order=a' }]);
  expect(await match(world.database)).toMatchObject({ matched: 0, reopened: 1 });
  await play(world, [{ matches: '' }]);
});

test('titles of one order are matched with the payable of their sum, and undone together', async () => {
  await play(world, [{ titles: 'a 30, a 31', load: 'k1 61' }]);
  expect(await match(world.database)).toMatchObject({ matched: 1 });
  await play(world, [{ matches: 'a=k1 sum, a=k1 sum' }]);
  const [title] = await world.database.prisma.title.findMany({ where: { status: 'current' } });
  const [row] = await readTitleMatches(world.database, title?.id ?? 0n);
  expect(row).toMatchObject({ rule: 'sum', payable: { erpKey: 'k1' } });
  expect(row?.otherTitles).toHaveLength(1);
  const decision = { by: 'rita', reason: 'wrong documents' };
  await undoMatch(world.database, row?.id ?? 0n, decision);
  await play(world, [{ matches: '' }]);
});
