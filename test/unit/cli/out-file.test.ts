import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeOutFile } from '../../../src/cli/export.ts';

let folder: string;
let path: string;
let umask: number;
beforeEach(async () => {
  umask = process.umask(0);
  folder = await mkdtemp(join(tmpdir(), 'conciliation-out-file-'));
  path = join(folder, 'titles.csv');
});
afterEach(async () => {
  process.umask(umask);
  await rm(folder, { recursive: true });
});

const modeOf = async (file: string) => ((await stat(file)).mode & 0o7777).toString(8);

/** @returns the modes of the files in the folder while the file was being written */
async function write(): Promise<string[]> {
  const modes: string[] = [];
  const bytes = async function* () {
    const names = await readdir(folder);
    for (const name of names.filter((name) => name.endsWith('.partial'))) {
      modes.push(await modeOf(join(folder, name)));
    }
    yield Buffer.from('a tax identifier\n');
  };
  await writeOutFile({ path, force: true }, bytes(), new AbortController().signal);
  return modes;
}

test('only the owner can read a file that is written, and its temporary file', async () => {
  expect(await write()).toEqual(['600']);
  expect(await modeOf(path)).toBe('600');
});

test('a file that replaces another one gets the mode of that one once it is complete', async () => {
  await write();
  await chmod(path, 0o640);
  expect(await write()).toEqual(['600']);
  expect(await modeOf(path)).toBe('640');
});
