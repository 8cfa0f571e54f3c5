import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Cluster,
  startServer,
  stopServer,
} from '../../src/base/embedded/embedded-postgres.ts';
import { withClient } from '../support/client.ts';
import { giveBackPort, takePort } from '../support/own-port.ts';
import { PATIENCE_MS } from '../support/patience.ts';

/** The children of a killed postmaster take a moment to notice, and keep a new one out. */
const START_ATTEMPTS = 50;
const READY_LIMIT_MS = PATIENCE_MS;
const POLL_MS = 10;

const running = new Set<FaultyPostgres>();
process.once('exit', () => {
  for (const server of running) server.killNow();
});

/** A PostgreSQL of one run's own, which can be killed as a power cut does it. */
export class FaultyPostgres {
  readonly port: number;
  readonly #cluster: Cluster;

  private constructor(cluster: Cluster, port: number) {
    this.#cluster = cluster;
    this.port = port;
  }

  static async start(cluster: Cluster): Promise<FaultyPostgres> {
    const server = new FaultyPostgres(cluster, await takePort());
    running.add(server);
    await server.ensureUp();
    return server;
  }

  /** Of the server itself, past every proxy. */
  url(database: string, port = this.port): string {
    const { user, password } = this.#cluster.credentials;
    return `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
  }

  /** Starts it where it does not run, and waits until it takes connections. */
  async ensureUp(): Promise<void> {
    const deadline = Date.now() + READY_LIMIT_MS;
    // The server on the port may belong to another run, with the same password.
    for (let attempt = 1; this.#pid() === null || !(await this.#isReady()); attempt += 1) {
      if (Date.now() > deadline) throw new Error(`no PostgreSQL on port ${this.port}`);
      const fault = await startServer(this.#cluster, this.port);
      if (fault !== null && attempt > START_ATTEMPTS) throw new Error(fault);
      await sleep(POLL_MS * Math.min(attempt, 10));
    }
  }

  /** SIGKILL to the server and to everything that it has started. */
  killNow(): void {
    const server = this.#pid();
    if (server === null) return;
    for (const pid of [server, ...childrenOf(server)]) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
  }

  async stop(): Promise<void> {
    running.delete(this);
    if (this.#pid() !== null) await stopServer(this.#cluster);
    giveBackPort(this.port);
  }

  /** By the lock file; null where that process has ended. */
  #pid(): number | null {
    try {
      const lockFile = join(this.#cluster.clusterDir, 'postmaster.pid');
      const pid = Number(readFileSync(lockFile, 'utf8').split('\n')[0]);
      process.kill(pid, 0);
      return pid;
    } catch {
      return null;
    }
  }

  #isReady(): Promise<boolean> {
    const asked = withClient(this.url('postgres'), (client) => client.query('SELECT'), {
      connectionTimeoutMillis: 30_000,
    });
    return asked.then(
      () => true,
      () => false,
    );
  }
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      // pid (name) state parent …; the name of a program may hold anything but its last bracket.
      const [, rest = ''] = readFileSync(`/proc/${name}/stat`, 'utf8').split(/\) (?!.*\) )/);
      return Number(rest.split(' ')[1]) === parent ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}
