/** The page of the user's own account: the password, the sessions and the second factor, and attacks on them. */
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startService } from '../../../src/app/service.ts';
import { readConfig } from '../../../src/base/config/config.ts';
import { createLink } from '../../../src/console/access/console-users.sql.ts';
import { knownAccess } from '../../../src/console/shell/route-access.ts';
import { environmentOf } from '../../support/child-command.ts';
import { withClient } from '../../support/client.ts';
import {
  type ConsoleAnswer,
  type ConsoleClient,
  createClient,
  makeKey,
  openConsole,
} from '../../support/console-client.ts';
import { forFile } from '../../support/for-tests.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { recordingLogger } from '../../support/logger.ts';
import { openCertifiedWorld } from '../../support/oidc-world.ts';
import { lastAudit } from '../../support/pages-world.ts';
import { DAY, worldOfFile } from '../../support/pull-world.ts';
import { codeOf, PASSWORD, setFactor, setPassword } from '../../support/second-factor.ts';

const ACCOUNT = '/account';
const FACTOR = '/account/second-factor';
const NEW = 'outra frase bem diferente';

const world = worldOfFile();
const log = recordingLogger();
const options = { logger: log.logger, trustedProxies: ['127.0.0.0/8'] };
const console = forFile(() => openConsole(world.database, options));
/** A console that requires a second factor, over the same database. */
const strict = forFile(() =>
  openConsole(world.database, { ...options, requiresSecondFactor: true }),
);

let count = 0;
let name = '';
let from: { headers: { 'x-forwarded-for': string } };
const addressOf = () => from.headers['x-forwarded-for'];
/** Signed in, with a password and without a second factor. */
let ana: ConsoleClient;
/** A separate user and address for each test, because attempts are limited. */
beforeEach(async () => {
  count += 1;
  name = `ana-${count}`;
  from = { headers: { 'x-forwarded-for': `192.0.2.${count}` } };
  ana = await console.as('viewer', name);
  await setPassword(world.database, name);
});

const rowOf = () => world.prisma.consoleUser.findUniqueOrThrow({ where: { name } });
const change = (fields: Record<string, string> = {}) =>
  ana.post(
    '/account/password',
    { password: PASSWORD, newPassword: NEW, again: NEW, ...fields },
    from,
  );
const secretIn = ({ text }: ConsoleAnswer) =>
  /name="secret" value="([A-Z2-7]{32})"/.exec(text)?.[1];
const enrol = async (client: ConsoleClient, fields: Record<string, string> = {}) => {
  const secret = secretIn(await client.get(ACCOUNT)) ?? '';
  const form = { secret, code: codeOf(secret), password: PASSWORD, ...fields };
  return { secret, answer: await client.post(FACTOR, form, from) };
};
const login = (fields: Record<string, string>, client = console.visitor()) =>
  client.post('/login', { name, password: PASSWORD, ...fields }, from);
const loginStatus = async (fields: Record<string, string> = {}) => (await login(fields)).status;
const linkOf = async () => `/link/${await createLink(world.database, { name, by: 'test' })}`;
const sessionOf = (client: ConsoleClient) => client.cookies.get('conciliation') ?? '';
/** A browser with that cookie of a session. */
const withCookie = (cookie: string, client = console.visitor()) => {
  client.cookies.set('conciliation', cookie);
  return client;
};
const events = () => log.log.filter(({ user }) => user === name).map(({ event }) => event);

