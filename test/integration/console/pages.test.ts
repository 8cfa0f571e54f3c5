import { beforeEach, describe, expect, test } from 'vitest';
import { readChainHead } from '../../../src/base/audit/audit-chain.sql.ts';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { hiddenIn } from '../../support/console-client.ts';
import { signDay } from '../../support/days.ts';
import { addBooking, match, payablesOf } from '../../support/matching-world.ts';
import { lastAudit, pagesForFile } from '../../support/pages-world.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, daysFrom, freshDays, TODAY } from '../../support/pull-world.ts';
import { type TitleFields, titleText } from '../../support/titles.ts';

const { world, console, viewer, reviewer, operator } = pagesForFile({ bookingsFrom: DAY });

const nextDay = freshDays();
let date: CivilDate;
beforeEach(() => {
  date = nextDay();
});

const title = (uid: string, more: TitleFields = {}) => titleText({ uid, date, ...more });

const pull = (...texts: string[]) => world.serve(date, texts);

const plain = (html: string) => html.replace(/<[^>]+>/g, ' ');

describe('a day', () => {
  const seenDigest = async () => hiddenIn((await reviewer.get(`/days/${date}`)).text, 'digest');
  const sign = (digest: string) =>
    reviewer.post(`/days/${date}/sign-off`, { digest, reason: 'checked against the ERP' });

  test.each([
    ['', '0.30'],
    ['&search=Outro+Agente', '0.20'],
    ['&search=P-1', '0.30'],
  ])('has the sum of its titles in their list, also of one party: "%s"', async (party, sum) => {
    await pull(title('a', { value: '0.10' }), title('b', { value: '0.20', name: 'Outro Agente' }));
    const { text } = await viewer.get(`/titles?from=${date}&to=${date}${party}`);
    expect(text).toMatch(new RegExp(`<tfoot>.*>${sum}<`, 's'));
  });

  test('is signed off by a reviewer, restated by one cent, shows the changes, and is not signed off from the page of before', async () => {
    await pull(title('a'), title('b', { discount: '12.34' }));
    const seen = await seenDigest();
    const notice = `/days/${date}?notice=signed_off`;
    expect((await sign(seen)).location).toBe(notice);
    const sealed = await viewer.get(notice);
    expect(sealed.text).toContain('Signed off by rita');
    expect(sealed.text).toContain('The day is signed off.');
    await pull(title('a'), title('b', { discount: '12.35' }));
    const { text } = await viewer.get(`/days/${date}`);
    expect(text).toContain('This day changed after it was signed off');
    expect(text).toMatch(/platformDiscountedValue[\s\S]*12\.34[\s\S]*→[\s\S]*12\.35/);
    expect((await viewer.get('/')).text).toContain('1 day changed after the sign-off');
    // The page that the person has loaded is that of the earlier content.
    const again = await sign(seen);
    expect([again.status, again.text]).toEqual([400, expect.stringContaining('Look again')]);
  });

  test('that is signed says at its reopening how many bookings stay posted, also when it is restated', async () => {
    await pull(title('a'));
    await importPayables(world.database, payablesOf('k1 10 order=a'));
    await match(world.database);
    await signDay(world.database, date, { by: 'rita', bookingsFrom: null });
    await addBooking(world.database, 'posted', 'k2', date);
    const shown = async () => (await reviewer.get(`/days/${date}`)).text;
    expect(await shown()).toContain('1 booking of 10.00 stays posted in the ERP.');
    await pull(title('a', { discount: '99' }));
    expect(await shown()).toContain('Signed off by rita');
    expect(await shown()).not.toContain('not yet');
    expect(await shown()).toContain('1 booking of 10.00 stays posted in the ERP.');
  });

  test('shows the word for a value of the platform beside it, where there is one', async () => {
    await pull(title('a'));
    await pull(title('a').replace('"BANK_TRANSFER"', '"PIX"'));
    const { text } = await viewer.get(`/days/${date}`, { 'accept-language': 'pt-BR' });
    expect(text.replace(/<[^>]+>/g, '')).toMatch(
      /BANK_TRANSFER \(transferência bancária\) → Depois: PIX/,
    );
  });

  test('that is held for changed accounts and values shows each title before and after', async () => {
    // Two accounts of the agent, which stay.
    const titles = (count: number, more: TitleFields) =>
      Array.from({ length: count }, (_, index) =>
        title(`t${index}`, { agentAccount: `123456${index % 2}`, ...more }),
      );
    await pull(...titles(24, { value: '100' }));
    const { pullId, state } = await pull(...titles(12, { value: '1', account: '9999977' }));
    expect(state).toBe('held');
    const { text } = await operator.get(`/pulls/${pullId}/release`);
    // Another value is another identity; the only new title of the order is the same title.
    for (const count of ['Changed: 12', 'Withdrawn: 12']) expect(text).toContain(count);
    expect(text).toContain('12 titles would name another bank account: 1 account.');
    expect(text).toMatch(/••••21[\s\S]*→[\s\S]*••••77/);
    expect(plain(text)).toMatch(/Original value\s+2,400\.00\s+12\.00\s+−2,388\.00/);
    expect(text).not.toMatch(/LIMIT_PERCENT/);
  });

  test('shows the raw text of a reject to authorized roles, and audits that', async () => {
    await pull(title('a'), `{"order":{"uid":"faulty"},"acceptedDate":"${date}","secret":"CANARY"}`);
    const hidden = await reviewer.get(`/days/${date}`);
    expect(hidden.text).not.toContain('CANARY&quot;');
    for (const text of ['Order faulty', 'Show the raw text']) expect(hidden.text).toContain(text);
    const shown = await reviewer.post(`/days/${date}`);
    expect(shown.text).toContain('CANARY');
    expect(shown.text).not.toContain('Show the raw text');
    expect(await lastAudit(world)).toMatchObject({ actor: 'rita', action: 'rejects.reveal' });
  });

  test('that is held is released by an operator after a preview of the withdrawals', async () => {
    await pull(title('a', { value: '70' }), title('b', { value: '30' }));
    const { pullId } = await pull();
    const { text } = await viewer.get(`/days/${date}`);
    expect(text).toContain('A newer answer of the platform waits for a decision');
    const preview = await operator.get(`/pulls/${pullId}/release`);
    expect(preview.text).toMatch(/Withdrawn: 2[\s\S]*>a<[\s\S]*Withdrawn[\s\S]*70\.00/);
    expect(plain(preview.text)).toMatch(/Original value\s+100\.00\s+0\.00\s+−100\.00/);
    expect(preview.text).toContain('Refuse, and pull again');
    const left = await world.database.pool.query('SELECT FROM conciliation.staged_change');
    expect(left.rowCount).toBe(0);
    const released = await operator.post(`/pulls/${pullId}/release`, { reason: 'confirmed' });
    expect(released.location).toBe(`/days/${date}?notice=released`);
    expect((await operator.get(`/pulls/${pullId}/release`)).status).toBe(404);
    expect(await lastAudit(world)).toMatchObject({ actor: 'otto', action: 'pull.release' });
  });

  test('that is held because no title could be read asks for another pull, and offers no release', async () => {
    await pull(title('a'), title('b'));
    const { pullId } = await pull(title('c', { value: '"12,50"' }));
    const { text } = await operator.get(`/days/${date}`);
    expect(text).toContain('1 title came and could not be read');
    expect(text).not.toContain('/release');
    expect((await operator.get(`/api/days/${date}`)).json()).toMatchObject({
      state: 'held',
      hold: { reason: 'unreadable', titles: 1, withdrawals: 2 },
    });
    const release = await operator.get(`/pulls/${pullId}/release`);
    expect(release.text).toContain('Pull again when the platform has corrected them.');
  });

  test('is pulled again on request: a worker is woken and the log has the user', async () => {
    const answer = await operator.post(`/days/${date}/pull`);
    expect(answer.location).toBe(`/days/${date}?notice=pull_requested`);
    const created = await world.prisma.pull.findFirstOrThrow({ orderBy: { id: 'desc' } });
    expect(created).toMatchObject({ origin: 'manual', state: 'queued', requestedBy: 'otto' });
    expect(console.woken.at(-1)).toBe(created.id);
    expect((await operator.post(`/days/${daysFrom(2, TODAY)}/pull`)).status).toBe(400);
  });

  const UNKNOWN = ['/days/2026-02-30', '/days/x', '/days/9999-12-31', '/titles/0'];
  test.each(UNKNOWN)('%s does not exist, as a page', async (path) => {
    const answer = await viewer.get(path);
    expect(answer.status).toBe(404);
    expect(answer.headers['content-type']).toContain('text/html');
  });
});

