import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { type ProxyState, startTcpProxy } from '../../faults/tcp-proxy.ts';

const STATES: readonly (readonly [ProxyState, ProxyState])[] = [
  [50, 'pass'],
  [50, 1],
  ['hang', 'pass'],
  ['hang', 20],
];

test.each(STATES)(
  'bytes of the state %s stay before bytes of the state %s',
  async (before, after) => {
    const server = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const proxy = await startTcpProxy((server.address() as AddressInfo).port);
    const client = connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true });
    await once(client, 'connect');
    client.write('warm ');
    await once(client, 'readable');
    proxy.set(before);
    client.write('first ');
    await new Promise((resolve) => setTimeout(resolve, 10));
    proxy.set(after);
    client.end('second');
    expect(String(await buffer(client))).toBe('warm first second');
    await proxy.close();
    server.close();
  },
);
