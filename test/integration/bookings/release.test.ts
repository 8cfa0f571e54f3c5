import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { addDays, type CivilDate, dateIn } from '../../../src/base/values/business-day.ts';
import { deriveAlerts, readAlertsNow } from '../../../src/features/alerts/alerts.sql.ts';
import { readFeed } from '../../../src/features/bookings/feed.sql.ts';
import {
  answerReceipts,
  type ReceiptAnswer,
  type SeenReceipts,
  takeReceipts,
} from '../../../src/features/bookings/receipt-decisions.sql.ts';
import { readReceiptQuestions } from '../../../src/features/bookings/receipts.sql.ts';
import {
  lockDay,
  releaseSealedDay,
  releaseWaitingDays,
} from '../../../src/features/bookings/release.sql.ts';
import { reopenDay } from '../../../src/features/review/sign-off.sql.ts';
import { findAlterations, pullDay, signDay } from '../../support/days.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { DAY, daysFrom, freshDays, worldOfFile } from '../../support/pull-world.ts';
import { failureOf, receiptOf } from '../../support/receipts.ts';
import { NEVER_STALE } from '../alerts/alert-table.ts';

const OTHER_CONTENT = '1'.repeat(32);
const USED_KEY = 'idempotency_key: expected a key that no other receipt has';

const world = worldOfFile();

const nextDay = freshDays();
let date = DAY;
beforeEach(() => {
  date = nextDay();
});

const pull = (...titles: Parameters<typeof pullDay>[2][]) => pullDay(world, date, ...titles);
const sign = () => signDay(world.database, date);

const lines = () =>
  world.prisma.$queryRaw<
    { kind: string; uid: string; occurrence: number; version: number; discount: string | null }[]
  >`
    SELECT kind, order_uid AS uid, occurrence, version, platform_discounted_value::text AS discount
    FROM conciliation.booking_line WHERE date = ${date}::date ORDER BY id`;

/** The lines as "kind order occurrence version", without the first ones. */
const brief = async (first = 0) =>
  (await lines())
    .slice(first)
    .map(({ kind, uid, occurrence, version }) => `${kind} ${uid} ${occurrence} ${version}`);

async function offered() {
  const page = await readFeed(world.database, 'erp', { after: 0n, limit: 1_000 });
  return page.lines.filter((line) => line.date === date);
}

/** A signed title, and its line. */
async function signTitle() {
  await pull({ uid: 'a' });
  await sign();
  const [line, ...others] = await offered();
  if (line === undefined || others.length > 0) throw new Error('expected one line');
  return line;
}

/** The sums of the batches of the date, next to the totals of the day. */
async function sums() {
  const [row] = await world.prisma.$queryRaw<[{ released: string; sealed: string }]>`
    SELECT (SELECT sum(original_value_sum)::text FROM conciliation.booking_batch WHERE date = ${date}::date) AS released,
           (SELECT original_value_sum::text FROM conciliation.day WHERE date = ${date}::date) AS sealed`;
  return row;
}

test('a first seal books each title, and a seal of the same content nothing', async () => {
  await pull({ uid: 'a' }, { uid: 'b' }, { uid: 'b' });
  expect(await lines()).toEqual([]);
  await sign();
  expect((await brief()).sort()).toEqual(['book a 1 1', 'book b 1 1', 'book b 2 1']);
  expect(await offered()).toHaveLength(3);
  await reopenDay(world.database, date, { by: 'bia', reason: 'again' });
  await sign();
  expect(await lines()).toHaveLength(3);
});

test('a restatement releases nothing until it is sealed: then the difference', async () => {
  await pull({ uid: 'a' }, { uid: 'b', discount: '1.00' }, { uid: 'c' });
  await sign();
  await pull({ uid: 'a' }, { uid: 'b', discount: '2.00' }, { uid: 'd' });
  expect(await lines()).toHaveLength(3);
  await sign();
  expect((await brief(3)).sort()).toEqual(['adjust b 1 2', 'book d 1 1', 'reverse c 1 2']);
  await pull({ uid: 'a' }, { uid: 'b', discount: '2.00' }, { uid: 'c' }, { uid: 'd' });
  await sign();
  expect(await brief(6)).toEqual(['book c 1 3']);
  const { released, sealed } = await sums();
  expect(released).toBe(sealed);
});

