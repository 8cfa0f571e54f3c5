/** Signing in with a password: sessions and links, attacks on the page, its forms and keys, and their records in both logs. */
import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { request } from 'node:http';
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { addUser, changeUser, createLink } from '../../../src/console/access/console-users.sql.ts';
import { hashPassword } from '../../../src/console/access/password.ts';
import { countTry, PER_ADDRESS, PER_USER } from '../../../src/console/access/sign-in-check.sql.ts';
import { withClient } from '../../support/client.ts';
import { makeKey, openConsole } from '../../support/console-client.ts';
import { openAnother } from '../../support/database.ts';
import { forTest } from '../../support/for-tests.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { recordingLogger } from '../../support/logger.ts';
import { clientOfFile, worldOfFile } from '../../support/pull-world.ts';
import { PASSWORD, setPassword } from '../../support/second-factor.ts';

const PROXY = '127.0.0.0/8';
const ADDRESS = '192.0.2.1';
const FROM = { 'x-forwarded-for': ADDRESS };

const world = worldOfFile();
const blocker = clientOfFile(() => world.databaseUrl);
beforeAll(async () => {
  for (const name of ['ana', 'disabled', 'fresh']) {
    await addUser(world.database, { name, role: 'viewer', by: 'test' });
  }
  for (const name of ['ana', 'disabled']) await setPassword(world.database, name);
  await changeUser(world.database, { name: 'disabled', isDisabled: true, by: 'test' });
  await changeUser(world.database, { name: 'ana', email: 'ana@example.com', by: 'test' });
  // The minute for which tries count does not pass before the test is over, however long that takes.
  await world.database.pool.query(`
    CREATE FUNCTION public.stop_the_clock() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN NEW.forgotten_at = clock_timestamp() + interval '1 day'; RETURN NEW; END $$;
    CREATE TRIGGER stop_the_clock BEFORE INSERT ON conciliation.sign_in_limit
      FOR EACH ROW EXECUTE FUNCTION public.stop_the_clock()`);
});
let log: ReturnType<typeof recordingLogger>;
/** A separate one for each test, because a console counts the sign-in attempts. */
const console = forTest(() => {
  log = recordingLogger();
  return openConsole(world.database, { logger: log.logger, trustedProxies: [PROXY] });
});
let lastEntry: bigint;
beforeEach(async () => {
  const { _max } = await world.prisma.auditEntry.aggregate({ _max: { id: true } });
  lastEntry = _max.id ?? 0n;
});

let users = 0;
async function newUser(): Promise<string> {
  users += 1;
  const name = `user-${users}`;
  await addUser(world.database, { name, role: 'reviewer', by: 'test' });
  await setPassword(world.database, name);
  return name;
}

