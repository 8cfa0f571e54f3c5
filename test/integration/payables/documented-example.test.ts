/** The CSV and the SQL of docs/integration.md are taken as they are. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { importPayableFile } from '../../../src/features/matching/payables/payable-import.sql.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';

const world = worldOfFile();
const folder = forFile(openFolder);
let document: string;
beforeAll(async () => {
  const page = await readFile(join(import.meta.dirname, '../../../docs/integration.md'), 'utf8');
  document = page.split('\n## Payables\n')[1] ?? '';
});

const blockOf = (language: string) =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(document)?.[1] ?? '';

test('the CSV is imported', async () => {
  const path = join(folder.path, 'payables.csv');
  await writeFile(path, blockOf('csv'));
  const report = await importPayableFile(
    world.database,
    { path, encoding: 'utf-8' },
    {
      kind: 'snapshot',
      actor: 'test',
      announced: 2,
      isDryRun: false,
      signal: new AbortController().signal,
    },
  );
  expect(report).toMatchObject({ inserted: 2, rejected: 0, isComplete: true });
});

test('the SQL changes a payable of the CSV', async () => {
  for (const statement of blockOf('sql').split(';').slice(0, -1)) {
    await world.database.prisma.$executeRawUnsafe(statement);
  }
  expect(await world.database.prisma.erpPayable.count()).toBe(2);
});
