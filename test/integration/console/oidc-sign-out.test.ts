import { expect, test } from 'vitest';
import {
  type ConsoleAnswer,
  type ConsoleClient,
  createClient,
} from '../../support/console-client.ts';
import { forFile, forTest } from '../../support/for-tests.ts';
import { auditOf, expectNobody, openCertifiedWorld } from '../../support/oidc-world.ts';
import { openPullWorld } from '../../support/pull-world.ts';
import { createTestLog } from './console-world.ts';

const world = forFile(openPullWorld);
/** A separate console for each test, because a console counts the sign-in attempts. */
const oidc = forTest(() => openCertifiedWorld(world.database));

const REMAINS = 'Your company account may still be signed in.';

/** Signs out, and follows the redirects of the console. */
async function signOut(client: ConsoleClient): Promise<ConsoleAnswer> {
  let answer = await client.post('/logout');
  while (answer.location !== null) answer = await client.get(answer.location);
  return answer;
}

const refreshOf = ({ headers }: ConsoleAnswer) =>
  new URL(/^0;url=(.+)$/.exec(String(headers['refresh']))?.[1] ?? '');

test('signing out ends the session of the console, then that of the provider, and ends at the sign-in page', async () => {
  const { provider } = oidc;
  const { name, account } = await oidc.newPerson();
  const client = oidc.console.visitor();
  const browser = createClient(provider.issuer);
  const signIn = async () => {
    const back = await provider.visit(await oidc.leave(client), account, browser);
    return client.get(back.pathname + back.search);
  };
  await signIn();
  const session = client.cookies.get('conciliation') ?? '';

  const left = await client.post('/logout');
  expect([left.status, left.location]).toEqual([303, '/logout/oidc']);
  await expectNobody(client);
  const stolen = oidc.console.visitor();
  stolen.cookies.set('conciliation', session);
  expect((await stolen.get('/')).location).toBe('/login?next=%2F');
  expect((await auditOf(world.database, name)).at(-1)).toEqual(['session.end', null]);

  const page = await client.get('/logout/oidc');
  const url = refreshOf(page);
  expect(page.status).toBe(200);
  expect(page.text).toContain('Next, you sign out of your company account.');
  expect(page.headers['content-security-policy']).toContain("form-action 'self';");
  expect([url.origin, Object.fromEntries(url.searchParams)]).toEqual([
    provider.issuer,
    {
      client_id: 'conciliation',
      post_logout_redirect_uri: 'http://console.localhost:8080/login',
    },
  ]);
  const back = await provider.confirmSignOut(url, browser);
  expect(back.href).toBe('http://console.localhost:8080/login');
  expect((await client.get(back.pathname)).text).toContain('/login/oidc?next=');

  // The provider knows the person no more: it asks for the account, and this person says no.
  const again = await provider.visit(await oidc.leave(client), null, browser);
  expect(again.searchParams.get('error')).toBe('access_denied');
  expect((await signIn()).status).toBe(303);
});

test('a provider without a sign-out: the page says that the account may still be signed in', async () => {
  const other = await openCertifiedWorld(world.database, { hasSignOut: false });
  try {
    const { account } = await other.newPerson();
    const { client } = await other.signIn(account);
    expect((await signOut(client)).text).toContain(REMAINS);
    await expectNobody(client);
  } finally {
    await other.close();
  }
});

test('a provider that does not answer keeps no user signed in; the log has the reason', async () => {
  const { logger, lines } = createTestLog();
  const { account } = await oidc.newPerson();
  const { client } = await oidc.signIn(account);
  // A console that has not asked the provider yet.
  const other = await oidc.open({}, { logger });
  try {
    const same = other.visitor();
    same.cookies.set('conciliation', client.cookies.get('conciliation') ?? '');
    oidc.provider.isDown = true;
    expect((await signOut(same)).text).toContain(REMAINS);
    await expectNobody(same);
    expect((await client.get('/')).location).toBe('/login?next=%2F');
    const warned = lines().filter(
      ({ msg }) => msg === 'the sign-out at the identity provider failed',
    );
    expect(warned).toMatchObject([{ fault: 'unavailable' }]);
  } finally {
    await other.close();
  }
});

test('the way to the provider is closed to other sites and to people who are signed in', async () => {
  const { account } = await oidc.newPerson();
  const { client } = await oidc.signIn(account);
  expect((await client.get('/logout/oidc')).location).toBe('/');
  const forged = await client.post('/logout', {}, { headers: { 'sec-fetch-site': 'cross-site' } });
  expect(forged.status).toBe(403);
  expect((await client.get('/audit')).status).toBe(200);
});
