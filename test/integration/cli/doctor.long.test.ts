import { expect, test } from 'vitest';
import { environmentOf, runCommand } from '../../support/child-command.ts';
import { forFile } from '../../support/for-tests.ts';
import { openPullWorld } from '../../support/pull-world.ts';

const world = forFile(openPullWorld);

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly found: string;
  readonly nextStep: string | null;
}

/** The checks by their names. */
async function doctor(environment: Readonly<Record<string, string>> = {}) {
  const ran = await runCommand(['doctor', '--json'], { ...environmentOf(world), ...environment });
  const { checks } = JSON.parse(ran.stdout) as { checks: Check[] };
  const faults = Object.fromEntries(checks.flatMap((each) => (each.ok ? [] : [[each.name, each]])));
  return { exit: ran.exit, names: checks.map(({ name }) => name), faults };
}

test('all is in order, and nothing is written', async () => {
  const names = ['database', 'rights', 'clock', 'queue', 'platform'];
  expect(await doctor()).toEqual({ exit: 0, names, faults: {} });
  expect(await world.database.prisma.pull.count()).toBe(0);
  const text = await runCommand(['doctor'], environmentOf(world));
  expect(text.stdout).toMatch(/^database +ok +PostgreSQL \d+/m);
  expect(text.stdout).toMatch(/^platform +ok +accepts the token, answered 200/m);
});

test.each([
  ['DATABASE_URL', 'postgresql://nobody@127.0.0.1:9/none', 'database', /./, 'server'],
  ['PLATFORM_TOKEN', 'another', 'platform', /401/, 'token'],
  ['PLATFORM_BASE_URL', 'http://127.0.0.1:9', 'platform', /./, 'PLATFORM_BASE_URL'],
  ['REDIS_URL', 'redis://127.0.0.1:9', 'queue', /ECONNREFUSED/, 'REDIS_URL'],
] as const)('a wrong %s is a fault with its next step', async (name, value, part, found, step) => {
  const { exit, faults } = await doctor({ [name]: value });
  expect(exit).toBe(1);
  expect(Object.keys(faults)).toEqual([part]);
  expect(faults[part]?.found).toMatch(found);
  expect(faults[part]?.nextStep).toContain(step);
});

test('a platform that is silent ends no later than the time of the command', async () => {
  world.sandbox.faults.add({ kind: 'latency', latencyMs: 60_000 });
  const { faults } = await doctor();
  expect(faults['platform']?.found).toBe('no answer within 7000 ms');
});