test('a title keeps its booking whatever its number among equal titles', async () => {
  await pull({ uid: 'a', discount: '1' }, { uid: 'a', discount: '2' });
  const second = await world.prisma.title.findFirstOrThrow({
    where: { acceptedDate: new Date(date), occurrence: 2 },
  });
  const kept = { uid: 'a', discount: String(second.platformDiscountedValue) };
  await pull(kept);
  await sign();
  await pull(kept, { uid: 'a', discount: '9' });
  await sign();
  expect((await lines()).slice(1)).toMatchObject([{ kind: 'book', discount: '9', version: 1 }]);
});

test('of two equal titles with refused lines one is withdrawn: its line is reversed, and the other asked for again', async () => {
  await pull({ uid: 'a' }, { uid: 'a' });
  await sign();
  for (const line of await offered()) await take(failureOf(line, 'no', { isFinal: true }));
  await pull({ uid: 'a' });
  await sign();
  const where = { acceptedDate: new Date(date), status: 'current' };
  const { occurrence: own } = await world.prisma.title.findFirstOrThrow({ where });
  expect((await brief(2)).sort()).toEqual([`adjust a ${own} 2`, `reverse a ${3 - own} 2`]);
});

const foreign = () => ({ key: `${date}:${'0'.repeat(32)}:1:1`, contentHash: OTHER_CONTENT });
const take = (...receipts: Parameters<typeof takeReceipts>[2]) =>
  takeReceipts(world.database, 'erp', receipts);

/** The only line of the date. */
async function presentLine() {
  const [line, ...others] = await world.prisma.bookingLine.findMany({ where: { date } });
  if (line === undefined || others.length > 0) throw new Error('expected one line');
  return line;
}

/** What waits for an answer of a person about the date. */
async function question() {
  const questions = await readReceiptQuestions(world.prisma);
  return questions.find((day) => day.date === date);
}

/** Answers the receipts that wait for the date, or those of `only`. */
async function answer(kind: ReceiptAnswer, only: Partial<SeenReceipts> = {}) {
  const { newest: last = 0, receipts: count = 0 } = (await question()) ?? {};
  const decision = { by: 'ana', reason: 'the database was restored', bookingsFrom: DAY };
  const seen = { date, first: 0, last, count, ...only };
  await answerReceipts(world.database, seen, kind, decision);
}

test('a receipt is taken once; a failed line is offered again until it is posted', async () => {
  const line = await signTitle();
  const failed = failureOf(line, 'the supplier is unknown');
  expect(await take(failed)).toBe(1);
  expect(await take(failed)).toBe(0);
  const again = await offered();
  expect(again.map(({ key, state }) => [key, state])).toEqual(Array(2).fill([line.key, 'failed']));
  await expect(take({ ...failed, reason: 'another' })).rejects.toThrow(
    `receipt "${failed.idempotencyKey}": ${USED_KEY}`,
  );
  const posted = receiptOf(line);
  await expect(take(posted, { ...posted, document: 'another' })).rejects.toThrow(
    `receipt "${posted.idempotencyKey}": ${USED_KEY}`,
  );
  expect(await take(posted, posted)).toBe(1);
  expect((await offered()).map(({ state }) => state)).toEqual(['posted', 'posted']);
});

