import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/**
 * Returns a TCP port that is free on 127.0.0.1 at this moment: `preferred`, or another one. Another
 * process may take the port immediately afterwards, so the caller must be ready to retry.
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
