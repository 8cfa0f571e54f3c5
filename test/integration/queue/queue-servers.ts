import { Redis } from 'ioredis';
import { Client } from 'pg';
import { describe, inject } from 'vitest';
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
  /** Whether it is ours to stop. */
  readonly canGoDown: boolean;
  readonly start: () => Promise<QueueServer>;
}

/** A Redis of the tests' own where one can be started, else the one they share. */
const startsRedis = findRedisServer() !== null;

const QUEUE_SERVERS: readonly QueueServerKind[] = [
  { name: 'PostgreSQL', missing: null, canGoDown: true, start: startOnPostgres },
  {
    name: 'Redis',
    missing:
      inject('redisUrl') === null
        ? 'there is no TEST_REDIS_URL and no redis-server on the PATH'
        : null,
    canGoDown: startsRedis,
    start: startsRedis ? startOnRedis : startOnSharedRedis,
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
  return {
    redisUrl: null,
    databaseUrl: database.url,
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

/** Of the sixteen that a Redis has; test files that run at the same time differ in it. */
const SHARED_DATABASE_NUMBER = Number(process.env['VITEST_POOL_ID'] ?? 0) % 16;

async function startOnSharedRedis(): Promise<QueueServer> {
  const url = new URL(inject('redisUrl') ?? '');
  url.pathname = `/${SHARED_DATABASE_NUMBER}`;
  await flush(url.href);
  const notOurs = () => Promise.reject(new Error('this Redis is not ours to stop'));
  return {
    redisUrl: url.href,
    databaseUrl: NO_DATABASE,
    goDown: notOurs,
    goUp: notOurs,
    stop: () => flush(url.href),
  };
}

async function flush(redisUrl: string): Promise<void> {
  const client = new Redis(redisUrl);
  await client.flushdb();
  client.disconnect();
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
