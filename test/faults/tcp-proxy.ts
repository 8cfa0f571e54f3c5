import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pause } from '../support/pull-world.ts';

/**
 * `pass`; `refuse`: every connection ends, and no other is taken; `hang`: nothing is passed on, and
 * nothing is lost, until it passes again; a number: every piece comes so many milliseconds late.
 */
export type ProxyState = 'pass' | 'refuse' | 'hang' | number;

/** A way to a server on loopback that can be cut, slowed down and mended again. */
export type TcpProxy = Awaited<ReturnType<typeof startTcpProxy>>;

export async function startTcpProxy(targetPort: number) {
  const sockets = new Set<Socket>();
  let state: ProxyState = 'pass';
  let [passing, passAgain] = [Promise.resolve(), () => {}];

  const track = (socket: Socket) => {
    sockets.add(socket.setNoDelay(true));
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    return socket;
  };
  /** Bytes and their end, in the order of their arrival, also if the state changes meanwhile. */
  const forward = (from: Socket, to: Socket) => {
    let before = Promise.resolve();
    const send = (deliver: () => void) => {
      const late = typeof state === 'number' ? sleep(state) : null;
      before = before.then(async () => {
        await late;
        await passing;
        deliver();
      });
    };
    from.on('data', (chunk) => send(() => to.write(chunk)));
    // Bytes that a killed process had sent still arrive, as they would without a proxy.
    from.on('end', () => send(() => to.end()));
    return send;
  };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    track(client);
    if (state === 'refuse') return void client.destroy();
    const upstream = track(connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true }));
    const sendUp = forward(client, upstream);
    const sendDown = forward(upstream, client);
    client.on('close', () => sendUp(() => upstream.end()));
    upstream.on('close', () => sendDown(() => client.destroy()));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    set(next: ProxyState) {
      state = next;
      if (next === 'refuse') for (const socket of sockets) socket.resetAndDestroy();
      passAgain();
      if (next === 'hang') [passing, passAgain] = pause();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