describe('titles', () => {
  const uids = (text: string) =>
    [...text.matchAll(/href="\/titles\/\d+">(t\d+)</g)].map((match) => match[1]);
  const linkIn = (text: string, rel: string) =>
    new RegExp(`rel="${rel}" href="([^"]+)"`).exec(text)?.[1]?.replaceAll('&amp;', '&');

  test('are paged without gap or repetition, in every order, forwards and back', async () => {
    const titles = Array.from({ length: 130 }, (_, index) =>
      title(`t${index}`, { value: String((index * 7) % 10), name: `N${index % 3}` }),
    );
    await pull(...titles);
    for (const sort of ['order', 'value', 'due', 'provider', 'agent', 'accepted']) {
      for (const direction of ['', '-']) {
        const pages: (string | undefined)[][] = [];
        let path: string | undefined = `/titles?from=${date}&to=${date}&sort=${direction}${sort}`;
        let back = '';
        while (path !== undefined) {
          const { text, status } = await viewer.get(path);
          expect(status).toBe(200);
          pages.push(uids(text));
          path = linkIn(text, 'next');
          back = linkIn(text, 'prev') ?? '';
        }
        const counts = pages.map((page) => page.length);
        expect(counts, sort).toEqual([50, 50, 30]);
        expect(new Set(pages.flat()).size, sort).toBe(130);
        expect(uids((await viewer.get(back)).text), sort).toEqual(pages[1]);
      }
    }
  });

  test('one whole: masked until it is asked for, and that is noted', async () => {
    await pull(title('t1'), title('t2'));
    await pull(title('t1', { discount: '1.11' }), title('t2'));
    const list = await viewer.get(`/titles?from=${date}&to=${date}&search=t1`);
    const path = /href="(\/titles\/\d+)"/.exec(list.text)?.[1] ?? '';
    const page = await viewer.get(path);
    expect(page.text).toMatch(/12\.34[\s\S]*→[\s\S]*1\.11/);
    for (const secret of ['52998224725', '11222333000181', '7654321', '1234567', '0987']) {
      expect(page.text).not.toContain(secret);
    }
    const shown = await reviewer.post(path);
    expect(shown.text).toContain('52998224725');
    expect(shown.text).toContain('7654321');
    expect(await lastAudit(world)).toMatchObject({ actor: 'rita', action: 'title.reveal' });
  });
});

