import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { beforeAll, expect, inject, test } from 'vitest';
import { readConfig } from '../../../src/base/config/config.ts';
import { pendingMigrations } from '../../../src/base/database/migrate.ts';
import { openQueues } from '../../../src/core/work/job-queue.ts';
import { queryOnce } from '../../support/client.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { findRedisServer, startRedisServer } from '../../support/redis.ts';

/** Each character that an address, a query or a client could read as something else. */
const PASSWORD = `p%40 a/b?c#d&e=f+g:h@i'j"k\\l%`;

const folder = forFile(openFolder);
let passwordFile: string;

beforeAll(async () => {
  passwordFile = join(folder.path, 'password');
  await writeFile(passwordFile, `${PASSWORD}\n`, { mode: 0o600 });
});

const read = (environment: Record<string, string>) => readConfig(environment, { platform: false });

test('PostgreSQL accepts the password of DATABASE_PASSWORD_FILE with any characters', async () => {
  const serverUrl = inject('serverUrl');
  const user = `test_password_${randomBytes(6).toString('hex')}`;
  const literal = `'${PASSWORD.replaceAll("'", "''")}'`;
  await queryOnce(serverUrl, `CREATE ROLE ${user} LOGIN PASSWORD ${literal}`);
  try {
    const url = new URL(serverUrl);
    url.username = user;
    url.password = '';
    const ofFile = read({ DATABASE_URL: url.href, DATABASE_PASSWORD_FILE: passwordFile });
    expect(await pendingMigrations(ofFile.databaseUrl ?? '')).not.toEqual([]);
    await expect(pendingMigrations(url.href)).rejects.toThrow();
  } finally {
    await queryOnce(serverUrl, `DROP ROLE ${user}`);
  }
});

test.skipIf(findRedisServer() === null)(
  'Redis takes the password of REDIS_PASSWORD_FILE, whatever its characters (skipped without a redis-server)',
  async () => {
    const server = await startRedisServer(['--requirepass', PASSWORD]);
    try {
      const REDIS_URL = server.url;
      const open = (redisUrl: string | null) =>
        openQueues({ redisUrl, databaseUrl: '', logger: pino({ level: 'silent' }) });
      const queue = await open(read({ REDIS_URL, REDIS_PASSWORD_FILE: passwordFile }).redisUrl);
      await queue.close();
      await expect(open(REDIS_URL)).rejects.toThrow('refuses its user or password');
    } finally {
      await server.stop();
    }
  },
);
