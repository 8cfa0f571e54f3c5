import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { pino } from 'pino';
import type { Cluster } from '../../src/embedded/cluster.ts';
import { findPostmaster } from '../../src/embedded/lock-file.ts';
import { startPostmaster, stopPostmaster } from '../../src/embedded/postmaster.ts';
import { giveBackPort, takePort } from '../support/own-port.ts';

const silent = pino({ level: 'silent' });

/** The children of a killed postmaster take a moment to notice, and keep a new one out. */
const START_ATTEMPTS = 50;
const READY_LIMIT_MS = 150_000;
const POLL_MS = 10;

const running = new Set<FaultyPostgres>();
process.once('exit', () => {
  for (const server of running) server.killNow();
});

/** A PostgreSQL of one run's own, which can be killed as a power cut does it. */
export class FaultyPostgres {
  readonly port: number;
  readonly #cluster: Cluster;
  #pid = 0;

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

  get password(): string {
    return this.#cluster.credentials.password;
  }

  get logFile(): string {
    return this.#cluster.logFile;
  }

  /** Starts it where it does not run, and waits until it takes connections. */
  async ensureUp(): Promise<void> {
    const deadline = Date.now() + READY_LIMIT_MS;
    for (let attempt = 1; ; attempt += 1) {
      const isRunning = (await findPostmaster(this.#cluster.clusterDir)) !== null;
      // The server on the port may belong to another run, with the same password.
      if (isRunning && (await this.#isReady())) return;
      if (Date.now() > deadline) throw new Error(`no PostgreSQL on port ${this.port}`);
      if (!isRunning) {
        if (attempt > START_ATTEMPTS) throw new Error('PostgreSQL does not start');
        this.#pid = (await startPostmaster(this.#cluster, this.port)).pid;
      }
      await sleep(POLL_MS * Math.min(attempt, 10));
    }
  }

  /** SIGKILL to the server and to everything that it has started. */
  killNow(): void {
    if (this.#pid === 0) return;
    for (const pid of [this.#pid, ...childrenOf(this.#pid)]) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
  }

  async stop(): Promise<void> {
    running.delete(this);
    const postmaster = await findPostmaster(this.#cluster.clusterDir);
    if (postmaster !== null) await stopPostmaster(postmaster.pid, silent);
    giveBackPort(this.port);
  }

  async #isReady(): Promise<boolean> {
    const client = new Client({
      connectionString: this.url('postgres'),
      connectionTimeoutMillis: 2_000,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('SELECT');
      return true;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => {});
    }
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
