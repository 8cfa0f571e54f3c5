import { beforeEach, describe, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { hiddenIn } from '../../support/console-client.ts';
import { signDay } from '../../support/days.ts';
import { addBooking, match, payablesOf } from '../../support/matching-world.ts';
import { lastAudit, pagesForFile } from '../../support/pages-world.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, daysFrom, freshDays, TODAY } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const { world, console, viewer, reviewer, operator } = pagesForFile({ bookingsFrom: DAY });

const nextDay = freshDays();
let date: CivilDate;
beforeEach(() => {
  date = nextDay();
});

const title = (uid: string, more: Parameters<typeof titleText>[0] = {}) =>
  titleText({ uid, date, ...more });

const pull = (...texts: string[]) => world.serve(date, texts);

describe('a day', () => {
  test.each([
    ['', '0.30'],
    ['&search=Outro+Agente', '0.20'],
    ['&search=P-1', '0.30'],
  ])('has the sum of its titles in their list, also of one party: "%s"', async (party, sum) => {
    await pull(title('a', { value: '0.10' }), title('b', { value: '0.20', name: 'Outro Agente' }));
    const { text } = await viewer.get(`/titles?from=${date}&to=${date}${party}`);
    expect(text).toMatch(new RegExp(`<tfoot>.*>${sum}<`, 's'));
  });

  test('is signed off by a reviewer, restated by one cent, and shows the changes', async () => {
    await pull(title('a'), title('b', { discount: '12.34' }));
    const before = await reviewer.get(`/days/${date}`);
    const signed = await reviewer.post(`/days/${date}/sign-off`, {
      digest: hiddenIn(before.text, 'digest'),
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
    expect((await viewer.get('/')).text).toContain('1 day changed after the sign-off');
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
    const shown = text.replace(/<[^>]+>/g, '');
    expect(shown).toMatch(/BANK_TRANSFER \(transferência bancária\) → Depois: PIX/);
  });

  test('that changed after the page was loaded is not signed off from that page', async () => {
    await pull(title('a'));
    const seen = hiddenIn((await reviewer.get(`/days/${date}`)).text, 'digest');
    await pull(title('a', { discount: '99' }));
    const answer = await reviewer.post(`/days/${date}/sign-off`, { digest: seen });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('Look again');
  });

  test('that is held for changed accounts and values shows each title before and after', async () => {
    const uids = Array.from({ length: 24 }, (_, index) => `t${index}`);
    // Two accounts of the agent, which stay.
    const of = (value: string) => (uid: string, index: number) =>
      title(uid, { value }).replace('"1234567"', `"123456${index % 2}"`);
    await pull(...uids.map(of('100')));
    const { pullId, state } = await pull(
      ...uids
        .slice(0, 12)
        .map((uid, index) => of('1')(uid, index).replaceAll('7654321', '9999977')),
    );
    expect(state).toBe('held');
    const { text } = await operator.get(`/pulls/${pullId}/release`);
    // Another value is another identity; the only new title of the order is the same title.
    for (const count of ['Changed: 12', 'Withdrawn: 12']) expect(text).toContain(count);
    expect(text).toContain('12 titles would name another bank account; 1 account is new.');
    expect(text).toMatch(/••••21[\s\S]*→[\s\S]*••••77/);
    expect(text.replace(/<[^>]+>/g, ' ')).toMatch(
      /Original value\s+2,400\.00\s+12\.00\s+−2,388\.00/,
    );
    expect(text).not.toMatch(/LIMIT_PERCENT/);
  });

  test('shows the raw text of a reject to authorized roles, and audits that', async () => {
    await pull(title('a'), `{"order":{},"acceptedDate":"${date}","secret":"CANARY"}`);
    const hidden = await reviewer.get(`/days/${date}`);
    expect(hidden.text).not.toContain('CANARY&quot;');
    expect(hidden.text).toContain('Show the raw text');
    const shown = await reviewer.post(`/days/${date}/rejects`);
    expect(shown.text).toContain('CANARY');
    expect(shown.text).not.toContain('Show the raw text');
    expect(await lastAudit(world)).toMatchObject({ actor: 'rita', action: 'rejects.reveal' });
  });

  test('that is held is released by an operator after a preview of the withdrawals', async () => {
    await pull(title('a', { value: '70' }), title('b', { value: '30' }));
    const { pullId } = await pull();
    expect((await viewer.get(`/days/${date}`)).text).toContain(
      'A newer answer of the platform waits for a decision',
    );
    const preview = await operator.get(`/pulls/${pullId}/release`);
    expect(preview.text).toMatch(/Withdrawn: 2[\s\S]*>a<[\s\S]*Withdrawn[\s\S]*70\.00/);
    expect(preview.text.replace(/<[^>]+>/g, ' ')).toMatch(
      /Original value\s+100\.00\s+0\.00\s+−100\.00/,
    );
    expect(preview.text).toContain('Refuse, and pull again');
    const left = await world.database.prisma.$queryRaw<{ rows: number }[]>`
      SELECT count(*)::int AS rows FROM conciliation.staged_change`;
    expect(left).toEqual([{ rows: 0 }]);
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
    expect((await operator.get(`/pulls/${pullId}/release`)).text).toContain(
      'Pull again when the platform has corrected them.',
    );
  });

  test('is reopened with a reason, which stays on record', async () => {
    await pull(title('a'));
    const page = await reviewer.get(`/days/${date}`);
    await reviewer.post(`/days/${date}/sign-off`, { digest: hiddenIn(page.text, 'digest') });
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

  test.each(['/days/2026-02-30', '/days/0000-00-00', '/days/x', '/days/9999-12-31', '/titles/0'])(
    '%s does not exist, as a page',
    async (path) => {
      const answer = await viewer.get(path);
      expect(answer.status).toBe(404);
      expect(answer.headers['content-type']).toContain('text/html');
    },
  );
});
