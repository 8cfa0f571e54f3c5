/** The records of an attack for the operator: the log and the audit log. */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { addUser } from '../../../src/console/access/console-users.sql.ts';
import { countTry, PER_USER } from '../../../src/console/access/sign-in-check.sql.ts';
import { type ConsoleClient, makeKey, openConsole } from '../../support/console-client.ts';
import { forFile, forTest } from '../../support/for-tests.ts';
import { openPullWorld } from '../../support/pull-world.ts';
import { PASSWORD, setPassword } from '../../support/second-factor.ts';
import { createTestLog, type TestLog } from './console-world.ts';

const ADDRESS = '192.0.2.1';
const FROM = { 'x-forwarded-for': ADDRESS };

const world = forFile(openPullWorld);
let log: TestLog;
const console = forTest(() => {
  log = createTestLog();
  return openConsole(world.database, { logger: log.logger, trustedProxies: ['127.0.0.0/8'] });
});
let lastEntry: bigint;
beforeAll(async () => {
  await addUser(world.database, { name: 'ana', role: 'viewer', by: 'test' });
  await setPassword(world.database, 'ana');
  await world.database.prisma.consoleUser.updateMany({ data: { email: 'ana@example.com' } });
});
/** The minute for which tries count does not pass before the test is over, however long that takes. */
beforeAll(async () => {
  await world.database.pool.query(`
    CREATE FUNCTION public.stop_the_clock() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN NEW.forgotten_at = clock_timestamp() + interval '1 day'; RETURN NEW; END $$;
    CREATE TRIGGER stop_the_clock BEFORE INSERT ON conciliation.sign_in_limit
      FOR EACH ROW EXECUTE FUNCTION public.stop_the_clock()`);
});
beforeEach(async () => {
  const { _max } = await world.database.prisma.auditEntry.aggregate({ _max: { id: true } });
  lastEntry = _max.id ?? 0n;
});

const events = () =>
  log
    .lines()
    .filter((line) => 'event' in line)
    .map(({ event, address, user, method, route }) => [event, address, user, `${method} ${route}`]);

const entries = async () => {
  const rows = await world.database.prisma.auditEntry.findMany({
    where: { id: { gt: lastEntry } },
    orderBy: { id: 'asc' },
  });
  return rows.map(({ actor, action, details }) => [actor, action, details]);
};

const signIn = (name: string, password: string, client: ConsoleClient = console.visitor()) =>
  client.post('/login', { name, password }, { headers: FROM });

test('sign-ins are in both logs with the address, and never with the typed text', async () => {
  await signIn('ana', 'typed-password');
  await signIn('typed-into-the-wrong-field', PASSWORD);
  await signIn('ana', PASSWORD);
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
  const written = JSON.stringify([log.lines(), await entries()]);
  for (const secret of ['typed', PASSWORD, 'ana@example.com']) {
    expect(written).not.toContain(secret);
  }
});

// The floods below send no password, which would be hashed.

test('a user who has to wait is in both logs, with the user’s name', async () => {
  for (let tries = 0; tries < PER_USER.max; tries += 1) {
    await countTry(world.database, `user ana ${ADDRESS}`, PER_USER);
  }
  expect((await signIn('ana', PASSWORD)).status).toBe(429);
  expect(events()).toEqual([['sign_in_limited', ADDRESS, 'ana', 'POST /login']]);
  expect(await entries()).toEqual([['ana', 'session.limited', { address: ADDRESS }]]);
});

/** A process checks twenty sign-ins at a time, and refuses the others without counting them. */
async function inTwenties(count: number, send: (index: number) => Promise<unknown>): Promise<void> {
  for (let first = 0; first < count; first += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, index) => send(first + index)));
  }
}

test('an attacker gets a few entries of the audit log a minute, and a log line for each try', async () => {
  const client = console.visitor();
  const csrf = await client.csrf('/login');
  await inTwenties(40, (tries) =>
    client.post('/login', { name: `name-${tries}`, password: '' }, { csrf, headers: FROM }),
  );
  expect(events()).toHaveLength(40);
  expect(await entries()).toHaveLength(5);
  expect((await signIn('ana', PASSWORD)).status).toBe(429);
  const owner = console.visitor();
  const headers = { 'x-forwarded-for': '198.51.100.7' };
  await owner.post('/login', { name: 'ana', password: 'x' }, { headers });
  expect((await entries()).at(-1)).toEqual(['ana', 'session.refused', { address: '198.51.100.7' }]);
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
  expect(JSON.stringify(log.lines())).not.toMatch(/conciliation_|name of a person/);
});
