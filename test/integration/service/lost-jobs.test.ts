/** Jobs are wake-ups: a queue that forgets them all costs a tick. */
import { expect, test } from 'vitest';
import { datesBetween } from '../../../src/base/values/business-day.ts';
import { daysFrom, TODAY } from '../../support/pull-world.ts';
import { delayAnswers, requestsByDate } from '../../support/service-backfill.ts';
import { predictTitles, readTitles } from '../../support/service-titles.ts';
import {
  dueSince,
  eventually,
  inServiceWorld,
  onEachQueue,
  SANDBOX,
  type ServiceWorld,
} from '../../support/service-world.ts';

const FROM = daysFrom(-30, TODAY);
const TO = daysFrom(-1, TODAY);

onEachQueue('a catch-up of 30 days with the queue on', (queue) => {
  test('ends exact when all jobs are lost while most of the dates wait', () =>
    inServiceWorld(queue, { redisDatabase: 15, environment: dueSince(FROM) }, catchUp));
});

async function catchUp(world: ServiceWorld): Promise<void> {
  delayAnswers(world, 200);
  await world.start();
  await eventually(async () => expect(await countPulls(world, 'merged')).toBeGreaterThan(3));
  await world.loseJobs();
  expect(await countPulls(world, 'queued')).toBeGreaterThan(10);

  const dates = datesBetween(FROM, TO);
  await eventually(async () => expect(await countPulls(world, 'merged')).toBe(dates.length));
  expect(await readTitles(world.database)).toEqual(predictTitles(SANDBOX, FROM, TO));
  expect(requestsByDate(world)).toEqual(Object.fromEntries(dates.map((date) => [date, 1])));
}

async function countPulls({ database }: ServiceWorld, state: string): Promise<number> {
  const [row] = await database.prisma.$queryRaw<{ pulls: number }[]>`
    SELECT count(*)::int AS pulls FROM conciliation.pull WHERE state = ${state}`;
  return row?.pulls ?? 0;
}
