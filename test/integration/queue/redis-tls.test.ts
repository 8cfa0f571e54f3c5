/** A Redis with TLS: who vouches for it, and under which name, is checked. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findFreePort } from '../../../src/embedded/free-port.ts';
import { openPullQueue } from '../../../src/queue/job-queue.ts';
import { ConfigError } from '../../../src/runtime/errors.ts';
import { startJobWorker } from '../../../src/worker/job-worker.ts';
import {
  AUTHORITY,
  OTHER_AUTHORITY,
  SERVER_CERTIFICATE,
  SERVER_KEY,
} from '../../support/certificates.ts';
import { runCommand } from '../../support/child-command.ts';
import { findRedisServer, type RedisServer, startRedisServer } from '../../support/redis.ts';
import { eventually } from '../../support/service-world.ts';

const logger = pino({ level: 'silent' });

describe.skipIf(findRedisServer() === null)('rediss:// (skipped without a redis-server)', () => {
  let folder: string;
  let port: number;
  let server: RedisServer;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'conciliation-redis-tls-'));
    const write = async (name: string, text: string) => {
      await writeFile(join(folder, name), text);
      return join(folder, name);
    };
    await write('authority.pem', AUTHORITY);
    await write('other.pem', OTHER_AUTHORITY);
    port = await findFreePort();
    server = await startRedisServer([
      ...['--tls-port', String(port), '--tls-auth-clients', 'no'],
      ...['--tls-cert-file', await write('server.pem', SERVER_CERTIFICATE)],
      ...['--tls-key-file', await write('server.key', SERVER_KEY)],
    ]);
  });

  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });

  const open = (host: string, authority: string | null, scheme = 'rediss') =>
    openPullQueue({
      redisUrl: `${scheme}://${host}:${port}`,
      redisCaFile: authority === null ? null : join(folder, authority),
      databaseUrl: '',
      logger,
    });

  test.each(['rediss', 'REDISS'])(
    '%s: with the right authority and name, queue and worker work',
    async (scheme) => {
      const queue = await open('localhost', 'authority.pem', scheme);
      const handled: bigint[] = [];
      const worker = await startJobWorker({
        queue,
        concurrency: 1,
        logger,
        handle: async (pullId) => {
          handled.push(pullId);
          return undefined;
        },
      });
      await queue.enqueue(7n);
      await eventually(() => expect(handled).toEqual([7n]));
      await worker.close(0);
      await queue.close();
    },
  );

  test.each([
    ['of another authority', 'localhost', 'other.pem', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    [
      'of an authority that is not configured',
      'localhost',
      null,
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ],
    ['by another name', '127.0.0.1', 'authority.pem', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('a server %s is refused', async (_, host, authority, code) => {
    const error = await open(host, authority).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).problems).toEqual([
      `REDIS_URL: the server at ${host}:${port} cannot be spoken to (${code})`,
    ]);
  });

  test('the command names the variable and ends with 2', async () => {
    const run = await runCommand(['start'], {
      DATABASE_URL: 'postgresql://127.0.0.1:1/none',
      PLATFORM_BASE_URL: 'https://platform.example',
      PLATFORM_TOKEN: 'token',
      REDIS_URL: `redis://localhost:${port}`,
      REDIS_CA_FILE: join(folder, 'authority.pem'),
    });
    expect(run.exit).toBe(2);
    expect(run.stderr).toContain('REDIS_CA_FILE: takes a REDIS_URL that begins with rediss://');
  });
});
