/** The pages of breaks: reservations of a sign-off, and the decisions of a person. */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { undoMatch } from '../../../src/features/matching/match-decisions.sql.ts';
import { type ConsoleAnswer, hiddenIn } from '../../support/console-client.ts';
import { findAlterations, pullDay } from '../../support/days.ts';
import { clearMatching, currentTitleId, match, matchPair } from '../../support/matching-world.ts';
import { lastAudit, pagesForFile } from '../../support/pages-world.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const portuguese = { 'accept-language': 'pt-BR' };
const reason = { code: 'agreed', reason: 'agreed with the supplier' } as const;

const { world, viewer, reviewer } = pagesForFile();
beforeAll(async () => {
  await world.serve(DAY, [
    titleText({ uid: 'matched', value: '1234.50' }),
    titleText({ uid: 'value', value: '20', dueDate: '2026-07-15' }),
    titleText({ uid: 'missing', value: '40', dueDate: '2026-08-15' }),
  ]);
});

const PAYABLES = [
  { erpKey: 'k1', openValue: '1234.50', document: 'NF-1' },
  { erpKey: 'k2', openValue: '20.01', dueDate: '2026-07-15', document: '=NF-2' },
];
beforeEach(async () => {
  await clearMatching(world.database);
  await importPayables(world.database, PAYABLES, 'snapshot');
  await match(world.database);
});

const titleId = async (orderUid: string) => String(await currentTitleId(world.database, orderUid));
const breakPath = async (kind: string, orderUid: string, payable: string | null) =>
  `/breaks?${new URLSearchParams({
    kind,
    title: await titleId(orderUid),
    ...(payable !== null && { payable }),
  })}`;

/** What the list of days to sign sends for a date. */
const boxOf = async (date: string) =>
  new RegExp(`name="day" value="(${date}:[^"]+)"`).exec(
    (await reviewer.get('/sign-offs')).text,
  )?.[1];

/** The first proposal of a page. */
const seenIn = (text: string) =>
  /name="seen" required value="([^"]+)"/.exec(text)?.[1]?.replaceAll('&quot;', '"') ?? '';

test('the sign-off shows the breaks of a day as reservations, with number and value', async () => {
  for (const path of ['/sign-offs', `/days/${DAY}`]) {
    const { text } = await reviewer.get(path);
    expect(text).toContain('Value differs: 1 (20.00)');
    expect(text).toContain(`/breaks?date=${DAY}&amp;kind=value_differs`);
  }
  expect((await reviewer.get('/sign-offs?show=clean')).text).not.toContain(`value="${DAY}:`);
});

test('a person matches, undoes the match, and resolves the break with a reason', async () => {
  const title = await titleId('value');
  const seen = seenIn((await reviewer.get('/proposals')).text);
  const other = await reviewer.post('/break/match', { seen: `${title} k2`, ...reason });
  expect(other.status).toBe(400);
  const made = await reviewer.post('/break/match', { seen, ...reason });
  expect(made.location).toBe('/proposals?notice=matched');
  const audited = { actor: 'rita', action: 'match.make', reason: reason.reason };
  expect(await lastAudit(world)).toMatchObject(audited);
  expect((await viewer.get('/breaks')).text).not.toContain('>k2<');
  const page = (await reviewer.get(`/titles/${title}`)).text;
  expect(page).toContain('by a person');
  const [, matchId = ''] = /\/matches\/(\d+)\/undo/.exec(page) ?? [];
  expect((await reviewer.post(`/matches/${matchId}/undo`)).status).toBe(400);
  const undone = await reviewer.post(`/matches/${matchId}/undo`, reason);
  expect(undone.location).toBe(`/titles/${title}?notice=match_undone`);
  expect((await viewer.get(`/titles/${title}`)).text).toMatch(
    /Ended by rita, .*agreed with the supplier/,
  );
  const path = await breakPath('value_differs', 'value', 'k2');
  const digest = hiddenIn((await reviewer.get(path)).text, 'digest');
  const fields = { kind: 'value_differs', title, payable: 'k2', digest, ...reason };
  // The query of an address is no part of a form.
  const { reason: _, ...unexplained } = fields;
  const asked = await reviewer.post('/breaks/resolve?reason=forged', unexplained);
  expect(asked.status).toBe(400);
  const stale = { ...fields, digest: '0'.repeat(32) };
  const refused = await reviewer.post('/breaks/resolve', stale);
  expect(refused.text).toContain('have changed since you looked at them');
  const resolved = await reviewer.post('/breaks/resolve', fields);
  expect(resolved.location).toBe('/breaks?notice=break_resolved');
  expect((await viewer.get(path)).text).toContain('No break is open with this filter.');
  expect((await viewer.get('/breaks?state=resolved', portuguese)).text).toMatch(
    /Valor diferente<\/a><\/th>.*rita.*acertada com a outra parte: agreed with the supplier/s,
  );
});

