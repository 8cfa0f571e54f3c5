import { beforeEach, describe, expect, test } from 'vitest';
import { readChainHead } from '../../../src/audit/audit-chain.sql.ts';
import type { CivilDate } from '../../../src/domain/business-day.ts';
import { lastAudit, pagesForFile } from '../../support/pages-world.ts';
import { DAY, daysFrom, TODAY } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const { world, console, viewer, reviewer, operator } = pagesForFile();

let date: CivilDate;
let dayCount = 0;
beforeEach(() => {
  dayCount += 1;
  date = daysFrom(dayCount, DAY);
});

const title = (uid: string, more: Parameters<typeof titleText>[0] = {}) =>
  titleText({ uid, date, ...more });

async function pull(...texts: string[]) {
  world.sandbox.setDayTexts(date, texts);
  return world.pull(date);
}

describe('titles', () => {
  const uids = (text: string) =>
    [...text.matchAll(/href="\/titles\/\d+">(t\d+)</g)].map((match) => match[1]);

  test('are paged without gap or repetition, in every order, forwards and back', async () => {
    await pull(
      ...Array.from({ length: 130 }, (_, index) =>
        title(`t${index}`, { value: String((index * 7) % 10), name: `N${index % 3}` }),
      ),
    );
    for (const sort of ['order', 'value', 'due', 'provider', 'agent']) {
      for (const direction of ['', '&direction=descending']) {
        const pages: (string | undefined)[][] = [];
        let path: string | null = `/days/${date}/titles?sort=${sort}${direction}`;
        let last = path;
        while (path !== null) {
          const { text, status } = await viewer.get(path);
          expect(status).toBe(200);
          pages.push(uids(text));
          last = path;
          const next: string | undefined = /rel="next" href="([^"]+)"/.exec(text)?.[1];
          path = next === undefined ? null : `/days/${date}/titles${next.replaceAll('&amp;', '&')}`;
        }
        expect(
          pages.map((page) => page.length),
          sort,
        ).toEqual([50, 50, 30]);
        expect(new Set(pages.flat()).size, sort).toBe(130);
        const back = /rel="prev" href="([^"]+)"/.exec((await viewer.get(last)).text)?.[1] ?? '';
        const previous = await viewer.get(`/days/${date}/titles${back.replaceAll('&amp;', '&')}`);
        expect(uids(previous.text), sort).toEqual(pages[1]);
      }
    }
  });

  test('one whole: masked until it is asked for, and that is noted', async () => {
    await pull(title('t1'), title('t2'));
    await pull(title('t1', { discount: '1.11' }), title('t2'));
    const list = await viewer.get(`/days/${date}/titles?order=t1`);
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
  const range = { from: daysFrom(-5), to: daysFrom(-3), concurrency: '2' };
  const path = (await operator.post('/backfills', range)).location ?? '';
  expect(path).toMatch(/^\/backfills\/\d+$/);
  const running = (await viewer.get(path)).text;
  expect(running).toContain('0 of 3 dates');
  expect(running).toContain('<meta http-equiv="refresh" content="5"/>');
  await operator.post(`${path}/cancel`);
  expect((await viewer.get(path)).text).not.toContain('http-equiv="refresh"');
  expect((await operator.post(`${path}/cancel`)).status).toBe(400);
  expect((await operator.post(`${path}/resume`)).status).toBe(303);
});

test('alerts and the audit log are shown, page by page', async () => {
  const alert = (kind: string, message: string) => ({
    ...{ kind, dedupeKey: message, message, messagePt: message },
  });
  await world.database.prisma.alert.create({ data: alert('newer_kind', 'something else') });
  expect((await viewer.get('/alerts')).text).toMatch(/newer_kind[\s\S]*Something else\./);
  const over = Array.from({ length: 60 }, (_, index) => ({
    ...alert('day_held', `over ${index}.`),
    resolvedAt: new Date(),
  }));
  await world.database.prisma.alert.createMany({ data: over });
  const alerts = (await viewer.get('/alerts')).text;
  expect(alerts).toContain('Something else.');
  expect(alerts).toContain('Over 10.');
  expect(alerts).not.toContain('Over 9.');
  const second = /rel="next" href="([^"]+)"/.exec(alerts)?.[1]?.replaceAll('&amp;', '&') ?? '';
  expect((await viewer.get(second)).text).toMatch(/Something else[\s\S]*Over 9\.[\s\S]*Over 0\./);
  await world.database.prisma.auditEntry.createMany({
    data: Array.from({ length: 120 }, (_, index) => ({ actor: 'bot', action: `act-${index}` })),
  });
  const first = await viewer.get('/audit');
  expect(first.text).toContain('act-119');
  expect(first.text).not.toContain('act-19<');
  const head = await readChainHead(world.database);
  expect(first.text).toContain(`${head?.position}:${head?.hash}`);
  const older = /href="(\/audit\?before=\d+)"/.exec(first.text)?.[1] ?? '';
  expect((await viewer.get(older)).text).toContain('act-19');
});

