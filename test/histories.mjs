// Random histories for hours, reproducible by their seed: npm run histories -- <name> [--hours n] [--seed n]
//
// They print a line of progress each minute: how many, and the memory in use. A failure names the seed that fails.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const FILES = new Map([
  ['fuzz', 'test/fuzz/fuzz.test.ts'],
  ['model', 'test/model/model.test.ts'],
  ['bookings', 'test/model/bookings.test.ts'],
  ['restatements', 'test/integration/pull/succession.property.long.test.ts'],
  ['findings', 'test/integration/checks/order.property.long.test.ts'],
  ['schedule', 'test/integration/schedule/schedule.property.long.test.ts'],
  ['matches', 'test/integration/matching/histories.long.test.ts'],
  ['pushes', 'test/integration/providers/interleavings.property.long.test.ts'],
]);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { hours: { type: 'string', default: '1' }, seed: { type: 'string' } },
});
const file = FILES.get(positionals[0] ?? '');
if (file === undefined) {
  const names = [...FILES.keys()].join('|');
  process.stderr.write(`usage: npm run histories -- ${names} [--hours n] [--seed n]\n`);
  process.exitCode = 2;
} else {
  const { status } = spawnSync(
    process.execPath,
    // The flag takes a path that follows as its value.
    ['node_modules/vitest/vitest.mjs', 'run', file, '--disable-console-intercept'],
    {
      cwd: join(import.meta.dirname, '..'),
      env: {
        ...process.env,
        RANDOM_SECONDS: String(Number(values.hours) * 3600),
        ...(values.seed !== undefined && { RANDOM_SEED: values.seed }),
      },
      stdio: 'inherit',
    },
  );
  process.exitCode = status ?? 1;
}
