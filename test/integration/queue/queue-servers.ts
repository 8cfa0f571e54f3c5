import { describe, inject } from 'vitest';
import { withClient } from '../../support/client.ts';
import { createTestDatabase } from '../../support/database.ts';
import { findRedisServer, startRedisServer } from '../../support/redis.ts';

/** The store of the queue, for one test: empty at first, and used by no other test. */
export interface QueueServer {
  readonly redisUrl: string | null;
  readonly databaseUrl: string;
  /** Cuts every connection and takes no further one, until `goUp`. The jobs may be lost with it. */
  goDown(): Promise<void>;
  goUp(): Promise<void>;
  stop(): Promise<void>;
}

export interface QueueServerKind {
  readonly name: string;
  /** Null where there is one. */
  readonly missing: string | null;
  readonly start: () => Promise<QueueServer>;
}

const QUEUE_SERVERS: readonly QueueServerKind[] = [
  { name: 'PostgreSQL', missing: null, start: startOnPostgres },
  {
    name: 'Redis',
    missing: findRedisServer() === null ? 'there is no redis-server on the PATH' : null,
    start: startOnRedis,
  },
];

/** The same tests for every kind of server; a kind that is missing is skipped, and its name says why. */
export function describeOnEachServer(name: string, tests: (kind: QueueServerKind) => void): void {
  for (const kind of QUEUE_SERVERS) {
    if (kind.missing === null) describe(`${name} on ${kind.name}`, () => tests(kind));
    else describe.skip(`${name} on ${kind.name}, skipped: ${kind.missing}`, () => tests(kind));
  }
}

async function startOnPostgres(): Promise<QueueServer> {
  const database = await createTestDatabase();
  const name = new URL(database.url).pathname.slice(1);
  const run = async (statement: string) => {
    await withClient(inject('serverUrl'), (client) => client.query(statement));
  };
  return {
    redisUrl: null,
    databaseUrl: database.url,
    async goDown() {
      await run(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      await run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    },
    goUp: () => run(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`),
    stop: () => database.drop(),
  };
}

/** Not looked at where the queue is on Redis. */
const NO_DATABASE = 'postgresql://127.0.0.1:1/none';

async function startOnRedis(): Promise<QueueServer> {
  const server = await startRedisServer();
  return {
    redisUrl: server.url,
    databaseUrl: NO_DATABASE,
    goDown: () => server.kill(),
    goUp: () => server.restart(),
    stop: () => server.stop(),
  };
}