test('a booking is dated at its acceptance, a change at its release, and both as the ERP names after a closed period', async () => {
  await pull({ uid: 'a' }, { uid: 'b', discount: '1' });
  await sign();
  await pull({ uid: 'b', discount: '2' });
  await sign();
  const today = dateIn('America/Sao_Paulo', new Date());
  const dated = async () =>
    (await offered())
      .map((line) => [
        line.title['order_uid'],
        line.kind,
        line.accountingDate,
        line.accountingBasis,
      ])
      .toSorted();
  const posted = [
    ['a', 'book', date, 'acceptance'],
    ['a', 'reverse', today, 'event'],
    ['b', 'adjust', today, 'event'],
    ['b', 'book', date, 'acceptance'],
  ];
  expect(await dated()).toEqual(posted);

  const line = (await offered()).find(
    ({ kind, title }) => kind === 'book' && title['order_uid'] === 'b',
  );
  if (line === undefined) throw new Error('expected a line');
  const named = { failureKind: 'period_closed', accountingDate: addDays(date, 40) } as const;
  const closed = failureOf(line, 'closed', named);
  const expected = `receipt "${closed.idempotencyKey}": accounting_date: expected a date from ${date} on, with the failure_kind period_closed and without is_final`;
  await expect(take({ ...closed, accountingDate: addDays(date, -1) })).rejects.toThrow(expected);
  await expect(take({ ...closed, failureKind: 'supplier_unknown' })).rejects.toThrow(expected);
  await expect(take({ ...closed, isFinal: true })).rejects.toThrow(expected);
  await expect(take({ ...closed, failureKind: 'period' })).rejects.toThrow(
    `receipt "${closed.idempotencyKey}": failure_kind: expected period_closed, supplier_unknown, payable_unknown or other, with the status failed`,
  );
  await take(closed);
  expect(await dated()).toEqual([
    ...posted.slice(0, 3),
    ...Array(2).fill(['b', 'book', addDays(date, 40), 'erp']),
  ]);
  // A failure of another kind keeps the date that the ERP has named.
  await take(failureOf(line, 'no supplier'));
  const [stored] = await world.prisma.$queryRaw<object[]>`
    SELECT failure_kind AS kind, accounting_date::text AS date, accounting_basis AS basis
    FROM conciliation.booking_line WHERE date = ${date}::date AND failure IS NOT NULL`;
  expect(stored).toEqual({ kind: 'other', date: addDays(date, 40), basis: 'erp' });
});

test('a line that the ERP refuses for good is not offered again, until a receipt or a later line says otherwise', async () => {
  const line = await signTitle();
  const refused = failureOf(line, 'the agent was paid', { isFinal: true });
  await take(refused);
  expect((await offered()).map(({ state }) => state)).toEqual(['refused']);
  const failedLines = async () => {
    const alerts = await readAlertsNow(world.prisma, new Date(), NEVER_STALE, 'ledger');
    const failed = alerts.find(({ kind }) => kind === 'booking_failed');
    return failed && Number(/(\d+) booking lines?/.exec(failed.message)?.[1]);
  };
  const before = await failedLines();
  expect(before).toBeGreaterThan(0);
  await expect(take(receiptOf(line, { isFinal: true }))).rejects.toThrow(
    'is_final: expected true only with the status failed',
  );
  await expect(take({ ...refused, isFinal: false })).rejects.toThrow(USED_KEY);
  // A later version is posted: the refused one is superseded.
  await pull({ uid: 'a', discount: '3' });
  await sign();
  const [, adjust] = await offered();
  if (adjust === undefined) throw new Error('no line');
  await take(receiptOf(adjust));
  expect((await offered()).map(({ state }) => state)).toEqual(['superseded', 'posted']);
  expect(await failedLines()).toBe((before ?? 0) - 1 || undefined);
  await take(receiptOf(line));
  expect((await offered()).map(({ state }) => state)).toEqual(['posted', 'posted']);
});

