/**
 * A title that an answer has in a form that breaks the contract is not a title that the answer lacks.
 * The output of the program and the tables, as a person and an ERP read them.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { releasePull } from '../../../src/core/merge/decisions.sql.ts';
import { acceptRejects } from '../../../src/features/review/sign-off.sql.ts';
import { environmentOf, runCommand } from '../../support/child-command.ts';
import { DAY, daysFrom, worldOfFile } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const ASKED = { by: 'olga', reason: 'asked' };

const world = worldOfFile();

/** Each test has a separate date. */
let date = DAY;
let lastSeq = 0n;
beforeEach(() => {
  date = daysFrom(1, date);
});

const pull = (...texts: string[]) => world.serve(date, texts);

/** The same, with what a person sees. */
async function pullByCommand(...texts: string[]) {
  world.sandbox.setDayTexts(date, texts);
  const ran = await runCommand(['pull', date], environmentOf(world));
  return { exit: ran.exit, text: ran.stdout };
}

/** The feed rows after the last position of an ERP, as `uid status`. */
async function readFeed(): Promise<string[]> {
  const rows = await world.prisma.$queryRaw<{ seq: bigint; title: string }[]>`
    SELECT change_seq AS seq, order_uid || ' ' || status AS title FROM conciliation.title_feed
    WHERE change_seq > ${lastSeq} ORDER BY change_seq`;
  lastSeq = rows.at(-1)?.seq ?? lastSeq;
  return rows.map(({ title }) => title).sort();
}

const readDay = () => world.prisma.day.findUniqueOrThrow({ where: { date } });
const readPull = () =>
  world.prisma.pull.findFirstOrThrow({ where: { date }, orderBy: { id: 'desc' } });

const uids = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `t${from + index}`);
const good = (uid: string) => titleText({ date, uid });
/** An amount that is text, which the contract does not know. */
const bad = (uid: string) => titleText({ date, uid, value: '"1000.50"' });

/** The date with the titles t0 to t9, of which the feed has been read. */
async function begin(): Promise<void> {
  await readFeed();
  await pull(...uids(10).map(good));
  expect(await readFeed()).toHaveLength(10);
}

test('a title whose amount becomes text is not withdrawn, and the day waits for a person', async () => {
  await begin();
  const { exit, text } = await pullByCommand(...uids(9).map(good), bad('t9'));
  expect(await readFeed()).toEqual([]);
  const counts = { titles: 10, unchanged: 9, withdrawn: 0, withheld: 1, rejected: 1 };
  expect(await readPull()).toMatchObject({ state: 'unchanged', ...counts });
  const waiting = { state: 'attention', titleCount: 10, withdrawnCount: 0, rejectedCount: 1 };
  expect(await readDay()).toMatchObject(waiting);
  expect(exit).toBe(3);
  expect(text).toContain('review in the console: 1 rejected title(s)');

  // Mended, it is the title that it was.
  expect(await pullByCommand(...uids(10).map(good))).toMatchObject({ exit: 0 });
  expect(await readFeed()).toEqual([]);
  expect(await readDay()).toMatchObject({ state: 'reconciled', titleCount: 10 });
});

test('a title that may be an accepted reject stays, and is withdrawn by an answer without rejects', async () => {
  await begin();
  await pull(...uids(9).map(good), bad('t9'));
  expect(await acceptRejects(world.database, date, ASKED)).toBeGreaterThan(0);
  expect(await readDay()).toMatchObject({ state: 'reconciled', titleCount: 10 });
  await pull(...uids(9).map(good), bad('t9'));
  expect(await readFeed()).toEqual([]);
  await pull(...uids(9).map(good));
  expect(await readFeed()).toEqual(['t9 withdrawn']);
});

test('other changes of the same answer are merged', async () => {
  await begin();
  const restated = titleText({ date, uid: 't0', discount: '1' });
  await pull(restated, ...uids(8, 1).map(good), good('new'), bad('t9'));
  expect(await readFeed()).toEqual(['new current', 't0 current']);
  expect(await readDay()).toMatchObject({ state: 'attention', titleCount: 11 });
});