const digestOf = (page: string) => /name="digest" value="([^"]+)"/.exec(page)?.[1] ?? '';

describe('a day', () => {
  test('shows totals by provider and by agent that add up to its own', async () => {
    await pull(title('a', { value: '0.10' }), title('b', { value: '0.20', name: 'Outro Agente' }));
    const { text } = await viewer.get(`/days/${date}`);
    expect(text).toContain('0.30');
    expect(text).toMatch(/Outro Agente[\s\S]*?0\.20/);
    expect(text).toMatch(/P-1[\s\S]*?0\.30/);
  });

  test('is signed off by a reviewer, restated by one cent, and shows the changes', async () => {
    await pull(title('a'), title('b', { discount: '12.34' }));
    const before = await reviewer.get(`/days/${date}`);
    const signed = await reviewer.post(`/days/${date}/sign-off`, {
      digest: digestOf(before.text),
      reason: 'checked against the ERP',
    });
    expect(signed.location).toBe(`/days/${date}?notice=signed_off`);
    const sealed = await viewer.get(`/days/${date}?notice=signed_off`);
    expect(sealed.text).toContain('Signed off by rita');
    expect(sealed.text).toContain('The day is signed off.');
    await pull(title('a'), title('b', { discount: '12.35' }));
    const { text } = await viewer.get(`/days/${date}`);
    expect(text).toContain('This day changed after it was signed off');
    expect(text).toMatch(/platformDiscountedValue[\s\S]*12\.34[\s\S]*→[\s\S]*12\.35/);
    expect((await viewer.get('/')).text).toContain('Restated after the sign-off');
  });

  test('that changed after the page was loaded is not signed off from that page', async () => {
    await pull(title('a'));
    const seen = digestOf((await reviewer.get(`/days/${date}`)).text);
    await pull(title('a', { discount: '99' }));
    const answer = await reviewer.post(`/days/${date}/sign-off`, { digest: seen });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('Look again');
  });

  test('shows the raw text of a reject to authorized roles, and audits that', async () => {
    await pull(title('a'), `{"order":{},"acceptedDate":"${date}","secret":"CANARY"}`);
    expect((await reviewer.get(`/days/${date}`)).text).not.toContain('CANARY&quot;');
    const shown = await reviewer.post(`/days/${date}/rejects`);
    expect(shown.text).toContain('CANARY');
    expect(await lastAudit(world)).toMatchObject({ actor: 'rita', action: 'rejects.reveal' });
  });

  test('that is held is released by an operator after a preview of the withdrawals', async () => {
    await pull(title('a', { value: '70' }), title('b', { value: '30' }));
    const { pullId } = await pull();
    expect((await viewer.get(`/days/${date}`)).text).toContain('A pull is held');
    const preview = await operator.get(`/pulls/${pullId}/release`);
    expect(preview.text).toMatch(/Titles that would be withdrawn[\s\S]*>a<[\s\S]*70\.00/);
    expect(preview.text).toContain('100.00');
    const left = await world.database.prisma.$queryRaw<{ rows: number }[]>`
      SELECT count(*)::int AS rows FROM conciliation.staged_change`;
    expect(left).toEqual([{ rows: 0 }]);
    const released = await operator.post(`/pulls/${pullId}/release`, { reason: 'confirmed' });
    expect(released.location).toBe(`/days/${date}?notice=released`);
    expect((await operator.get(`/pulls/${pullId}/release`)).status).toBe(404);
    expect(await lastAudit(world)).toMatchObject({ actor: 'otto', action: 'pull.release' });
  });

  test('is reopened with a reason, which stays on record', async () => {
    await pull(title('a'));
    const page = await reviewer.get(`/days/${date}`);
    await reviewer.post(`/days/${date}/sign-off`, { digest: digestOf(page.text) });
    await reviewer.post(`/days/${date}/reopen`, { reason: 'wrong rate' });
    const { text } = await viewer.get(`/days/${date}`);
    expect(text).toContain('Not signed off');
    expect(text).toContain('wrong rate');
  });

  test('is pulled again on request: a worker is woken and the log has the user', async () => {
    const answer = await operator.post(`/days/${date}/pull`);
    expect(answer.location).toBe(`/days/${date}?notice=pull_requested`);
    const created = await world.database.prisma.pull.findFirstOrThrow({ orderBy: { id: 'desc' } });
    expect(created).toMatchObject({ origin: 'manual', state: 'queued', requestedBy: 'otto' });
    expect(console.woken.at(-1)).toBe(created.id);
    expect((await operator.post(`/days/${daysFrom(2, TODAY)}/pull`)).status).toBe(400);
  });

  test('that does not exist is answered with a page', async () => {
    for (const path of [
      'days/2026-02-30',
      'days/0000-00-00',
      'days/x',
      'days/9999-12-31',
      'titles/0',
    ]) {
      const { status, headers } = await viewer.get(`/${path}`);
      expect([status, headers['content-type']], path).toEqual([
        404,
        expect.stringMatching('text/html'),
      ]);
    }
  });
});
