import { expect, test } from 'vitest';
import { forFile, forTest } from '../../support/for-tests.ts';
import { startForgingProvider } from '../../support/forging-provider.ts';
import { expectNobody, openOidcWorld } from '../../support/oidc-world.ts';
import { openPullWorld } from '../../support/pull-world.ts';

const world = forFile(openPullWorld);
const forging = forTest(async () => openOidcWorld(world.database, await startForgingProvider()));

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
  ['another signature', null],
])('an ID token with %s signs no user in', async (_, forged) => {
  const { account } = await forging.newPerson();
  forging.provider.hasForeignKey = forged === null;
  forging.provider.forge = (claims) => JSON.parse(JSON.stringify({ ...claims, ...forged }));
  const { client, answer } = await forging.signIn(account);
  expect([answer.status, answer.text.includes('did not work, or took too long')]).toEqual([
    401,
    true,
  ]);
  await expectNobody(client);
});

test('a provider with another issuer than the configured one signs no user in', async () => {
  const other = await forging.open({
    issuerUrl: new URL(forging.provider.issuer.replace('127.0.0.1', 'localhost')),
  });
  expect((await other.visitor().get('/login/oidc')).status).toBe(503);
  await other.close();
});
