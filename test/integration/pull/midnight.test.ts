/** The time of the request decides whether a date is over, and not the time of the merge. */
import { beforeEach, expect, test, vi } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { releasePull } from '../../../src/core/merge/decisions.sql.ts';
import type { PullReport } from '../../../src/core/merge/merge.sql.ts';
import { acceptRejects } from '../../../src/features/review/sign-off.sql.ts';
import { DAY, daysFrom, TODAY, worldOfFile } from '../../support/pull-world.ts';
import { titleText, titleTexts } from '../../support/titles.ts';

const DECISION = { by: 'ana', reason: 'asked' };

const world = worldOfFile();

/** Each test has a separate date, which is long over. */
let date = DAY;
beforeEach(() => {
  date = daysFrom(1, date);
});

/** Half an hour before the date is over in Sao Paulo, or half an hour after. */
type Hour = 'before midnight' | 'after midnight';
let hour: Hour = 'after midnight';
const now = () =>
  new Date(Date.parse(`${date}T23:30:00-03:00`) + (hour === 'after midnight' ? 3_600_000 : 0));

const titles = (count: number) => titleTexts(count, { date });

async function pullAt(at: Hour, texts: readonly string[]): Promise<PullReport> {
  hour = at;
  return world.serve(date, texts, { now });
}

/** The request is sent before midnight, and its response is read after it. */
async function pullOverMidnight(texts: readonly string[]): Promise<PullReport> {
  hour = 'before midnight';
  const platform = world.meanwhile(async () => {
    hour = 'after midnight';
  });
  return world.serve(date, texts, { now, ...platform });
}

const dayOf = (of: CivilDate) =>
  world.prisma.day.findUnique({ where: { date: of }, select: { state: true, titleCount: true } });

async function expectOpen(count: number): Promise<void> {
  expect(await dayOf(date)).toEqual({ state: 'pending', titleCount: count });
  await pullAt('after midnight', titles(count));
  expect(await dayOf(date)).toEqual({ state: 'reconciled', titleCount: count });
}

test.each([
  ['a date without titles', 0, 3],
  ['a date with titles', 3, 5],
  ['an answer that states the same', 3, 3],
])(
  '%s: what is asked for before midnight and merged after it is pending',
  async (_, present, count) => {
    if (present > 0) await pullAt('before midnight', titles(present));
    await pullOverMidnight(titles(count));
    await expectOpen(count);
  },
);

test('a date that was requested before midnight, held, and released after it is pending', async () => {
  await pullAt('before midnight', titles(10));
  const held = await pullAt('before midnight', titles(4));
  expect(held).toMatchObject({ state: 'held' });
  await releasePull(world.parts, held.pullId, DECISION);
  await expectOpen(4);
});

test('a date that was requested before midnight, and whose rejects are accepted after it, is pending', async () => {
  const bad = titleText({ date, uid: 'bad', value: '"ten"' });
  expect(await pullAt('before midnight', [...titles(3), bad])).toMatchObject({ rejected: 1 });
  await acceptRejects(world.database, date, DECISION);
  await expectOpen(3);
});

test('a date is over by the clock of the database, not by the clock of the process', async () => {
  const text = titleText({ date: TODAY, uid: 'early' });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_000 });
  try {
    await world.serve(TODAY, [text]);
  } finally {
    vi.useRealTimers();
  }
  expect(await dayOf(TODAY)).toEqual({ state: 'pending', titleCount: 1 });
});
