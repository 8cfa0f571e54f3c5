import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * `pass`; `refuse`: every connection ends, and no other is taken; `hang`: nothing is passed on, and
 * nothing is lost, until it passes again; a number: every piece comes so many milliseconds late.
 */
export type ProxyState = 'pass' | 'refuse' | 'hang' | number;

/** A way to a server on loopback that can be cut, slowed down and mended again. */
export interface TcpProxy {
  readonly port: number;
  set(state: ProxyState): void;
  close(): Promise<void>;
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let state: ProxyState = 'pass';
  let held: (() => void)[] = [];

  const send = (to: Socket, chunk: Buffer) => {
    if (state === 'hang' || held.length > 0) held.push(() => to.write(chunk));
    else if (typeof state === 'number') setTimeout(() => to.write(chunk), state);
    else to.write(chunk);
  };
  const track = (socket: Socket) => {
    sockets.add(socket.setNoDelay(true));
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    track(client);
    if (state === 'refuse') return void client.destroy();
    const upstream = track(connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true }));
    client.on('data', (chunk) => send(upstream, chunk));
    upstream.on('data', (chunk) => send(client, chunk));
    // What a process that was killed had sent still arrives, as it would without a proxy.
    client.on('end', () => upstream.end());
    upstream.on('end', () => client.end());
    client.on('close', () => upstream.end());
    upstream.on('close', () => client.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    set(next) {
      state = next;
      if (next === 'refuse') for (const socket of sockets) socket.resetAndDestroy();
      if (next === 'hang') return;
      const waiting = held;
      held = [];
      for (const release of waiting) release();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
