import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/**
 * A TCP port that is free on 127.0.0.1 at this moment: `preferred`, or another. Somebody else may
 * take it the next moment, so whoever uses it must be ready to ask again.
 */
export async function findFreePort(preferred = 0): Promise<number> {
  const server = createServer();
  try {
    server.listen({ host: '127.0.0.1', port: preferred, exclusive: true });
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  } catch (error) {
    if (preferred === 0) throw error;
    return findFreePort();
  } finally {
    server.close();
  }
}
