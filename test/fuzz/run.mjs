// npm run fuzz -- --runs 10000000 --seed 7
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '1000000' }, seed: { type: 'string', default: '1' } },
});
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--project', 'fuzz'],
  {
    cwd: new URL('../../', import.meta.url),
    env: { ...process.env, FUZZ_RUNS: values.runs, FUZZ_SEED: values.seed },
    stdio: 'inherit',
  },
);
process.exitCode = status ?? 1;
