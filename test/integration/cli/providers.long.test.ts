import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ChildResult, runCommand } from '../../support/child-command.ts';
import { pushWorldOfFile } from '../../support/file-world.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { cpfOf } from '../../support/provider-rows.ts';

const folder = forFile(openFolder);
const world = pushWorldOfFile();

const providers = (args: readonly string[], environment = {}): Promise<ChildResult> =>
  runCommand(['providers', ...args], {
    DATABASE_URL: world.databaseUrl,
    PLATFORM_BASE_URL: world.sandbox.baseUrl,
    PLATFORM_TOKEN: world.sandbox.issueToken(),
    PULL_BACKOFF_SECONDS: '1',
    LOG_LEVEL: 'trace',
    ...environment,
  });

async function file(name: string, content: string): Promise<string> {
  const path = join(folder.path, name);
  await writeFile(path, content);
  return path;
}

describe('providers import', () => {
  test('prints the planned changes, makes them, and reports the omitted rows', async () => {
    const path = await file(
      'suppliers.csv',
      `externalId,identificationNumber,name\nF1,${cpfOf(1)},Ana\nF2,11111111111,CANARY\nF3,12abc34501de35,Bia\n`,
    );
    const dry = await providers(['import', path, '--dry-run']);
    expect(dry.exit).toBe(3);
    expect(dry.stdout).toContain('Nothing was changed. Of 3 provider(s) would be: 2 inserted');
    const real = await providers(['import', path]);
    expect(real.exit).toBe(3);
    expect(real.stdout).toMatch(/were: 2 inserted, 0 changed, 0 left as they are, 1 left out/);
    expect(real.stdout).toContain('line 3: identificationNumber: expected a CPF or CNPJ');
    expect(real.stdout).toContain('In 1 identificationNumber(s) lower case letters were raised.');
    expect(real.stdout + real.stderr).not.toMatch(/CANARY|Ana|11111111111/);

    const again = await providers(['import', path, '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({
      dryRun: false,
      inserted: 0,
      changed: 0,
      unchanged: 2,
      refused: 1,
      faults: [{ at: 3, field: 'identificationNumber' }],
    });
  });
});