test('a backfill is started, followed and cancelled', async () => {
  const range = { from: daysFrom(-5), to: daysFrom(-3) };
  const started = await operator.post('/backfills', { ...range, concurrency: '2' });
  expect(started.location).toBe('/backfills');
  const running = (await operator.get('/backfills')).text;
  expect(running).toContain('data-refresh-seconds="5"');
  expect(running).toContain('0 of 3 dates');
  const [, path = ''] = /action="(\/backfills\/\d+\/cancel)"/.exec(running) ?? [];
  expect((await viewer.get('/backfills')).text).not.toContain(path);
  expect((await operator.post(path)).location).toBe('/backfills?notice=backfill_cancelled');
  const cancelled = (await operator.get('/backfills')).text;
  expect(cancelled).not.toContain(path);
  expect(cancelled).not.toContain('data-refresh-seconds');
  expect((await operator.post(path)).status).toBe(400);
  const future = { from: daysFrom(9, TODAY), to: daysFrom(10, TODAY) };
  expect((await operator.post('/backfills', future)).status).toBe(400);
  const wide = { ...range, concurrency: '17' };
  expect((await operator.post('/backfills', wide)).status).toBe(400);
});

test('the schedule is paused and resumed by an operator, with a reason, and the first page says so', async () => {
  expect((await viewer.get('/backfills')).text).not.toContain('Pause the schedule');
  expect((await operator.post('/pause-schedule', { reason: ' ' })).status).toBe(400);
  const paused = await operator.post('/pause-schedule', { reason: 'maintenance' });
  expect(paused.location).toBe('/backfills?notice=schedule_paused');
  expect((await viewer.get('/backfills')).text).toMatch(/The schedule is paused[\s\S]*maintenance/);
  const home = await viewer.get('/');
  expect(home.text).toContain('The schedule is paused: no pull starts by itself');
  await operator.post('/resume-schedule', { reason: 'done' });
  expect((await viewer.get('/')).text).not.toContain('The schedule is paused');
});

