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

/** A program ready for `spawn(file, args, options)`, already made to run as the right user. */
interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly options: SpawnOptions;
}

export interface ServerPrograms {
  /** Of PostgreSQL, as a data folder's PG_VERSION has it. */
  readonly majorVersion: string;
  initdb(args: readonly string[]): Launch;
  postgres(args: readonly string[]): Launch;
}

type Wrapper = (program: string, args: readonly string[]) => Launch;

/**
 * PostgreSQL refuses to run as root. Null when we are not root, and the server runs as ourselves.
 *
 * @throws ConfigError when we are root and the system has neither a `postgres` nor a `nobody`.
 */
export async function findUnprivilegedUser(): Promise<SystemUser | null> {
  if (process.getuid?.() !== 0) return null;
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
    } catch {
      // No such user; the next name may exist.
    }
  }
  throw new ConfigError([
    'PostgreSQL refuses to run as root, and this system has no user `postgres` or `nobody` to run it as: run as an ordinary user, or set DATABASE_URL to a PostgreSQL server',
  ]);
}

/**
 * Finds a way to run the binaries as `user` (null: as ourselves) on files in `dataDir`, by trying.
 *
 * Under root, the data folder or node_modules may lie below a folder which `user` cannot pass, such
 * as /root. Where Linux's setpriv is there, the server then gets one capability, to read and
 * search any folder, and nothing else of root's power.
 *
 * @throws ConfigError when no way works.
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

/** What the program says of its version; `fault` is why it does not run, in a few words. */
async function tryToRun(
  wrap: Wrapper,
  dataDir: string,
  postgres: string,
): Promise<{ version: string; fault: string | null }> {
  const script = 'cd "$1" && exec "$2" --version';
  const { file, args, options } = wrap('/bin/sh', ['-c', script, 'sh', dataDir, postgres]);
  try {
    // execFile's and spawn's options agree on what a wrapper sets: env, cwd, uid and gid.
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
    // The server outlives us, so it must not hold our working folder.
    cwd: '/',
    // Nothing of our environment: it holds the platform token, and PG* variables would steer the
    // server.
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
  };
}

const asOurselves: Wrapper = (file, args) => ({ file, args, options: baseOptions() });

function asUser(user: SystemUser): Wrapper {
  return (file, args) => ({ file, args, options: { ...baseOptions(), ...user } });
}

/**
 * The capability is ambient, which does not put the program in the loader's secure mode, so the
 * binaries' relative library path still holds.
 */
function asUserWhoMayReadAll(user: SystemUser): Wrapper {
  const limits = [
    `--reuid=${user.uid}`,
    `--regid=${user.gid}`,
    '--clear-groups',
    '--inh-caps=+dac_read_search',
    '--ambient-caps=+dac_read_search',
    // initdb asks access(2) whether it may run postgres, and without this the kernel answers that
    // question as if an ordinary user had no capability.
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
