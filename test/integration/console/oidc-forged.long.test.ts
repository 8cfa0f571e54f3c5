import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ConsoleAnswer, ConsoleClient } from '../../support/console-client.ts';
import { type ForgingProvider, startForgingProvider } from '../../support/forging-provider.ts';
import { expectNobody, type OidcWorld, openOidcWorld } from '../../support/oidc-world.ts';
import { openPullWorld, type PullWorld } from '../../support/pull-world.ts';

let world: PullWorld;
let forging: OidcWorld<ForgingProvider>;
beforeAll(async () => {
  world = await openPullWorld();
});
beforeEach(async () => {
  // A separate console, because a console counts the sign-in attempts.
  forging = await openOidcWorld(world.database, await startForgingProvider());
});
afterEach(() => forging.close());
afterAll(() => world.close());

const FAILED = 'did not work, or took too long';
const refused = async (answer: ConsoleAnswer, client: ConsoleClient, sentence: string) => {
  expect(answer.text).toContain(sentence);
  await expectNobody(client);
};

test('an ID token that is as it should be signs the user in', async () => {
  const { account } = await forging.newPerson();
  const { answer } = await forging.signIn(account);
  expect([answer.status, answer.location]).toEqual([303, '/audit']);
});

test.each([
  ['another nonce', { nonce: 'made-up' }],
  ['no nonce', { nonce: undefined }],
  ['another issuer', { iss: 'https://evil.example' }],
  ['another audience', { aud: 'another-client' }],
  [
    'an audience it shares with a client that is not ours',
    { aud: ['conciliation', 'x'], azp: 'x' },
  ],
  ['an end in the past', { exp: Math.floor(Date.now() / 1000) - 120 }],
  ['no end', { exp: undefined }],
  ['no subject', { sub: undefined }],
])('an ID token with %s signs no user in', async (_, forged) => {
  const { account } = await forging.newPerson();
  forging.provider.forge = (claims) =>
    Object.fromEntries(
      Object.entries({ ...claims, ...forged }).filter(([, value]) => value !== undefined),
    );
  const { client, answer } = await forging.signIn(account);
  expect(answer.status).toBe(401);
  await refused(answer, client, FAILED);
});

test('an ID token with another signature signs no user in', async () => {
  const { account } = await forging.newPerson();
  forging.provider.hasForeignKey = true;
  const { client, answer } = await forging.signIn(account);
  await refused(answer, client, FAILED);
});

test('a provider with another issuer than the configured one signs no user in', async () => {
  const other = await forging.open({
    issuerUrl: new URL(forging.provider.issuer.replace('127.0.0.1', 'localhost')),
  });
  try {
    const client = other.visitor();
    const answer = await client.get('/login/oidc');
    expect(answer.status).toBe(503);
  } finally {
    await other.close();
  }
});