describe('a user who changes their own password', () => {
  test('keeps this session under another token, and no other session', async () => {
    const other = await console.as('viewer', name);
    const before = sessionOf(ana);
    const notice = '/account?notice=password_changed';
    expect(await change()).toMatchObject({ status: 303, location: notice });
    const after = sessionOf(ana);
    expect(after).toMatch(/^[\w-]{43}$/);
    expect(after).not.toBe(before);
    expect((await ana.get('/account')).status).toBe(200);
    expect((await other.get('/account')).location).toContain('/login');
    expect((await withCookie(before).get('/account')).location).toContain('/login');
    expect([await loginStatus(), await loginStatus({ password: NEW })]).toEqual([401, 303]);
    const audited = { actor: name, action: 'user.own_password' };
    expect(await world.prisma.auditEntry.count({ where: audited })).toBe(1);
    const logged = { event: 'password_changed', user: name, address: addressOf() };
    expect(log.log).toContainEqual(expect.objectContaining(logged));
  });

  test('has to know the present one', async () => {
    const { passwordHash } = await rowOf();
    for (const password of ['', 'wrong', NEW]) {
      const answer = await change({ password });
      expect(answer.status).toBe(401);
      expect(answer.text).toContain('The password or the code is wrong');
    }
    expect((await rowOf()).passwordHash).toBe(passwordHash);
  });

  test('waits after wrong passwords, as on the sign-in page', async () => {
    const { passwordHash } = await rowOf();
    const csrf = await ana.csrf();
    const fields = { password: 'wrong', newPassword: NEW, again: NEW };
    const answers = await Promise.all(
      Array.from({ length: 12 }, () =>
        ana.post('/account/password', fields, { csrf, headers: from.headers }),
      ),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(1);
    expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThan(0);
    expect((await rowOf()).passwordHash).toBe(passwordHash);
  });

  test('voids unused links', async () => {
    const path = await linkOf();
    expect((await change()).status).toBe(303);
    expect((await console.visitor().get(path)).status).toBe(404);
  });
});

describe('a form whose password was right is refused', () => {
  const ALL = ['/account/password', FACTOR, `${FACTOR}/remove`];
  const update = (set: string) => `UPDATE conciliation.console_user SET ${set} WHERE name = $1`;
  const SET_FACTOR = update(`totp_secret = 'JBSWY3DPEHPK3PXP', totp_step = 0`);
  const changes = [
    ['a second factor', SET_FACTOR],
    ['another password', update(`password_hash = 'replaced'`)],
    [
      'the end of the session',
      `WITH owner AS (SELECT id FROM conciliation.console_user WHERE name = $1 FOR UPDATE)
       DELETE FROM conciliation.console_session USING owner WHERE user_id = owner.id`,
    ],
  ] as const;

  test.each(ALL.flatMap((path) => changes.map(([what, sql]) => [path, what, sql] as const)))(
    '%s, after %s was committed',
    async (path, _, sql) => {
      const needsFactor = path.endsWith('remove') && sql !== SET_FACTOR;
      const present = needsFactor ? await setFactor(world.database, name) : null;
      const offered = secretIn(await ana.get(ACCOUNT));
      const secret = present ?? (path === FACTOR ? offered : undefined);
      const proof = secret !== undefined && { secret, code: codeOf(secret) };
      const fields = { password: PASSWORD, newPassword: NEW, again: NEW, ...proof };
      const csrf = await ana.csrf();
      await withClient(world.databaseUrl, async (client) => {
        const CREDENTIALS = `SELECT password_hash, totp_secret
                             FROM conciliation.console_user WHERE name = $1`;
        const credentials = async () => (await client.query(CREDENTIALS, [name])).rows;
        await client.query('BEGIN');
        await client.query(sql, [name]);
        const committed = await credentials();
        const underWay = ana.post(path, fields, { csrf, headers: from.headers });
        await lockWaits(world.database);
        await client.query('COMMIT');
        const answer = await underWay;
        expect([answer.status, answer.location]).toEqual([303, ACCOUNT]);
        expect(await credentials()).toEqual(committed);
      });
    },
  );
});

describe('a password that is easy to guess is refused', () => {
  test.each([
    'password1234',
    'Password1234',
    '123456789012',
    'qwertyuiop12',
    'aaaaaaaaaaaa',
    'conciliacao2026',
    'ERP-Conciliação!',
    // Made of the address.
    ...['xavantina1234', 'zuleika-xavantina', 'quixeramobim2026'],
  ])('%s', async (text) => {
    const email = `xavantina.zuleika.${count}@quixeramobim.example`;
    await world.prisma.consoleUser.update({ where: { name }, data: { email } });
    const { passwordHash } = await rowOf();
    const answer = await change({ newPassword: text, again: text });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('This password is easy to guess');
    expect((await rowOf()).passwordHash).toBe(passwordHash);
  });
});

test('users end their other sessions', async () => {
  const browser = console.visitor();
  await login({}, browser);
  const other = await console.as('viewer', 'another-user');
  expect((await ana.post('/account/sessions/end')).location).toBe('/account?notice=sessions_ended');
  expect((await browser.get('/account')).location).toContain('/login');
  expect((await ana.get('/account')).status).toBe(200);
  expect((await other.get('/account')).status).toBe(200);
});

describe('a user who sets up a second factor', () => {
  test('confirms it with a code and the password, and gets a new token', async () => {
    const other = await console.as('viewer', name);
    const before = sessionOf(ana);
    const page = await ana.get(ACCOUNT);
    const secret = secretIn(page) ?? '';
    expect(page.text).toContain(`otpauth://totp/Conciliation:${name}?`);
    expect(page.text).toMatch(/<img class="qr" src="data:image\/svg\+xml,[^"]{1000,}" alt="[^"]+"/);
    expect((await rowOf()).totpSecret).toBeNull();
    const { answer } = await enrol(ana);
    expect(answer.location).toBe('/account?notice=factor_set');
    const row = await rowOf();
    expect(row.totpSecret).toMatch(/^[A-Z2-7]{32}$/);
    expect(row.totpSecret).not.toBe(secret);
    expect(sessionOf(ana)).not.toBe(before);
    expect((await ana.get('/account')).text).toContain('Remove the second factor');
    expect((await other.get('/account')).location).toContain('/login');
    expect(events()).toContain('second_factor_set');
    const entry = await lastAudit(world, { actor: name, action: 'user.second_factor' });
    expect(entry?.details).toEqual({ secondFactor: 'set', session: expect.any(String) });
  });

  test('without the password or without a right code has none', async () => {
    const wrongPassword = await enrol(ana, { password: 'wrong' });
    expect(wrongPassword.answer.status).toBe(401);
    // The person need not scan the picture again.
    expect(secretIn(wrongPassword.answer)).toBe(wrongPassword.secret);
    const wrongCode = await enrol(ana, { code: '000000' });
    expect(wrongCode.answer.status).toBe(400);
    expect(secretIn(wrongCode.answer)).toBe(wrongCode.secret);
    expect((await rowOf()).totpSecret).toBeNull();
  });

  test('does so with a secret that a thief of the cookie has not seen', async () => {
    const thief = withCookie(sessionOf(ana));
    const seen = secretIn(await thief.get(ACCOUNT)) ?? '';
    const own = secretIn(await ana.get(ACCOUNT)) ?? '';
    expect(own).not.toBe(seen);
    // Nor does the answer to a form with another secret show the user's.
    const probe = await thief.post(FACTOR, { secret: seen, code: '1', password: 'wrong' }, from);
    expect(probe.text).not.toContain(own);
    expect((await rowOf()).totpSecret).toBeNull();
  });

  test('does not replace the present one', async () => {
    const secret = await setFactor(world.database, name);
    const { answer } = await enrol(ana, { secret: 'A'.repeat(32), code: codeOf('A'.repeat(32)) });
    expect(answer.location).toBe('/account');
    expect((await rowOf()).totpSecret).toBe(secret);
  });
});

let secret = '';
const giveFactor = async () => {
  secret = await setFactor(world.database, name);
};

describe('signing in with a second factor', () => {
  beforeEach(giveFactor);

  test('needs the password and the code, and the answer does not say which was wrong', async () => {
    const answers: ConsoleAnswer[] = [];
    for (const fields of [
      { password: 'wrong', code: '' },
      { password: 'wrong', code: codeOf(secret) },
      { code: '' },
    ]) {
      const client = console.visitor();
      answers.push(await login(fields, client));
      expect(client.cookies.has('conciliation')).toBe(false);
    }
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
    const texts = answers.map(({ text }) => text.replaceAll(/value="[\w-]{43}"/g, ''));
    expect(new Set(texts).size).toBe(1);
    const client = console.visitor();
    expect((await login({ code: codeOf(secret) }, client)).location).toBe('/');
    expect((await client.get('/account')).status).toBe(200);
  });

  test('takes a code once, and no older one after it', async () => {
    const [older, code] = [codeOf(secret), codeOf(secret, 1)];
    expect(await loginStatus({ code })).toBe(303);
    expect(await loginStatus({ code })).toBe(401);
    expect(await loginStatus({ code: older })).toBe(401);
  });

  test('takes a code once, also from two consoles at the same time', async () => {
    const code = codeOf(secret);
    const clients = [console, strict, console, strict].map((one) => one.visitor());
    const tokens = await Promise.all(clients.map((client) => client.csrf('/login')));
    const form = { name, password: PASSWORD, code };
    const answers = await Promise.all(
      clients.map((client, index) =>
        client.post('/login', form, { csrf: tokens[index] ?? '', ...from }),
      ),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
  });

  test('is not left out by a link', async () => {
    const client = console.visitor();
    const answer = await client.post(await linkOf(), { password: NEW, again: NEW }, from);
    expect(answer.location).toBe('/login?notice=password_saved');
    expect(client.cookies.has('conciliation')).toBe(false);
    expect(await loginStatus({ password: NEW })).toBe(401);
    expect(await loginStatus({ password: NEW, code: codeOf(secret) })).toBe(303);
  });
});

describe('a user with a second factor', () => {
  beforeEach(giveFactor);

  test('removes it with password and code only', async () => {
    const path = `${FACTOR}/remove`;
    for (const fields of [{ password: PASSWORD }, { password: 'wrong', code: codeOf(secret) }]) {
      expect((await ana.post(path, fields, from)).status).toBe(401);
    }
    expect((await rowOf()).totpSecret).toBe(secret);
    const fields = { password: PASSWORD, code: codeOf(secret) };
    expect((await ana.post(path, fields, from)).location).toBe('/account?notice=factor_removed');
    expect(await rowOf()).toMatchObject({ totpSecret: null, totpStep: null });
    expect(await loginStatus({ code: '' })).toBe(303);
    expect(events()).toContain('second_factor_removed');
  });

  test('a user who lost it is let in by an administrator', async () => {
    const path = `/users/${name}/reset-second-factor`;
    const alma = await console.as('admin', 'alma');
    expect((await alma.get('/users')).text).toContain(path);
    expect((await alma.post(path)).location).toBe('/users?notice=user_changed');
    expect((await rowOf()).totpSecret).toBeNull();
    expect((await ana.get('/account')).location).toContain('/login');
    expect(await loginStatus({ password: 'wrong' })).toBe(401);
    expect(await loginStatus()).toBe(303);
    const entry = await lastAudit(world, { actor: 'alma', action: 'user.change' });
    expect(entry?.details).toMatchObject({ user: name, secondFactor: 'reset' });
    expect(events()).toContain('second_factor_reset');
    expect((await alma.post(path)).text).toContain('That user has no second factor.');
    // A stolen session of an administrator does not remove the administrator's own.
    await setFactor(world.database, 'alma');
    const own = await alma.post('/users/alma/reset-second-factor');
    expect(own.status).toBe(400);
    expect(own.text).toContain('You remove your own second factor');
  });
});

describe('where a second factor is required', () => {
  const pathOf = (route: string) =>
    route
      .split(' ')[1]
      ?.replace(':date', '2026-03-02')
      .replace(/:(id|name|token)/, '1')
      .replace(':file', 'x') ?? '';

  test('a user without one can set one up and sign out, and nothing else', async () => {
    const client = strict.visitor();
    expect((await login({}, client)).location).toBe('/');
    const csrf = await client.csrf(ACCOUNT);
    const allowed: string[] = [];
    for (const [route, { who }] of Object.entries(knownAccess())) {
      if (typeof who === 'string' || route === 'POST /logout') continue;
      const [method] = route.split(' ');
      const answer =
        method === 'GET'
          ? await client.get(pathOf(route))
          : await client.post(pathOf(route), {}, { csrf, ...from });
      if (answer.location === ACCOUNT) continue;
      if (answer.status === 403 && pathOf(route).startsWith('/api/')) {
        expect(answer.json()).toMatchObject({ code: 'SECOND_FACTOR_REQUIRED' });
        continue;
      }
      allowed.push(route);
    }
    expect(allowed).toEqual([`GET ${ACCOUNT}`, `POST ${FACTOR}`]);
    const page = await client.get(ACCOUNT);
    expect(page.text).toContain('This console requires a second factor');
    expect(page.text).not.toContain('href="/alerts"');
    const secret = secretIn(page) ?? '';
    const form = { secret, code: codeOf(secret), password: PASSWORD };
    const { location } = await client.post(FACTOR, form, { csrf, ...from });
    expect(location).toBe('/account?notice=factor_set');
    expect((await client.get('/alerts')).status).toBe(200);
  });

  test('a session from before, and one of a link, are bound too', async () => {
    const before = withCookie(sessionOf(ana), strict.visitor());
    expect((await before.get('/alerts')).location).toBe(ACCOUNT);
    const client = strict.visitor();
    const chosen = await client.post(await linkOf(), { password: NEW, again: NEW }, from);
    expect(chosen.location).toBe('/');
    expect((await client.get('/alerts')).location).toBe(ACCOUNT);
  });

  test('company accounts are exempt', async () => {
    const oidc = await openCertifiedWorld(world.database);
    onTestFinished(() => oidc.close());
    const other = await oidc.open({}, { requiresSecondFactor: true });
    onTestFinished(() => other.close());
    const { account } = await oidc.newPerson();
    const { client } = await oidc.signIn(account, other.visitor());
    expect((await client.get('/alerts')).status).toBe(200);
  });

  test('keys are exempt', async () => {
    const key = await makeKey(world.database, 'viewer', ['read']);
    expect((await strict.call(key, '/api/status')).status).toBe(200);
  });

  test('the service does so with CONSOLE_SECOND_FACTOR=required', async () => {
    const settings = { START_DATE: DAY, CONSOLE_PORT: '0', CONSOLE_SECOND_FACTOR: 'required' };
    const config = readConfig({ ...environmentOf(world), ...settings }, { platform: true });
    const { logger } = log;
    const service = await startService({ config, logger, roles: new Set(['console']) });
    onTestFinished(() => service.stop(0));
    const client = withCookie(sessionOf(ana), createClient(service.consoleUrl ?? ''));
    expect((await client.get('/alerts')).location).toBe(ACCOUNT);
  });
});
