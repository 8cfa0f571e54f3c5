import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type BackfillProgress,
  createBackfill,
  readBackfillProgress,
} from '../../../src/features/backfills/backfill-ledger.sql.ts';
import { environmentOf, runCommand as runWith, startCommand } from '../../support/child-command.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { daysFrom, TODAY } from '../../support/pull-world.ts';
import { type ServiceProcess, spawnService } from '../../support/service-process.ts';
import { dueSince, FAST } from '../../support/service-world.ts';
import { titleText } from '../../support/titles.ts';

const FIRST = daysFrom(-120, TODAY);
// The newest slot is the midnight before the first date, so no date is due.
const [, month, day] = FIRST.split('-').map(Number);

const world = worldOfFile({ startDate: FIRST });
let service: ServiceProcess;
beforeAll(async () => {
  service = spawnService({
    roles: ['scheduler', 'worker'],
    environment: {
      ...environmentOf(world),
      ...dueSince(FIRST),
      PULL_CRON: `0 0 ${day} ${month} *`,
    },
    overrides: FAST,
  });
  await service.started;
});
afterAll(async () => {
  await service.kill();
});

const run = (...args: readonly string[]) => runWith(['backfill', ...args], environmentOf(world));
const at = (days: number) => daysFrom(days, FIRST);
const range = (from: number, to: number) => ['--from', at(from), '--to', at(to)];

async function progressOf(id: number): Promise<BackfillProgress> {
  const progress = await readBackfillProgress(world.database, BigInt(id));
  if (progress === null) throw new Error(`no backfill ${id}`);
  return progress;
}

async function untilPulledOnce(id: number, total: number): Promise<void> {
  const done = { state: 'done', total, done: total, failed: 0 };
  await expect.poll(() => progressOf(id)).toMatchObject(done);
  const twice = await world.database.prisma.$queryRaw`
    SELECT date FROM conciliation.pull
    WHERE backfill_id = ${id}::bigint AND state <> 'cancelled'
    GROUP BY 1 HAVING count(*) > 1`;
  expect(twice).toEqual([]);
}

test('the service pulls every date of a recorded range once', async () => {
  for (let day = 0; day < 10; day += 1) {
    world.sandbox.setDayTexts(at(day), [titleText({ date: at(day) })]);
  }
  const backfill = { range: { from: at(0), to: at(9) }, concurrency: 3, by: 'test' };
  const id = Number(await createBackfill(world.database, backfill, TODAY));
  await untilPulledOnce(id, 10);
  expect(await progressOf(id)).toMatchObject({ titles: 10 });
  const days = await world.database.prisma.day.findMany({ where: { state: 'reconciled' } });
  expect(days).toHaveLength(10);
});

test('Ctrl-C ends the command, and the service pulls every date once', async () => {
  world.sandbox.faults.add({ kind: 'latency', latencyMs: 300, times: 'forever' });
  const before = world.sandbox.requests.length;
  const child = startCommand(['backfill', 'run', ...range(20, 49)], environmentOf(world));
  await expect.poll(() => world.sandbox.requests.length).toBeGreaterThan(before + 4);
  child.kill('SIGINT');
  const stopped = await child.ended;
  world.sandbox.faults.clear();
  expect(stopped.exit).toBe(1);
  expect(stopped.stdout).toContain('A running service pulls the other dates.');
  const id = Number(/^Backfill (\d+): /.exec(stopped.stdout)?.[1]);
  await untilPulledOnce(id, 30);
});

test('without a service the command does the work itself, and pulls nothing else', async () => {
  await service.kill();
  const before = world.sandbox.requests.length;
  const ran = await run('run', ...range(100, 104), '--concurrency', '3', '--json');
  expect(ran.exit).toBe(0);
  expect(JSON.parse(ran.stdout)).toMatchObject({ state: 'done', total: 5, done: 5 });
  const asked = world.sandbox.requests.slice(before).map(({ query }) => query['conciliationDate']);
  expect(asked.sort()).toEqual([100, 101, 102, 103, 104].map(at));

  const refused = await runWith(['backfill', 'run', ...range(105, 106)], {
    ...environmentOf(world),
    PLATFORM_TOKEN: 'wrong',
  });
  expect(refused).toMatchObject({ exit: 2, stderr: expect.stringContaining('refuses the token') });
});