const signIn = async (
  name: string,
  password = PASSWORD,
  client = console.visitor(),
  address = ADDRESS,
) => {
  const csrf = await client.csrf('/login');
  const headers = { 'x-forwarded-for': address };
  const form = { name, password, next: '/audit' };
  const answer = await client.post('/login', form, { csrf, headers });
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
  const where = { name: { notIn: ['ana', 'disabled', 'fresh'] } };
  expect(await world.prisma.consoleUser.count({ where })).toBe(users);
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

test('who signs in again ends the session before', async () => {
  const name = await newUser();
  const { client } = await signIn(name);
  const before = withCookie(client.cookies.get('conciliation'));
  expect((await before.get('/')).status).toBe(200);
  const form = { name, password: PASSWORD };
  const answer = await client.post('/login', form, { headers: { 'x-forwarded-for': ADDRESS } });
  expect(answer.status).toBe(303);
  expect((await client.get('/')).status).toBe(200);
  expect((await before.get('/')).location).toBe('/login?next=%2F');
});

test('the cookie is out of reach of scripts and of other sites, and the database has no token', async () => {
  const { client, setCookies } = await signIn(await newUser());
  const cookie = setCookies.find((line) => line.startsWith('conciliation='));
  expect(cookie).toMatch(/HttpOnly/);
  expect(cookie).toMatch(/SameSite=Lax/);
  expect(cookie).toMatch(/Path=\//);
  const rows = await world.prisma.consoleSession.findMany();
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
  await world.prisma.$executeRawUnsafe(`UPDATE conciliation.console_session SET ${change}`);
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
  const data = { linkExpiresAt: new Date() };
  await world.prisma.consoleUser.updateMany({ where: { name }, data });
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
  ['a second factor', "totp_secret = 'JBSWY3DPEHPK3PXP', totp_step = 0"],
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

const events = () =>
  log.log
    .filter((line) => 'event' in line)
    .map(({ event, address, user, method, route }) => [event, address, user, `${method} ${route}`]);

const entries = async () => {
  const where = { id: { gt: lastEntry } };
  const rows = await world.prisma.auditEntry.findMany({ where, orderBy: { id: 'asc' } });
  return rows.map(({ actor, action, details }) => [actor, action, details]);
};

describe('behind a proxy', () => {
  const [ONE, ONE_NAT64] = [ADDRESS, '64:ff9b::c000:201'];
  const [OWN, OTHER] = ['203.0.113.1', '203.0.113.2'];
  test.each<[string, string[], string, string, number]>([
    ['a client that is refused does not keep others out', [PROXY], ONE, ONE, 401],
    ['an address that a client names is none', [PROXY], `${OWN}, ${ONE}`, `${OTHER}, ${ONE}`, 401],
    ['all addresses of one IPv6 network are one', [PROXY], '2001:db8::1', '2001:db8::2', 401],
    ['a client of NAT64 is that of its IPv4 address', [PROXY], ONE, ONE_NAT64, 401],
    ['a proxy that is not trusted says nothing', ['192.0.2.0/24'], OWN, OTHER, 429],
    ['without TRUSTED_PROXIES the header is ignored', [], OWN, OTHER, 429],
  ])('%s', async (_, proxies, address, same, other) => {
    const opened = await openConsole(world.database, { trustedProxies: proxies });
    onTestFinished(() => opened.close());
    const tryName = async (name: string, from: string) =>
      (await signIn(name, '', opened.visitor(), from)).answer.status;
    expect(await tryName('one', address)).toBe(401);
    const data = { tries: PER_ADDRESS.max };
    await world.prisma.signInLimit.updateMany({ data });
    expect(await tryName('two', same)).toBe(429);
    for (const elsewhere of ['198.51.100.7', '64:ff9b::c000:202']) {
      expect(await tryName(`of ${elsewhere}`, elsewhere)).toBe(other);
    }
  });
});

test('a request whose body does not end is ended after ten seconds', async () => {
  const sent = request(`${console.url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': 100 },
  });
  sent.write('name=x');
  const [response] = await once(sent, 'response');
  expect(response.statusCode).toBe(408);
  sent.destroy();
});

describe('a flood of passwords', () => {
  const running = new Set<number>();
  let most = 0;
  let hashes = 0;
  const hook = createHook({
    init(id, type) {
      if (type !== 'SCRYPTREQUEST') return;
      running.add(id);
      most = Math.max(most, running.size);
    },
    before(id) {
      if (running.delete(id)) hashes += 1;
    },
  });
  beforeEach(() => {
    most = 0;
    hashes = 0;
    hook.enable();
  });
  afterEach(() => {
    hook.disable();
  });

  test('hashes one at a time, answers 503 to the surplus, and serves other requests', async () => {
    // No request of the flood waits for a connection.
    const database = openAnother(world.databaseUrl, { maxConnections: 40 });
    const opened = await openConsole(database);
    onTestFinished(() => opened.close());
    const client = opened.visitor();
    const csrf = await client.csrf('/login');
    const send = (name: string) => client.post('/login', { name, password: 'x' }, { csrf });
    await send('first');
    // The tries of the address cannot be counted, so that the flood arrives before the first one goes on.
    await blocker.query('BEGIN; SELECT FROM conciliation.sign_in_limit FOR UPDATE');
    hashes = 0;
    const answered: number[] = [];
    const flood = Array.from({ length: 60 }, async (_, tries) => {
      const answer = await send(`name-${tries}`);
      answered.push(answer.status);
      return answer;
    });
    await expect.poll(() => answered.length).toBe(40);
    expect(new Set(answered)).toEqual(new Set([503]));
    expect((await client.get('/healthz')).status).toBe(200);
    expect(hashes).toBe(0);
    await blocker.query('COMMIT');
    const answers = await Promise.all(flood);
    const refused = answers.filter(({ status }) => status === 503);
    expect(refused).toHaveLength(40);
    expect(new Set(refused.map(({ headers }) => headers['retry-after']))).toEqual(new Set(['5']));
    expect(refused[0]?.text).toContain('Too many people are signing in just now');
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(20);
    expect([most, hashes]).toEqual([1, 20]);
    // A row for each user that was counted: the surplus made no query.
    const users = { tries: 1 };
    expect(await world.prisma.signInLimit.count({ where: users })).toBe(1 + 20);
  });

  test('costs and answers the same for a known user as for an unknown or disabled one, or one without a password', async () => {
    const answers: (readonly [status: number, text: string, hashes: number])[] = [];
    for (const name of ['ana', 'disabled', 'fresh', 'unknown', 'não serve']) {
      const before = hashes;
      const { answer } = await signIn(name, name === 'disabled' ? PASSWORD : 'a wrong password');
      const text = answer.text
        .replaceAll(`value="${name}"`, '')
        .replaceAll(/name="_csrf" value="[^"]*"/g, '');
      answers.push([answer.status, text, hashes - before]);
    }
    expect(answers).toEqual(Array(5).fill([401, answers[0]?.[1], 1]));
  });
});

test('sign-ins are in both logs with the address, and never with the typed text', async () => {
  await signIn('ana', 'typed-password');
  await signIn('typed-into-the-wrong-field');
  await signIn('ana');
  expect(events()).toEqual([
    ['sign_in_failed', ADDRESS, 'ana', 'POST /login'],
    ['sign_in_failed', ADDRESS, null, 'POST /login'],
    ['sign_in_succeeded', ADDRESS, 'ana', 'POST /login'],
  ]);
  expect(await entries()).toEqual([
    ['ana', 'session.refused', { address: ADDRESS }],
    ['visitor', 'session.refused', { address: ADDRESS }],
    ['ana', 'session.start', { address: ADDRESS, session: expect.any(String) }],
  ]);
  const written = JSON.stringify([log.log, await entries()]);
  for (const secret of ['typed', PASSWORD, 'ana@example.com']) {
    expect(written).not.toContain(secret);
  }
});

// The floods below send no password, which would be hashed.

test('a user who has to wait is in both logs, with the user’s name', async () => {
  for (let tries = 0; tries < PER_USER.max; tries += 1) {
    await countTry(world.database, `user ana ${ADDRESS}`, PER_USER);
  }
  expect((await signIn('ana')).answer.status).toBe(429);
  expect(events()).toEqual([['sign_in_limited', ADDRESS, 'ana', 'POST /login']]);
  expect(await entries()).toEqual([['ana', 'session.limited', { address: ADDRESS }]]);
});

test('an attacker gets a few entries of the audit log a minute, and a log line for each try', async () => {
  const client = console.visitor();
  const csrf = await client.csrf('/login');
  const send = (tries: number) =>
    client.post('/login', { name: `name-${tries}`, password: '' }, { csrf, headers: FROM });
  // A process checks twenty sign-ins at a time, and refuses the others without counting them.
  for (const first of [0, 20]) {
    await Promise.all(Array.from({ length: 20 }, (_, index) => send(first + index)));
  }
  expect(events()).toHaveLength(40);
  expect(await entries()).toHaveLength(5);
  expect((await signIn('ana')).answer.status).toBe(429);
  const address = '198.51.100.7';
  await signIn('ana', 'x', console.visitor(), address);
  expect((await entries()).at(-1)).toEqual(['ana', 'session.refused', { address }]);
});

test('a request of another site and one without the token of a form are in the log', async () => {
  const ana = await console.as('viewer', 'ana');
  await ana.post('/logout', {}, { headers: { ...FROM, 'sec-fetch-site': 'cross-site' } });
  await ana.post('/logout', {}, { csrf: null, headers: FROM });
  expect(events()).toEqual([
    ['csrf_refused', ADDRESS, null, 'POST /logout'],
    ['csrf_refused', ADDRESS, 'ana', 'POST /logout'],
  ]);
});

test('refused actions of roles and keys are in the log, and so are invalid keys', async () => {
  const ana = await console.as('viewer', 'ana');
  expect((await ana.get('/users', FROM)).status).toBe(403);
  const key = await makeKey(world.database, 'viewer', ['read']);
  const call = (path: string, bearer: string) =>
    console.visitor().get(path, { ...FROM, authorization: `Bearer ${bearer}` });
  const path = '/api/export?from=2026-03-01&to=2026-03-02&format=csv';
  expect((await call(path, key)).status).toBe(403);
  expect((await call('/api/status', `${key}x`)).status).toBe(401);
  expect(events()).toEqual([
    ['access_refused', ADDRESS, 'ana', 'GET /users'],
    ['access_refused', ADDRESS, expect.stringMatching(/^key \d+$/), 'GET /api/export'],
    ['key_refused', ADDRESS, null, 'GET /api/status'],
  ]);
  expect(JSON.stringify(log.log)).not.toMatch(/conciliation_|name of a person/);
});
