/** A line that the ERP could not post is repeated with another payable, after its title waited, or after a new seal. */
import { beforeEach, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { readFeed } from '../../../src/features/bookings/feed.sql.ts';
import { undoMatch } from '../../../src/features/matching/match-decisions.sql.ts';
import { reopenDay } from '../../../src/features/review/sign-off.sql.ts';
import { findAlterations } from '../../support/days.ts';
import { judgedWorldOfFile, playerOf } from '../../support/judged-world.ts';
import { clearMatching, currentTitleId, matchPair } from '../../support/matching-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';

const { world, judged } = judgedWorldOfFile();
let date: CivilDate = DAY;
beforeEach(async () => {
  await play({ pull: '' });
  date = daysFrom(7, date);
  await clearMatching(world.database);
});
const play = playerOf({ world, judged }, { date: () => date });

const RITA = { by: 'rita', code: 'other', reason: 'checked' } as const;
const confirm = async (order: string, erpKey: string) =>
  matchPair(
    world.database,
    { titleId: await currentTitleId(world.database, order), erpKeys: [erpKey] },
    RITA,
  );

/** The offers of the date as "version kind payable value state", in their order, without those of the title `rest`. */
async function offers(): Promise<string[]> {
  const { lines } = await readFeed(world.database, 'erp', { after: 0n, limit: 1_000 });
  return lines
    .filter((line) => line.date === date && line.title['order_uid'] !== 'rest')
    .map(({ key, kind, erpKey, postingValue, state }) =>
      [key.split(':')[3], kind, erpKey, postingValue, state].join(' '),
    );
}

async function problems(): Promise<unknown> {
  await findAlterations(world.database, date);
  const where = { date, closedAt: null };
  return world.database.prisma.titleFinding.findMany({ where, select: { problem: true } });
}

test('a failed line of another payable is followed by its next version, and each offer keeps what it asked for', async () => {
  await play({ pull: 'a 100', state: 'kw 100.01' });
  const wrong = await confirm('a', 'kw');
  await play({ book: 'failed' });
  const first = Array(2).fill('1 book kw 100.01 failed');
  expect(await offers()).toEqual(first);
  await undoMatch(world.database, wrong, RITA);
  await play({ state: 'k1 100 order=a', match: true });
  expect(await offers()).toEqual(first);
  await play({ released: true }, { answer: 'failed', released: false });
  const second = '2 adjust k1 100';
  expect(await offers()).toEqual([...first, ...Array(2).fill(`${second} failed`)]);
  await play({ answer: 'posted' });
  expect(await offers()).toEqual([
    ...Array(2).fill('1 book kw 100.01 superseded'),
    ...Array(2).fill(`${second} posted`),
  ]);
  const [{ accounting }] = await world.database.prisma.$queryRaw<[{ accounting: string }]>`
    SELECT accounting_date || ' ' || accounting_basis AS accounting FROM conciliation.booking_line
    WHERE date = ${date}::date AND version = 2`;
  expect(accounting).toBe(`${date} acceptance`);
  expect(await problems()).toEqual([]);
  // Another title may have the payable that the line did not post.
  await play({ on: 1, pull: 'b 100.01', breaks: '', matches: 'a=k1 order, b=kw exact' });
});

test('a failed line without a payable is followed by one with the payable that was matched meanwhile', async () => {
  await play({ pull: 'c 100', book: 'failed' }, { state: 'k1 100 order=c', match: true });
  await play({ released: true, lines: 'adjust c k1 2, book c - 1' });
  expect(await problems()).toEqual([]);
});

test('a failed line whose match a person has undone does not ask for its payable any more', async () => {
  await play({ pull: 'd 100', state: 'kw 100.01' });
  const wrong = await confirm('d', 'kw');
  await play({ book: 'failed' });
  await undoMatch(world.database, wrong, RITA);
  await play({ answer: 'failed' });
  expect(await offers()).toHaveLength(2);
  await play({ released: true, lines: 'adjust d - 2, book d kw 1' });
  expect(await problems()).toEqual([]);
});

test('a failed line of a title that waits is not offered until the title does not wait', async () => {
  await play({ pull: 'e 100', state: 'k1 100 order=e', book: 'failed' });
  expect(await offers()).toHaveLength(2);
  await play(
    { state: 'k1 75 order=e total=100', breaks: 'paid_in_part! e k1', waits: 'e' },
    { answer: 'failed', released: false },
  );
  expect(await offers()).toHaveLength(2);
  await play({
    resolve: ['paid_in_part', 'k1'],
    released: true,
    lines: 'adjust e k1 2, book e k1 1',
  });
  await play({ answer: 'failed' });
  expect((await offers()).slice(2)).toEqual(Array(2).fill('2 adjust k1 100 failed'));
  expect(await problems()).toEqual([]);
});

test('a line that the ERP has refused is repeated when the day is signed off again', async () => {
  await play({ pull: 'f 100', state: 'k1 100 order=f', book: 'refused', released: false });
  const reason = 'the ERP can post the line';
  await reopenDay(world.database, date, { by: 'rita', reason });
  await play({ release: true, lines: 'adjust f k1 2, book f k1 1' }, { answer: 'posted' });
  expect(await offers()).toEqual(['1 book k1 100 superseded', '2 adjust k1 100 posted']);
  expect(await problems()).toEqual([]);
});
