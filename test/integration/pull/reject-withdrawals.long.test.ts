/**
 * A title that an answer has in a form that breaks the contract is not a title that the answer lacks.
 * The output of the program and the tables, as a person and an ERP read them.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { releasePull } from '../../../src/core/merge/decisions.sql.ts';
import { acceptRejects } from '../../../src/features/review/sign-off.sql.ts';
import { environmentOf, runCommand } from '../../support/child-command.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const ASKED = { by: 'olga', reason: 'asked' };

const world = worldOfFile();

/** Each test has a separate date. */
let date = DAY;
let lastSeq = '0';
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

async function query(sql: string): Promise<readonly Record<string, unknown>[]> {
  return (await world.database.pool.query(sql)).rows;
}

/** The feed rows after the last position of an ERP, as `uid status`. */
async function readFeed(): Promise<string[]> {
  const rows = await query(
    `SELECT change_seq::text AS seq, order_uid || ' ' || status AS title FROM conciliation.title_feed
     WHERE change_seq > ${lastSeq} ORDER BY change_seq`,
  );
  lastSeq = String(rows.at(-1)?.['seq'] ?? lastSeq);
  return rows.map(({ title }) => String(title)).sort();
}

const readDay = async () =>
  (
    await query(`SELECT state, title_count, withdrawn_count, rejected_count FROM conciliation.day
                 WHERE date = '${date}'`)
  )[0];
const readPull = async () =>
  (
    await query(`SELECT id::text, state, hold_reason, titles, unchanged, withdrawn, withheld, rejected
                 FROM conciliation.pull WHERE date = '${date}' ORDER BY pull.id DESC LIMIT 1`)
  )[0];

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
  expect(await readPull()).toMatchObject({
    state: 'unchanged',
    titles: 10,
    unchanged: 9,
    withdrawn: 0,
    withheld: 1,
    rejected: 1,
  });
  expect(await readDay()).toEqual({
    state: 'attention',
    title_count: 10,
    withdrawn_count: 0,
    rejected_count: 1,
  });
  expect(exit).toBe(3);
  expect(text).toContain('review in the console: 1 rejected title(s)');

  // Mended, it is the title that it was.
  expect(await pullByCommand(...uids(10).map(good))).toMatchObject({ exit: 0 });
  expect(await readFeed()).toEqual([]);
  expect(await readDay()).toMatchObject({ state: 'reconciled', title_count: 10 });
});

test('a title that may be an accepted reject stays, and is withdrawn by an answer without rejects', async () => {
  await begin();
  await pull(...uids(9).map(good), bad('t9'));
  expect(await acceptRejects(world.database, date, ASKED)).toBeGreaterThan(0);
  expect(await readDay()).toMatchObject({ state: 'reconciled', title_count: 10 });
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
  expect(await readDay()).toMatchObject({ state: 'attention', title_count: 11 });
});

test('a reject of another order keeps no title', async () => {
  await begin();
  const { text } = await pullByCommand(...uids(9).map(good), bad('new'));
  expect(await readFeed()).toEqual(['t9 withdrawn']);
  expect(await readPull()).toMatchObject({ withdrawn: 1, withheld: 0, rejected: 1 });
  expect(text).not.toContain('stays as it was');
});

test('of titles that are missing, those of the reject’s order stay and the others go', async () => {
  await begin();
  await pull(...uids(8).map(good), bad('t9'));
  expect(await readFeed()).toEqual(['t8 withdrawn']);
  expect(await readPull()).toMatchObject({ withdrawn: 1, withheld: 1 });
});

describe('a reject whose order cannot be read keeps every title', () => {
  const withUid = (uid: string) => good('t9').replace('"uid":"t9"', uid);
  test.each([
    ['its uid is a number', () => withUid('"uid":9')],
    ['its uid is missing', () => withUid('')],
    ['its uid is stated twice', () => withUid('"uid":"t0","uid":"t0"')],
    ['its order is stated twice', () => `{"order":{"uid":"t0"},${good('t0').slice(1)}`],
    ['it is cut, being longer than any', () => titleText({ date, name: 'x'.repeat(2_000_000) })],
    ['its uid has an invisible character', () => bad('t20\u200b')],
    ['its uid has letters of another alphabet', () => bad('т20')],
    ['its uid is a placeholder', () => bad('???')],
  ])('%s', async (_, reject) => {
    await begin();
    await pull(...uids(8).map(good), reject());
    expect(await readFeed()).toEqual([]);
    expect(await readPull()).toMatchObject({ withdrawn: 0, withheld: 2, rejected: 1 });
    expect(await readDay()).toMatchObject({ state: 'attention', title_count: 10 });
  });
});

test.each(['T9', ' t9', 't9 ', 't-9', 't9.'])(
  'a reject of order %j may be the title of order t9, and is not that of order t8',
  async (uid) => {
    await begin();
    await pull(...uids(8).map(good), bad(uid));
    expect(await readFeed()).toEqual(['t8 withdrawn']);
    expect(await readPull()).toMatchObject({ withdrawn: 1, withheld: 1, rejected: 1 });
  },
);

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
    expect(await readDay()).toMatchObject({ state: 'reconciled', title_count: 10 });
    await readFeed();

    await pull(...uids(rest).map(good), reject());
    expect(await readFeed()).toEqual([]);
    expect(await readPull()).toMatchObject({ withheld: 10 - rest, withdrawn: 0 });
    expect(await readDay()).toMatchObject({ state: 'attention', title_count: 10 });
    expect(
      await query(`SELECT status, decided_by, reason FROM conciliation.rejected_title
                   WHERE date = '${date}'`),
    ).toEqual([{ status: 'open', decided_by: null, reason: null }]);

    expect(await acceptRejects(world.database, date, ASKED)).toBeGreaterThan(0);
    await pull(...uids(rest).map(good), reject());
    expect(await readDay()).toMatchObject({ state: 'reconciled', title_count: 10 });
    await pull(...uids(10).map(good), reject());
    expect(await readDay()).toMatchObject({ state: 'reconciled', title_count: 10 });
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
    expect(await readDay()).toMatchObject({ state: 'attention', title_count: 10 });
  });

  test('is held where they are others, and not because there were none', async () => {
    await begin();
    const { exit, text } = await pullByCommand(...uids(10, 20).map(bad));
    expect(text).not.toContain('no title');
    expect(text).toContain('review in the console: the held response');
    expect(exit).toBe(3);
    expect(await readPull()).toMatchObject({ state: 'held', hold_reason: 'unreadable' });
    expect(await readFeed()).toEqual([]);
  });

  test('has titles to wait for where it had none before', async () => {
    await pull(...uids(3).map(bad));
    expect(await readDay()).toMatchObject({ state: 'attention', title_count: 0 });
  });
});

test('a release withdraws the titles that its answer lacks, and none that may be one of its rejects', async () => {
  await begin();
  const { text } = await pullByCommand(...uids(4).map(good), bad('t9'));
  expect(text).toContain('review in the console: the held response');
  expect(await readFeed()).toEqual([]);
  const [held] = await query(
    `SELECT held_pull_id::text AS id FROM conciliation.day WHERE date = '${date}'`,
  );
  await releasePull(world.parts, BigInt(String(held?.['id'])), ASKED);
  expect(await readFeed()).toEqual(uids(5, 4).map((uid) => `${uid} withdrawn`));
  expect(await readPull()).toMatchObject({ state: 'merged', withdrawn: 5, withheld: 1 });
  expect(await readDay()).toMatchObject({ state: 'attention', title_count: 5, rejected_count: 1 });
});
