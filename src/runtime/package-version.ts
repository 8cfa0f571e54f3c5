import { readFileSync } from 'node:fs';

/** Leads to the same file from src/runtime and from dist/runtime. */
const PACKAGE_FILE = new URL('../../package.json', import.meta.url);

/** The version of the program, as package.json has it. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(PACKAGE_FILE, 'utf8')) as { version: string };
  return version;
}
