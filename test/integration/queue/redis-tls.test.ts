/** A Redis with TLS: who vouches for it, and under which name, is checked. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  AUTHORITY,
  OTHER_AUTHORITY,
  SERVER_CERTIFICATE,
  SERVER_KEY,
} from '../../support/certificates.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { giveBackPort, takePort } from '../../support/own-port.ts';
import { daysFrom, TODAY } from '../../support/pull-world.ts';
import { findRedisServer, startRedisServer } from '../../support/redis.ts';
import { dueSince, eventually, openServiceWorld } from '../../support/service-world.ts';

describe.skipIf(findRedisServer() === null)('rediss:// (skipped without a redis-server)', () => {
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