test.each([
  ['unchanged', '1.00', true],
  ['restated', '2.00', false],
])(
  'a title that comes back %s after the ERP could not reverse its booking adjusts what stands, and its batch is verified',
  async (_, discount, isFinal) => {
    await pull({ uid: 'a' }, { uid: 'b', discount: '1.00' });
    await sign();
    for (const line of await offered()) await take(receiptOf(line));
    await pull({ uid: 'a' });
    await sign();
    const reversal = (await offered()).at(-1);
    if (reversal?.kind !== 'reverse') throw new Error('no reversal');
    await take(failureOf(reversal, 'the agent was paid', { isFinal }));
    await pull({ uid: 'a' }, { uid: 'b', discount });
    await sign();
    expect(await brief(2)).toEqual(['reverse b 1 2', 'adjust b 1 3']);
    const { released, sealed } = await sums();
    expect(released).toBe(sealed);
    expect(await findAlterations(world.database, date)).toEqual([]);
  },
);

test('a receipt for an unknown line, or another content, keeps the date from being released until a person decides', async () => {
  const line = await signTitle();
  const unknown = line.key.replace(/1$/, '2');
  await take(
    receiptOf({ key: line.key, contentHash: OTHER_CONTENT }),
    receiptOf({ key: unknown, contentHash: OTHER_CONTENT }),
  );
  await pull({ uid: 'a' }, { uid: 'b' });
  await sign();
  expect(await lines()).toHaveLength(1);
  expect(await releaseWaitingDays(world.database, {})).toEqual([]);
  await expect(answer('recorded', { count: 1 })).rejects.toThrow(
    '2 receipts wait for an answer, and 1 were shown',
  );
  await answer('recorded');
  expect((await brief(2)).sort()).toEqual(['adjust a 1 3', 'book b 1 1']);
  await expect(answer('set_aside')).rejects.toThrow('0 receipts wait for an answer');
});

test('a recorded booking is replaced also by equal content, so that the feed has what the ERP is to have posted', async () => {
  const line = await signTitle();
  const key = line.key.replace(/1$/, '2');
  await take(receiptOf({ key, contentHash: line.contentHash }));
  await answer('recorded');
  expect((await offered()).map(({ kind, key: offer }) => [kind, offer.at(-1)])).toEqual([
    ['book', '1'],
    ['adjust', '3'],
  ]);
});

test('a title that comes back adjusts what a person has recorded for its reversal', async () => {
  await pull({ uid: 'a' }, { uid: 'b' });
  await sign();
  await take(...(await offered()).map((line) => receiptOf(line)));
  await pull({ uid: 'a' });
  await sign();
  // The ERP has posted another content with the key of the reversal, from a release that a restore has lost.
  const { key = '' } = (await offered()).at(-1) ?? {};
  await take(receiptOf({ key, contentHash: OTHER_CONTENT }));
  await answer('recorded');
  const reversal = (await offered()).at(-1);
  if (reversal?.kind !== 'reverse') throw new Error('no reversal');
  await take(failureOf(reversal, 'the period is closed'));
  await pull({ uid: 'a' }, { uid: 'b' });
  await sign();
  expect(await brief(2)).toEqual(['reverse b 1 2', 'reverse b 1 3', 'adjust b 1 4']);
});

test('a withdrawn title whose reversal a person has recorded is released as reversed, and verified', async () => {
  await pull({ uid: 'a' }, { uid: 'b', discount: '1.00' });
  await sign();
  await take(...(await offered()).map((line) => receiptOf(line)));
  await pull({ uid: 'a' }, { uid: 'b', discount: '2.00' });
  await sign();
  const { key = '' } = (await offered()).at(-1) ?? {};
  await pull({ uid: 'a' });
  // The ERP has posted a reversal with the key of the adjustment.
  await take(receiptOf({ key, contentHash: '0'.repeat(32) }));
  await answer('recorded');
  await sign();
  expect(await brief(2)).toEqual(['adjust b 1 2']);
  expect(await findAlterations(world.database, date)).toEqual([]);
});

