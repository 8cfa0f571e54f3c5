import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const BENCH = join(ROOT, '.bench/bench.js');

let folder: string;
beforeAll(async () => {
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'bench'], { cwd: ROOT });
  folder = await mkdtemp(join(tmpdir(), 'conciliation-bench-test-'));
  // Under root the benchmark's server runs as another user, who has to reach its folder.
  await chmod(folder, 0o755);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function runBench(...args: readonly string[]) {
  const child = spawn(process.execPath, [BENCH, ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [exit] = await closed;
  return { exit, stdout, stderr };
}

const positive = expect.toSatisfy((value) => value > 0, 'above 0');

/** Figures of one side; how large they are is no test's business. */
const FIGURES = {
  titlesPerSecond: positive,
  elapsedMs: positive,
  workerCpuSeconds: positive,
  workerCpuMsPerPull: positive,
  peakMemoryBytes: expect.toSatisfy((bytes) => bytes > 30e6, 'more than Node itself needs'),
};

test('the benchmark measures both sides, finds their tables equal and leaves nothing behind', async () => {
  const { exit, stdout, stderr } = await runBench(
    ...['--size', '1k', '--case', 'first-load,changed,day', '--rounds', '1'],
    ...['--backfill-days', '2', '--json'],
  );
  expect({ exit, stderr }).toMatchObject({ exit: 0 });
  const { machine, results } = JSON.parse(stdout);
  expect(machine).toMatchObject({ node: process.version, cpus: positive });

  const outcome = (name: string, size: number) => {
    const ratio = { median: positive, min: positive, max: positive };
    return { case: name, size, summary: { ratio, ours: FIGURES, limit: FIGURES } };
  };
  expect(results).toMatchObject([
    outcome('first-load', 1000),
    outcome('changed', 1000),
    outcome('day', 2000),
  ]);
  for (const { size, rounds } of results) {
    const [{ ours, limit }] = rounds;
    expect(ours.tables.content).toEqual(limit.tables.content);
    expect(ours.tables.content).toMatchObject({ titles: size, current: size });
  }
  expect(await readdir(folder)).toEqual([]);
});

test('an option that there is not is refused with the usage', async () => {
  const { exit, stdout, stderr } = await runBench('--teleport');
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
  expect(stderr).toMatch(/Unknown option '--teleport'/);
  expect(stderr).toContain('npm run bench -- [options]');
});
