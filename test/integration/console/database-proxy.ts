import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a database that can be cut, or made to hang, and mended again. */
export interface DatabaseProxy {
  readonly url: string;
  /** `refuse`: connections end at once; `hang`: nothing is passed on, in neither direction. */
  set(state: 'pass' | 'refuse' | 'hang'): void;
  close(): Promise<void>;
}

export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let state: 'pass' | 'refuse' | 'hang' = 'pass';

  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((client) => {
    track(client);
    if (state === 'refuse') return void client.destroy();
    const upstream = track(connect(Number(target.port), target.hostname));
    client.on('data', (chunk) => {
      if (state === 'pass') upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (state === 'pass') client.write(chunk);
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');

  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    set(next) {
      state = next;
      if (next === 'refuse') for (const socket of sockets) socket.destroy();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