test('a receipt for another content alone keeps the date from being released, with an alert', async () => {
  const line = await signTitle();
  await take(receiptOf({ key: line.key, contentHash: OTHER_CONTENT }));
  await pull({ uid: 'a' }, { uid: 'b' });
  await sign();
  expect(await lines()).toHaveLength(1);
  const openAlerts = async () => {
    await deriveAlerts(world.database, new Date(), NEVER_STALE);
    const where = { kind: 'booking_receipts', date: new Date(date), resolvedAt: null };
    return world.prisma.alert.count({ where });
  };
  expect(await openAlerts()).toBe(1);
  await answer('set_aside');
  expect(await lines()).toHaveLength(2);
  expect(await openAlerts()).toBe(0);
});

test('a second document for a posted line does not fit, until the line has failed', async () => {
  const line = await signTitle();
  const post = (...documents: (string | null)[]) =>
    take(
      ...documents.map((document) =>
        document === null ? failureOf(line, 'undone') : receiptOf(line, { document }),
      ),
    );
  const present = async () => {
    const { receipts, value } = (await question()) ?? {};
    const { document, postedHash, state } = await presentLine();
    return [receipts, value, document, postedHash, state];
  };
  await post('first');
  await post('first');
  await post('second');
  expect(await present()).toEqual([1, '1000.50', 'first', null, 'posted']);
  await answer('recorded');
  expect(await present()).toEqual([undefined, undefined, 'second', null, 'posted']);
  await post('third', null, 'fourth', 'fifth', 'fourth');
  expect(await present()).toEqual([2, '1000.50', 'fourth', null, 'posted']);
  await answer('set_aside');
  expect(await present()).toEqual([undefined, undefined, 'fourth', null, 'posted']);
});

test('posted after a final refusal does not fit until a person answers, and after a failure does', async () => {
  const line = await signTitle();
  const send = (...given: ('posted' | 'failed' | 'final')[]) =>
    take(
      ...given.map((status) =>
        status === 'posted'
          ? receiptOf(line)
          : failureOf(line, 'the agent was paid', { isFinal: status === 'final' }),
      ),
    );
  const state = async () => [(await presentLine()).state, (await question())?.receipts ?? 0];
  await send('final');
  expect(await state()).toEqual(['refused', 0]);
  await send('posted');
  expect(await state()).toEqual(['refused', 1]);
  await answer('set_aside');
  expect(await state()).toEqual(['refused', 0]);
  await send('failed', 'posted');
  expect(await state()).toEqual(['posted', 0]);
  // An ERP sends all receipts again, in the order of their creation.
  await send('failed', 'final', 'posted', 'posted');
  expect(await state()).toEqual(['refused', 2]);
  await answer('recorded');
  expect(await state()).toEqual(['posted', 0]);
});

test('a day that waited and was restated meanwhile is not released by its old seal', async () => {
  await pull({ uid: 'a' });
  await take(receiptOf(foreign()));
  await sign();
  await pull({ uid: 'a', discount: '7' });
  await answer('set_aside');
  expect(await releaseWaitingDays(world.database, {})).toEqual([]);
  expect(await lines()).toEqual([]);
  await sign();
  expect(await lines()).toMatchObject([{ kind: 'book', discount: '7' }]);
});

test.each([
  [-1, 'is before BOOKINGS_FROM'],
  [50_000, 'was never pulled'],
])(
  'a receipt for the date %i days after BOOKINGS_FROM is not recorded: it %s',
  async (days, fault) => {
    date = daysFrom(days, DAY);
    await take(receiptOf({ key: `${date}:${'0'.repeat(32)}:1:2`, contentHash: OTHER_CONTENT }));
    await expect(answer('recorded')).rejects.toThrow(fault);
    await answer('set_aside');
  },
);

