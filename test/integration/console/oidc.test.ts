import { expect, onTestFinished, test } from 'vitest';
import { changeUser } from '../../../src/console/access/console-users.sql.ts';
import { openConsole } from '../../support/console-client.ts';
import { forTest } from '../../support/for-tests.ts';
import { auditOf, expectNobody, openCertifiedWorld } from '../../support/oidc-world.ts';
import { worldOfFile } from '../../support/pull-world.ts';

const world = worldOfFile();
/** A separate console for each test, because a console counts the sign-in attempts. */
const oidc = forTest(() => openCertifiedWorld(world.database));

test('an existing user is signed in by the verified address, and returns to the requested page', async () => {
  const { name, account } = await oidc.newPerson();
  const client = oidc.console.visitor();
  client.cookies.set('conciliation', 'planted-by-somebody-else');
  const { answer } = await oidc.signIn(account, client);
  expect([answer.status, answer.location]).toEqual([303, '/audit']);
  expect(client.cookies.get('conciliation')).not.toBe('planted-by-somebody-else');
  expect((await client.get('/audit')).text).toContain(name);
  expect(await auditOf(world.database, name)).toEqual([
    ['user.bind', { issuer: oidc.provider.issuer }],
    ['session.start', { address: '127.0.0.1', session: expect.any(String) }],
  ]);
});

test('the request asks for a code with PKCE, state and nonce, and nothing else of the person', async () => {
  const client = oidc.console.visitor();
  const [first, second] = [await oidc.leave(client), await oidc.leave(client)];
  expect(Object.fromEntries(first.searchParams)).toMatchObject({
    response_type: 'code',
    client_id: 'conciliation',
    redirect_uri: 'http://console.localhost:8080/login/oidc/callback',
    scope: 'openid email',
    code_challenge_method: 'S256',
  });
  for (const name of ['code_challenge', 'state', 'nonce']) {
    expect(first.searchParams.get(name)).toMatch(/^[\w-]{43}$/);
    expect(first.searchParams.get(name)).not.toBe(second.searchParams.get(name));
  }
});

test('after the first sign-in the subject counts, not the address', async () => {
  const { name, account } = await oidc.newPerson();
  await oidc.signIn(account);
  const renamed = { sub: account.sub, email: 'another@example.com', email_verified: false };
  expect((await oidc.signIn(renamed)).answer.status).toBe(303);
  const successor = await oidc.signIn({ ...account, sub: 'somebody-else' });
  expect(successor.answer.status).toBe(403);
  await expectNobody(successor.client);
  // Until an administrator says that the address is another account now.
  await changeUser(world.database, { name, email: account.email ?? '', by: 'test' });
  expect((await oidc.signIn({ ...account, sub: 'somebody-else' })).answer.status).toBe(303);
  expect((await oidc.signIn(account)).answer.status).toBe(403);
});

test('signing out ends the session of the console, and the page says that the account may still be signed in', async () => {
  const { name, account } = await oidc.newPerson();
  const { client } = await oidc.signIn(account);
  const stolen = oidc.console.visitor();
  stolen.cookies.set('conciliation', client.cookies.get('conciliation') ?? '');
  const page = await client.get((await client.post('/logout')).location ?? '');
  expect(page.text).toContain('Your company account may still be signed in.');
  await expectNobody(client);
  expect((await stolen.get('/')).location).toBe('/login?next=%2F');
  expect((await auditOf(world.database, name)).at(-1)).toEqual(['session.end', null]);
});

test('a provider that is not available, before or after, affects no other user and recovers', async () => {
  const { account } = await oidc.newPerson();
  oidc.provider.isDown = true;
  const client = oidc.console.visitor();
  const before = await client.get('/login/oidc');
  expect(before.status).toBe(503);
  expect(before.text).toContain('Sign in with a password of this console');
  expect(before.text).toContain('name="password"');
  oidc.provider.isDown = false;
  const back = await oidc.ask(await oidc.leave(client), account);
  oidc.provider.isDown = true;
  expect((await client.get(back)).status).toBe(401);
  oidc.provider.isDown = false;
  expect((await oidc.signIn(account)).answer.status).toBe(303);
  await oidc.provider.close();
  const gone = await oidc.open();
  onTestFinished(() => gone.close());
  expect((await gone.visitor().get('/login/oidc')).status).toBe(503);
  expect((await gone.visitor().get('/login')).status).toBe(200);
});

test.each([
  ['whose ID tokens have no address', { hasFullTokens: false }],
  ['whose ID tokens have the address', { hasFullTokens: true }],
  ['that takes the secret in a header only', { method: 'client_secret_basic' as const }],
])('a provider %s: only a verified address signs in', async (_, options) => {
  const other = await openCertifiedWorld(world.database, options);
  const { account } = await other.newPerson();
  expect((await other.signIn(account)).answer.status).toBe(303);
  const unverified = { ...(await other.newPerson()).account, email_verified: false };
  expect((await other.signIn(unverified)).answer.status).toBe(403);
  await other.close();
});

test('a provider that verifies every address may be trusted, unless it denies the verification', async () => {
  const trusting = await oidc.open({ assumesVerifiedEmail: true });
  onTestFinished(() => trusting.close());
  const { email_verified: _, ...account } = (await oidc.newPerson()).account;
  const no = await oidc.signIn({ ...account, email_verified: false }, trusting.visitor());
  expect(no.answer.status).toBe(403);
  expect((await oidc.signIn(account, trusting.visitor())).answer.status).toBe(303);
});

test('without a provider there is no button and no way', async () => {
  const plain = await openConsole(world.database);
  onTestFinished(() => plain.close());
  expect((await plain.visitor().get('/login')).text).not.toContain('/login/oidc');
  expect((await plain.visitor().get('/login/oidc')).status).toBe(404);
  expect((await plain.visitor().get('/login/oidc/callback?state=x')).status).toBe(404);
  expect((await oidc.console.visitor().get('/login')).text).toContain('/login/oidc?next=%2F');
});
