import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type BackfillProgress,
  readBackfillProgress,
} from '../../../src/backfills/backfill-ledger.sql.ts';
import { environmentOf, runCommand as runWith, startCommand } from '../../support/child-command.ts';
import { DAY, daysFrom, openPullWorld, type PullWorld, TODAY } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());

const run = (...args: readonly string[]) => runWith(['backfill', ...args], environmentOf(world));
const range = (from: number, to: number) => ['--from', daysFrom(from), '--to', daysFrom(to)];

async function progressOf(id: number): Promise<BackfillProgress> {
  const progress = await readBackfillProgress(world.database, BigInt(id));
  if (progress === null) throw new Error(`no backfill ${id}`);
  return progress;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50));
}

test('every date of the range is pulled, and the outcome is printed', async () => {
  for (let day = 0; day < 10; day += 1) {
    world.sandbox.setDayTexts(daysFrom(day), [titleText({ date: daysFrom(day) })]);
  }
  const dry = await run(...range(0, 9), '--dry-run');
  expect(dry).toMatchObject({ exit: 0 });
  expect(dry.stdout).toMatch(/10 date\(s\) would be pulled.*\n {2}10 never pulled/);
  expect(world.sandbox.requests).toHaveLength(0);

  const ran = await run(...range(0, 9), '--json');
  expect(ran.exit).toBe(0);
  expect(JSON.parse(ran.stdout)).toMatchObject({ state: 'done', total: 10, done: 10, titles: 10 });
  const days = await world.database.prisma.day.findMany({ where: { state: 'reconciled' } });
  expect(days).toHaveLength(10);
});

test('Ctrl-C leaves it to be resumed, and no date is pulled twice', async () => {
  world.sandbox.faults.add({ kind: 'latency', latencyMs: 300, times: 'forever' });
  const before = world.sandbox.requests.length;
  const child = startCommand(['backfill', ...range(20, 49)], environmentOf(world));
  await until(async () => world.sandbox.requests.length > before + 4);
  child.kill('SIGINT');
  const stopped = await child.ended;
  expect(stopped.exit).toBe(1);
  expect(stopped.stdout).toContain('A running service pulls the other dates.');
  const [, id = ''] = /go on with: conciliation backfill resume (\d+)/.exec(stopped.stdout) ?? [];
  expect(await progressOf(Number(id))).toMatchObject({ state: 'running' });

  world.sandbox.faults.clear();
  expect((await run('resume', id)).exit).toBe(0);
  const progress = await progressOf(Number(id));
  expect(progress).toMatchObject({ state: 'done', total: 30, done: 30, failed: 0 });
  const twice = await world.database.prisma.$queryRaw`
    SELECT date FROM conciliation.pull
    WHERE backfill_id = ${Number(id)}::bigint AND state <> 'cancelled'
    GROUP BY 1 HAVING count(*) > 1`;
  expect(twice).toEqual([]);
});

test('a detached one waits for the service, can be cancelled, and then resumed', async () => {
  const { backfillId } = JSON.parse((await run(...range(60, 62), '--detach', '--json')).stdout);
  expect(await progressOf(backfillId)).toMatchObject({ state: 'running', done: 0 });
  expect((await run('cancel', String(backfillId))).exit).toBe(0);
  expect(await progressOf(backfillId)).toMatchObject({ state: 'cancelled' });
  expect((await run('cancel', String(backfillId))).exit).toBe(2);
  expect((await run('resume', String(backfillId))).exit).toBe(0);
  expect(await progressOf(backfillId)).toMatchObject({ state: 'done', done: 3 });
});

test('failed dates are printed, and the exit status is 1', async () => {
  world.sandbox.faults.add({ kind: 'status', status: 400, date: daysFrom(71), times: 'forever' });
  const ran = await run(...range(70, 72), '--json');
  world.sandbox.faults.clear();
  expect(ran.exit).toBe(1);
  expect(JSON.parse(ran.stdout)).toMatchObject({ state: 'done', done: 2, failed: 1 });
});

test('a refused token ends it at once and leaves it to be resumed', async () => {
  const ran = await runWith(['backfill', ...range(80, 85)], {
    ...environmentOf(world),
    PLATFORM_TOKEN: 'a.b.c',
  });
  expect(ran.exit).toBe(1);
  expect(ran.stderr).toMatch(/401/);
});

test.each([
  [[...range(5, 4)], /before it begins/],
  [['--from', DAY, '--to', daysFrom(1, TODAY)], /in the future/],
  [['--from', '2010-01-01', '--to', DAY], /ten years/],
  [['--from', DAY], /needs --from and --to/],
  [[...range(0, 1), '--concurrency', '0'], /whole number/],
  [['resume', '999'], /no backfill 999/],
] as const)('%j is refused with 2', async (args, message) => {
  const ran = await run(...args);
  expect(ran.exit).toBe(2);
  expect(ran.stderr).toMatch(message);
});
