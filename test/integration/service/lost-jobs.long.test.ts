/** Jobs are wake-ups: a queue that forgets them all costs a tick. */
import { expect, test } from 'vitest';
import { datesBetween } from '../../../src/base/values/business-day.ts';
import { daysFrom, TODAY } from '../../support/pull-world.ts';
import { predictTitles, readTitles } from '../../support/service-titles.ts';
import {
  dueSince,
  eventually,
  inServiceWorld,
  onEachQueue,
  SANDBOX,
  type ServiceWorld,
} from '../../support/service-world.ts';

const FROM = daysFrom(-12, TODAY);
const TO = daysFrom(-1, TODAY);

onEachQueue('a catch-up of 12 days with the queue on', (queue) => {
  test('ends exact when all jobs are lost while most of the dates wait', () =>
    inServiceWorld(queue, { redisDatabase: 15, environment: dueSince(FROM) }, catchUp));
});

async function catchUp(world: ServiceWorld): Promise<void> {
  const dates = datesBetween(FROM, TO);
  // A worker comes when all jobs are there, and finds none.
  const scheduler = await world.start({ roles: ['scheduler'] });
  await eventually(() => expect(scheduler.logged('pulls planned')).not.toEqual([]));
  await world.loseJobs();
  expect(await countPulls(world, 'queued')).toBe(dates.length);
  world.sandbox.faults.add({ kind: 'latency', latencyMs: 200, times: 'forever' });
  await world.start({ roles: ['worker'] });
  await eventually(async () => expect(await countPulls(world, 'merged')).toBeGreaterThan(3));
  await world.loseJobs();
  await eventually(async () => expect(await countPulls(world, 'merged')).toBe(dates.length));
  expect(await readTitles(world.database)).toEqual(predictTitles(SANDBOX, FROM, TO));
  const asked = world.sandbox.requests.map(({ query }) => query['conciliationDate']);
  expect(asked.sort()).toEqual(dates);
}

async function countPulls({ database }: ServiceWorld, state: string): Promise<number> {
  const [row] = await database.prisma.$queryRaw<{ pulls: number }[]>`
    SELECT count(*)::int AS pulls FROM conciliation.pull WHERE state = ${state}`;
  return row?.pulls ?? 0;
}
