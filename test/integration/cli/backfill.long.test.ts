import { afterAll, beforeAll, expect, test } from 'vitest';
import { readBackfillProgress } from '../../../src/features/backfills/backfill-ledger.sql.ts';
import { environmentOf, runCommand, startCommand } from '../../support/child-command.ts';
import { daysFrom, TODAY, worldOfFile } from '../../support/pull-world.ts';
import { type ServiceProcess, spawnService } from '../../support/service-process.ts';
import { dueSince, FAST } from '../../support/service-world.ts';

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

const at = (days: number) => daysFrom(days, FIRST);
const range = (from: number, to: number) => ['--from', at(from), '--to', at(to)];

test('Ctrl-C ends the command, and the service pulls every date once', async () => {
  world.sandbox.faults.add({ kind: 'latency', latencyMs: 300, times: 'forever' });
  const before = world.sandbox.requests.length;
  const child = startCommand(['backfill', 'run', ...range(20, 49)], environmentOf(world));
  await expect.poll(() => world.sandbox.requests.length).toBeGreaterThan(before + 4);
  child.kill('SIGINT');
  const stopped = await child.ended;
  world.sandbox.faults.clear();
  expect(stopped.exit).toBe(1);
  expect(stopped.stdout).toContain('The other dates are pulled as soon as a service runs.');
  const id = BigInt(/^Backfill (\d+): /.exec(stopped.stdout)?.[1] ?? 0);
  await expect
    .poll(() => readBackfillProgress(world.database, id))
    .toMatchObject({ state: 'done', total: 30, done: 30, failed: 0 });
  const twice = await world.prisma.$queryRaw`
    SELECT date FROM conciliation.pull
    WHERE backfill_id = ${id} AND state <> 'cancelled'
    GROUP BY 1 HAVING count(*) > 1`;
  expect(twice).toEqual([]);
});

test('without a service the command does the work itself, and pulls nothing else', async () => {
  await service.kill();
  const before = world.sandbox.requests.length;
  const args = ['backfill', 'run', ...range(100, 104), '--concurrency', '3', '--json'];
  const ran = await runCommand(args, environmentOf(world));
  expect(ran.exit).toBe(0);
  expect(JSON.parse(ran.stdout)).toMatchObject({ state: 'done', total: 5, done: 5 });
  const asked = world.sandbox.requests.slice(before).map(({ query }) => query['conciliationDate']);
  expect(asked.sort()).toEqual([100, 101, 102, 103, 104].map(at));

  const refused = await runCommand(['backfill', 'run', ...range(105, 106)], {
    ...environmentOf(world),
    PLATFORM_TOKEN: 'wrong',
  });
  expect(refused).toMatchObject({ exit: 2, stderr: expect.stringContaining('refuses the token') });
});
