// npm run model -- --runs 20000 --seed 7
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '20000' }, seed: { type: 'string', default: '1' } },
});
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--project', 'model'],
  {
    cwd: new URL('../../', import.meta.url),
    env: { ...process.env, MODEL_RUNS: values.runs, MODEL_SEED: values.seed },
    stdio: 'inherit',
  },
);
process.exitCode = status ?? 1;
