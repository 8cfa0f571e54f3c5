/** Attacks on the sign-in page: against its memory, against one user, and from behind a proxy. */
import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addUser, changeUser } from '../../../src/console/access/console-users.sql.ts';
import { PER_ADDRESS } from '../../../src/console/access/sign-in-check.sql.ts';
import {
  type ConsoleClient,
  type ConsoleWorld,
  openConsole,
} from '../../support/console-client.ts';
import { openAnother } from '../../support/database.ts';
import { clientOfFile } from '../../support/file-world.ts';
import { forFile } from '../../support/for-tests.ts';
import { openPullWorld } from '../../support/pull-world.ts';
import { setPassword } from '../../support/second-factor.ts';

const world = forFile(openPullWorld);
const blocker = clientOfFile(() => world.databaseUrl);
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
  const [ONE, ONE_NAT64] = ['192.0.2.1', '64:ff9b::c000:201'];
  const [OWN, OTHER] = ['203.0.113.1', '203.0.113.2'];
  test.each<[string, string[], string, string, number]>([
    ['a client that is refused does not keep others out', [PROXY], ONE, ONE, 401],
    ['an address that a client names is none', [PROXY], `${OWN}, ${ONE}`, `${OTHER}, ${ONE}`, 401],
    ['all addresses of one IPv6 network are one', [PROXY], '2001:db8::1', '2001:db8::2', 401],
    ['a client of NAT64 is that of its IPv4 address', [PROXY], ONE, ONE_NAT64, 401],
    ['a proxy that is not trusted says nothing', ['192.0.2.0/24'], OWN, OTHER, 429],
    ['without TRUSTED_PROXIES the header is ignored', [], OWN, OTHER, 429],
  ])('%s', async (_, proxies, address, same, other) => {
    await open(...proxies);
    const tryName = async (name: string, from: string) =>
      (await tryFrom(from, { name, password: '' })).status;
    expect(await tryName('one', address)).toBe(401);
    // As many as are allowed in a minute, which does not pass meanwhile.
    const forgottenAt = new Date(Date.now() + 86_400_000);
    const data = { tries: PER_ADDRESS.max, forgottenAt };
    await world.database.prisma.signInLimit.updateMany({ data });
    expect(await tryName('two', same)).toBe(429);
    for (const elsewhere of ['198.51.100.7', '64:ff9b::c000:202']) {
      expect(await tryName(`of ${elsewhere}`, elsewhere)).toBe(other);
    }
  });
});

test('a request whose body does not end is ended after ten seconds', async () => {
  await open();
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
    console = await openConsole(database, { trustedProxies: [PROXY] });
    const client = console.visitor();
    const csrf = await client.csrf('/login');
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    const send = (name: string) =>
      client.post('/login', { name, password: 'x' }, { csrf, headers });
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
    expect(await world.database.prisma.signInLimit.count({ where: users })).toBe(1 + 20);
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
