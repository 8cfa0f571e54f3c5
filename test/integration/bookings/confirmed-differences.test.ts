/**
 * A line posts the payable's own value, where a person has confirmed the difference. A line that the ERP could not post is
 * repeated with another payable, after its title waited, or after a new seal.
 */
import { beforeEach, expect, test } from 'vitest';
import { readBalance } from '../../../src/features/balance/balance.sql.ts';
import { readFeed, readPayablesToBlock } from '../../../src/features/bookings/feed.sql.ts';
import { undoMatch } from '../../../src/features/matching/match-decisions.sql.ts';
import { readErpStages } from '../../../src/features/review/months/month-seal.sql.ts';
import { reopenDay } from '../../../src/features/review/sign-off.sql.ts';
import { findAlterations } from '../../support/days.ts';
import { judgedWorldOfFile, playerOf, SUPPLIER } from '../../support/judged-world.ts';
import { clearMatching, currentTitleId, matchPair } from '../../support/matching-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';

const { world, judged } = judgedWorldOfFile();
let date = DAY;
beforeEach(async () => {
  await play({ pull: '' });
  date = daysFrom(7, date);
  await clearMatching(world.database);
});
const play = playerOf({ world, judged }, { date: () => date });

const rita = { by: 'rita', code: 'accepted', reason: 'the ERP rounds' } as const;
const confirm = async (order: string, ...erpKeys: readonly string[]) =>
  matchPair(
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
  return world.prisma.titleFinding.findMany({
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
  // 1000.00, 99.99, 50, 7 and, of the title that every day has, 9999. The reversal is not posted.
  const { sum } = await readErpStages(world.database, { from: date, to: date });
  expect(sum).toMatchObject({ posted: 5, postedValue: '11155.99' });
  const none = { company: null, agent: null, reason: null };
  const { groups } = await readBalance(world.prisma, none, { offset: 0, limit: 0 });
  expect(groups).toMatchObject([{ booked: '11155.99' }]);
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
  const { difference } = await world.prisma.titleMatch.findFirstOrThrow({ where });
  expect(Number(difference)).toBe(0);
});

/** What the ERP has to block for the titles of the date, as "order payable". */
async function blocked(): Promise<string[]> {
  const rows = await readPayablesToBlock(world.database, { after: '', limit: 10 });
  return rows.filter((row) => row.date === date).map((row) => `${row.orderUid} ${row.erpKey}`);
}

test('a title that is restated before its release leaves the payable to its successor', async () => {
  await play({ pull: 'g 100', state: 'k1 100 due=2099-07-30', breaks: 'due_date_differs g k1' });
  await confirm('g', 'k1');
  expect(await blocked()).toEqual(['g k1']);
  await play({ pull: 'g 100 due=2099-07-30', matches: 'g=k1 exact', breaks: '' });
  expect(await blocked()).toEqual(['g k1']);
  await play({ book: 'posted' });
  expect(await offers()).toEqual(['book g k1 100 100']);
});

test('a payable that is cancelled keeps its title until the document is entered again', async () => {
  await play({ pull: 'h 100', state: 'k1 100.01 doc=7', breaks: 'value_differs h k1' });
  await confirm('h', 'k1');
  await play(
    {
      state: 'k1 100.01 doc=7 cancelled',
      matches: '',
      breaks: 'cancelled_in_erp h k1',
      waits: 'h',
    },
    { state: 'k2 100.02 doc=7', matches: '', breaks: 'value_differs h k2', waits: '' },
    { state: 'k2 100 doc=7', matches: 'h=k2 exact', breaks: '' },
  );
  expect(await blocked()).toEqual(['h k2']);
});

test('so does one of a sum', async () => {
  await play({ pull: 'i 100', state: 'k1 40, k2 60.01 doc=8' });
  await confirm('i', 'k1', 'k2');
  await play(
    { state: 'k2 60.01 doc=8 cancelled', matches: '', breaks: 'cancelled_in_erp i k2', waits: 'i' },
    { state: 'k3 60 doc=8 order=i, k1 40 order=i', matches: 'i=k1 sum, i=k3 sum', breaks: '' },
  );
  expect(await blocked()).toEqual(['i k1', 'i k3']);
});

test('what an invoice of an ended match was entered as again is blocked, and judged once it is paid', async () => {
  await play({ pull: 'p 100', state: 'k1 40, k2 60.01 doc=18' });
  await confirm('p', 'k1', 'k2');
  await play({ state: 'k2 60.01 doc=18 cancelled, k3 70 doc=18', breaks: 'missing_in_erp p -' });
  expect(await blocked()).toEqual(['p k1', 'p k3']);
  await play({
    state: `k3 70 doc=18 paid to=${SUPPLIER}`,
    breaks: 'paid_to_supplier! p k3',
    waits: 'p',
  });
});

test('the payable of a title that is restated before its release stays blocked, also with another value', async () => {
  await play({ pull: 'q 100', state: 'k1 100.01' });
  await confirm('q', 'k1');
  await play({ pull: 'q 120', breaks: 'value_differs q k1' });
  expect(await blocked()).toEqual(['q k1']);
});

test('a released title whose payable is entered again has the new one', async () => {
  await play({ pull: 'j 100', state: 'k1 100.01 doc=9' });
  await confirm('j', 'k1');
  await play(
    { book: 'unanswered', state: 'k1 100.01 doc=9 cancelled' },
    { matches: 'j=k1 person', breaks: 'cancelled_in_erp! j k1' },
    { state: 'k2 100 doc=9', matches: 'j=k2 exact' },
  );
  expect(await blocked()).toEqual(['j k2']);
});

/** The offers of the date as "version kind payable value state", in their order, without those of the title `rest`. */
async function allOffers(): Promise<string[]> {
  const { lines } = await readFeed(world.database, 'erp', { after: 0n, limit: 1_000 });
  return lines
    .filter((line) => line.date === date && line.title['order_uid'] !== 'rest')
    .map(({ key, kind, erpKey, postingValue, state }) =>
      [key.split(':')[3], kind, erpKey, postingValue, state].join(' '),
    );
}

test('a failed line of another payable is followed by its next version, and each offer keeps what it asked for', async () => {
  await play({ pull: 'a 100', state: 'kw 100.01' });
  const wrong = await confirm('a', 'kw');
  await play({ book: 'failed' });
  const first = Array(2).fill('1 book kw 100.01 failed');
  expect(await allOffers()).toEqual(first);
  await undoMatch(world.database, wrong, rita);
  await play({ state: 'k1 100 order=a', match: true });
  expect(await allOffers()).toEqual(first);
  await play({ released: true }, { answer: 'failed', released: false });
  const second = '2 adjust k1 100';
  expect(await allOffers()).toEqual([...first, ...Array(2).fill(`${second} failed`)]);
  await play({ answer: 'posted' });
  expect(await allOffers()).toEqual([
    ...Array(2).fill('1 book kw 100.01 superseded'),
    ...Array(2).fill(`${second} posted`),
  ]);
  const [{ accounting }] = await world.prisma.$queryRaw<[{ accounting: string }]>`
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
  await undoMatch(world.database, wrong, rita);
  await play({ answer: 'failed' });
  expect(await allOffers()).toHaveLength(2);
  await play({ released: true, lines: 'adjust d - 2, book d kw 1' });
  expect(await problems()).toEqual([]);
});

test('a failed line of a title that waits is not offered until the title does not wait', async () => {
  await play({ pull: 'e 100', state: 'k1 100 order=e', book: 'failed' });
  expect(await allOffers()).toHaveLength(2);
  await play(
    { state: 'k1 75 order=e total=100', breaks: 'paid_in_part! e k1', waits: 'e' },
    { answer: 'failed', released: false },
  );
  expect(await allOffers()).toHaveLength(2);
  await play({
    resolve: ['paid_in_part', 'k1'],
    released: true,
    lines: 'adjust e k1 2, book e k1 1',
  });
  await play({ answer: 'failed' });
  expect((await allOffers()).slice(2)).toEqual(Array(2).fill('2 adjust k1 100 failed'));
  expect(await problems()).toEqual([]);
});

test('a line that the ERP has refused is repeated when the day is signed off again', async () => {
  await play({ pull: 'f 100', state: 'k1 100 order=f', book: 'refused', released: false });
  const reason = 'the ERP can post the line';
  await reopenDay(world.database, date, { by: 'rita', reason });
  await play({ release: true, lines: 'adjust f k1 2, book f k1 1' }, { answer: 'posted' });
  expect(await allOffers()).toEqual(['1 book k1 100 superseded', '2 adjust k1 100 posted']);
  expect(await problems()).toEqual([]);
});

test('a difference that is confirmed after the posting is posted once the day is signed off again', async () => {
  await play({ pull: 'g 100', state: 'k1 101', book: 'posted' });
  await confirm('g', 'k1');
  await play({ released: false });
  await reopenDay(world.database, date, { by: 'rita', reason: 'the difference' });
  await play({ release: true, lines: 'adjust g k1 2, book g - 1' }, { answer: 'posted' });
  expect(await offers()).toEqual(['adjust g k1 100 101', 'book g - 100 100']);
  const where = { date, version: 2, accountingBasis: 'event' };
  expect(await world.prisma.bookingLine.count({ where })).toBe(1);
  expect(await problems()).toEqual([]);
});
