import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';

type Closable = { close?(): unknown };

/** What the tests of a file use. It is opened before the first of them and closed after the last. */
export function forFile<T extends object>(open: () => Promise<T>): T {
  const opened = {} as T & Closable;
  beforeAll(async () => copy(await open(), opened));
  afterAll(() => opened.close?.() as Promise<void>);
  return opened;
}

/** The same, opened for each test. */
export function forTest<T extends object>(open: () => Promise<T>): T {
  const opened = {} as T & Closable;
  beforeEach(async () => copy(await open(), opened));
  afterEach(() => opened.close?.() as Promise<void>);
  return opened;
}

/** With its getters, which may return another value later. */
const copy = (from: object, to: object) =>
  void Object.defineProperties(to, Object.getOwnPropertyDescriptors(from));

/** An empty folder, which is removed in the end. */
export async function openFolder() {
  const path = await mkdtemp(join(tmpdir(), 'conciliation-'));
  return { path, close: () => rm(path, { recursive: true, force: true }) };
}

/** Replaces a file of a folder whole, so that a concurrent reader reads the old content. Returns its path. */
export async function replaceFile(folder: string, name: string, text: string): Promise<string> {
  await writeFile(join(folder, 'new'), text, { mode: 0o600 });
  await rename(join(folder, 'new'), join(folder, name));
  return join(folder, name);
}
