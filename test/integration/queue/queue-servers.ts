import { Redis } from 'ioredis';
import { Client } from 'pg';
import { inject } from 'vitest';
import { createTestDatabase } from '../../support/database.ts';
import { findRedisServer, startRedisServer } from '../../support/redis.ts';

/** What the queue is kept in, for one test: empty at first, and nobody else's. */
export interface QueueServer {
  readonly redisUrl: string | null;
  readonly databaseUrl: string;
  /** Throws every job away behind the back of whoever uses the queue. */
  loseJobs(): Promise<void>;
  /** Cuts every connection and takes no further one, until `goUp`. Where jobs live, they may die. */
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

export const QUEUE_SERVERS: readonly QueueServerKind[] = [
  { name: 'PostgreSQL', missing: null, start: startOnPostgres },
  {
    name: 'Redis',
    missing: findRedisServer() === null ? 'there is no redis-server on the PATH' : null,
    start: startOnRedis,
  },
];

async function startOnPostgres(): Promise<QueueServer> {
  const database = await createTestDatabase();
  const name = new URL(database.url).pathname.slice(1);
  return {
    redisUrl: null,
    databaseUrl: database.url,
    loseJobs: () => run(database.url, 'TRUNCATE conciliation_queue.job CASCADE'),
    async goDown() {
      await run(inject('serverUrl'), `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      await run(
        inject('serverUrl'),
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
      );
    },
    goUp: () => run(inject('serverUrl'), `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`),
    stop: () => database.drop(),
  };
}

async function startOnRedis(): Promise<QueueServer> {
  const server = await startRedisServer();
  return {
    redisUrl: server.url,
    // Not looked at: the queue is elsewhere.
    databaseUrl: 'postgresql://127.0.0.1:1/none',
    async loseJobs() {
      const client = new Redis(server.url);
      await client.flushall();
      client.disconnect();
    },
    goDown: () => server.kill(),
    goUp: () => server.restart(),
    stop: () => server.stop(),
  };
}

async function run(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
