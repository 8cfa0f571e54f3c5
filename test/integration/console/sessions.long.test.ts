import { expect, onTestFinished, test } from 'vitest';
import { addUser, changeUser, createLink } from '../../../src/console/access/console-users.sql.ts';
import { hashPassword } from '../../../src/console/access/password.ts';
import { withClient } from '../../support/client.ts';
import { openConsole } from '../../support/console-client.ts';
import { forFile, forTest } from '../../support/for-tests.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { openPullWorld } from '../../support/pull-world.ts';
import { PASSWORD, setPassword } from '../../support/second-factor.ts';

const world = forFile(openPullWorld);
/** A separate one for each test, because a console counts the sign-in attempts. */
const console = forTest(() => openConsole(world.database));

let users = 0;
async function newUser(): Promise<string> {
  users += 1;
  const name = `user-${users}`;
  await addUser(world.database, { name, role: 'reviewer', by: 'test' });
  await setPassword(world.database, name);
  return name;
}

const signIn = async (name: string, password = PASSWORD, client = console.visitor()) => {
  const csrf = await client.csrf('/login');
  const answer = await client.post('/login', { name, password, next: '/audit' }, { csrf });
  const setCookies = [answer.headers['set-cookie'] ?? []].flat();
  return { client, answer, setCookies };
};

/** Another browser with that cookie of a session. */
const withCookie = (cookie = '') => {
  const client = console.visitor();
  client.cookies.set('conciliation', cookie);
  return client;
};

test('there is no default account', async () => {
  expect(await world.database.prisma.consoleUser.count()).toBe(users);
});

test('a wrong password, an unknown name and a disabled user get the same answer', async () => {
  const [known, disabled] = [await newUser(), await newUser()];
  await changeUser(world.database, { name: disabled, isDisabled: true, by: 'test' });
  const answers = [
    (await signIn(known, 'wrong')).answer,
    (await signIn('nobody')).answer,
    (await signIn(disabled)).answer,
  ];
  const withoutName = answers.map(({ status, text }) => [
    status,
    text.replaceAll(/value="(user-\d+|nobody)"/g, '').replaceAll(/name="_csrf" value="[^"]*"/g, ''),
  ]);
  expect(withoutName[0]?.[0]).toBe(401);
  expect(withoutName[1]).toEqual(withoutName[0]);
  expect(withoutName[2]).toEqual(withoutName[0]);
});

test('passwords are kept as scrypt hashes', async () => {
  expect(await hashPassword(PASSWORD)).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[\w+/]{22}\$[\w+/]{43}$/);
});

test('a session that was planted is not taken over: signing in makes a new one', async () => {
  const name = await newUser();
  const client = withCookie('planted-by-somebody-else');
  const { answer } = await signIn(name, PASSWORD, client);
  expect(answer.status).toBe(303);
  expect(client.cookies.get('conciliation')).not.toBe('planted-by-somebody-else');
  const thief = withCookie('planted-by-somebody-else');
  expect((await thief.get('/')).location).toBe('/login?next=%2F');
});

