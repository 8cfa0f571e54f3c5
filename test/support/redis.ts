import { setTimeout as sleep } from 'node:timers/promises';
import { openFolder } from './for-tests.ts';
import { giveBackPort, takePort } from './own-port.ts';
import { findProgram, type ProgramResult, startProgram } from './program.ts';

/** A Redis of one test file's own, on loopback, that keeps nothing on disk. */
export type RedisServer = Awaited<ReturnType<typeof startRedisServer>>;

export const findRedisServer = () => findProgram('redis-server');

/** @param settings of redis.conf, such as `['--requirepass', 'secret']` */
export async function startRedisServer(settings: readonly string[] = []) {
  const program = findRedisServer();
  if (program === null) throw new Error('there is no redis-server on the PATH');
  const folder = await openFolder();
  const port = await takePort();
  const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder.path, '--save', ''];
  const start = async () => {
    const server = startProgram(program, [...options, ...settings], {});
    let end: ProgramResult | null = null;
    void server.ended.then((result) => {
      end = result;
    });
    while (!server.stdout().includes('Ready to accept connections')) {
      if (end !== null) throw new Error(`redis-server ended: ${JSON.stringify(end)}`);
      await sleep(10);
    }
    return server;
  };
  let running = await start();
  const kill = async () => {
    running.kill('SIGKILL');
    await running.ended;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    pid: () => running.pid,
    /** Ends the server like a crash: at once, and with the loss of all data. */
    kill,
    /** Starts it again, empty, on the same port. */
    async restart() {
      running = await start();
    },
    async stop() {
      await kill();
      giveBackPort(port);
      await folder.close();
    },
  };
}
