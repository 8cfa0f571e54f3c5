/** The queue on PostgreSQL and on Redis: who may open it, and what is refused. */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { findFreePort } from '../../../src/base/embedded/embedded-postgres.ts';
import { ConfigError, StagingUnavailableError } from '../../../src/base/runtime/errors.ts';
import { openQueues } from '../../../src/core/work/job-queue.ts';
import { startJobWorker } from '../../../src/core/work/job-worker.ts';
import { checkRedis } from '../../../src/core/work/redis-backend.ts';
import {
  AUTHORITY,
  OTHER_AUTHORITY,
  SERVER_CERTIFICATE,
  SERVER_KEY,
} from '../../support/certificates.ts';
import { queryOnce } from '../../support/client.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { recordingLogger } from '../../support/logger.ts';
import { giveBackPort, takePort } from '../../support/own-port.ts';
import { daysFrom, TODAY } from '../../support/pull-world.ts';
import { findRedisServer, startRedisServer } from '../../support/redis.ts';
import { dueSince, eventually, openServiceWorld } from '../../support/service-world.ts';

const NO_DATABASE = 'postgresql://127.0.0.1:1/none';

const { log, logger } = recordingLogger('debug');

async function open(redisUrl: string | null, databaseUrl = NO_DATABASE) {
  const queues = await openQueues({ redisUrl, databaseUrl, logger });
  onTestFinished(() => queues.close());
  return queues.pull;
}

async function refusal(...urls: Parameters<typeof open>): Promise<string> {
  const error = await open(...urls).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ConfigError);
  return (error as ConfigError).problems.join('\n');
}

/** Lets a worker handle these pulls, and does `work` before it is closed. */
async function handle(
  queue: Awaited<ReturnType<typeof open>>,
  pullIds: readonly bigint[],
  work = async () => {},
): Promise<void> {
  const handled: bigint[] = [];
  const worker = await startJobWorker({
    queue,
    concurrency: 16,
    logger,
    handle: async (pullId) => {
      await sleep(5);
      handled.push(pullId);
    },
  });
  for (const id of pullIds) await queue.enqueue(id);
  await eventually(() => expect(handled.toSorted()).toEqual(pullIds));
  await work();
  await worker.close(1_000);
}

