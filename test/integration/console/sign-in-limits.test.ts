/** Attacks on the sign-in page: against its memory, against one user, and from behind a proxy. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  type ConsoleClient,
  type ConsoleWorld,
  openConsole,
} from '../../support/console-client.ts';
import { openPullWorld, type PullWorld } from '../../support/pull-world.ts';

let world: PullWorld;
let console: ConsoleWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterEach(() => console.close());
afterAll(() => world.close());

async function tryFrom(
  address: string,
  fields: Record<string, string>,
  client: ConsoleClient = console.visitor(),
) {
  return client.post('/login', fields, { headers: { 'x-forwarded-for': address } });
}

describe('behind a proxy', () => {
  /** More tries than one address has in a minute, each against another name; then one from elsewhere. */
  async function exhaust(address: (tries: number) => string) {
    for (let tries = 0; tries < 30; tries += 1) {
      const { status } = await tryFrom(address(tries), { name: `name-${tries}`, password: 'x' });
      expect(status).toBe(401);
    }
    return {
      same: (await tryFrom(address(30), { name: 'x', password: 'x' })).status,
      other: (await tryFrom('198.51.100.7', { name: 'y', password: 'x' })).status,
    };
  }

  test('a client that is refused does not keep others out', async () => {
    console = await openConsole(world.database, { trustedProxies: ['127.0.0.0/8'] });
    expect(await exhaust(() => '192.0.2.1')).toEqual({ same: 429, other: 401 });
  });

  test('the addresses that a client names itself do not count', async () => {
    console = await openConsole(world.database, { trustedProxies: ['127.0.0.0/8'] });
    const { same } = await exhaust((tries) => `203.0.113.${tries}, 192.0.2.1`);
    expect(same).toBe(429);
  });

  test('all addresses of one IPv6 network are one client', async () => {
    console = await openConsole(world.database, { trustedProxies: ['127.0.0.0/8'] });
    expect(await exhaust((tries) => `2001:db8::${tries}`)).toEqual({ same: 429, other: 401 });
  });

  test('a proxy that is not trusted says nothing about its clients', async () => {
    console = await openConsole(world.database, { trustedProxies: ['192.0.2.0/24'] });
    expect(await exhaust((tries) => `203.0.113.${tries}`)).toEqual({ same: 429, other: 429 });
  });
});

test('without TRUSTED_PROXIES X-Forwarded-For is ignored', async () => {
  console = await openConsole(world.database);
  const statuses: number[] = [];
  for (let tries = 0; tries < 31; tries += 1) {
    const answer = await tryFrom(`203.0.113.${tries}`, { name: `name-${tries}`, password: 'x' });
    statuses.push(answer.status);
  }
  expect(statuses.at(-1)).toBe(429);
});
