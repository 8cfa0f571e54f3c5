import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { readConfig } from '../../../src/base/config/config.ts';
import { pendingMigrations } from '../../../src/base/database/migrate.ts';
import { openQueues } from '../../../src/core/work/job-queue.ts';
import { withClient } from '../../support/client.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { logger } from '../../support/logger.ts';
import { findRedisServer, startRedisServer } from '../../support/redis.ts';

/** Each character that an address, a query or a client could read as something else. */
const PASSWORD = `p%40 a/b?c#d&e=f+g:h@i'j"k\\l%`;

const folder = forFile(openFolder);

/** Reads an address with the password from a file. */
async function read(variable: 'DATABASE_URL_FILE' | 'REDIS_URL_FILE', address: URL) {
  const withPassword = new URL(address);
  withPassword.password = encodeURIComponent(PASSWORD);
  const file = join(folder.path, 'address');
  await writeFile(file, `${withPassword.href}\n`, { mode: 0o600 });
  return readConfig({ [variable]: file }, { platform: false });
}

test('PostgreSQL accepts the password in an address of DATABASE_URL_FILE with any characters', async () => {
  const serverUrl = inject('serverUrl');
  const user = `test_password_${randomBytes(6).toString('hex')}`;
  const literal = `'${PASSWORD.replaceAll("'", "''")}'`;
  await withClient(serverUrl, (client) =>
    client.query(`CREATE ROLE ${user} LOGIN PASSWORD ${literal}`),
  );
  onTestFinished(async () => {
    await withClient(serverUrl, (client) => client.query(`DROP ROLE ${user}`));
  });
  const url = new URL(serverUrl);
  url.username = user;
  url.password = '';
  const { databaseUrl } = await read('DATABASE_URL_FILE', url);
  expect(await pendingMigrations(databaseUrl ?? '')).not.toEqual([]);
  await expect(pendingMigrations(url.href)).rejects.toThrow();
});

test.skipIf(findRedisServer() === null)(
  'Redis takes the password in an address of REDIS_URL_FILE, whatever its characters (skipped without a redis-server)',
  async () => {
    const server = await startRedisServer(['--requirepass', PASSWORD]);
    onTestFinished(() => server.stop());
    const open = (redisUrl: string | null) => openQueues({ redisUrl, databaseUrl: '', logger });
    const queue = await open((await read('REDIS_URL_FILE', new URL(server.url))).redisUrl);
    await queue.close();
    await expect(open(server.url)).rejects.toThrow('refuses its user or password');
  },
);
