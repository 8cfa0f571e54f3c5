/**
 * Whatever breaks in the middle of a backfill, it ends by itself, exact to the title, and no pull has
 * spent an attempt on what was not the platform's fault.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { datesBetween } from '../../../src/domain/business-day.ts';
import { createBackfill, readBackfillProgress } from '../../../src/staging/backfill-ledger.ts';
import { daysFrom, TODAY } from '../../support/pull-world.ts';
import type { ServiceProcess } from '../../support/service-process.ts';
import { predictTitles, readTitles } from '../../support/service-titles.ts';
import {
  eventually,
  hasRedisServer,
  openServiceWorld,
  SANDBOX,
  SERVICE_QUEUES,
  type ServiceQueue,
  type ServiceWorld,
} from '../../support/service-world.ts';

const DAYS = 60;
const TO = daysFrom(-5, TODAY);
const FROM = daysFrom(1 - DAYS, TO);
const LATENCY_MS = 100;
const TEST_TIMEOUT_MS = 120_000;

for (const queue of SERVICE_QUEUES) {
  if (queue.missing === null) {
    describe(`a backfill with the queue on ${queue.name}`, () => survives(queue));
  } else {
    describe.skip(`a backfill with the queue on ${queue.name}, skipped because ${queue.missing}`, () =>
      survives(queue));
  }
}

function survives(queue: ServiceQueue): void {
  let world: ServiceWorld;
  let backfillId: bigint;

  beforeEach(async () => {
    world = await openServiceWorld(queue.name, {
      redisDatabase: 10,
      // Nothing else is due, so that every request is the backfill's.
      environment: { START_DATE: TODAY, LOOKBACK_DAYS: '0' },
    });
    world.sandbox.faults.add({ kind: 'latency', latencyMs: LATENCY_MS, times: 'forever' });
    backfillId = await createBackfill(
      world.database,
      { range: { from: FROM, to: TO }, concurrency: 3, by: 'test' },
      TODAY,
    );
  });
  afterEach(() => world.close());

  const daysDone = async () => (await readBackfillProgress(world.database, backfillId))?.done ?? 0;
  const untilDone = (days: number) =>
    eventually(async () => expect(await daysDone()).toBeGreaterThanOrEqual(days));

  /** The pulls that are being made at this moment, and the fence of each. */
  const readRunning = async () =>
    new Map(
      (
        await world.database.prisma.$queryRaw<{ id: bigint; fence: bigint }[]>`
          SELECT id, fence FROM conciliation.pull WHERE state = 'running'`
      ).map(({ id, fence }) => [id, fence] as const),
    );

  async function expectExact(): Promise<void> {
    await eventually(
      async () =>
        expect(await readBackfillProgress(world.database, backfillId)).toMatchObject({
          state: 'done',
          done: DAYS,
          failed: 0,
          held: 0,
        }),
      TEST_TIMEOUT_MS,
    );
    expect(await readTitles(world.database)).toEqual(predictTitles(SANDBOX, FROM, TO));
    // One pull a date; the attempt that it has spent is the one that succeeded.
    const pulls = await world.database.prisma.$queryRaw<unknown[]>`
      SELECT window_from::text AS date, state, attempts FROM conciliation.pull ORDER BY window_from`;
    expect(pulls).toEqual(
      datesBetween(FROM, TO).map((date) => ({ date, state: 'merged', attempts: 1 })),
    );
    const days = await world.database.prisma.$queryRaw<unknown[]>`
      SELECT DISTINCT state FROM conciliation.day`;
    expect(days).toEqual([{ state: 'reconciled' }]);
    const revisions = await world.database.prisma.$queryRaw<unknown[]>`
      SELECT kind FROM conciliation.title_revision`;
    expect(revisions).toEqual([]);
  }

  /** How often each date was requested. */
  const requestCounts = () => {
    const counts = new Map<string, number>();
    for (const { query } of world.sandbox.requests) {
      const date = query['conciliationDate'] ?? '';
      counts.set(date, (counts.get(date) ?? 0) + 1);
    }
    return counts;
  };
  const expectOneRequestPerDate = () =>
    expect(requestCounts()).toEqual(new Map(datesBetween(FROM, TO).map((date) => [date, 1])));

  test(
    'ends exact when the queue forgets its jobs, twice, without a request too many',
    async () => {
      await world.start();
      for (const days of [15, 35]) {
        await untilDone(days);
        await world.loseJobs();
      }
      await expectExact();
      expectOneRequestPerDate();
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'ends exact when every database connection of the service is cut, again and again',
    async () => {
      const service = await world.start();
      for (const days of [5, 15, 25, 35, 45]) {
        await untilDone(days);
        const [cut] = await world.database.prisma.$queryRaw<{ connections: number }[]>`
        SELECT count(pg_terminate_backend(pid))::int AS connections FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'conciliation%'`;
        expect(cut?.connections).toBeGreaterThan(0);
      }
      await expectExact();
      expect(service.logged('service stopped')).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'ends exact when the worker is killed and another one starts',
    async () => {
      const first = await world.start();
      await untilDone(20);
      await eventually(async () => expect((await readRunning()).size).toBeGreaterThan(0));
      await first.kill();
      const abandoned = await readRunning();
      expect(abandoned.size).toBeGreaterThan(0);
      await world.start();
      await expectExact();
      expect([...requestCounts().values()].filter((count) => count > 1).length).toBeLessThanOrEqual(
        abandoned.size,
      );
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'ends exact without a worker that is stopped, and that one commits nothing afterwards',
    async () => {
      const sleeper = await world.start();
      await untilDone(20);
      const held = await stopWhileFetching(sleeper);
      const other = await world.start();
      await expectExact();

      sleeper.send('SIGCONT');
      await eventually(() =>
        expect(pullsOf(sleeper, 'another worker has taken the pull over')).toEqual(
          new Set([...held.keys()].map(String)),
        ),
      );
      // Exact still, and every pull that was taken over is the other's.
      await expectExact();
      for (const pullId of held.keys()) {
        expect(pullsOf(sleeper, 'pull ended')).not.toContain(String(pullId));
        expect(pullsOf(other, 'pull ended')).toContain(String(pullId));
      }
    },
    TEST_TIMEOUT_MS,
  );

  /**
   * Stops the process while all that it has in hand is being fetched. One that is stopped within a
   * transaction keeps its locks until PostgreSQL cuts it off, a minute later: it is let go again.
   *
   * @returns the pulls that it holds
   */
  async function stopWhileFetching(service: ServiceProcess): Promise<Map<bigint, bigint>> {
    return eventually(async () => {
      service.send('SIGSTOP');
      const [busy] = await world.database.prisma.$queryRaw<{ sessions: number }[]>`
        SELECT count(*)::int AS sessions FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'conciliation%'
          AND state <> 'idle'`;
      const running = await readRunning();
      if (busy?.sessions === 0 && running.size === 3) return running;
      service.send('SIGCONT');
      throw new Error('stopped at the wrong moment');
    });
  }

  if (queue.name !== 'Redis') return;
  const withOwnRedis = hasRedisServer ? test : test.skip;

  withOwnRedis(
    'ends exact when Redis is killed and comes back empty (skipped where it is not ours)',
    async () => {
      const service = await world.start();
      await untilDone(20);
      await world.redis?.kill();
      await eventually(() => expect(service.logged('the queue is away')).toHaveLength(1));
      await world.redis?.restart();
      await expectExact();
      expectOneRequestPerDate();
      expect(service.logged('the queue is away')).toHaveLength(1);
      expect(service.logged('the queue is back')).toHaveLength(1);
    },
    TEST_TIMEOUT_MS,
  );

  withOwnRedis(
    'ends exact when Redis and the worker die together (skipped where it is not ours)',
    async () => {
      const first = await world.start();
      await untilDone(20);
      await eventually(async () => expect((await readRunning()).size).toBeGreaterThan(0));
      await Promise.all([first.kill(), world.redis?.kill()]);
      await world.redis?.restart();
      await world.start();
      await expectExact();
    },
    TEST_TIMEOUT_MS,
  );
}

function pullsOf(service: ServiceProcess, message: string): Set<unknown> {
  return new Set(service.logged(message).map((line) => line['pullId']));
}
