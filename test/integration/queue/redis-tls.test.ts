/** A Redis with TLS: who vouches for it, and under which name, is checked. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findFreePort } from '../../../src/base/embedded/embedded-postgres.ts';
import {
  AUTHORITY,
  OTHER_AUTHORITY,
  SERVER_CERTIFICATE,
  SERVER_KEY,
} from '../../support/certificates.ts';
import { findRedisServer, type RedisServer, startRedisServer } from '../../support/redis.ts';
import { eventually } from '../../support/service-world.ts';
import { killWorkerProcesses, startWorkerProcess } from './worker-process.ts';

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
    await killWorkerProcesses();
    await server.stop();
    await rm(folder, { recursive: true });
  });

  const start = (host: string, authority: string, scheme = 'rediss') =>
    startWorkerProcess(
      {
        redisUrl: `${scheme}://${host}:${port}`,
        databaseUrl: '',
        enqueue: '7',
      },
      { NODE_EXTRA_CA_CERTS: join(folder, authority) },
    );

  test('REDISS: with the right authority and name, queue and worker work', async () => {
    const worker = await start('localhost', 'authority.pem', 'REDISS');
    await eventually(() => expect(worker.answers).toContainEqual({ handled: '7' }));
    expect(await worker.close()).toBe(0);
  });

  test.each([
    ['of another authority', 'localhost', 'other.pem', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['by another name', '127.0.0.1', 'authority.pem', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('a server %s is refused', async (_, host, authority, code) => {
    const { answers } = await start(host, authority);
    expect(answers).toEqual([
      { refused: [`REDIS_URL: the server at ${host}:${port} cannot be spoken to (${code})`] },
    ]);
  });
});
