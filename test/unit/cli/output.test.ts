import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { formatAmount, renderTable } from '../../../src/cli/command.ts';
import { writeOutFile } from '../../../src/cli/export.ts';
import { forTest, openFolder } from '../../support/for-tests.ts';

test.each([
  ['0', '0.00'],
  ['1234567.5', '1,234,567.50'],
  ['-1234.567', '−1,234.567'],
  ['12345678901234567.89', '12,345,678,901,234,567.89'],
  ['0.0000001', '0.0000001'],
  ['999', '999.00'],
])('the amount %s is shown as %s, no digit lost', (decimal, shown) => {
  expect(formatAmount(decimal)).toBe(shown);
});

test('columns are as wide as their widest cell, numbers to the right', () => {
  const table = renderTable(
    ['date', 'n'],
    [
      ['2026-01-01', '1'],
      ['2026-01-02', '1,000'],
    ],
  );
  expect(table.split('\n')).toEqual([
    '      date      n',
    '──────────  ─────',
    '2026-01-01      1',
    '2026-01-02  1,000',
  ]);
});

const folder = forTest(openFolder);
let path: string;
beforeEach(() => {
  path = join(folder.path, 'titles.csv');
  const umask = process.umask(0);
  return () => void process.umask(umask);
});

const modeOf = async (file: string) => ((await stat(file)).mode & 0o7777).toString(8);

/** @returns the modes of the files in the folder while the file was being written */
async function write(): Promise<string[]> {
  const modes: string[] = [];
  const bytes = async function* () {
    const names = await readdir(folder.path);
    for (const name of names.filter((name) => name.endsWith('.partial'))) {
      modes.push(await modeOf(join(folder.path, name)));
    }
    yield Buffer.from('a tax identifier\n');
  };
  await writeOutFile(path, bytes(), new AbortController().signal);
  return modes;
}

test('only the owner can read a written file and its temporary file', async () => {
  expect(await write()).toEqual(['600']);
  expect(await modeOf(path)).toBe('600');
});
