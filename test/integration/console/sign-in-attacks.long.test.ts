/** Attacks on the sign-in page: against its memory, against one user, and from behind a proxy. */
import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addUser, changeUser } from '../../../src/console/access/console-users.sql.ts';
import {
  type ConsoleClient,
  type ConsoleWorld,
  openConsole,
} from '../../support/console-client.ts';
import { forFile } from '../../support/for-tests.ts';
import { openPullWorld } from '../../support/pull-world.ts';
import { PASSWORD, setPassword } from '../../support/second-factor.ts';

const world = forFile(openPullWorld);
/** What the tests talk to: each opens a console in its own way. */
let console: ConsoleWorld;
async function open(...trustedProxies: string[]): Promise<void> {
  console = await openConsole(world.database, { trustedProxies });
}
const PROXY = '127.0.0.0/8';
afterEach(() => console.close());

async function tryFrom(
  address: string,
  fields: Record<string, string>,
  client: ConsoleClient = console.visitor(),
) {
  return client.post('/login', fields, { headers: { 'x-forwarded-for': address } });
}

describe('behind a proxy', () => {
  /**
   * More tries than one address has in a minute, each against another name; then one from elsewhere. The tries
   * have no password, because a slow machine hashes 30 passwords in more than that minute.
   */
  async function exhaust(address: (tries: number) => string) {
    for (let tries = 0; tries < 30; tries += 1) {
      const { status } = await tryFrom(address(tries), { name: `name-${tries}`, password: '' });
      expect(status).toBe(401);
    }
    return {
      same: (await tryFrom(address(30), { name: 'x', password: '' })).status,
      other: (await tryFrom('198.51.100.7', { name: 'y', password: '' })).status,
    };
  }

  test.each<[string, string[], (tries: number) => string, number]>([
    ['a client that is refused does not keep others out', [PROXY], () => '192.0.2.1', 401],
    [
      'the addresses that a client names itself do not count',
      [PROXY],
      (tries) => `203.0.113.${tries}, 192.0.2.1`,
      401,
    ],
    [
      'all addresses of one IPv6 network are one client',
      [PROXY],
      (tries) => `2001:db8::${tries}`,
      401,
    ],
    [
      'a proxy that is not trusted says nothing about its clients',
      ['192.0.2.0/24'],
      (tries) => `203.0.113.${tries}`,
      429,
    ],
    [
      'without TRUSTED_PROXIES X-Forwarded-For is ignored',
      [],
      (tries) => `203.0.113.${tries}`,
      429,
    ],
  ])('%s', async (_, proxies, address, other) => {
    await open(...proxies);
    expect(await exhaust(address)).toEqual({ same: 429, other });
  });

  test('a client behind NAT64 is the client of its IPv4 address', async () => {
    await open(PROXY);
    const address = (tries: number) => (tries % 2 === 0 ? '192.0.2.1' : '64:ff9b::c000:201');
    expect(await exhaust(address)).toEqual({ same: 429, other: 401 });
    expect((await tryFrom('64:ff9b::c000:202', { name: 'z', password: '' })).status).toBe(401);
  });
});

test('a request whose body does not end is ended after ten seconds', async () => {
  await open();
  const sent = request(`${console.url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': 100 },
  });
  sent.write('name=x');
  const startedMs = performance.now();
  const [response] = await once(sent, 'response');
  expect(response.statusCode).toBe(408);
  expect(performance.now() - startedMs).toBeLessThan(15_000);
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
    await open(PROXY);
    const client = console.visitor();
    const csrf = await client.csrf('/login');
    let isOver = false;
    const flood = Promise.all(
      Array.from({ length: 120 }, (_, tries) => {
        const headers = { 'x-forwarded-for': `192.0.2.${tries % 4}` };
        return client.post('/login', { name: `name-${tries}`, password: 'x' }, { csrf, headers });
      }),
    ).finally(() => {
      isOver = true;
    });
    const health: number[] = [];
    while (!isOver) health.push((await client.get('/healthz')).status);
    const answers = await flood;
    const refused = answers.filter(({ status }) => status === 503);
    expect(most).toBe(1);
    expect(hashes).toBeLessThanOrEqual(1 + 20);
    expect(refused.length).toBeGreaterThanOrEqual(120 - 21);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(hashes);
    expect(hashes + refused.length).toBe(120);
    expect(new Set(refused.map(({ headers }) => headers['retry-after']))).toEqual(new Set(['5']));
    expect(refused[0]?.text).toContain('Too many people are signing in just now');
    expect(new Set(health)).toEqual(new Set([200]));
    // A row for each user that was counted: most of the surplus made no query.
    expect(await world.database.prisma.signInLimit.count()).toBeLessThan(100);
    expect((await tryFrom('198.51.100.1', { name: 'later', password: 'x' })).status).toBe(401);
  });

  test('costs the same for a known user as for an unknown or disabled one, or one without a password', async () => {
    await open();
    for (const name of ['known', 'disabled', 'fresh']) {
      await addUser(world.database, { name, role: 'viewer', by: 'test' });
    }
    for (const name of ['known', 'disabled']) await setPassword(world.database, name);
    await changeUser(world.database, { name: 'disabled', isDisabled: true, by: 'test' });
    const costs: number[] = [];
    for (const name of ['known', 'disabled', 'fresh', 'unknown', 'não serve']) {
      const before = hashes;
      const { status } = await tryFrom('', { name, password: 'a wrong password' });
      expect([name, status]).toEqual([name, 401]);
      costs.push(hashes - before);
    }
    expect(costs).toEqual([1, 1, 1, 1, 1]);
  });
});

test('tries without the right password are limited at their address, and do not lock the user out elsewhere', async () => {
  await open(PROXY);
  await addUser(world.database, { name: 'owner', role: 'viewer', by: 'test' });
  await setPassword(world.database, 'owner');
  const attacker = console.visitor();
  const headers = { 'x-forwarded-for': '192.0.2.1' };
  const csrf = await attacker.csrf('/login');
  const tries = await Promise.all(
    Array.from({ length: 20 }, () =>
      // A slow machine would not hash as many wrong passwords before the service answers 503.
      attacker.post('/login', { name: ' Owner', password: '' }, { csrf, headers }),
    ),
  );
  const refused = tries.filter(({ status }) => status === 429);
  expect(tries.filter(({ status }) => status === 401)).toHaveLength(10);
  expect(refused).toHaveLength(10);
  expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThan(0);
  expect((await tryFrom('198.51.100.7', { name: 'owner', password: PASSWORD })).status).toBe(303);
});
