/** The limits of sign-ins: their numbers, and that the tries of all processes count together. */
import { createHash } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../src/base/database/database.ts';
import { countTry, forgetTries, PER_USER } from '../../../src/console/access/sign-in-check.sql.ts';
import { openAnother } from '../../support/database.ts';
import { worldOfFile } from '../../support/file-world.ts';

const world = worldOfFile();
beforeEach(() => world.database.prisma.signInLimit.deleteMany());

/** As if so many seconds had passed. */
const pass = (seconds: number) => world.database.prisma.$executeRaw`
  UPDATE conciliation.sign_in_limit SET forgotten_at = forgotten_at - make_interval(secs => ${seconds})`;

const rowOf = (key: string) => {
  const keyHash = createHash('sha256').update(key).digest();
  return world.database.prisma.signInLimit.findUniqueOrThrow({ where: { keyHash } });
};

/** Tries so many times, and returns how many of the tries were allowed. */
async function allowed(key: string, tries: number): Promise<number> {
  let count = 0;
  for (let number = 0; number < tries; number += 1) {
    if ((await countTry(world.database, key, PER_USER)) === 0) count += 1;
  }
  return count;
}

test('one user at one address has ten tries in ten minutes, and a refused try does not count', async () => {
  expect(await allowed('ana 192.0.2.1', 10)).toBe(10);
  const before = await rowOf('ana 192.0.2.1');
  for (let tries = 0; tries < 5; tries += 1) {
    const wait = await countTry(world.database, 'ana 192.0.2.1', PER_USER);
    expect(wait).toBeGreaterThan(300);
    expect(wait).toBeLessThanOrEqual(600);
  }
  expect(await rowOf('ana 192.0.2.1')).toEqual(before);
  expect(await allowed('ana 198.51.100.7', 1)).toBe(1);
  expect(await allowed('bia 192.0.2.1', 1)).toBe(1);
});

test('tries are forgotten after a success, and after ten minutes', async () => {
  await allowed('ana', 8);
  await forgetTries(world.database, 'ana');
  expect(await allowed('ana', 12)).toBe(10);
  await pass(601);
  expect(await allowed('ana', 12)).toBe(10);
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
  const processes = [world.database, openAnother(world.databaseUrl)];
  const counted = await Promise.all(
    Array(20)
      .fill(processes)
      .flat()
      .map((database: Database) => countTry(database, 'ana', PER_USER)),
  );
  expect(counted.filter((seconds) => seconds === 0)).toHaveLength(PER_USER.max);
  expect((await rowOf('ana')).tries).toBe(PER_USER.max);
});

test('the database keeps no name and no address, and few rows whose time has passed', async () => {
  for (let name = 0; name < 30; name += 1) await allowed(`name-${name}`, 1);
  await pass(601);
  for (let name = 30; name < 34; name += 1) await allowed(`name-${name}`, 1);
  const { rows } = await world.database.pool.query<{ row: string }>(
    'SELECT sign_in_limit::text AS row FROM conciliation.sign_in_limit',
  );
  expect(rows).toHaveLength(4);
  expect(rows.map(({ row }) => row).join()).not.toContain(Buffer.from('name-').toString('hex'));
});