const withUid = (uid: string) => good('t9').replace('"uid":"t9"', uid);
/** The reject comes beside t0 to t7; `kept` of the missing titles t8 and t9 may be the reject. */
test.each<[what: string, reject: () => string, kept: string]>([
  ['of another order keeps no title', () => bad('new'), ''],
  ...['t9', 'T9', ' t9', 't9 ', 't-9', 't9.'].map((uid): [string, () => string, string] => [
    `of order ${JSON.stringify(uid)} may be the title of order t9`,
    () => bad(uid),
    't9',
  ]),
  ['whose uid is a number keeps every title', () => withUid('"uid":9'), 't8 t9'],
  ['whose uid is missing does', () => withUid(''), 't8 t9'],
  ['whose uid is stated twice does', () => withUid('"uid":"t0","uid":"t0"'), 't8 t9'],
  [
    'whose order is stated twice does',
    () => `{"order":{"uid":"t0"},${good('t0').slice(1)}`,
    't8 t9',
  ],
  [
    'that is cut, being longer than any, does',
    () => titleText({ date, name: 'x'.repeat(2_000_000) }),
    't8 t9',
  ],
  ['whose uid has an invisible character does', () => bad('t20\u200b'), 't8 t9'],
  ['whose uid has letters of another alphabet does', () => bad('т20'), 't8 t9'],
  ['whose uid is a placeholder does', () => bad('???'), 't8 t9'],
])('a reject %s', async (_, reject, kept) => {
  await begin();
  await pull(...uids(8).map(good), reject());
  const gone = ['t8', 't9'].filter((uid) => !kept.includes(uid));
  expect(await readFeed()).toEqual(gone.map((uid) => `${uid} withdrawn`));
  const withdrawn = gone.length;
  expect(await readPull()).toMatchObject({ withdrawn, withheld: 2 - withdrawn, rejected: 1 });
  expect(await readDay()).toMatchObject({ state: 'attention', titleCount: 10 - withdrawn });
});

test.each([
  ['t9\u200b', 't9'],
  ['т9', 't9'],
  ['Nº 9', 'No 9'],
  ['-', 't9'],
])('the title of order %j may be a reject of order %j', async (uid, rejected) => {
  await readFeed();
  await pull(...uids(9).map(good), good(uid));
  expect(await readFeed()).toHaveLength(10);
  await pull(...uids(9).map(good), bad(rejected));
  expect(await readFeed()).toEqual([]);
});

test.each([
  ['a reject of unknown order', () => good('t9').replace('"uid":"t9"', '"uid":9'), 9],
  ['a reject of unknown order', () => good('t9').replace('"uid":"t9"', '"uid":9'), 0],
  ['a reject of the order of a title', () => bad('T9'), 9],
])(
  '%s that was accepted beside all titles is open again when the response lacks titles',
  async (_, reject, rest) => {
    await readFeed();
    await pull(...uids(10).map(good), reject());
    expect(await acceptRejects(world.database, date, ASKED)).toBeGreaterThan(0);
    expect(await readDay()).toMatchObject({ state: 'reconciled', titleCount: 10 });
    await readFeed();

    await pull(...uids(rest).map(good), reject());
    expect(await readFeed()).toEqual([]);
    expect(await readPull()).toMatchObject({ withheld: 10 - rest, withdrawn: 0 });
    expect(await readDay()).toMatchObject({ state: 'attention', titleCount: 10 });
    expect(await world.prisma.rejectedTitle.findMany({ where: { date } })).toMatchObject([
      { status: 'open', decidedBy: null, reason: null },
    ]);

    expect(await acceptRejects(world.database, date, ASKED)).toBeGreaterThan(0);
    await pull(...uids(rest).map(good), reject());
    expect(await readDay()).toMatchObject({ state: 'reconciled', titleCount: 10 });
    await pull(...uids(10).map(good), reject());
    expect(await readDay()).toMatchObject({ state: 'reconciled', titleCount: 10 });
  },
);

describe('a day whose titles are all rejected', () => {
  test('is not an emptied one where they are its own', async () => {
    await begin();
    const { exit, text } = await pullByCommand(...uids(10).map(bad));
    expect(text).not.toMatch(/no title|is held/);
    expect(exit).toBe(3);
    expect(await readFeed()).toEqual([]);
    expect(await readPull()).toMatchObject({ state: 'unchanged', withheld: 10, rejected: 10 });
    expect(await readDay()).toMatchObject({ state: 'attention', titleCount: 10 });
  });

  test('is held where they are others, and not because there were none', async () => {
    await begin();
    const { exit, text } = await pullByCommand(...uids(10, 20).map(bad));
    expect(text).not.toContain('no title');
    expect(text).toContain('review in the console: the held response');
    expect(exit).toBe(3);
    expect(await readPull()).toMatchObject({ state: 'held', holdReason: 'unreadable' });
    expect(await readFeed()).toEqual([]);
  });

  test('has titles to wait for where it had none before', async () => {
    await pull(...uids(3).map(bad));
    expect(await readDay()).toMatchObject({ state: 'attention', titleCount: 0 });
  });
});

test('a release withdraws the titles that its answer lacks, and none that may be one of its rejects', async () => {
  await begin();
  const { text } = await pullByCommand(...uids(4).map(good), bad('t9'));
  expect(text).toContain('review in the console: the held response');
  expect(await readFeed()).toEqual([]);
  await releasePull(world.parts, (await readPull()).id, ASKED);
  expect(await readFeed()).toEqual(uids(5, 4).map((uid) => `${uid} withdrawn`));
  expect(await readPull()).toMatchObject({ state: 'merged', withdrawn: 5, withheld: 1 });
  expect(await readDay()).toMatchObject({ state: 'attention', titleCount: 5, rejectedCount: 1 });
});
