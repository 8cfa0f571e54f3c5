/** The page of the user's own account: the password and the sessions. */
import { beforeEach, describe, expect, test } from 'vitest';
import { createLink } from '../../../src/console/access/console-users.sql.ts';
import { withClient } from '../../support/client.ts';
import { type ConsoleClient, openConsole } from '../../support/console-client.ts';
import { forFile } from '../../support/for-tests.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { openPullWorld } from '../../support/pull-world.ts';
import { codeOf, PASSWORD, setFactor, setPassword } from '../../support/second-factor.ts';
import { createTestLog } from './console-world.ts';

const NEW = 'outra frase bem diferente';
const GUESSABLE = 'This password is easy to guess';

const world = forFile(openPullWorld);
const log = createTestLog();
const console = forFile(() =>
  openConsole(world.database, { logger: log.logger, trustedProxies: ['127.0.0.0/8'] }),
);

let count = 0;
let name = '';
let from: { headers: { 'x-forwarded-for': string } };
let ana: ConsoleClient;
/** A separate user and address for each test, because attempts are limited. */
beforeEach(async () => {
  count += 1;
  name = `ana-${count}`;
  from = { headers: { 'x-forwarded-for': `192.0.2.${count}` } };
  ana = await console.as('viewer', name);
  await setPassword(world.database, name);
});

const rowOf = () => world.database.prisma.consoleUser.findUniqueOrThrow({ where: { name } });
const change = (fields: Record<string, string>) =>
  ana.post(
    '/account/password',
    { password: PASSWORD, newPassword: NEW, again: NEW, ...fields },
    from,
  );
const signIn = async (password: string) =>
  (await console.visitor().post('/login', { name, password }, from)).status;

describe('a user who changes their own password', () => {
  test('keeps this session under another token, and no other session', async () => {
    const other = await console.as('viewer', name);
    const before = ana.cookies.get('conciliation') ?? '';
    const answer = await change({});
    expect([answer.status, answer.location]).toEqual([303, '/account?notice=password_changed']);
    const after = ana.cookies.get('conciliation') ?? '';
    expect(after).toMatch(/^[\w-]{43}$/);
    expect(after).not.toBe(before);
    expect((await ana.get('/account')).status).toBe(200);
    expect((await other.get('/account')).location).toContain('/login');
    const thief = console.visitor();
    thief.cookies.set('conciliation', before);
    expect((await thief.get('/account')).location).toContain('/login');
    expect([await signIn(PASSWORD), await signIn(NEW)]).toEqual([401, 303]);
    expect(
      await world.database.prisma.auditEntry.count({
        where: { actor: name, action: 'user.own_password' },
      }),
    ).toBe(1);
    expect(log.lines()).toContainEqual(
      expect.objectContaining({
        event: 'password_changed',
        user: name,
        address: from.headers['x-forwarded-for'],
      }),
    );
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
    const token = await createLink(world.database, { name, by: 'test' });
    expect((await change({})).status).toBe(303);
    expect((await console.visitor().get(`/link/${token}`)).status).toBe(404);
  });
});

describe('a form whose password was right is refused', () => {
  const PAGE = '/account/second-factor';
  const ALL = ['/account/password', PAGE, `${PAGE}/remove`];
  const FACTOR = `UPDATE conciliation.console_user SET totp_secret = 'JBSWY3DPEHPK3PXP', totp_step = 0,
                  recovery_hashes = '{}' WHERE name = $1`;
  const changes = [
    ['a second factor', FACTOR],
    [
      'another password',
      `UPDATE conciliation.console_user SET password_hash = 'replaced' WHERE name = $1`,
    ],
    [
      'the end of the session',
      `WITH owner AS (SELECT id FROM conciliation.console_user WHERE name = $1 FOR UPDATE)
       DELETE FROM conciliation.console_session USING owner WHERE user_id = owner.id`,
    ],
  ] as const;

  test.each(ALL.flatMap((path) => changes.map(([what, sql]) => [path, what, sql] as const)))(
    '%s, after %s was committed',
    async (path, _, sql) => {
      const needsFactor = path.endsWith('remove');
      const present =
        needsFactor && sql !== FACTOR ? (await setFactor(world.database, name)).secret : null;
      const offered = /name="secret" value="([A-Z2-7]{32})"/.exec((await ana.get(PAGE)).text)?.[1];
      const secret = present ?? (path === PAGE ? offered : undefined);
      const fields = {
        password: PASSWORD,
        newPassword: NEW,
        again: NEW,
        ...(secret !== undefined && { secret, code: codeOf(secret) }),
      };
      const csrf = await ana.csrf();
      await withClient(world.databaseUrl, async (client) => {
        const credentials = async () => {
          const { rows } = await client.query(
            `SELECT password_hash, totp_secret, recovery_hashes FROM conciliation.console_user
           WHERE name = $1`,
            [name],
          );
          return rows;
        };
        await client.query('BEGIN');
        await client.query(sql, [name]);
        const committed = await credentials();
        const underWay = ana.post(path, fields, { csrf, headers: from.headers });
        await lockWaits(world.database);
        await client.query('COMMIT');
        const answer = await underWay;
        expect([answer.status, answer.location]).toEqual([303, path === PAGE ? PAGE : '/account']);
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
  ])('%s', async (text) => {
    const { passwordHash } = await rowOf();
    const answer = await change({ newPassword: text, again: text });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(GUESSABLE);
    expect((await rowOf()).passwordHash).toBe(passwordHash);
  });

  test('also when it is made of the name and the e-mail address', async () => {
    await world.database.prisma.consoleUser.update({
      where: { name },
      data: { email: `xavantina.zuleika.${count}@quixeramobim.example` },
    });
    for (const text of ['xavantina1234', 'zuleika-xavantina', 'quixeramobim2026']) {
      const answer = await change({ newPassword: text, again: text });
      expect([text, answer.status]).toEqual([text, 400]);
    }
  });
});

test('users see their own sessions and end the others', async () => {
  const browser = console.visitor();
  await browser.post('/login', { name, password: PASSWORD }, from);
  const page = await ana.get('/account');
  expect(page.text.match(/<tr>/g)).toHaveLength(1 + 2);
  expect(page.text).toContain(from.headers['x-forwarded-for']);
  expect(page.text.match(/this session/g)).toHaveLength(1);
  const other = await console.as('viewer', 'another-user');
  expect((await ana.post('/account/sessions/end')).location).toBe('/account?notice=sessions_ended');
  expect((await browser.get('/account')).location).toContain('/login');
  expect((await ana.get('/account')).text).not.toContain('End the other sessions');
  expect((await other.get('/account')).status).toBe(200);
});
