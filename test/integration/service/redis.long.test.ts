/** A service and the Redis that it was told to use. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { findFreePort } from '../../../src/base/embedded/embedded-postgres.ts';
import { createBackfill } from '../../../src/features/backfills/backfill-ledger.sql.ts';
import { daysFrom, TODAY } from '../../support/pull-world.ts';
import { startRedisServer } from '../../support/redis.ts';
import { errorsOf } from '../../support/service-process.ts';
import {
  eventually,
  hasRedisServer,
  inServiceWorld,
  nothingDue,
  type ServiceWorld,
} from '../../support/service-world.ts';

/** Nothing is due but what the test asks for. */
const inWorld = (queue: 'PostgreSQL' | 'Redis', use: (world: ServiceWorld) => Promise<void>) =>
  inServiceWorld(queue, { redisDatabase: 14, environment: nothingDue() }, use);

test.concurrent('a service whose Redis is not there ends with 1 and says so', () =>
  inWorld('PostgreSQL', async (world) => {
    const address = `127.0.0.1:${await findFreePort()}`;
    const environment = { REDIS_URL: `redis://:s3cret@${address}` };
    const service = world.spawn({ overrides: null, environment });
    expect(await service.ended).toEqual({
      exit: 1,
      signal: null,
      text: `error: the queue's Redis at ${address} cannot be reached (ECONNREFUSED)`,
    });
    expect(service.logged('service started')).toEqual([]);
  }));

const withOwnRedis = hasRedisServer ? describe.concurrent : describe.skip;

withOwnRedis(
  'a Redis of our own (skipped where no redis-server is on the PATH)',
  { timeout: 900_000 },
  () => {
    test('that refuses the password is refused with 2', () =>
      inWorld('PostgreSQL', async (world) => {
        const redis = await startRedisServer(['--requirepass', 's3cret']);
        try {
          const environment = { REDIS_URL: redis.url };
          const { exit, text } = await world.spawn({ overrides: null, environment }).ended;
          expect(exit).toBe(2);
          expect(text).toContain(
            `REDIS_URL: the server at 127.0.0.1:${redis.port} refuses its user or password`,
          );
        } finally {
          await redis.stop();
        }
      }));

    test('that becomes unavailable shows in /readyz and once in the log; when it is back, work continues', () =>
      inWorld('Redis', async (world) => {
        const service = await world.start();
        const ready = { status: 200, notReady: [] };
        await eventually(async () => expect(await readiness(service.consoleUrl())).toEqual(ready));

        await world.redis?.kill();
        await eventually(async () =>
          expect(await readiness(service.consoleUrl())).toEqual({
            status: 503,
            notReady: [{ name: 'queue', ok: false, reason: 'not reachable' }],
          }),
        );
        expect((await fetch(`${service.consoleUrl()}/healthz`)).status).toBe(200);
        // Requests that arrive meanwhile are kept at every tick.
        await createBackfill(
          world.database,
          {
            range: { from: daysFrom(-4, TODAY), to: daysFrom(-2, TODAY) },
            concurrency: 3,
            by: 'test',
          },
          TODAY,
        );
        await eventually(async () => expect(await readPullStates(world)).toEqual(['queued']));
        await sleep(3_000);
        expect(service.logged('the queue is not available')).toHaveLength(1);
        expect(service.logged('the queue is available again')).toEqual([]);
        expect(world.sandbox.requests).toEqual([]);

        await world.redis?.restart();
        await eventually(async () => expect(await readPullStates(world)).toEqual(['merged']));
        await eventually(async () => expect(await readiness(service.consoleUrl())).toEqual(ready));
        expect(world.sandbox.requests).toHaveLength(3);
        expect(service.logged('the queue is not available')).toHaveLength(1);
        expect(service.logged('the queue is available again')).toHaveLength(1);
        expect(errorsOf(service).map(({ msg }) => msg)).toEqual([
          'the queue is not available',
          'planning failed; every tick tries again',
        ]);
      }));
  },
);

async function readiness(consoleUrl: string): Promise<{ status: number; notReady: unknown[] }> {
  const response = await fetch(`${consoleUrl}/readyz`);
  const { checks } = (await response.json()) as { checks: readonly { ok: boolean }[] };
  return { status: response.status, notReady: checks.filter(({ ok }) => !ok) };
}

async function readPullStates(world: ServiceWorld): Promise<string[]> {
  const rows = await world.database.prisma.$queryRaw<{ state: string }[]>`
    SELECT DISTINCT state FROM conciliation.pull`;
  return rows.map(({ state }) => state);
}
