import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../../support/child-command.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { cpfOf } from '../../support/provider-rows.ts';
import { openPullWorld } from '../../support/pull-world.ts';

const folder = forFile(openFolder);
const world = forFile(openPullWorld);

const run = (...args: string[]) =>
  runCommand(args, { DATABASE_URL: world.databaseUrl, LOG_LEVEL: 'trace' });

test('an import of payables reports rejected lines and keeps them', async () => {
  const path = join(folder.path, 'payables.csv');
  const head = 'erpKey;supplierTaxId;openValue;dueDate\n';
  await writeFile(path, `${head}1;529.982.247-25;1.234,50;31/03/2026\n2;52998224726;CANARY;x\n`);
  const payables = (...args: string[]) => run('erp-payables', 'import', path, ...args);
  const dry = await payables('--snapshot', '--dry-run');
  expect(dry.exit).toBe(3);
  expect(dry.stdout).toContain('Nothing was changed. Payables would be: 1 inserted');
  const real = await payables('--snapshot');
  expect(real.exit).toBe(3);
  expect(real.stdout).toContain('The snapshot is not complete. No payable is closed');
  expect(real.stdout).toContain('line 3: openValue: expected an amount such as 1234.50');
  expect(real.stdout + real.stderr).not.toMatch(/CANARY|52998224726/);
  await writeFile(path, `${head}1;529.982.247-25;1.234,50;31/03/2026\n`);
  const complete = await payables('--snapshot', '--count', '1', '--json');
  expect(complete.exit).toBe(0);
  expect(JSON.parse(complete.stdout)).toMatchObject({ isComplete: true, unchanged: 1, closed: 0 });
});

test('an import of suppliers prints the planned changes, makes them, and reports the omitted rows', async () => {
  const path = join(folder.path, 'suppliers.csv');
  const head = 'externalId,identificationNumber,name\n';
  await writeFile(
    path,
    `${head}F1,${cpfOf(1)},Ana\nF2,11111111111,CANARY\nF3,12abc34501de35,Bia\n`,
  );
  const suppliers = (...args: string[]) => run('providers', 'import', path, ...args);
  const dry = await suppliers('--dry-run');
  expect(dry.exit).toBe(3);
  expect(dry.stdout).toContain('Nothing was changed. Of 3 provider(s) would be: 2 inserted');
  const real = await suppliers();
  expect(real.exit).toBe(3);
  expect(real.stdout).toMatch(/were: 2 inserted, 0 changed, 0 left as they are, 1 left out/);
  expect(real.stdout).toContain('line 3: identificationNumber: expected a CPF or CNPJ');
  expect(real.stdout + real.stderr).not.toMatch(/CANARY|Ana|11111111111/);
  const again = await suppliers('--json');
  expect(JSON.parse(again.stdout)).toMatchObject({
    ...{ dryRun: false, inserted: 0, changed: 0, unchanged: 2, refused: 1 },
    faults: [{ at: 3, field: 'identificationNumber' }],
  });
});
