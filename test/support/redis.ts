import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { openFolder } from './for-tests.ts';
import { giveBackPort, takePort } from './own-port.ts';
import { endWithThisProcess, findProgram } from './program.ts';

/** A Redis of one test file's own, on loopback, that keeps nothing on disk. */
export type RedisServer = Awaited<ReturnType<typeof startRedisServer>>;

export function findRedisServer(): string | null {
  return findProgram('redis-server');
}

/** @param settings of redis.conf, such as `['--requirepass', 'secret']` */
export async function startRedisServer(settings: readonly string[] = []) {
  const program = findRedisServer();
  if (program === null) throw new Error('there is no redis-server on the PATH');
  const folder = await openFolder();
  const port = await takePort();
  const start = () => spawnServer(program, port, folder.path, settings);
  let child = await start();
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    pid: () => child.pid ?? 0,
    /** Ends the server like a crash: at once, and with the loss of all data. */
    kill,
    /** Starts it again, empty, on the same port. */
    async restart() {
      child = await start();
    },
    async stop() {
      await kill();
      giveBackPort(port);
      await folder.close();
    },
  };
}

async function spawnServer(
  program: string,
  port: number,
  folder: string,
  settings: readonly string[],
): Promise<ChildProcess> {
  const child = spawn(
    program,
    ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...settings],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  endWithThisProcess(child);
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line);
    if (!line.includes('Ready to accept connections')) continue;
    // Leaving the loop closes the pipe, and a server that logs into a closed pipe ends.
    child.stdout.resume();
    return child;
  }
  throw new Error(`redis-server did not start:\n${said.join('\n')}`);
}
