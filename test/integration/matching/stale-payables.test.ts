import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readDayMatching } from '../../../src/matching/match-reads.sql.ts';
import { startMatchingLoop } from '../../../src/matching/matching-loop.ts';
import { pullTitles } from '../../support/matching-world.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, openPullWorld, type PullWorld } from '../../support/pull-world.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());

const runLoop = async () => {
  const loop = startMatchingLoop({
    database: world.database,
    logger: pino({ level: 'silent' }),
    maxAgeHours: 30,
  });
  await loop.stop();
};
const setAge = (hours: number) =>
  world.database.prisma.$executeRaw`
    UPDATE conciliation.erp_payable_import SET started_at = now() - make_interval(hours => ${hours}::int)`;

test('the service matches nothing while the payables are stale', async () => {
  await pullTitles(world, [{ uid: 'a', value: '10' }]);
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '10' }], 'snapshot');
  await setAge(31);
  await runLoop();
  expect(await readDayMatching(world.database, DAY, 30)).toEqual({
    titles: 1,
    matched: 0,
    isStale: true,
  });
  await setAge(29);
  await runLoop();
  expect(await readDayMatching(world.database, DAY, 30)).toEqual({
    titles: 1,
    matched: 1,
    isStale: false,
  });
});
