import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/**
 * Says what a Redis of the given version says to a client that greets it and asks for INFO; the
 * versions that are refused are too old to be installed anywhere.
 */
export async function startOldRedis(version: string): Promise<{ url: string; stop: () => void }> {
  const server = createServer((socket) => {
    socket.on('data', (data) => {
      const commands = data
        .toString()
        .split(/^\*\d+\r\n/m)
        .slice(1);
      for (const command of commands) {
        const name = command.split('\r\n')[1]?.toLowerCase();
        if (name === 'hello') socket.write("-ERR unknown command 'HELLO'\r\n");
        else if (name === 'info') {
          const info = `redis_version:${version}\r\n`;
          socket.write(`$${info.length}\r\n${info}\r\n`);
        } else socket.write('+OK\r\n');
      }
    });
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `redis://127.0.0.1:${port}`, stop: () => server.close() };
}
