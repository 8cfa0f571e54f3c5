/** A backfill ends without help and exact after a fault in its middle, and no pull has spent an attempt on it. */
import { expect, test } from 'vitest';
import { daysFrom, TODAY } from '../../support/pull-world.ts';
import { withBackfill } from '../../support/service-backfill.ts';
import { eventually, IMPATIENT } from '../../support/service-world.ts';

const TO = daysFrom(-5, TODAY);
const RANGE = { from: daysFrom(-39, TO), to: TO };

// test/faults tries each fault at each step of a pull, on either queue.
test('ends exact when its jobs are lost, its connections are cut and its worker is killed', () =>
  withBackfill('PostgreSQL', RANGE, async (world) => {
    const first = await world.start({ overrides: IMPATIENT });
    await world.untilDone(5);
    await world.loseJobs();
    await world.untilDone(12);
    const [cut] = await world.database.prisma.$queryRaw<{ connections: number }[]>`
      SELECT count(pg_terminate_backend(pid))::int AS connections FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'conciliation%'`;
    expect(cut?.connections).toBeGreaterThan(0);
    await world.untilDone(20);
    expect(first.logged('service stopped')).toEqual([]);
    await eventually(async () => expect(await world.readRunning()).not.toEqual([]));
    await first.kill();
    await world.start({ overrides: IMPATIENT });
    await world.expectExact();
  }));