describe('on PostgreSQL', () => {
  const role = `queue_test_${randomBytes(4).toString('hex')}`;
  let database: TestDatabase;
  const query = (statement: string, url = database.url) => queryOnce(url, statement);
  beforeAll(async () => {
    database = await createTestDatabase();
    await query(`CREATE ROLE ${role} LOGIN PASSWORD 'test'`, inject('serverUrl'));
  });
  afterAll(async () => {
    await database.drop();
    await query(`DROP ROLE ${role}`, inject('serverUrl'));
  });

  test('a user who may not create the schema is refused, unless the schema exists', async () => {
    const asRole = Object.assign(new URL(database.url), { username: role, password: 'test' }).href;
    expect(await refusal(null, asRole)).toBe(
      'DATABASE_URL: its user may not create or use the schema conciliation_queue; run "conciliation migrate --roles" as its owner, grant it the right to, or set REDIS_URL',
    );
    await open(null, database.url);
    await query(`
      GRANT USAGE, CREATE ON SCHEMA conciliation_queue TO ${role};
      GRANT ALL ON ALL TABLES IN SCHEMA conciliation_queue TO ${role};
      GRANT ALL ON ALL SEQUENCES IN SCHEMA conciliation_queue TO ${role}`);
    const queue = await open(null, asRole);
    await queue.enqueue(7n);
    expect(await queue.jobsOf([7n])).toEqual(new Set([7n]));
  });

  test('the three queues and a worker hold eleven connections at the most', async () => {
    const pulls = Array.from({ length: 100 }, (_, index) => BigInt(100 + index));
    await handle(await open(null, database.url), pulls, async () => {
      const [row] = await query(
        `SELECT count(*)::int AS connections FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      );
      expect(row?.['connections']).toBeLessThanOrEqual(11);
    });
  });
});

const withRedis = findRedisServer() === null ? describe.skip : describe;

withRedis('a Redis for the queue (skipped where no redis-server is on the PATH)', () => {
  async function redisWith(...settings: string[]) {
    const server = await startRedisServer(settings);
    onTestFinished(() => server.stop());
    log.length = 0;
    return server;
  }

  test('that refuses the password is refused, without saying it', async () => {
    const { port } = await redisWith('--requirepass', 's3cret');
    const expected = `REDIS_URL: the server at 127.0.0.1:${port} refuses its user or password`;
    expect(await refusal(`redis://:gu3ss@127.0.0.1:${port}`)).toBe(expected);
    expect(await refusal(`redis://127.0.0.1:${port}`)).toBe(expected);
    expect(JSON.stringify(log)).not.toMatch(/s3cret|gu3ss/);
  });

  test('takes a user of an access list', async () => {
    const { port } = await redisWith(
      ...['--user', 'full', 'on', '>p@ss', '~*', '&*', '+@all'],
      ...['--user', 'asks', 'on', '>p@ss', '~bull:*', '&*', '+@all', '-config'],
    );
    for (const user of ['full', 'asks']) {
      await handle(await open(`redis://${user}:p%40ss@127.0.0.1:${port}`), [7n]);
    }
    expect(log.filter((line) => line['level'] === 40)).toEqual([]);
  });

  test('that starts a moment later than this process is waited for', async () => {
    const server = await redisWith();
    await server.kill();
    const checked = checkRedis(server.url, 'redis:1', {}, 10_000);
    await sleep(700);
    await server.restart();
    await expect(checked).resolves.toBeUndefined();
  });
});

test('a Redis that is not there is given up after a while', async () => {
  const url = `redis://:s3cret@127.0.0.1:${await findFreePort()}`;
  const error = await checkRedis(url, 'redis:1', {}, 600).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(StagingUnavailableError);
  expect((error as Error).message).toBe(
    "the queue's Redis at redis:1 cannot be reached (ECONNREFUSED)",
  );
});

withRedis('rediss:// (skipped without a redis-server)', () => {
  const folder = forFile(openFolder);
  const world = forFile(() => openServiceWorld({ environment: dueSince(daysFrom(-1, TODAY)) }));
  let port: number;

  beforeAll(async () => {
    const write = async (name: string, text: string) => {
      await writeFile(join(folder.path, name), text);
      return join(folder.path, name);
    };
    await write('authority.pem', AUTHORITY);
    await write('other.pem', OTHER_AUTHORITY);
    port = await takePort();
    const server = await startRedisServer([
      ...['--tls-port', String(port), '--tls-auth-clients', 'no'],
      ...['--tls-cert-file', await write('server.pem', SERVER_CERTIFICATE)],
      ...['--tls-key-file', await write('server.key', SERVER_KEY)],
    ]);
    return async () => {
      await server.stop();
      giveBackPort(port);
    };
  });

  // Node reads its authorities when a process starts.
  const spawn = (host: string, authority: string, scheme = 'rediss') =>
    world.spawn({
      environment: {
        REDIS_URL: `${scheme}://${host}:${port}`,
        NODE_EXTRA_CA_CERTS: join(folder.path, authority),
      },
    });

  test('REDISS: with the right authority and name, queue and worker work', async () => {
    const service = spawn('localhost', 'authority.pem', 'REDISS');
    await service.started;
    await eventually(() => expect(service.logged('pull ended')).toHaveLength(1));
    service.send('SIGTERM');
    expect(await service.ended).toMatchObject({ exit: 0 });
  });

  test.each([
    ['of another authority', 'localhost', 'other.pem', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['by another name', '127.0.0.1', 'authority.pem', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('a server %s is refused', async (_, host, authority, code) => {
    const service = spawn(host, authority);
    await expect(service.started).rejects.toThrow('the service ended with 2');
    expect((await service.ended).text).toContain(
      `REDIS_URL: the server at ${host}:${port} cannot be spoken to (${code})`,
    );
  });
});
