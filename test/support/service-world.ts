import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, inject, vi } from 'vitest';
import type { Database } from '../../src/base/database/database.ts';
import type { CivilDate } from '../../src/base/values/business-day.ts';
import { startWebhook, type Webhook } from '../integration/alerts/webhook.ts';
import { ANY_DAY_ENVIRONMENT } from './any-day-environment.ts';
import { createMigratedDatabase } from './database.ts';
import { PATIENCE_MS } from './patience.ts';
import { daysFrom, TODAY } from './pull-world.ts';
import { findRedisServer, type RedisServer, startRedisServer } from './redis.ts';
import { type Sandbox, startSandbox } from './sandbox/sandbox.ts';
import { type ServiceProcess, type ServiceStart, spawnService } from './service-process.ts';

/** The storage of the queue of a service. */
export interface ServiceQueue {
  readonly name: 'PostgreSQL' | 'Redis';
  /** Null where there is one. */
  readonly missing: string | null;
}

/** Needed where a test stops its Redis, or empties all of it. */
export const hasRedisServer = findRedisServer() !== null;

const SERVICE_QUEUES: readonly [ServiceQueue, ServiceQueue] = [
  { name: 'PostgreSQL', missing: null },
  {
    name: 'Redis',
    missing:
      hasRedisServer || inject('redisUrl') !== null
        ? null
        : 'there is no TEST_REDIS_URL and no redis-server on the PATH',
  },
];

/**
 * Declares the tests of each queue, whose name follows `name`. Those of a queue that is missing are skipped, and their
 * name says why.
 */
export function onEachQueue(name: string, tests: (queue: ServiceQueue['name']) => void): void {
  for (const { name: queue, missing } of SERVICE_QUEUES) {
    const title = `${name} ${queue}`;
    if (missing === null) describe.concurrent(title, { timeout: 900_000 }, () => tests(queue));
    else describe.skip(`${title}, skipped because ${missing}`, () => tests(queue));
  }
}

/** Synthetic titles that never change, few enough for many days. */
export const SANDBOX = { seed: 'service', titlesPerDay: 20, restate: false } as const;

/** The due work at any time of day: the dates from `startDate` to yesterday, each once, and no sweep. */
export function dueSince(startDate: CivilDate): Record<string, string> {
  const [, month, day] = daysFrom(-1, startDate).split('-').map(Number);
  return {
    START_DATE: startDate,
    PULL_CRON: '0 0 * * *',
    LOOKBACK_DAYS: '0',
    // Last on the day before the ledger begins, so that there is nothing for it to sweep.
    SWEEP_CRON: `0 3 ${day} ${month} *`,
  };
}

/** Nothing is due: the ledger begins yesterday, which was not over at the last slot. */
export function nothingDue(): Record<string, string> {
  const yesterday = daysFrom(-1, TODAY);
  const [, month, day] = yesterday.split('-').map(Number);
  return { ...dueSince(yesterday), PULL_CRON: `0 0 ${day} ${month} *` };
}

/** Times that let a test see in seconds what takes a service minutes. */
export const FAST = {
  tickMs: 1_000,
  handler: { stagingRetryMs: 1_000 },
  gate: { pollIntervalMs: 300 },
  alerts: { intervalMs: 400 },
  bookings: { everyMs: 400 },
  reports: { intervalMs: 300 },
} satisfies ServiceStart['overrides'];

/**
 * For tests that end a worker. Not for tests that count requests: on a busy machine a worker may
 * well be silent for that long, and then another has its pull too, as it should.
 */
export const IMPATIENT = {
  ...FAST,
  planner: { grace: { runningMs: 3_000, requestedQueuedMs: 3_000, requestedRunningMs: 3_000 } },
  worker: { lockMs: 1_500 },
} satisfies ServiceStart['overrides'];

/** A sandbox, a migrated database, a queue, and as many processes of the service as a test starts. */
export interface ServiceWorld {
  readonly sandbox: Sandbox;
  readonly database: Database;
  readonly databaseUrl: string;
  /** Null where the queue is in the database. */
  readonly redisUrl: string | null;
  /** Where the queue is on a Redis of this test's own, else null. */
  readonly redis: RedisServer | null;
  /** Resolves once the process has started every part. */
  start(options?: Partial<ServiceStart>): Promise<ServiceProcess>;
  /** Does not wait for it: for a start that is expected to fail. */
  spawn(options?: Partial<ServiceStart>): ServiceProcess;
  /** Puts a whole file in a folder of this world, at once; returns its path. */
  writeFile(name: string, text: string): Promise<string>;
  /** Deletes every job without the knowledge of the service. */
  loseJobs(): Promise<void>;
  /** Kills every process that still runs. */
  close(): Promise<void>;
}