test('each receipt has an answer of its own, and an older one does not replace a newer one of its key', async () => {
  const line = await signTitle();
  const key = line.key.replace(/1$/, '2');
  await take(
    receiptOf({ key, contentHash: line.contentHash }),
    receiptOf({ key, contentHash: '0'.repeat(32) }, { document: 'newer' }),
    receiptOf({ key: `${date}:${'0'.repeat(32)}:1:1`, contentHash: OTHER_CONTENT }),
  );
  const rows = { where: { date }, orderBy: { id: 'asc' } } as const;
  const [older, reversal, other] = await world.prisma.bookingReceipt.findMany(rows);
  const only = (row: typeof older) => ({ first: Number(row?.id), last: Number(row?.id), count: 1 });
  await answer('recorded', only(reversal));
  await answer('set_aside', only(other));
  expect(await brief()).toEqual(['book a 1 1', 'reverse null 1 2']);
  await answer('recorded', only(older));
  expect(await brief(2)).toEqual(['book a 1 3']);
  const where = { date, version: 2, document: 'newer' };
  expect(await world.prisma.bookingLine.count({ where })).toBe(1);
  const entries = await world.prisma.auditEntry.findMany({
    where: { action: 'bookings.receipts', date: new Date(date) },
    orderBy: { id: 'asc' },
  });
  expect(entries).toMatchObject(
    ['recorded', 'set_aside', 'recorded'].map((kind) => ({
      ...{ actor: 'ana', reason: 'the database was restored' },
      details: { answer: kind, receipts: 1 },
    })),
  );
});

test('a receipt that arrives during an answer is not answered with the others: it waits for a separate answer', async () => {
  const { key } = await signTitle();
  const lateOf = (suffix: string) =>
    receiptOf({ key: key.replace(/1:1$/, suffix), contentHash: OTHER_CONTENT });
  await take(lateOf('1:2'));
  const work: Promise<unknown>[] = [];
  await world.prisma.$transaction(
    async (tx) => {
      // Stops the answer after its lines were entered, when it supersedes the first version.
      await tx.$executeRaw`
        SELECT FROM conciliation.booking_line WHERE date = ${date}::date AND version = 1 FOR UPDATE`;
      work.push(answer('recorded', { last: 1_000_000 }));
      await lockWaits(world.database);
      const late = take(lateOf('2:1'));
      work.push(late);
      await Promise.race([late, lockWaits(world.database, 2), sleep(5_000)]);
    },
    { timeout: 120_000 },
  );
  await Promise.all(work);
  expect(
    await world.prisma.bookingReceipt.findMany({
      where: { date },
      select: { occurrence: true, version: true, outcome: true },
      orderBy: { id: 'asc' },
    }),
  ).toEqual([
    { occurrence: 1, version: 2, outcome: 'recorded' },
    { occurrence: 2, version: 1, outcome: 'unknown_key' },
  ]);
});

test('a release wakes the listeners once, with consumer and position only', async () => {
  const client = await world.database.pool.connect();
  const messages: string[] = [];
  client.on('notification', ({ payload }) => messages.push(String(payload)));
  try {
    await client.query('LISTEN conciliation_booking');
    await pull({ uid: 'a' }, { uid: 'b' });
    await sign();
    const [first, second] = await offered();
    expect(Number(second?.seq)).toBeGreaterThan(Number(first?.seq));
    await expect.poll(() => messages).toEqual([`{"consumer":"erp","seq":"${second?.seq}"}`]);
  } finally {
    client.release(true);
  }
});

test('a release waits for another one before it is numbered', async () => {
  const [first, second] = [date, daysFrom(100, date)];
  date = second;
  await pull({ uid: 'a' });
  date = first;
  await pull({ uid: 'a' });
  await signDay(world.database, date, { bookingsFrom: null });
  let signing: Promise<void> | undefined;
  await world.prisma.$transaction(async (tx) => {
    await lockDay(tx, first);
    expect(await releaseSealedDay(tx, first, {})).not.toBeNull();
    date = second;
    signing = sign();
    const waits = lockWaits(world.database).then(() => 'waits');
    expect(await Promise.race([signing, waits])).toBe('waits');
  });
  await signing;
  const seqs = async (day: CivilDate) => {
    const { lines: all } = await readFeed(world.database, 'erp', { after: 0n, limit: 1_000 });
    return all.filter((line) => line.date === day).map(({ seq }) => Number(seq));
  };
  expect(Math.max(...(await seqs(first)))).toBeLessThan(Math.min(...(await seqs(second))));
});
