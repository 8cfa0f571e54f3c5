/**
 * After any fault in the middle of a backfill, the backfill ends without help and is exact, and no pull has
 * spent an attempt on what was not the platform's fault.
 */
import { expect, test } from 'vitest';
import { datesBetween } from '../../../src/base/values/business-day.ts';
import { daysFrom, TODAY } from '../../support/pull-world.ts';
import {
  type BackfillWorld,
  pullsOf,
  requestsByDate,
  stopWhileFetching,
  withBackfill,
} from '../../support/service-backfill.ts';
import { eventually, hasRedisServer, IMPATIENT, onEachQueue } from '../../support/service-world.ts';

const TO = daysFrom(-5, TODAY);
const RANGE = { from: daysFrom(-59, TO), to: TO };

onEachQueue('a backfill of 60 days with the queue on', (queue) => {
  const inWorld = (use: (world: BackfillWorld) => Promise<void>) => withBackfill(queue, RANGE, use);

  test('ends exact when the queue forgets its jobs, twice, without a request too many', () =>
    inWorld(async (world) => {
      await world.start();
      for (const days of [15, 35]) {
        await world.untilDone(days);
        await world.loseJobs();
      }
      await world.expectExact();
      expect(requestsByDate(world)).toEqual(oncePerDate());
    }));

  test('ends exact when the worker is killed and another one starts', () =>
    inWorld(async (world) => {
      const first = await world.start({ overrides: IMPATIENT });
      await world.untilDone(20);
      await eventually(async () => expect(await world.readRunning()).not.toEqual([]));
      await first.kill();
      await world.start({ overrides: IMPATIENT });
      await world.expectExact();
    }));

  // test/faults does both on either queue.
  if (queue === 'PostgreSQL') {
    test('ends exact when every database connection of the service is cut, again and again', () =>
      inWorld(async (world) => {
        const service = await world.start();
        for (const days of [5, 15, 25, 35, 45]) {
          await world.untilDone(days);
          const [cut] = await world.database.prisma.$queryRaw<{ connections: number }[]>`
          SELECT count(pg_terminate_backend(pid))::int AS connections FROM pg_stat_activity
          WHERE datname = current_database() AND application_name LIKE 'conciliation%'`;
          expect(cut?.connections).toBeGreaterThan(0);
        }
        await world.expectExact();
        expect(service.logged('service stopped')).toEqual([]);
      }));

    test('ends exact without a worker that is stopped, and that one commits nothing afterwards', () =>
      inWorld(async (world) => {
        const sleeper = await world.start({ overrides: IMPATIENT });
        await world.untilDone(20);
        const held = await stopWhileFetching(world, sleeper);
        const other = await world.start({ overrides: IMPATIENT });
        await world.expectExact();

        sleeper.send('SIGCONT');
        await eventually(() =>
          expect([...pullsOf(sleeper, 'another worker has taken the pull over')]).toEqual(
            expect.arrayContaining(held),
          ),
        );
        // Exact still, and every pull that was taken over is the other's.
        await world.expectExact();
        for (const pullId of held) {
          expect(pullsOf(sleeper, 'pull ended')).not.toContain(pullId);
          expect(pullsOf(other, 'pull ended')).toContain(pullId);
        }
      }));
    return;
  }
  const withOwnRedis = hasRedisServer ? test : test.skip;

  withOwnRedis(
    'ends exact when Redis is killed and comes back empty (skipped where it is not ours)',
    () =>
      inWorld(async (world) => {
        const service = await world.start();
        await world.untilDone(20);
        await world.redis?.kill();
        await eventually(() =>
          expect(service.logged('the queue is not available')).toHaveLength(1),
        );
        await world.redis?.restart();
        await world.expectExact();
        expect(requestsByDate(world)).toEqual(oncePerDate());
        expect(service.logged('the queue is not available')).toHaveLength(1);
        expect(service.logged('the queue is available again')).toHaveLength(1);
      }),
  );

  withOwnRedis(
    'ends exact when Redis and the worker die together (skipped where it is not ours)',
    () =>
      inWorld(async (world) => {
        const first = await world.start({ overrides: IMPATIENT });
        await world.untilDone(20);
        await eventually(async () => expect(await world.readRunning()).not.toEqual([]));
        await Promise.all([first.kill(), world.redis?.kill()]);
        await world.redis?.restart();
        await world.start({ overrides: IMPATIENT });
        await world.expectExact();
      }),
  );
});

const oncePerDate = () =>
  Object.fromEntries(datesBetween(RANGE.from, RANGE.to).map((date) => [date, 1]));
