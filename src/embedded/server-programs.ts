import { type ExecFileException, execFile, type SpawnOptions } from 'node:child_process';
import { promisify } from 'node:util';
import { ConfigError } from '../runtime/errors.ts';
import { locatePostgresBinaries } from './postgres-binaries.ts';

const run = promisify(execFile);

/** An operating-system user, by number. */
export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/** A program for `spawn(file, args, options)`, with the options for the right user. */
interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly options: SpawnOptions;
}

export interface ServerPrograms {
  /** PostgreSQL's major version, as in a data folder's PG_VERSION. */
  readonly majorVersion: string;
  initdb(args: readonly string[]): Launch;
  postgres(args: readonly string[]): Launch;
}

type Wrapper = (program: string, args: readonly string[]) => Launch;

/**
 * Returns the user for the server, because PostgreSQL refuses to run as root. Null: this process is not root,
 * and the server runs as the same user.
 * @throws ConfigError when this process is root and the system has neither a `postgres` nor a `nobody` user
 */
export async function findUnprivilegedUser(): Promise<SystemUser | null> {
  if (process.getuid?.() !== 0) return null;
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
    } catch {
      // The user does not exist; the next name may.
    }
  }
  throw new ConfigError([
    'PostgreSQL refuses to run as root, and this system has no user `postgres` or `nobody` to run it as: run as an ordinary user, or set DATABASE_URL to a PostgreSQL server',
  ]);
}

/**
 * Finds a way to run the binaries as `user` (null: as the user of this process) on files in
 * `dataDir`, by trying. Under root, the data folder or node_modules may be below a folder that
 * `user` cannot enter, such as /root. If Linux's setpriv is available, the server then gets the
 * capability to read and search any folder, and no other right of root.
 * @throws ConfigError when no way works
 */
export async function findServerPrograms(
  dataDir: string,
  user: SystemUser | null,
): Promise<ServerPrograms> {
  const binaries = await locatePostgresBinaries();
  const wrappers = user === null ? [asOurselves] : [asUser(user), asUserWhoMayReadAll(user)];
  const faults: string[] = [];
  for (const wrap of wrappers) {
    const { version, fault } = await tryToRun(wrap, dataDir, binaries.postgres);
    if (fault === null) {
      return {
        majorVersion: /\(PostgreSQL\) (\d+)/.exec(version)?.[1] ?? version,
        initdb: (args) => wrap(binaries.initdb, args),
        postgres: (args) => wrap(binaries.postgres, args),
      };
    }
    faults.push(fault);
  }
  throw new ConfigError([
    user === null
      ? `the embedded PostgreSQL does not run here (${faults.join('; ')}): set DATABASE_URL to a PostgreSQL server`
      : `PostgreSQL refuses to run as root, and user ${user.uid} cannot run it on DATA_DIR (${dataDir}) (${faults.join('; ')}): set DATA_DIR to a folder which that user can reach, run as an ordinary user, or set DATABASE_URL to a PostgreSQL server`,
  ]);
}

/** Returns the program's version output; `fault` is the reason why it does not run. */
async function tryToRun(
  wrap: Wrapper,
  dataDir: string,
  postgres: string,
): Promise<{ version: string; fault: string | null }> {
  const script = 'cd "$1" && exec "$2" --version';
  const { file, args, options } = wrap('/bin/sh', ['-c', script, 'sh', dataDir, postgres]);
  try {
    // execFile and spawn share the options of a wrapper: env, cwd, uid and gid.
    const { env, cwd, uid, gid } = options;
    const { stdout } = await run(file, args, {
      env,
      cwd,
      ...(uid === undefined ? {} : { uid }),
      ...(gid === undefined ? {} : { gid }),
    });
    return { version: stdout.trim(), fault: null };
  } catch (error) {
    const { stderr, message } = error as ExecFileException;
    const fault = (stderr?.trim() || message).split('\n').at(-1) ?? 'unknown reason';
    return { version: '', fault };
  }
}

function baseOptions(): SpawnOptions {
  return {
    // The server outlives this process, so it must not hold its working folder.
    cwd: '/',
    // A minimal environment: that of this process may hold the platform token, and PG* variables
    // would configure the server.
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
  };
}

const asOurselves: Wrapper = (file, args) => ({ file, args, options: baseOptions() });

function asUser(user: SystemUser): Wrapper {
  return (file, args) => ({ file, args, options: { ...baseOptions(), ...user } });
}

/**
 * Uses an ambient capability, which does not put the program in the loader's secure mode, so that
 * the relative library path of the binaries still works.
 */
function asUserWhoMayReadAll(user: SystemUser): Wrapper {
  const limits = [
    `--reuid=${user.uid}`,
    `--regid=${user.gid}`,
    '--clear-groups',
    '--inh-caps=+dac_read_search',
    '--ambient-caps=+dac_read_search',
    // initdb checks with access(2) whether it may run postgres. Without this option, the kernel
    // ignores capabilities in that check.
    '--securebits=+no_setuid_fixup',
    '--no-new-privs',
    '--',
  ];
  return (program, args) => ({
    file: 'setpriv',
    args: [...limits, program, ...args],
    options: baseOptions(),
  });
}
