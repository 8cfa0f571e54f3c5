import { expect, test } from 'vitest';
import { changeUser, readUsers } from '../../../src/console/access/console-users.sql.ts';
import { PER_ADDRESS } from '../../../src/console/access/sign-in-check.sql.ts';
import type { ConsoleAnswer, ConsoleClient } from '../../support/console-client.ts';
import { forTest } from '../../support/for-tests.ts';
import {
  type Account,
  auditOf,
  expectNobody,
  openCertifiedWorld,
  PUBLIC_URL,
} from '../../support/oidc-world.ts';
import { worldOfFile } from '../../support/pull-world.ts';

const world = worldOfFile();
/** A separate console for each test, because a console counts the sign-in attempts. */
const oidc = forTest(() => openCertifiedWorld(world.database));

const refused = async (
  answer: ConsoleAnswer,
  client: ConsoleClient,
  sentence: string,
  status = answer.status,
) => {
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(sentence)]);
  await expectNobody(client);
};

test('an account without a user is not signed in; no user is created', async () => {
  const before = await readUsers(world.database);
  const stranger = { sub: 'stranger', email: 'stranger@example.com', email_verified: true };
  const { client, answer } = await oidc.signIn(stranger);
  await refused(answer, client, 'has no user here', 403);
  expect(await readUsers(world.database)).toEqual(before);
  expect((await auditOf(world.database, 'identity provider')).at(-1)).toEqual([
    'session.refused_account',
    { reason: 'unknown', address: '127.0.0.1' },
  ]);
});

test('an account whose address is not said to be verified is not signed in', async () => {
  const { email_verified: _, ...account } = (await oidc.newPerson()).account;
  const { client, answer } = await oidc.signIn(account);
  await refused(answer, client, 'no verified e-mail address', 403);
});

test('a disabled user is not signed in, linked or not', async () => {
  const [untied, tied] = [await oidc.newPerson(), await oidc.newPerson()];
  await oidc.signIn(tied.account);
  for (const { name, account } of [untied, tied]) {
    await changeUser(world.database, { name, isDisabled: true, by: 'test' });
    const { client, answer } = await oidc.signIn(account);
    await refused(answer, client, 'is disabled', 403);
    expect((await auditOf(world.database, name)).at(-1)).toEqual([
      'session.refused_account',
      { reason: 'disabled', address: '127.0.0.1' },
    ]);
  }
});

test('a user who refuses at the provider is not signed in', async () => {
  const { client, answer } = await oidc.signIn(null);
  await refused(answer, client, 'was cancelled', 401);
});

const FAILED = 'did not work, or took too long';

/** Where the provider sends the browser of a person. */
const answerTo = async (client: ConsoleClient, account: Account) =>
  new URL(await oidc.ask(await oidc.leave(client), account), PUBLIC_URL);

test.each([
  ['another state', (back: URL) => back.searchParams.set('state', 'made-up')],
  ['no state', (back: URL) => back.searchParams.delete('state')],
  ['a code that was made up', (back: URL) => back.searchParams.set('code', 'made-up')],
  ['two states', (back: URL) => back.searchParams.append('state', 'second')],
  ['another issuer', (back: URL) => back.searchParams.set('iss', 'https://evil.example')],
  ['no issuer', (back: URL) => back.searchParams.delete('iss')],
])('an answer with %s signs no user in', async (_, change) => {
  const { account } = await oidc.newPerson();
  const client = oidc.console.visitor();
  const back = await answerTo(client, account);
  change(back);
  await refused(await client.get(back.pathname + back.search), client, FAILED, 401);
});

test('an answer to another browser signs no user in, and stays valid for its owner', async () => {
  const { account } = await oidc.newPerson();
  const owner = oidc.console.visitor();
  const back = await oidc.ask(await oidc.leave(owner), account);
  const thief = oidc.console.visitor();
  await thief.get('/login');
  await refused(await thief.get(back), thief, FAILED);
  expect((await owner.get(back)).status).toBe(303);
});

test('a used answer signs no user in', async () => {
  const { account } = await oidc.newPerson();
  const client = oidc.console.visitor();
  const { back, answer } = await oidc.signIn(account, client);
  expect(answer.status).toBe(303);
  client.cookies.delete('conciliation');
  const replay = client;
  await refused(await replay.get(back), replay, FAILED);
  // With a matching state the console asks the provider, which refuses the code.
  const code = new URL(back, PUBLIC_URL).searchParams.get('code') ?? '';
  const again = await answerTo(replay, account);
  again.searchParams.set('code', code);
  await refused(await replay.get(again.pathname + again.search), replay, FAILED);
  expect(oidc.provider.refusals).toEqual([expect.stringMatching(/^invalid_grant: /)]);
});

test('a request without PKCE signs no user in', async () => {
  const { account } = await oidc.newPerson();
  const client = oidc.console.visitor();
  const url = await oidc.leave(client);
  url.searchParams.delete('code_challenge');
  await refused(await client.get(await oidc.ask(url, account)), client, FAILED);
});

test('a code of another request, with another verifier, signs no user in', async () => {
  const { account } = await oidc.newPerson();
  const client = oidc.console.visitor();
  const [victim, mixed] = [await answerTo(client, account), await answerTo(client, account)];
  mixed.searchParams.set('code', victim.searchParams.get('code') ?? '');
  await refused(await client.get(mixed.pathname + mixed.search), client, FAILED);
  expect(oidc.provider.refusals).toEqual([
    'invalid_grant: code_verifier does not match code_challenge',
  ]);
});

test('a client with too many tries has to wait', async () => {
  const { account } = await oidc.newPerson();
  expect((await oidc.signIn(account)).answer.status).toBe(303);
  // As many as are allowed in a minute, which does not pass meanwhile.
  const forgottenAt = new Date(Date.now() + 86_400_000);
  const data = { tries: PER_ADDRESS.max, forgottenAt };
  await world.prisma.signInLimit.updateMany({ data });
  expect((await oidc.signIn(account)).answer.status).toBe(429);
});

test('an unknown answer does not use up the tries, and a link of another site signs in', async () => {
  const client = oidc.console.visitor();
  expect((await client.get('/login/oidc/callback?state=x')).status).toBe(401);
  expect(await world.prisma.signInLimit.count()).toBe(0);
  const headers = { 'sec-fetch-site': 'cross-site' };
  expect((await client.get('/login/oidc', headers)).status).toBe(303);
});

test.each([
  ['another nonce', { nonce: 'made-up' }],
  ['another issuer', { iss: 'https://evil.example' }],
  ['another audience', { aud: 'another-client' }],
  ['an audience it shares with another client', { aud: ['conciliation', 'x'], azp: 'x' }],
  ['an end in the past', { exp: Math.floor(Date.now() / 1000) - 120 }],
  ['another signature', null],
])('an ID token with %s signs no user in', async (_, forged) => {
  const { account } = await oidc.newPerson();
  oidc.provider.forge = (claims) => claims;
  expect((await oidc.signIn(account)).answer.status).toBe(303);
  oidc.provider.hasForeignKey = forged === null;
  oidc.provider.forge = (claims) => JSON.parse(JSON.stringify({ ...claims, ...forged }));
  const { client, answer } = await oidc.signIn(account);
  await refused(answer, client, FAILED, 401);
  expect(oidc.provider.refusals).toEqual([]);
});

test('a provider with another issuer than the configured one signs no user in', async () => {
  const other = await oidc.open({
    issuerUrl: new URL(oidc.provider.issuer.replace('127.0.0.1', 'localhost')),
  });
  expect((await other.visitor().get('/login/oidc')).status).toBe(503);
  await other.close();
});