test('one form resolves the breaks of a kind, as the person has seen them, and another opens them again', async () => {
  const path = '/breaks?kind=value_differs';
  const listed = async () => (await viewer.get(`/api${path}`)).json();
  const state = async (openValue: string) => {
    const payable = { erpKey: 'k3', openValue, dueDate: '2026-08-15' };
    await importPayables(world.database, [payable]);
    await match(world.database);
  };
  /** The form of the list in this state, as the reviewer has seen it. */
  const formOf = async (deed: 'resolve' | 'reopen', told: string) => {
    const shown = deed === 'resolve' ? path : `${path}&state=resolved`;
    expect((await viewer.get(shown)).text).not.toContain(`action="/breaks/${deed}"`);
    const { text } = await reviewer.get(shown);
    expect(text).toContain(told);
    const fields = { kind: 'value_differs', digest: hiddenIn(text, 'digest'), ...reason };
    return (wrong: Record<string, string> = {}) =>
      reviewer.post(`/breaks/${deed}`, { ...fields, ...wrong });
  };
  const expectDone = async (deed: 'resolve' | 'reopen', answer: ConsoleAnswer) => {
    expect(answer.location).toBe('/breaks?notice=break_resolved');
    expect(await lastAudit(world)).toMatchObject({
      ...{ action: `break.${deed}`, actor: 'rita', date: DAY },
      details: { kind: 'value_differs', breaks: 2 },
    });
    expect(await findAlterations(world.database, DAY)).toEqual([]);
  };
  await state('39.50');
  const stale = await formOf('resolve', 'Resolve the breaks of this list: 2, 60.00');
  expect((await reviewer.get('/breaks')).text).not.toContain('action="/breaks/resolve"');
  await state('39');
  expect((await stale()).status).toBe(400);
  const before = await listed();
  const differences = before.rows.map(({ difference }: { difference: string }) => difference);
  expect(differences).toEqual(['-1', '0.01']);
  const resolve = await formOf('resolve', 'Resolve the breaks of this list: 2, 60.00');
  expect((await reviewer.get('/breaks?kind=value_differs')).text).toMatch(
    /<input type="checkbox" required[^>]*> I confirm: 2 breaks, R\$ 60.00/,
  );
  for (const wrong of [{ code: 'x' }, { digest: 'x' }, { kind: '' }, { kind: 'missing_in_erp' }])
    expect((await resolve(wrong)).status).toBe(400);
  const asJson = { headers: { accept: 'application/json' } };
  const unnamed = await reviewer.post('/breaks/resolve', { digest: 'x', ...reason }, asJson);
  expect(unnamed.json().message).toBe("body must have required property 'kind'");
  await expectDone('resolve', await resolve());
  expect((await viewer.get(`/days/${DAY}`)).text).toMatch(
    /<dt>With an open break<\/dt><dd>0<.*<dt>Neither agreed nor in an open break<\/dt><dd>2 \(60\.00\)/,
  );
  expect((await resolve()).status).toBe(400);
  expect((await reviewer.get(path)).text).toContain('No break is open with this filter.');
  const reopen = await formOf('reopen', 'Open the breaks of this list again: 2, 60.00');
  expect((await reopen({ digest: 'x' })).status).toBe(400);
  await expectDone('reopen', await reopen());
  expect(await listed()).toEqual(before);
  await expectDone('resolve', await resolve());
  expect((await listed()).rows).toEqual([]);
});