interface ServiceWorldOptions {
  /** On a Redis that files share: no other file's. */
  readonly redisDatabase: number;
  /** The current time of the sandbox and of every process; the real time by default. */
  readonly now?: Date;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A world for `use`, which is closed afterwards. */
export async function inServiceWorld(
  queue: ServiceQueue['name'],
  options: ServiceWorldOptions,
  use: (world: ServiceWorld) => Promise<void>,
): Promise<void> {
  const world = await openServiceWorld(queue, options);
  try {
    await use(world);
  } finally {
    await world.close();
  }
}

/** The same, with a receiver of its alerts. */
export async function inAlertingWorld(
  queue: ServiceQueue['name'],
  options: ServiceWorldOptions,
  use: (world: ServiceWorld, webhook: Webhook) => Promise<void>,
): Promise<void> {
  const webhook = await startWebhook();
  const environment = { ALERT_WEBHOOK_URL: webhook.url.href, ...options.environment };
  try {
    await inServiceWorld(queue, { ...options, environment }, (world) => use(world, webhook));
  } finally {
    await webhook.close();
  }
}

export async function openServiceWorld(
  queue: ServiceQueue['name'],
  options: ServiceWorldOptions,
): Promise<ServiceWorld> {
  const { url, database, drop } = await createMigratedDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'conciliation-service-'));
  const write = async (name: string, text: string) => {
    // A concurrent reader reads the old content.
    await writeFile(join(folder, 'new'), text, { mode: 0o600 });
    await rename(join(folder, 'new'), join(folder, name));
    return join(folder, name);
  };
  const { now } = options;
  const clockFile = now && (await write('clock', now.toISOString()));
  const sandbox = await startSandbox({ ...SANDBOX, now: () => now ?? new Date() });
  const redis = queue === 'Redis' && hasRedisServer ? await startRedisServer() : null;
  const redisUrl = queue === 'Redis' ? (redis?.url ?? sharedRedis(options.redisDatabase)) : null;
  if (redis === null && redisUrl !== null) await flush(redisUrl, 'FLUSHDB');
  const environment = {
    DATABASE_URL: url,
    PLATFORM_BASE_URL: sandbox.baseUrl,
    PULL_BACKOFF_SECONDS: '1',
    CONSOLE_PORT: '0',
    ...ANY_DAY_ENVIRONMENT,
    ...(redisUrl !== null && { REDIS_URL: redisUrl }),
    ...options.environment,
  };

  const processes: ServiceProcess[] = [];
  const spawn = (start: Partial<ServiceStart> = {}) => {
    const withToken = 'PLATFORM_TOKEN_FILE' in { ...environment, ...start.environment };
    const process = spawnService({
      overrides: FAST,
      ...(clockFile !== undefined && { clockFile }),
      ...start,
      environment: {
        ...environment,
        ...(!withToken && { PLATFORM_TOKEN: sandbox.issueToken() }),
        ...start.environment,
      },
    });
    processes.push(process);
    return process;
  };
  return {
    sandbox,
    database,
    databaseUrl: url,
    redisUrl,
    redis,
    spawn,
    async start(start) {
      const process = spawn(start);
      await process.started;
      return process;
    },
    writeFile: write,
    async loseJobs() {
      if (redisUrl !== null) await flush(redisUrl, redis === null ? 'FLUSHDB' : 'FLUSHALL');
      else await database.pool.query('TRUNCATE conciliation_queue.job CASCADE');
    },
    async close() {
      await Promise.all(processes.map((process) => process.kill()));
      await sandbox.close();
      await redis?.stop();
      await drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function sharedRedis(databaseNumber: number): string {
  const url = new URL(inject('redisUrl') ?? '');
  url.pathname = `/${databaseNumber}`;
  return url.href;
}

async function flush(redisUrl: string, command: 'FLUSHALL' | 'FLUSHDB'): Promise<void> {
  const client = new Redis(redisUrl);
  await client.call(command);
  client.disconnect();
}

/** The pulls in the order of their dates. */
export function readPulls(world: ServiceWorld) {
  return world.database.prisma.$queryRaw<{ date: string; state: string; attempts: number }[]>`
    SELECT date::text AS date, state, attempts FROM conciliation.pull ORDER BY pull.date`;
}

export function eventually<T>(check: () => T | Promise<T>, timeoutMs = PATIENCE_MS): Promise<T> {
  return vi.waitFor(check, { timeout: timeoutMs, interval: 50 });
}