test('the audit log has the head of its chain, and pages', async () => {
  await world.prisma.auditEntry.createMany({
    data: Array.from({ length: 120 }, (_, index) => ({ actor: 'bot', action: `act-${index}` })),
  });
  const first = await viewer.get('/audit');
  expect(first.text).toContain('act-119');
  expect(first.text).not.toContain('act-19<');
  const head = await readChainHead(world.database);
  expect(first.text).toContain(`${head?.position}:${head?.hash}`);
  expect((await viewer.get('/audit?page=2')).text).toContain('act-19<');
  const released = (await viewer.get('/audit?actor=BO&action=pull.release')).text;
  expect(released).not.toContain('act-');
  expect((await viewer.get('/audit?actor=BO')).text).toContain('act-119');
  expect((await viewer.get('/audit?actor=rita')).text).not.toContain('act-119');
});

test('a holiday is added and ended in the forms of its year, and refused without a date or a name', async () => {
  const add = (fields: Record<string, string>) => operator.post('/holidays', fields);
  expect((await add({ date: '2026-02-30', name: 'x' })).status).toBe(400);
  expect((await add({ date: '2026-07-09', name: ' ' })).status).toBe(400);
  const added = await add({ date: '2026-07-09', name: 'Revolução <b>' });
  expect(added).toMatchObject({
    status: 303,
    location: '/holidays?year=2026&notice=holiday_added',
  });
  const twice = await add({ date: '2026-07-09', name: 'again' });
  expect(twice.status).toBe(400);
  expect(twice.text).toContain('is a holiday already');

  const { text } = await operator.get('/holidays?year=2026');
  expect(text).toContain('Revolução &lt;b>');
  const end = /action="(\/holidays\/\d+\/end)"/.exec(text)?.[1] ?? '';
  expect((await operator.post(end, {})).status).toBe(400);
  const ended = await operator.post(end, { reason: 'repealed' });
  expect(ended).toMatchObject({ status: 303, location: '/holidays?notice=holiday_ended' });
  expect((await operator.get('/holidays?year=2026')).text).not.toContain('Revolução');
  const entries = await world.prisma.auditEntry.findMany({
    where: { action: { startsWith: 'holiday.' } },
    orderBy: { id: 'asc' },
  });
  expect(entries).toMatchObject([
    { action: 'holiday.confirm', actor: 'otto', reason: 'Revolução <b>' },
    { action: 'holiday.end', actor: 'otto', reason: 'repealed' },
  ]);
});

test('what responses have beyond the documented interface is acknowledged as a person has seen it, and no page shows its values', async () => {
  const { drift } = world.prisma;
  await drift.deleteMany();
  const meet = async (name: string) => {
    date = nextDay();
    await pull(title('a', { more: `,"${name}":"CANARY"` }));
  };
  const digest = async () => hiddenIn((await reviewer.get('/alerts')).text, 'digest');
  const send = (seen: string, reason: string) =>
    reviewer.post('/drift/acknowledge', { digest: seen, reason });
  await meet('campaign');
  const stale = await digest();
  await meet('batch');
  expect((await viewer.get('/alerts')).text).not.toMatch(/CANARY|drift\/acknowledge/);
  const refused = await send(stale, 'announced');
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('look')]);
  for (const reason of ['', ' \t ']) expect((await send(await digest(), reason)).status).toBe(400);
  expect(await drift.count({ where: { acknowledgedAt: null } })).toBe(2);
  const done = await send(await digest(), 'announced');
  expect(done).toMatchObject({ status: 303, location: '/alerts?notice=drift_acknowledged' });
  expect(await lastAudit(world)).toMatchObject({
    ...{ actor: 'rita', action: 'drift.acknowledge', reason: 'announced' },
    details: { rows: 2 },
  });
  expect((await viewer.get('/alerts')).text).not.toContain('Unknown field');
});
