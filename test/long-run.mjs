// node test/long-run.mjs <project> <runs unless told> [--runs n] [--seed n]: a vitest project with as many
// runs as somebody has time for.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { runs: { type: 'string' }, seed: { type: 'string', default: '1' } },
});
const [project = '', defaultRuns] = positionals;
const prefix = project.toUpperCase();
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--project', project],
  {
    cwd: new URL('../', import.meta.url),
    env: {
      ...process.env,
      [`${prefix}_RUNS`]: values.runs ?? defaultRuns,
      [`${prefix}_SEED`]: values.seed,
    },
    stdio: 'inherit',
  },
);
process.exitCode = status ?? 1;
