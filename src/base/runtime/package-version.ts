import { readFileSync } from 'node:fs';

/** The same relative path from src/runtime and from dist/runtime. */
const PACKAGE_FILE = new URL('../../../package.json', import.meta.url);

export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(PACKAGE_FILE, 'utf8')) as { version: string };
  return version;
}
