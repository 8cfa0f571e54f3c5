import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../../support/child-command.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { openPullWorld } from '../../support/pull-world.ts';

const folder = forFile(openFolder);
const world = forFile(openPullWorld);

const payables = (...args: string[]) =>
  runCommand(['erp-payables', ...args], { DATABASE_URL: world.databaseUrl, LOG_LEVEL: 'trace' });

test('import reports rejected lines and keeps them', async () => {
  const path = join(folder.path, 'payables.csv');
  const head = 'erpKey;supplierTaxId;openValue;dueDate\n';
  await writeFile(path, `${head}1;529.982.247-25;1.234,50;31/03/2026\n2;52998224726;CANARY;x\n`);
  const dry = await payables('import', path, '--snapshot', '--dry-run');
  expect(dry.exit).toBe(3);
  expect(dry.stdout).toContain('Nothing was changed. Payables would be: 1 inserted');
  const real = await payables('import', path, '--snapshot');
  expect(real.exit).toBe(3);
  expect(real.stdout).toContain('The snapshot is not complete. No payable is closed');
  expect(real.stdout).toContain('line 3: openValue: expected an amount such as 1234.50');
  expect(real.stdout + real.stderr).not.toMatch(/CANARY|52998224726/);
  await writeFile(path, `${head}1;529.982.247-25;1.234,50;31/03/2026\n`);
  const complete = await payables('import', path, '--snapshot', '--count', '1', '--json');
  expect(complete.exit).toBe(0);
  expect(JSON.parse(complete.stdout)).toMatchObject({ isComplete: true, unchanged: 1, closed: 0 });
});
