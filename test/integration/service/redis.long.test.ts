/** A service and the Redis that it was told to use. */
import { expect, test } from 'vitest';
import { createBackfill } from '../../../src/features/backfills/backfill-ledger.sql.ts';
import { daysFrom, TODAY } from '../../support/pull-world.ts';
import { errorsOf } from '../../support/service-process.ts';
import {
  eventually,
  hasRedisServer,
  inServiceWorld,
  nothingDue,
  type ServiceWorld,
} from '../../support/service-world.ts';

const OUTAGE = ['the queue is not available', 'planning failed; every tick tries again'];

/** Nothing is due but what the test asks for. */
const inWorld = (use: (world: ServiceWorld) => Promise<void>) =>
  inServiceWorld('Redis', { redisDatabase: 14, environment: nothingDue() }, use);

test.skipIf(!hasRedisServer)(
  'a Redis that becomes unavailable shows in /readyz and once in the log; when it is back, work continues (skipped where no redis-server is on the PATH)',
  () =>
    inWorld(async (world) => {
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
      await eventually(() => expect(errorsOf(service).map(({ msg }) => msg)).toEqual(OUTAGE));
      expect(service.logged('the queue is available again')).toEqual([]);
      expect(world.sandbox.requests).toEqual([]);

      await world.redis?.restart();
      await eventually(async () => expect(await readPullStates(world)).toEqual(['merged']));
      await eventually(async () => expect(await readiness(service.consoleUrl())).toEqual(ready));
      expect(world.sandbox.requests).toHaveLength(3);
      expect(service.logged('the queue is available again')).toHaveLength(1);
      expect(errorsOf(service).map(({ msg }) => msg)).toEqual(OUTAGE);
    }),
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