test('the cookie is out of reach of scripts and of other sites, and the database has no token', async () => {
  const { client, setCookies } = await signIn(await newUser());
  const cookie = setCookies.find((line) => line.startsWith('conciliation='));
  expect(cookie).toMatch(/HttpOnly/);
  expect(cookie).toMatch(/SameSite=Lax/);
  expect(cookie).toMatch(/Path=\//);
  const rows = await world.database.prisma.consoleSession.findMany();
  expect(rows.map(({ tokenHash }) => tokenHash).join()).not.toContain(
    client.cookies.get('conciliation'),
  );
});

test('behind https the cookie is bound to the host and never sent in the clear', async () => {
  const secure = await openConsole(world.database, {
    publicUrl: new URL('https://conciliation.example.com'),
  });
  onTestFinished(() => secure.close());
  const { setCookies } = await signIn(await newUser(), PASSWORD, secure.visitor());
  expect(setCookies.find((line) => line.startsWith('__Host-conciliation='))).toMatch(/Secure/);
});

test.each([
  ['when its time is over', `expires_at = now()`],
  ['when it was left alone for too long', `last_seen_at = now() - interval '3 hours'`],
])('a session ends %s', async (_, change) => {
  const { client } = await signIn(await newUser());
  expect((await client.get('/')).status).toBe(200);
  await world.database.prisma.$executeRawUnsafe(
    `UPDATE conciliation.console_session SET ${change}`,
  );
  expect((await client.get('/')).status).toBe(303);
});

test.each([
  ['https://evil.example/', '/'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['/\t/evil.example', '/'],
  ['/days/2026-03-02?notice=x', '/days/2026-03-02?notice=x'],
])('after signing in %s leads to %s', async (next, location) => {
  const client = console.visitor();
  const name = ` ${(await newUser()).toUpperCase()} `;
  const answer = await client.post('/login', { name, password: PASSWORD, next });
  expect(answer.location).toBe(location);
});

test('a link to choose a password works once, and its password from then on', async () => {
  await addUser(world.database, { name: 'nova', role: 'viewer', by: 'test' });
  const path = `/link/${await createLink(world.database, { name: 'nova', by: 'test' })}`;
  const [client, replay] = [console.visitor(), console.visitor()];
  const choose = (password = PASSWORD, again = password, by = client) =>
    by.post(path, { password, again });
  expect((await client.get(path)).text).toMatch(/<title>Choose a password ·.*nova/s);
  expect((await choose('short')).status).toBe(400);
  expect((await choose(PASSWORD, `${PASSWORD}x`)).status).toBe(400);
  expect(await choose()).toMatchObject({ status: 303, location: '/' });
  expect((await client.get('/')).status).toBe(200);
  expect((await replay.get(path)).status).toBe(404);
  expect((await choose(PASSWORD, PASSWORD, replay)).status).toBe(404);
  expect((await signIn('nova')).answer.status).toBe(303);
});

test('a link works for one of two who use it at once, not after a newer one, and not after its time', async () => {
  const name = await newUser();
  const link = () => createLink(world.database, { name, by: 'test' });
  const client = console.visitor();
  const late = await link();
  await world.database.prisma.consoleLink.updateMany({
    where: { usedAt: null },
    data: { expiresAt: new Date() },
  });
  expect((await client.get(`/link/${late}`)).status).toBe(404);
  const replaced = await link();
  const token = await link();
  expect((await client.get(`/link/${replaced}`)).status).toBe(404);
  const { text } = await client.get(`/link/${token}`, { 'accept-language': 'pt-BR' });
  expect(text).toContain('<title>Escolha uma senha ·');
  const both = await Promise.all(
    [console.visitor(), console.visitor()].map((visitor) =>
      visitor.post(`/link/${token}`, { password: PASSWORD, again: PASSWORD }),
    ),
  );
  expect(both.map(({ status }) => status).sort()).toEqual([303, 404]);
});

test('the language is kept, for visitors too', async () => {
  const client = console.visitor();
  for (const [accepted, word] of [
    ['pt-PT,pt;q=0.9', 'Entrar'],
    ['en;q=0.4, pt-BR;q=0.3', 'Sign in'],
  ] as const) {
    expect((await client.get('/login', { 'accept-language': accepted })).text).toContain(word);
  }
  await client.post('/preferences', { language: 'pt-BR', next: '/login' });
  const page = await client.get('/login', { 'accept-language': 'en' });
  expect(page.text).toContain('<html lang="pt-BR">');
});

test.each([
  ['another password', "password_hash = 'replaced'"],
  ['a second factor', "totp_secret = 'JBSWY3DPEHPK3PXP', totp_step = 0, recovery_hashes = '{}'"],
  ['the end of the user', 'disabled_at = now()'],
])('a sign-in under way is refused after %s was committed', async (_, change) => {
  const name = await newUser();
  await withClient(world.databaseUrl, async (client) => {
    await client.query('BEGIN');
    await client.query(`UPDATE conciliation.console_user SET ${change} WHERE name = $1`, [name]);
    const underWay = signIn(name);
    await lockWaits(world.database);
    await client.query('COMMIT');
    const { client: browser, answer } = await underWay;
    expect([answer.status, answer.location]).toEqual([303, '/login']);
    expect((await browser.get('/audit')).status).toBe(303);
  });
});
