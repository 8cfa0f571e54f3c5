import { beforeAll, expect, test } from 'vitest';
import { readFeed } from '../../../src/features/bookings/feed.sql.ts';
import { takeReceipts } from '../../../src/features/bookings/receipt-decisions.sql.ts';
import { runMatching } from '../../../src/features/matching/run-matching.sql.ts';
import { type ConsoleAnswer, hiddenIn } from '../../support/console-client.ts';
import { checkAnyDay, digestOf, fourEyesFault, signDay } from '../../support/days.ts';
import { forFile } from '../../support/for-tests.ts';
import { currentTitleId, payablesOf } from '../../support/matching-world.ts';
import { lastAudit, pagesForFile } from '../../support/pages-world.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { failureOf, receiptOf } from '../../support/receipts.ts';
import { titleText } from '../../support/titles.ts';

const NEXT = daysFrom(1, DAY);
const { world, console, viewer, reviewer } = pagesForFile({ bookingsFrom: DAY });
/** The person who signs the days off. */
const signer = forFile(() => console.as('reviewer', 'ana'));
beforeAll(async () => {
  await release(DAY, ['a', '10.10'], ['b', '0.25'], ['c', '7']);
  await release(NEXT, ['d', '0.0000000000000000001']);
  const { lines } = await readFeed(world.database, 'erp', { after: 0n, limit: 100 });
  const lineOf = (uid: string) => {
    const line = lines.find(({ title }) => title['order_uid'] === uid);
    if (line === undefined) throw new Error(`no line of the order ${uid}`);
    return line;
  };
  await takeReceipts(world.database, 'erp', [
    receiptOf(lineOf('a'), { document: 'FT-118' }),
    failureOf(lineOf('b'), 'período fechado'),
    receiptOf(lineOf('d'), { document: 'FT-9', contentHash: '0'.repeat(31).concat('1') }),
  ]);
});

async function release(date: typeof DAY, ...titles: [string, string][]) {
  await world.serve(
    date,
    titles.map(([uid, value]) => titleText({ uid, date, value })),
    { withdrawalLimitPercent: 100 },
  );
  await signDay(world.database, date);
}

/** As a decision of the person who signed the day off. */
const expectRefused = ({ status, text }: ConsoleAnswer) =>
  expect([status, plain(text)]).toEqual([400, expect.stringContaining('You signed')]);

const plain = (html: string) => html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');

test('a viewer sees no text of the ERP, on no page, in no file and in no answer', async () => {
  const where = { orderUid: 'a' };
  const { id } = await world.prisma.bookingLine.findFirstOrThrow({ where });
  const reads = [
    () => viewer.get('/booking-lines'),
    () => viewer.get(`/booking-lines?line=${id}`),
    () => viewer.get('/api/booking-lines'),
    () => viewer.post('/booking-lines/file', { format: 'csv' }),
  ];
  for (const read of reads) {
    const { status, text } = await read();
    expect([status, /FT-|fechado/.exec(text)]).toEqual([200, null]);
    expect(text).toContain('••••');
  }
});

test('the API and the file have the same figures', async () => {
  const { text: file } = await viewer.post('/booking-lines/file', { format: 'csv' });
  expect(file).toMatch(/,original_value,posting_value,.*,0\.25,0\.25,/s);
  const get = (path: string) => reviewer.get(`/api/${path}`);
  const failed = await get(`booking-lines?from=${DAY}&to=${DAY}&state=failed&kind=book`);
  expect(failed.json()).toMatchObject({
    ...{ total: 1, sums: { original_value: '0.25' } },
    rows: [{ orderUid: 'b', failure: 'período fechado' }],
  });
  const overdue = async () =>
    (await get(`booking-lines?from=${DAY}&to=${DAY}&state=overdue`)).json().rows;
  expect(await overdue()).toEqual([]);
  await world.prisma.$transaction(async (tx) => {
    await tx.$executeRaw`SET LOCAL session_replication_role = replica`;
    await tx.$executeRaw`UPDATE conciliation.booking_batch SET released_at = released_at - interval '3 days'`;
  });
  expect(await overdue()).toHaveLength(2);
});

test('a receipt that does not fit is a task with its value', async () => {
  const told = '1 receipt of the ERP does not fit its booking';
  const home = plain((await viewer.get('/')).text);
  expect(home).toMatch(new RegExp(`${told}.{0,30} ≈ R\\$ 0\\.00 `));
});

test('the page of a title has the state, the document and the date of its newest line', async () => {
  const pageOf = async (client: typeof viewer, orderUid: string) => {
    const id = await currentTitleId(world.database, orderUid);
    return plain((await client.get(`/titles/${id}`)).text);
  };
  expect(await pageOf(reviewer, 'a')).toMatch(
    /Booking, newest line .* Book Posted FT-118.* accepted date/,
  );
  expect(await pageOf(viewer, 'a')).not.toContain('FT-118');
  expect(await pageOf(reviewer, 'b')).toMatch(/Book Failed.* período fechado/);
});

