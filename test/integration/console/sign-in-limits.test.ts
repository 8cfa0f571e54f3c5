/** The limits of sign-ins: their numbers, and that the tries of all processes count together. */
import { createHash } from 'node:crypto';
import { Client } from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { PER_ADDRESS } from '../../../src/console/access/sign-in.tsx';
import {
  countDelayedTry,
  countTry,
  forgetTries,
} from '../../../src/console/access/sign-in-limits.sql.ts';
import { openDatabase } from '../../../src/database/database.ts';
import { openConsole } from '../../support/console-client.ts';
import { openPullWorld, type PullWorld } from '../../support/pull-world.ts';

let world: PullWorld;
let client: Client;
beforeAll(async () => {
  world = await openPullWorld();
  client = new Client(world.databaseUrl);
  await client.connect();
});
beforeEach(() => client.query('DELETE FROM conciliation.sign_in_limit'));
afterAll(async () => {
  await client.end();
  await world.close();
});

/** As if so many seconds had passed. */
async function pass(seconds: number): Promise<void> {
  await client.query(
    `UPDATE conciliation.sign_in_limit
     SET allowed_at = allowed_at - make_interval(secs => $1),
         forgotten_at = forgotten_at - make_interval(secs => $1)`,
    [seconds],
  );
}

/** Tries as early as allowed, and returns the seconds that each try had to wait for. */
async function waits(key: string, tries: number): Promise<number[]> {
  const found: number[] = [];
  for (let count = 0; count < tries; count += 1) {
    const seconds = await countDelayedTry(world.database, key);
    found.push(seconds);
    if (seconds > 0) {
      await pass(seconds);
      expect(await countDelayedTry(world.database, key)).toBe(0);
    }
  }
  return found;
}

test('the delay of a user at one address grows with each try, up to a minute', async () => {
  // A slow machine may have waited for part of a short delay.
  const found = await waits('ana 192.0.2.1', 13);
  expect(found.slice(0, 4)).toEqual([0, 0, 0, 0]);
  for (const [index, most] of [1, 2, 4, 8, 16, 32, 60, 60, 60].entries()) {
    expect(found[4 + index]).toBeLessThanOrEqual(most);
  }
  expect(found.slice(-3)).toEqual([60, 60, 60]);
});

test('a refused try does not count, and another key does not wait', async () => {
  await waits('ana 192.0.2.1', 10);
  const before = await rowOf('ana 192.0.2.1');
  for (let tries = 0; tries < 5; tries += 1) {
    expect(await countDelayedTry(world.database, 'ana 192.0.2.1')).toBeGreaterThan(0);
  }
  expect(await rowOf('ana 192.0.2.1')).toEqual(before);
  expect(await countDelayedTry(world.database, 'ana 198.51.100.7')).toBe(0);
  expect(await countDelayedTry(world.database, 'bia 192.0.2.1')).toBe(0);
});

test('tries are forgotten after a success, and 15 minutes after the delay', async () => {
  await waits('ana', 8);
  await forgetTries(world.database, 'ana');
  expect(await waits('ana', 4)).toEqual([0, 0, 0, 0]);
  await pass(1 + 15 * 60);
  expect(await waits('ana', 4)).toEqual([0, 0, 0, 0]);
});

test('a limit within a time counts from the first try and starts again after that time', async () => {
  const limit = { max: 3, seconds: 600 };
  const tries = () =>
    Promise.all(Array.from({ length: 5 }, () => countTry(world.database, 'address', limit)));
  expect((await tries()).filter((seconds) => seconds === 0)).toHaveLength(3);
  await pass(300);
  const refused = await tries();
  expect(Math.min(...refused)).toBeGreaterThan(200);
  expect(Math.max(...refused)).toBeLessThanOrEqual(300);
  await pass(300);
  expect((await tries()).filter((seconds) => seconds === 0)).toHaveLength(3);
});

test('tries of several processes at once are not more than tries of one', async () => {
  const other = openDatabase({
    databaseUrl: world.databaseUrl,
    applicationName: 'test',
    logger: pino({ level: 'silent' }),
  });
  try {
    const counted = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        countDelayedTry(index % 2 === 0 ? world.database : other, 'ana'),
      ),
    );
    const allowed = counted.filter((seconds) => seconds === 0).length;
    expect(allowed).toBeGreaterThanOrEqual(4);
    // More than four only where the statements took longer than the first delays.
    expect(allowed).toBeLessThan(10);
    const row = await rowOf('ana');
    expect(row.tries).toBe(allowed);
  } finally {
    await other.close();
  }
});

test('a client that tries passwords at two processes in turns is refused by both', async () => {
  const consoles = [await openConsole(world.database), await openConsole(world.database)];
  try {
    // All but the last two tries, without the time that hashing their passwords takes.
    for (let tries = 0; tries < PER_ADDRESS.max - 2; tries += 1) {
      expect(await countTry(world.database, 'address 127.0.0.1', PER_ADDRESS)).toBe(0);
    }
    const statuses: number[] = [];
    for (const [index, opened] of [...consoles, ...consoles].entries()) {
      const fields = { name: `name-${index}`, password: 'x' };
      statuses.push((await opened.visitor().post('/login', fields)).status);
    }
    expect(statuses).toEqual([401, 401, 429, 429]);
  } finally {
    for (const opened of consoles) await opened.close();
  }
});

test('the database keeps no name and no address, and few rows whose time has passed', async () => {
  for (let name = 0; name < 30; name += 1) await countDelayedTry(world.database, `name-${name}`);
  await pass(15 * 60 + 1);
  for (let name = 30; name < 34; name += 1) await countDelayedTry(world.database, `name-${name}`);
  const { rows } = await client.query<{ row: string }>(
    'SELECT sign_in_limit::text AS row FROM conciliation.sign_in_limit',
  );
  expect(rows).toHaveLength(4);
  expect(rows.map(({ row }) => row).join()).not.toContain(Buffer.from('name-').toString('hex'));
});

async function rowOf(key: string): Promise<{ tries: number; allowed_at: Date }> {
  const { rows } = await client.query<{ tries: number; allowed_at: Date }>(
    'SELECT tries, allowed_at FROM conciliation.sign_in_limit WHERE key_hash = $1',
    [createHash('sha256').update(key).digest()],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('no such row');
  return row;
}
