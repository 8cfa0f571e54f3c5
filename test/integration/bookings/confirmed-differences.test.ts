/** A line posts the payable's own value, where a person has confirmed the difference. */
import { beforeEach, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { readFeed } from '../../../src/features/bookings/feed.sql.ts';
import { matchByPerson, undoMatch } from '../../../src/features/matching/match-decisions.sql.ts';
import { findAlterations } from '../../support/days.ts';
import { judgedWorldOfFile, playerOf } from '../../support/judged-world.ts';
import { clearMatching, currentTitleId } from '../../support/matching-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';

const { world, judged } = judgedWorldOfFile();
let date: CivilDate = DAY;
beforeEach(async () => {
  await play({ pull: '' });
  date = daysFrom(7, date);
  await clearMatching(world.database);
});
const play = playerOf({ world, judged }, { date: () => date });

const rita = { by: 'rita', code: 'accepted', reason: 'the ERP rounds' } as const;
const confirm = async (order: string, ...erpKeys: readonly string[]) =>
  matchByPerson(
    world.database,
    { titleId: await currentTitleId(world.database, order), erpKeys },
    rita,
  );

/** The newest offers of the date as "kind order payables value posted", without that of the title `rest`. */
async function offers(): Promise<string[]> {
  const { lines } = await readFeed(world.database, 'erp', { after: 0n, limit: 1_000 });
  const newest = new Map(
    lines.filter((line) => line.date === date).map((line) => [line.key, line]),
  );
  const texts = [...newest.values()].map(
    ({ kind, title, erpKey, postingValue }) =>
      `${kind} ${title['order_uid']} ${erpKey ?? '-'} ${title['original_value']} ${postingValue}`,
  );
  return texts.filter((text) => !text.includes('rest')).sort();
}

async function problems(): Promise<unknown> {
  await findAlterations(world.database, date);
  return world.database.prisma.titleFinding.findMany({
    where: { date, closedAt: null },
    select: { problem: true },
  });
}

test('the line of a confirmed difference, of a sum, of a match of the program, and of a title without a match', async () => {
  await play({
    pull: 'a 1000.01, b 100, c 50, d 7',
    state: 'k1 1000, k2 33.33 doc=2, k3 33.33 doc=3, k4 33.33 doc=4, k5 50',
  });
  await confirm('a', 'k1');
  await confirm('b', 'k2', 'k3', 'k4');
  await play({ book: 'unanswered' });
  expect(await offers()).toEqual([
    'book a k1 1000.01 1000.00',
    'book b k2,k3,k4 100 99.99',
    'book c k5 50 50',
    'book d - 7 7',
  ]);
  expect(await problems()).toEqual([]);
  await play({ answer: 'posted', pull: 'b 100, c 50, d 7', book: 'unanswered' });
  expect((await offers()).filter((line) => line.startsWith('reverse'))).toEqual([
    'reverse a k1 1000.01 1000.00',
  ]);
  expect(await problems()).toEqual([]);
});

test('a failed line is followed by one with the value of the present match', async () => {
  await play({ pull: 'e 1000.01', state: 'k1 1000, k2 1000.02' });
  const first = await confirm('e', 'k1');
  await play({ book: 'failed' });
  await undoMatch(world.database, first, rita);
  expect(await offers()).toEqual(['book e k1 1000.01 1000.00']);
  await confirm('e', 'k2');
  await play({ released: true });
  expect(await offers()).toEqual(['adjust e k2 1000.01 1000.02', 'book e k1 1000.01 1000.00']);
});

test('a restated value is posted as it is, without the difference to the old one', async () => {
  await play({ pull: 'f 1000.01', state: 'k1 1000' });
  await confirm('f', 'k1');
  await play({ book: 'posted' }, { pull: 'f 900', match: true });
  const where = { endedAt: null };
  const { difference } = await world.database.prisma.titleMatch.findFirstOrThrow({ where });
  expect(Number(difference)).toBe(0);
});