test('a day before bookings that is signed off again has the difference as a file, until a reviewer confirms it', async () => {
  const before = daysFrom(-1, DAY);
  await release(before, ['z', '5'], ['y', '6']);
  expect((await viewer.get('/booking-lines')).text).not.toContain('Differences to post');
  await release(before, ['z', '7'], ['y', '6']);
  const page = (await reviewer.get('/booking-lines')).text;
  expect(plain(page)).toContain('Differences to post in the ERP');
  const seal = hiddenIn(page, 'seal');
  const path = `/bookings/differences/${before}`;
  const file = await viewer.post(`${path}/export`, {});
  const rows = file.text.replace('\uFEFF', '').trimEnd().split('\r\n').slice(1);
  const changed = [before, expect.any(String), 'z', '1', 'changed', '7'];
  expect(rows.map((row) => row.split(',').slice(0, 6))).toEqual([changed]);
  expect(await lastAudit(world)).toMatchObject({ action: 'bookings.export', actor: 'vera' });
  expect((await viewer.get('/booking-lines')).text).not.toContain('name="seal"');
  expect((await reviewer.post(path, { seal, reason: '' })).status).toBe(400);
  expect((await reviewer.post(path, { seal: '1', reason: 'x' })).status).toBe(400);
  // Not offered to the person who signed the day off, and refused.
  const ofSigner = (await signer.get('/booking-lines')).text;
  expect(ofSigner).not.toContain('name="seal"');
  expect(plain(ofSigner)).toContain('You signed');
  expectRefused(await signer.post(path, { seal, reason: 'voucher 12' }));
  expect((await reviewer.post(path, { seal, reason: 'voucher 12' })).status).toBe(303);
  expect(await fourEyesFault(world.database, before, 'rita')).toBe('own_decision');
  expect(await lastAudit(world)).toMatchObject({
    ...{ action: 'bookings.difference', actor: 'rita', reason: 'voucher 12' },
    details: { signOffId: Number(seal) },
  });
  expect((await viewer.get('/booking-lines')).text).not.toContain('Differences to post');
  expect((await viewer.post(`${path}/export`, {})).status).toBe(400);
});

test('a reviewer answers the receipts that were shown, with a reason, and the next release corrects the booking', async () => {
  // The day waits for the answer.
  await release(NEXT, ['e', '1'], ['f', '2']);
  expect((await viewer.get('/booking-lines')).text).not.toContain('name="first"');
  const page = (await reviewer.get('/booking-lines')).text;
  const [all = {}, one = {}] = page
    .split('action="/bookings/receipts"')
    .slice(1)
    .map((form) =>
      Object.fromEntries(
        ['date', 'first', 'last', 'count'].map((name) => [name, hiddenIn(form, name)]),
      ),
    );
  expect([all['date'], all['first'], all['count']]).toEqual([NEXT, '0', '1']);
  expect(one).toEqual({ ...all, first: one['last'] });
  const send = (fields: Record<string, string>, client = reviewer) =>
    client.post('/bookings/receipts', { reason: 'restored', answer: 'recorded', ...fields });
  for (const wrong of [
    ...[
      { ...all, reason: '' },
      { ...all, answer: 'x' },
      { ...all, date: 'x' },
    ],
    { ...all, count: '2' },
  ]) {
    expect((await send(wrong)).status).toBe(400);
  }
  expect((await signer.get('/booking-lines')).text).not.toContain('name="first"');
  for (const answer of ['recorded', 'set_aside']) {
    expectRefused(await send({ ...one, answer }, signer));
  }
  expect((await send(one)).status).toBe(303);
  expect(await lastAudit(world)).toMatchObject({
    ...{ action: 'bookings.receipts', actor: 'rita', reason: 'restored' },
    details: { answer: 'recorded', receipts: 1 },
  });
  const where = { date: NEXT, orderUid: 'd' };
  const lines = await world.prisma.bookingLine.findMany({ where, orderBy: { id: 'asc' } });
  expect(lines).toMatchObject([
    { kind: 'book', state: 'posted', version: 1 },
    { kind: 'reverse', state: 'released', version: 2 },
  ]);
  expect((await send(one)).status).toBe(400);
  expect(await fourEyesFault(world.database, NEXT, 'rita')).toBe('own_decision');
  expect(await fourEyesFault(world.database, NEXT, 'bia')).toBeNull();
});

test('a sign-off says what went to the ERP and what waits, and who decides about it', async () => {
  const date = daysFrom(3, DAY);
  const { database } = world;
  await world.serve(date, [
    titleText({ uid: 'paid', date, value: '33.30' }),
    titleText({ uid: 'open', date, value: '44.40' }),
  ]);
  const payables = payablesOf('p1 33.30 order=paid paid, p2 44.40 order=open');
  await importPayables(database, payables, 'snapshot');
  await checkAnyDay(database);
  await runMatching(database, { by: 'test', bookingsFrom: DAY });
  const list = plain((await signer.get('/sign-offs')).text);
  expect(list).toContain('Already paid, not to the financial agent: 1 (33.30), waits');
  const day = `${date}:${await digestOf(database, date)}`;
  const result = await signer.post('/sign-offs', { day });
  const waits = 'Waiting because of their payables: 1 title.';
  for (const { text } of [result, await signer.get(`/days/${date}`)]) {
    expect(plain(text)).toContain('1 released, 0 posted or superseded, 0 failed or refused.');
    expect(plain(text)).toContain(waits);
    expect(text).toContain(`/breaks?date=${date}`);
  }
  const id = await currentTitleId(database, 'paid');
  expect((await viewer.get(`/titles/${id}`)).text).toContain('kind=paid_to_supplier');
  const schedule = await viewer.get('/schedule?dueFrom=2026-06-30&dueTo=2026-06-30');
  expect(plain(schedule.text)).toMatch(/Urgent break: do not pay\s*2 titles · 77\.70/);
  const path = `/breaks?kind=paid_to_supplier&title=${id}&payable=p1`;
  expect((await viewer.get(path)).text).not.toContain('action="/breaks/resolve"');
  const own = (await signer.get(path)).text;
  expect(plain(own)).toContain('You signed');
  expect(own).not.toContain('action="/breaks/resolve"');
  const digest = hiddenIn((await reviewer.get(path)).text, 'digest');
  const seen = { kind: 'paid_to_supplier', title: String(id), payable: 'p1', digest };
  const decision = { code: 'agreed', reason: 'paid back' };
  expectRefused(await signer.post('/breaks/resolve', { ...seen, ...decision }));
});
