import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { acceptRejects, releasePull } from '../../../src/core/merge/decisions.sql.ts';
import { environmentOf, runCommand } from '../../support/child-command.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { DAY, daysFrom, openPullWorld, TODAY } from '../../support/pull-world.ts';
import { attemptSweep, sweep } from '../../support/sweeps.ts';
import { titleText } from '../../support/titles.ts';

const folder = forFile(openFolder);
const world = forFile(openPullWorld);

const run = (args: readonly string[], environment: Record<string, string> = {}) =>
  runCommand(args, { DATA_DIR: join(folder.path, 'data'), ...environment });

test('demo pulls 14 days with nothing configured, and again without changing any', async () => {
  const first = await run(['demo', '--once', '--json']);
  expect(first.exit).toBe(0);
  const { days } = JSON.parse(first.stdout);
  expect(days).toHaveLength(14);
  expect(new Set(days.map((day: { state: string }) => day.state))).toEqual(new Set(['reconciled']));
  expect(
    days.every((day: { titles: number; inserted: number }) => day.titles === day.inserted),
  ).toBe(true);

  const second = await run(['demo', '--once']);
  expect(second.exit).toBe(0);
  expect(second.stdout).toContain('14 of 14 days are reconciled');
  expect(second.stdout.match(/ 0 {8}0 {10}0 {2}reconciled/g)).toHaveLength(14);
});

describe('pull', () => {
  test('prints the changes, as text and as one JSON document', async () => {
    world.sandbox.setDayTexts(DAY, [titleText()]);
    const text = await run(['pull', DAY], environmentOf(world));
    // A slow machine may print progress.
    expect(text).toMatchObject({
      exit: 0,
      stderr: expect.stringMatching(/^(2026-03-02: [01] titles, 0 MB read\n)*$/),
    });
    expect(text.stdout).toMatch(/2026-03-02 +1 +1 +0 +0 +0 +0 {2}merged/);
    const json = await run(['pull', DAY, '--json'], environmentOf(world));
    expect(JSON.parse(json.stdout)).toMatchObject({
      state: 'unchanged',
      dates: [{ unchanged: 1 }],
    });
  });

  test('prints each wait, and ends 1 when all attempts are spent', async () => {
    world.sandbox.faults.add({ kind: 'status', status: 500, times: 2 });
    const ran = await run(['pull', DAY], { ...environmentOf(world), PULL_ATTEMPTS: '2' });
    expect(ran.exit).toBe(1);
    expect(ran.stderr).toMatch(/2026-03-02: .*500.*; next attempt in \d s\n/);
    expect(ran.stdout).toMatch(/failed and changed nothing/);
    const status = await run(['status'], environmentOf(world));
    expect(status).toMatchObject({
      exit: 3,
      stdout: expect.stringContaining(
        '- Pull failed: the pull of 2026-03-02 failed after 2 attempts',
      ),
    });
    await world.pull();
  });

  test('refuses a date in the future with 2', async () => {
    const ran = await run(['pull', daysFrom(1, TODAY)], environmentOf(world));
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toMatch(/is in the future/);
  });

  test('with a token file that cannot be read ends 2 and leaves the ledger as it is', async () => {
    const { prisma } = world.database;
    const before = await prisma.pull.count();
    const { PLATFORM_TOKEN: _, ...rest } = environmentOf(world);
    const environment = { ...rest, PLATFORM_TOKEN_FILE: '/nonexistent/token' };
    const ran = await run(['pull', DAY], environment);
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toContain('PLATFORM_TOKEN_FILE');
    expect(await prisma.pull.count()).toBe(before);
  });

  test('without configuration names every missing variable and ends 2', async () => {
    const ran = await run(['pull', DAY, '--json']);
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toMatch(/PLATFORM_BASE_URL[\s\S]*PLATFORM_TOKEN/);
    expect(JSON.parse(ran.stdout)).toMatchObject({ error: { code: 'CONFIG_INVALID' } });
  });
});

test('an open decision ends 3, until it is made', async () => {
  const date = daysFrom(20);
  world.sandbox.setDayTexts(date, [titleText({ date }), '{"order":{}}']);
  const attention = await run(['pull', date], environmentOf(world));
  expect(attention.exit).toBe(3);
  expect(attention.stdout).toContain('accept them in the console');
  const status = await run(['status', '--from', date, '--to', date], environmentOf(world));
  expect(status.exit).toBe(3);
  expect(status.stdout).toMatch(/title 2 was rejected: .*originalValue/);
  await acceptRejects(world.database, date, { by: 'olga', reason: 'a test title' });
  expect((await run(['status', '--from', date, '--to', date], environmentOf(world))).exit).toBe(0);
  // The same response again asks for no decision a second time.
  const again = await run(['pull', date], environmentOf(world));
  expect(again.exit).toBe(0);
  expect(again.stdout).not.toContain('accept them');

  world.sandbox.setDayTexts(date, []);
  const held = await run(['pull', date, '--json'], environmentOf(world));
  expect(held.exit).toBe(3);
  const { pullId } = JSON.parse(held.stdout);
  await releasePull(world.parts, BigInt(pullId), { by: 'olga', reason: 'cancelled' });
  expect((await run(['status', '--from', date, '--to', date], environmentOf(world))).exit).toBe(0);
});

test('status shows the newest sweep, and the newest complete one', async () => {
  const [first, second] = [daysFrom(-2, TODAY), daysFrom(-1, TODAY)];
  for (const date of [first, second, TODAY]) world.sandbox.setDayTexts(date, []);
  for (const date of [first, second]) await world.pull(date);
  await sweep(world, first);
  world.sandbox.faults.add({ kind: 'status', status: 400, date: first, times: 1 });
  await attemptSweep(world, first);
  const { stdout } = await run(['status'], environmentOf(world));
  expect(stdout).toMatch(
    new RegExp(`Sweep: 2 date\\(s\\) since ${first} were compared on .*; 0 differed\\.`),
  );
  expect(stdout).toContain(`The newest sweep, since ${first}, failed: `);
  const { sweeps } = JSON.parse((await run(['status', '--json'], environmentOf(world))).stdout);
  expect(sweeps).toMatchObject({
    newest: { state: 'failed', errorCode: 'PLATFORM_REQUEST' },
    complete: { from: first, datesCompared: 2, datesDiffering: 0 },
  });
});
