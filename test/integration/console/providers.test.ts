/** Finance finds one supplier: whether it was sent, what was answered, its titles and its accounts. */
import { beforeAll, expect, test } from 'vitest';
import type { Prisma } from '../../../src/generated/prisma/client.ts';
import { lastAudit, pagesForFile } from '../../support/pages-world.ts';
import { cpfOf, providerOf, writeProviders } from '../../support/provider-rows.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText, titleTexts } from '../../support/titles.ts';

const SENT_AT = new Date('2026-03-05T15:04:00Z');

const { world, viewer, reviewer, operator } = pagesForFile();
beforeAll(async () => {
  const { database } = world;
  await writeProviders(database, [
    ...Array.from({ length: 120 }, (_, index) => providerOf(index)),
    providerOf(500, { externalId: 'P-1', name: 'Aço São José Ltda' }),
    providerOf(501, { externalId: 'a/b?c&d', name: '<b>Hostile</b>' }),
    providerOf(502, { externalId: 'NEVER', name: 'Nunca Enviado' }),
    providerOf(503, { externalId: 'REFUSED', name: 'Recusado' }),
  ]);
  await database.prisma.providerBatch.createMany({
    data: [
      { externalIds: ['P-1'], httpStatus: 503, errorCode: 'X', finishedAt: SENT_AT },
      { externalIds: ['F000001', 'P-1'], httpStatus: 200, createdAt: SENT_AT, finishedAt: SENT_AT },
      { externalIds: ['REFUSED'], httpStatus: 400, createdAt: SENT_AT, finishedAt: SENT_AT },
      { externalIds: ['F000002'], createdAt: SENT_AT },
    ],
  });
  const outcome = (externalId: string, data: Prisma.ProviderUpdateInput) =>
    database.prisma.provider.update({ where: { externalId }, data });
  await outcome('P-1', { syncState: 'synced', syncedAt: new Date('2026-03-05T15:05:00Z') });
  await outcome('REFUSED', { syncState: 'rejected', lastError: 'CANARY-REFUSAL' });
  // Thirty titles of P-1, the last one with another account of the provider and of the agent.
  for (const index of [0, 1]) {
    const date = daysFrom(index, DAY);
    const accounts = { account: '9999977', agentAccount: '8888866', name: 'Agente Araújo' };
    const last = titleText({ uid: 'last', date, value: '10.01', ...(index === 1 && accounts) });
    await world.serve(date, [...titleTexts(14, { date, value: '10.01' }), last]);
  }
});

const codes = (text: string) =>
  [...text.matchAll(/href="\/provider\?id=([^"]+)"/g)].map((match) =>
    decodeURIComponent((match[1] ?? '').replaceAll('+', ' ')),
  );
/** Fills the search form in and follows where it leads. */
async function search(q: string, state = '') {
  const answer = await viewer.post('/providers', { q, state });
  return answer.location === null ? answer : viewer.get(answer.location);
}

test('a provider is found by code, name without case or accents, and whole tax identifier', async () => {
  expect(codes((await search('ACO sao')).text)).toEqual(['P-1']);
  expect(codes((await search('f00000')).text)).toHaveLength(10);
  const taxId = cpfOf(500);
  const masked = taxId.replace(/(\d{3})(\d{3})(\d{3})(\d{2})/, '$1.$2.$3-$4');
  for (const written of [taxId, masked]) {
    const answer = await viewer.post('/providers', { q: written, state: '' });
    // Not a redirect: the identifier is in no address.
    expect([answer.status, answer.location]).toEqual([200, null]);
    expect(codes(answer.text)).toEqual(['P-1']);
  }
  // A search by a part would reveal an identifier digit by digit to a reader without the right to see identifiers.
  expect(codes((await search(taxId.slice(0, 9))).text)).toEqual([]);
  expect((await search('nobody')).text).toContain('No provider matches.');
  const refused = (await search('', 'rejected')).text;
  expect(codes(refused)).toEqual(['REFUSED']);
  for (const tab of ['All (124)', 'Synced (1)', 'Rejected (1)']) expect(refused).toContain(tab);
});

