import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Returns `preferred` if that TCP port is free on 127.0.0.1 at this moment, or else another one. */
export async function findFreePort(preferred = 0): Promise<number> {
  const server = createServer().listen({ host: '127.0.0.1', port: preferred, exclusive: true });
  try {
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  } catch (error) {
    if (preferred === 0) throw error;
    return findFreePort();
  } finally {
    server.close();
  }
}
