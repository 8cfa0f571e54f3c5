import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { environmentOf, runCommand } from '../../support/child-command.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { DAY, openPullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const folder = forFile(openFolder);
const world = forFile(openPullWorld);

const run = (args: readonly string[], environment: Record<string, string> = {}) =>
  runCommand(args, { DATA_DIR: join(folder.path, 'data'), ...environment });

test('demo pulls 14 days with nothing configured, and again without changing any', async () => {
  const first = await run(['demo', '--once']);
  expect(first.exit).toBe(0);
  expect(first.stdout.match(/^\d{4}-\d\d-\d\d +[1-9].* reconciled /gm)).toHaveLength(14);
  expect(first.stdout).toContain('14 of 14 days are reconciled');

  const second = await run(['demo', '--once', '--json']);
  expect(second.exit).toBe(0);
  const { days, pulls } = JSON.parse(second.stdout);
  expect(days).toHaveLength(14);
  expect(new Set(days.map((day: { state: string }) => day.state))).toEqual(new Set(['reconciled']));
  expect(new Set(pulls.map((pull: { state: string }) => pull.state))).toEqual(
    new Set(['unchanged']),
  );
  expect(pulls.map(({ titles }: { titles: number }) => titles)).toEqual(
    days.map(({ titles }: { titles: number }) => titles),
  );
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
});
