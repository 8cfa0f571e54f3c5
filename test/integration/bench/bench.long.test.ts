import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';

const BENCH = join(import.meta.dirname, '../../../bench/bench.mjs');

let folder: string;
beforeAll(async () => {
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
  databaseCpuSeconds: process.platform === 'linux' ? expect.any(Number) : null,
  walBytesPerTitle: expect.any(Number),
  peakMemoryBytes: expect.toSatisfy((bytes) => bytes > 30e6, 'more than Node itself needs'),
  longestStallMs: positive,
};

test('the benchmark measures both sides, finds their tables equal and leaves nothing behind', async () => {
  const { exit, stdout, stderr } = await runBench(
    ...['--size', '1k', '--case', 'first-load,identical,withdrawn,backfill', '--rounds', '1'],
    ...['--backfill-days', '2', '--full-table', '20k', '--json'],
  );
  expect({ exit, stderr }).toMatchObject({ exit: 0 });
  const { machine, results } = JSON.parse(stdout);
  expect(machine).toMatchObject({ node: process.version, cpus: positive });

  const outcome = (name: string, size: number, sides: readonly string[], rowsWritten: number) => {
    const figures = { ...FIGURES, rowsWritten };
    const bySide = Object.fromEntries(sides.map((side) => [side, figures]));
    const ratio = { median: positive, min: positive, max: positive };
    return { case: name, size, sides, summary: { ratio, ...bySide }, profile: null };
  };
  const againstLimit = ['ours', 'limit'];
  expect(results).toMatchObject([
    outcome('first-load', 1000, againstLimit, 1000),
    outcome('identical', 1000, againstLimit, 0),
    outcome('withdrawn', 990, againstLimit, 10),
    outcome('backfill', 2000, againstLimit, 2000),
    outcome('full-table', 1000, ['full', 'empty'], 1000),
  ]);
  for (const { rounds, sides } of results) {
    const [one, other] = sides.map((side: string) => rounds[0][side].tables.content);
    expect(one).toEqual(other);
    expect(one.current).toBeGreaterThan(0);
  }
  expect(await readdir(folder)).toEqual([]);
});

test.for([
  [['--size', '0'], /0 is not a number above 0/],
  [['--case', 'teleport'], /there is no case teleport/],
  [['--teleport'], /Unknown option '--teleport'/],
] as const)('%j is refused with the usage', async ([args, reason]) => {
  const { exit, stdout, stderr } = await runBench(...args);
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
  expect(stderr).toMatch(reason);
  expect(stderr).toContain('npm run bench -- [options]');
});
