/** A PostgreSQL with TLS: who vouches for it, and under which name, is checked as DATABASE_URL says. */
import { chmod, chown, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toStagingError } from '../../../src/base/database/database-error.ts';
import { migrate } from '../../../src/base/database/migrate.ts';
import {
  type EmbeddedPostgres,
  openEmbeddedPostgres,
} from '../../../src/base/embedded/embedded-postgres.ts';
import { ConfigError, StagingUnavailableError } from '../../../src/base/runtime/errors.ts';
import { openQueues } from '../../../src/core/work/job-queue.ts';
import {
  AUTHORITY,
  OTHER_AUTHORITY,
  SERVER_CERTIFICATE,
  SERVER_KEY,
} from '../../support/certificates.ts';
import { queryOnce } from '../../support/client.ts';
import { openAnother } from '../../support/database.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { logger } from '../../support/logger.ts';

const folder = forFile(openFolder);
let server: EmbeddedPostgres;

beforeAll(async () => {
  await writeFile(join(folder.path, 'authority.pem'), AUTHORITY);
  await writeFile(join(folder.path, 'other.pem'), OTHER_AUTHORITY);
  server = await openEmbeddedPostgres({ dataDir: join(folder.path, 'data'), logger });
  const [row] = await queryOnce(server.url, `SELECT current_setting('data_directory') AS dir`);
  const dir = String(row?.['dir']);
  const { uid, gid } = await stat(dir);
  for (const [name, text] of [
    ['tls.pem', SERVER_CERTIFICATE],
    ['tls.key', SERVER_KEY],
  ] as const) {
    const path = join(dir, name);
    await writeFile(path, text);
    await chmod(path, 0o600);
    await chown(path, uid, gid);
  }
  for (const setting of ["ssl_cert_file = 'tls.pem'", "ssl_key_file = 'tls.key'", 'ssl = on']) {
    await queryOnce(server.url, `ALTER SYSTEM SET ${setting}`);
  }
  await queryOnce(server.url, 'SELECT pg_reload_conf()');
});
afterAll(() => server.close());

function urlOf(host: string, authority: string, sslmode = 'verify-full'): string {
  const url = new URL(server.url);
  url.hostname = host;
  url.searchParams.set('sslmode', sslmode);
  url.searchParams.set('sslrootcert', join(folder.path, authority));
  return url.href;
}

const migrateAt = (databaseUrl: string) => migrate({ databaseUrl, logger });

test('with the right authority and name every part goes over TLS', async () => {
  const databaseUrl = urlOf('localhost', 'authority.pem');
  await migrateAt(databaseUrl);
  const database = openAnother(databaseUrl, { applicationName: 'tls' });
  const queues = await openQueues({ redisUrl: null, databaseUrl, logger });
  await queues.pull.enqueue(1n);
  await database.prisma.$queryRaw`SELECT 1`;
  const { rows } = await database.pool.query(`
    SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
    WHERE application_name IN ('tls', 'conciliation queue')`);
  expect(rows).toEqual([{ ssl: true }]);
  await queues.close();
});

describe('a server that is not the one that was meant is refused', () => {
  const cases = [
    ['of another authority', 'localhost', 'other.pem', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['by another name', '127.0.0.1', 'authority.pem', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ] as const;

  // The weaker modes of libpq are as strict here, with pg 8.
  const modes = ['verify-full', 'verify-ca', 'require', 'prefer'];
  test.each(cases)('%s, when the program starts', async (_, host, authority, code) => {
    for (const mode of modes) {
      const url = urlOf(host, authority, mode);
      const error = await migrateAt(url).catch((reason: unknown) => reason);
      expect(error, mode).toBeInstanceOf(ConfigError);
      expect((error as ConfigError).problems).toEqual([
        expect.stringContaining(`DATABASE_URL: its server cannot be trusted (${code}`),
      ]);
      expect(String(error)).not.toContain(new URL(server.url).password);
    }
  });

  test.each(cases)('%s, while it runs, and asked again later', async (_, host, authority) => {
    const database = openAnother(urlOf(host, authority));
    const queries = [
      () => database.pool.query('SELECT 1'),
      () => database.prisma.$queryRaw`SELECT 1`,
    ];
    for (const query of queries) {
      const error = await query().then(
        () => 'connected',
        (reason: unknown) => toStagingError(reason),
      );
      expect(error).toBeInstanceOf(StagingUnavailableError);
    }
  });
});

test('a server without TLS is refused where TLS is asked for', async () => {
  const setSsl = async (value: string) => {
    await queryOnce(server.url, `ALTER SYSTEM SET ssl = ${value}`);
    await queryOnce(server.url, 'SELECT pg_reload_conf()');
    await expect.poll(() => queryOnce(server.url, 'SHOW ssl')).toEqual([{ ssl: value }]);
  };
  await setSsl('off');
  try {
    await expect(migrateAt(urlOf('localhost', 'authority.pem'))).rejects.toThrow(
      'its server cannot be trusted (The server does not support SSL connections)',
    );
  } finally {
    await setSsl('on');
  }
});
