import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { isServerRunning, killAllProcesses, killServer, readServerPid } from './opening-process.ts';

interface DataFolder {
  /** A new, empty folder. */
  readonly parentDir: string;
  /** A folder in it that does not exist yet. */
  readonly dataDir: string;
}

/** A test with a separate data folder. Processes that still use the folder afterwards are killed. */
export const dataFolderTest = test.extend<DataFolder>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the parameter's pattern
  parentDir: async ({}, use) => {
    const parentDir = await mkdtemp(join(tmpdir(), 'conciliation-embedded-'));
    await use(parentDir);
    await killAllProcesses();
    for (const dataDir of [parentDir, join(parentDir, 'data')]) {
      const serverPid = await readServerPid(dataDir);
      if (serverPid !== null && (await isServerRunning(serverPid))) await killServer(serverPid);
    }
    await rm(parentDir, { recursive: true, force: true, maxRetries: 5 });
  },
  dataDir: async ({ parentDir }, use) => {
    await use(join(parentDir, 'data'));
  },
});
