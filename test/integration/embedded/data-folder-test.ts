import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { openEmbeddedPostgres } from '../../../src/base/embedded/embedded-postgres.ts';
import { logger } from '../../support/logger.ts';
import { isServerRunning, killAllProcesses, killServer, readServerPid } from './opening-process.ts';

interface DataFolder {
  /** A new, empty folder. */
  readonly parentDir: string;
  /** A folder in it with a database whose server has stopped. */
  readonly dataDir: string;
  /** A folder in it that does not exist yet. */
  readonly newDir: string;
}

let template: Promise<string> | undefined;

/** To make a database takes seconds, and to copy one does not. */
async function createTemplate(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'conciliation-embedded-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const dataDir = join(folder, 'data');
  await (await openEmbeddedPostgres({ dataDir, logger })).close();
  return dataDir;
}

/** A test with a separate data folder. Processes that still use the folder afterwards are killed. */
export const dataFolderTest = test.extend<DataFolder>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the parameter's pattern
  parentDir: async ({}, use) => {
    const parentDir = await mkdtemp(join(tmpdir(), 'conciliation-embedded-'));
    await use(parentDir);
    await killAllProcesses();
    for (const dataDir of [parentDir, join(parentDir, 'data'), join(parentDir, 'new')]) {
      const serverPid = await readServerPid(dataDir);
      if (serverPid !== null && (await isServerRunning(serverPid))) await killServer(serverPid);
    }
    await rm(parentDir, { recursive: true, force: true, maxRetries: 5 });
  },
  dataDir: async ({ parentDir }, use) => {
    template ??= createTemplate();
    const dataDir = join(parentDir, 'data');
    execFileSync('cp', ['-a', await template, dataDir]);
    await use(dataDir);
  },
  newDir: async ({ parentDir }, use) => {
    await use(join(parentDir, 'new'));
  },
});