test('the page of a provider has the request, the answer and the number of titles, masked', async () => {
  const { text } = await viewer.get('/provider?id=P-1');
  expect(text).toContain('<a href="/titles?providerId=P-1">30 titles · 300.30</a>');
  const changes = '/account-changes?state=all&amp;providerKey=P-1';
  expect(text).toContain(`<a href="${changes}">Bank accounts that changed</a>: 1`);
  const changed = await viewer.get(changes.replace('&amp;', '&'));
  expect(changed.text).toContain('1 to 1 of 1');
  const list = await viewer.get('/titles?providerId=P-1');
  expect(list.text).toMatch(/<tfoot>.*>300\.30<.*1 to 30 of 30/s);
  for (const secret of [cpfOf(500), '7654321', '9999977', '91234-5678', 'canary@example.com']) {
    expect(text, secret).not.toContain(secret);
  }
  const shown = await reviewer.post('/provider?id=P-1');
  for (const value of [cpfOf(500), '7654321-0', 'canary@example.com']) {
    expect(shown.text, value).toContain(value);
  }
  const entry = await lastAudit(world);
  expect(entry).toMatchObject({ actor: 'rita', action: 'provider.reveal' });
  // The log is never erased, so it has a fingerprint and not the key.
  expect(JSON.stringify(entry?.details)).not.toContain('P-1');
  const { provider: fingerprint } = Object(entry?.details) as { provider: string };
  expect(fingerprint).toMatch(/^[0-9a-f]{16}$/);
  expect(text).toContain(fingerprint);
  expect((await viewer.get('/audit')).text).toContain(fingerprint);
});

test('the refusal of the platform is shown on the record alone', async () => {
  const { text } = await viewer.get('/provider?id=REFUSED');
  expect(text).not.toContain('CANARY-REFUSAL');
  expect((await operator.post('/provider?id=REFUSED')).text).toContain('CANARY-REFUSAL');
});

test('a code may hold any character, and an unknown one has no page', async () => {
  const { text } = await search('a/b?c&d');
  expect(codes(text)).toEqual(['a/b?c&d']);
  const href = /href="(\/provider\?id=[^"]+)"/.exec(text)?.[1] ?? '';
  const page = await viewer.get(href);
  expect(page.status).toBe(200);
  expect(page.text).toContain('&lt;b>Hostile&lt;/b>');
  const unknown = ['', '?id=', '?id=unknown', '?id=a&id=b', '?id=%00', `?id=${'x'.repeat(2000)}`];
  for (const id of unknown) {
    expect((await viewer.get(`/provider${id}`)).status, id.slice(0, 20)).toBe(404);
  }
});

test('the API has the suppliers and the changes of accounts, masked', async () => {
  const open = await viewer.get('/api/account-changes');
  expect(open.json()).toMatchObject({ total: 2 });
  const all = await viewer.get('/api/providers?limit=500');
  expect(all.json().rows).toHaveLength(124);
  const sent = { externalId: 'P-1', httpStatus: 200, isUnderWay: false };
  expect(all.json().rows).toContainEqual(expect.objectContaining(sent));
  for (const { text } of [open, all]) {
    expect(text).not.toMatch(/7654321|9999977|8888866|1234567|52998224725|CANARY-REFUSAL/);
    for (const index of [500, 503]) expect(text).not.toContain(cpfOf(index));
  }
});

test('changed accounts have the names of their parties, and identifiers on the record alone', async () => {
  const open = await viewer.get('/account-changes');
  expect(open.text).toContain('Agente Araújo');
  expect(open.text).toContain('Aço São José Ltda');
  expect(open.text).toContain('1 to 2 of 2');
  for (const secret of ['11222333000181', '9999977', '8888866']) {
    expect(open.text, secret).not.toContain(secret);
  }
  const shown = await reviewer.post('/account-changes');
  expect(shown.text).toContain('11222333000181');
  expect(shown.text).toContain('9999977-0');
  expect(await lastAudit(world)).toMatchObject({ action: 'account_change.reveal' });
});
