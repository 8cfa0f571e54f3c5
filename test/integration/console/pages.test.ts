import { beforeEach, describe, expect, test } from 'vitest';
import { readChainHead } from '../../../src/base/audit/audit-chain.sql.ts';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { hiddenIn } from '../../support/console-client.ts';
import { lastAudit, pagesForFile } from '../../support/pages-world.ts';
import { daysFrom, freshDays, TODAY } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const { world, viewer, reviewer, operator } = pagesForFile();

const nextDay = freshDays();
let date: CivilDate;
beforeEach(() => {
  date = nextDay();
});

const title = (uid: string, more: Parameters<typeof titleText>[0] = {}) =>
  titleText({ uid, date, ...more });

const pull = (...texts: string[]) => world.serve(date, texts);

describe('titles', () => {
  const uids = (text: string) =>
    [...text.matchAll(/href="\/titles\/\d+">(t\d+)</g)].map((match) => match[1]);

  test('are paged without gap or repetition, in every order, forwards and back', async () => {
    await pull(
      ...Array.from({ length: 130 }, (_, index) =>
        title(`t${index}`, { value: String((index * 7) % 10), name: `N${index % 3}` }),
      ),
    );
    for (const sort of ['order', 'value', 'due', 'provider', 'agent', 'accepted']) {
      for (const direction of ['', '-']) {
        const pages: (string | undefined)[][] = [];
        let path: string | null = `/titles?from=${date}&to=${date}&sort=${direction}${sort}`;
        let last = path;
        while (path !== null) {
          const { text, status } = await viewer.get(path);
          expect(status).toBe(200);
          pages.push(uids(text));
          last = path;
          const next: string | undefined = /rel="next" href="([^"]+)"/.exec(text)?.[1];
          path = next === undefined ? null : next.replaceAll('&amp;', '&');
        }
        expect(
          pages.map((page) => page.length),
          sort,
        ).toEqual([50, 50, 30]);
        expect(new Set(pages.flat()).size, sort).toBe(130);
        const back = /rel="prev" href="([^"]+)"/.exec((await viewer.get(last)).text)?.[1] ?? '';
        const previous = await viewer.get(back.replaceAll('&amp;', '&'));
        expect(uids(previous.text), sort).toEqual(pages[1]);
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

describe('a backfill', () => {
  test('is started, followed and cancelled', async () => {
    const started = await operator.post('/backfills', {
      from: daysFrom(-5),
      to: daysFrom(-3),
      concurrency: '2',
    });
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
    const wide = { from: daysFrom(-5), to: daysFrom(-3), concurrency: '17' };
    expect((await operator.post('/backfills', wide)).status).toBe(400);
  });
});

test('the schedule is paused and resumed by an operator, with a reason, and the first page says so', async () => {
  expect((await viewer.get('/backfills')).text).not.toContain('Pause the schedule');
  expect((await operator.post('/pause-schedule', { reason: ' ' })).status).toBe(400);
  const paused = await operator.post('/pause-schedule', { reason: 'maintenance' });
  expect(paused.location).toBe('/backfills?notice=schedule_paused');
  expect((await viewer.get('/backfills')).text).toMatch(/The schedule is paused[\s\S]*maintenance/);
  expect((await viewer.get('/')).text).toContain(
    'The schedule is paused: no pull starts by itself',
  );
  await operator.post('/resume-schedule', { reason: 'done' });
  expect((await viewer.get('/')).text).not.toContain('The schedule is paused');
});

test('the audit log has the head of its chain, and can be followed from an entry', async () => {
  await world.database.prisma.auditEntry.createMany({
    data: Array.from({ length: 120 }, (_, index) => ({ actor: 'bot', action: `act-${index}` })),
  });
  const first = await viewer.get('/audit');
  expect(first.text).toContain('act-119');
  expect(first.text).not.toContain('act-19<');
  const head = await readChainHead(world.database);
  expect(first.text).toContain(`${head?.position}:${head?.hash}`);
  expect((await viewer.get('/audit?page=2')).text).toContain('act-19<');
  const seen = await world.database.prisma.auditEntry.findFirst({ where: { action: 'act-20' } });
  const before = (await viewer.get(`/audit?before=${seen?.id}`)).text;
  expect(before).toMatch(/act-19<[\s\S]*act-0</);
  expect(before).not.toContain('act-20<');
});

test('a holiday is added and ended in the forms of its year, and refused without a date or a name', async () => {
  const add = (fields: Record<string, string>) => operator.post('/holidays', fields);
  expect((await add({ date: '2026-02-30', name: 'x' })).text).toContain('2010 to 2059');
  expect((await add({ date: '2026-07-09', name: ' ' })).text).toContain('at most 100 characters');
  const { status, headers } = await add({ date: '2026-07-09', name: 'Revolução <b>' });
  expect([status, headers['location']]).toEqual([303, '/holidays?year=2026&notice=holiday_added']);
  const twice = await add({ date: '2026-07-09', name: 'again' });
  expect([twice.status, twice.text.includes('is a holiday already')]).toEqual([400, true]);

  const { text } = await operator.get('/holidays?year=2026');
  expect(text).toContain('Revolução &lt;b>');
  const end = /action="(\/holidays\/\d+\/end)"/.exec(text)?.[1] ?? '';
  expect((await operator.post(end, {})).status).toBe(400);
  const ended = await operator.post(end, { reason: 'repealed' });
  expect([ended.status, ended.headers['location']]).toEqual([
    303,
    '/holidays?notice=holiday_ended',
  ]);
  expect((await operator.get('/holidays?year=2026')).text).not.toContain('Revolução');
  const entries = await world.database.prisma.auditEntry.findMany({
    where: { action: { startsWith: 'holiday.' } },
    orderBy: { id: 'asc' },
    select: { action: true, actor: true, reason: true },
  });
  expect(entries).toEqual([
    { action: 'holiday.confirm', actor: 'otto', reason: 'Revolução <b>' },
    { action: 'holiday.end', actor: 'otto', reason: 'repealed' },
  ]);
});

describe('what responses have beyond the documented interface', () => {
  async function meet(...names: string[]) {
    date = nextDay();
    await pull(title('a', { more: names.map((name) => `,"${name}":"CANARY"`).join('') }));
  }
  const acknowledged = async () => {
    const rows = await world.database.prisma.drift.findMany();
    return rows.map(({ acknowledgedAt }) => acknowledgedAt !== null);
  };
  beforeEach(() => world.database.prisma.drift.deleteMany());

  test('is acknowledged by one form with a reason, and no page shows its values', async () => {
    await meet('campaign', 'batch');
    expect((await viewer.get('/alerts')).text).not.toMatch(/CANARY|drift\/acknowledge/);
    const digest = hiddenIn((await reviewer.get('/alerts')).text, 'digest');
    for (const reason of ['', ' \t ']) {
      expect((await reviewer.post('/drift/acknowledge', { digest, reason })).status).toBe(400);
    }
    expect(await acknowledged()).toEqual([false, false]);
    const done = await reviewer.post('/drift/acknowledge', { digest, reason: 'announced' });
    expect([done.status, done.location]).toEqual([303, '/alerts?notice=drift_acknowledged']);
    expect(await lastAudit(world)).toMatchObject({
      ...{ actor: 'rita', action: 'drift.acknowledge', reason: 'announced' },
      details: { rows: 2 },
    });
    expect((await viewer.get('/alerts')).text).not.toContain('Unknown field');
  });

  test('that came after the page was loaded is not acknowledged from that page', async () => {
    await meet('first');
    const digest = hiddenIn((await operator.get('/alerts')).text, 'digest');
    await meet('second');
    const refused = await operator.post('/drift/acknowledge', { digest, reason: 'announced' });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('look')]);
    expect(await acknowledged()).toEqual([false, false]);
  });
});
