// Searching tests with any number of runs, reproducible by their seed:
//
//   node test/long-run.mjs fuzz  [--runs n] [--seed n]   a plain process: nothing between it and the readers
//   node test/long-run.mjs model [--runs n] [--seed n]   the vitest project, which has the database
//   node test/long-run.mjs bookings [--runs n] [--seed n]   the same
//
// They print a line of progress now and then: what was done, how fast, and the memory in use.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = join(import.meta.dirname, '..');
const DEFAULT_RUNS = new Map([
  ['fuzz', '1000000'],
  ['model', '20000'],
  ['bookings', '10000'],
]);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { runs: { type: 'string' }, seed: { type: 'string', default: '1' } },
});
const [name = ''] = positionals;
const { seed, runs = DEFAULT_RUNS.get(name) ?? '' } = values;

/**
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} env
 */
function run(args, env = {}) {
  const { status } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}

/** As JavaScript in a separate folder, because not every supported Node.js reads TypeScript. */
function compile() {
  const folder = join(ROOT, 'node_modules/.cache/long-run');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  run([
    'node_modules/typescript/bin/tsc',
    ...['--noEmit', 'false', '--noCheck', '--sourceMap', 'false', '--outDir', folder],
  ]);
  return folder;
}

if (name === 'fuzz') {
  run(['--expose-gc', join(compile(), 'test/fuzz/run.js'), runs, seed]);
} else if (name === 'model') {
  run(['node_modules/vitest/vitest.mjs', 'run', '--project', 'model', 'test/model/model.test.ts'], {
    MODEL_RUNS: runs,
    MODEL_SEED: seed,
  });
} else if (name === 'bookings') {
  run(
    ['node_modules/vitest/vitest.mjs', 'run', '--project', 'model', 'test/model/bookings.test.ts'],
    {
      BOOKINGS_RUNS: runs,
      BOOKINGS_SEED: seed,
    },
  );
} else {
  process.stderr.write('usage: node test/long-run.mjs fuzz|model|bookings [--runs n] [--seed n]\n');
  process.exitCode = 2;
}