test('the task of the start page leads to the breaks that the task counts', async () => {
  const payables = [
    ...PAYABLES,
    { erpKey: 'k3', openValue: '0', totalValue: '40', status: 'paid', dueDate: '2026-08-15' },
  ];
  await importPayables(world.database, payables, 'snapshot');
  await match(world.database);
  const { text: home } = await reviewer.get('/');
  expect(home).toContain('href="/breaks?urgency=urgent"');
  expect(home).toContain('href="/breaks?urgency=other"');
  const kindsOf = async (urgency: string) => {
    const { text } = await reviewer.get(`/breaks?urgency=${urgency}`);
    return [...text.matchAll(/\/breaks\?[^"]*kind=(\w+)&amp;title=/g)].map(([, kind]) => kind);
  };
  expect(await kindsOf('urgent')).toEqual(['paid_to_supplier']);
  expect(await kindsOf('other')).toEqual(['value_differs']);
  // The schedule says which line is not to be paid, and does not count the line among what is paid.
  const { text: schedule } = await reviewer.get('/schedule?dueFrom=2026-08-01&dueTo=2026-08-31');
  expect(schedule).toContain('<a class="tag is-withdrawn" href="/breaks?urgency=urgent">1</a>');
  expect(schedule).toMatch(/<dt>To be paid [^<]*<\/dt><dd>0 titles/);
});

test('a person matches only what the page offers, as the page showed it', async () => {
  const seen = seenIn((await reviewer.get('/proposals')).text);
  const post = (text: string) => reviewer.post('/break/match', { seen: text, ...reason });
  await importPayables(world.database, [
    { erpKey: 'other', openValue: '777', supplierExternalId: 'P-9' },
    { ...PAYABLES[1], erpKey: 'k2', openValue: '50' },
  ]);
  expect((await post(seen)).text).toContain('The proposals have changed');
  expect((await post(seen.replace('k2', 'other'))).status).toBe(400);
  const { text } = await reviewer.get(`/proposals?title=${await titleId('value')}`);
  expect((await post(seenIn(text))).location).toBe('/proposals?notice=matched');
  const where = { endedAt: null, rule: 'person' };
  const { difference } = await world.prisma.titleMatch.findFirstOrThrow({ where });
  expect(Number(difference)).toBe(30);
});

test('one form confirms the proposals of a kind, and another one by one', async () => {
  const path = '/proposals?kind=value';
  expect((await viewer.get(path)).text).not.toContain('action="/proposals/confirm"');
  const { text } = await reviewer.get(path);
  expect(text).toContain('Match the titles of this list: 1, 20.00');
  expect(text).toContain('The difference in value, 0.01 in all, is confirmed too');
  expect(text).toContain('action="/break/match"');
  const fields = { kind: 'value', digest: hiddenIn(text, 'digest'), ...reason };
  const stale = await reviewer.post('/proposals/confirm', { ...fields, digest: 'x' });
  expect(stale.status).toBe(400);
  const made = await reviewer.post('/proposals/confirm', fields);
  expect(made.location).toBe('/proposals?kind=value&notice=matched');
  expect((await reviewer.get(path, portuguese)).text).toContain('Nenhuma sugestão.');
});

test('tolerances are tried before a reviewer sets them', async () => {
  const { text } = await reviewer.get('/matching-rules?dueDays=5&valueTolerance=0');
  expect(text).toContain('1 title would lose one');
  expect(text).toContain('loses its clear proposal');
  const written = await reviewer.get('/matching-rules?valueTolerance=1.000,05', portuguese);
  expect(written.text).toContain('Com 5 dias e R$ 1.000,05: 0 divergências');
  const unread = await reviewer.get('/matching-rules?valueTolerance=-1', portuguese);
  expect(unread.status).toBe(400);
  const rules = { dueDays: '5', valueTolerance: '0' };
  expect((await reviewer.post('/matching-rules', rules)).status).toBe(400);
  const set = await reviewer.post('/matching-rules', { ...rules, ...reason });
  expect(set.location).toBe('/matching-rules?notice=confirmed');
  expect((await reviewer.get('/proposals')).text).toContain('There is no proposal.');
});

test('a break of a title whose id is from after a restore is listed alone, and a person resolves it', async () => {
  await world.prisma.$executeRaw`
    SELECT setval('conciliation.title_id_seq', ${28_750_566_589_692n}::bigint)`;
  const second = daysFrom(1, DAY);
  await world.serve(second, [titleText({ uid: 'restored', value: '70', date: second })]);
  await match(world.database);
  const path = await breakPath('missing_in_erp', 'restored', null);
  const page = await reviewer.get(path);
  expect(page.status).toBe(200);
  const title = await titleId('restored');
  expect(page.text).toContain(`/proposals?title=${title}`);
  expect((await reviewer.get(`/proposals?title=${title}`)).status).toBe(200);
  const digest = hiddenIn(page.text, 'digest');
  const fields = { kind: 'missing_in_erp', title, digest, ...reason };
  const resolved = await reviewer.post('/breaks/resolve', fields);
  expect(resolved.location).toBe('/breaks?notice=break_resolved');
});

test('the sign-off shows confirmed differences, and refuses the page from before another match', async () => {
  const date = daysFrom(2, DAY);
  await pullDay(world, date, { uid: 'moved', value: '100', dueDate: '2026-09-15' });
  const erpKeys = ['k4'];
  const titleId = await currentTitleId(world.database, 'moved');
  const matchAt = async (openValue: string) => {
    await importPayables(world.database, [{ erpKey: 'k4', openValue, dueDate: '2026-09-15' }]);
    return matchPair(world.database, { titleId, erpKeys }, { by: 'helena', ...reason });
  };
  const first = await matchAt('100.01');
  const seen = async () => {
    const { text } = await reviewer.get(`/days/${date}`);
    return { text, digest: hiddenIn(text, 'digest') };
  };
  const before = await seen();
  expect(before.text).toContain('Confirmed differences in value, without signs: 1 (0.01)');
  await undoMatch(world.database, first, { by: 'helena', ...reason });
  await matchAt('150');
  const sign = ({ digest }: { digest: string }) =>
    reviewer.post(`/days/${date}/sign-off`, { digest });
  expect((await sign(before)).text).toContain('Look again');
  expect(await boxOf(date)).not.toBe(`${date}:${before.digest}`);
  const after = await seen();
  expect(after.text).toContain('Confirmed differences in value, without signs: 1 (50.00)');
  expect((await sign(after)).status).toBe(303);
});
