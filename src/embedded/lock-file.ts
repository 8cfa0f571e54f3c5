import { execFile } from 'node:child_process';
import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ConfigError } from '../runtime/errors.ts';

/** A running server process. `port` is null until the server has written it. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number | null;
}

/**
 * Returns the server that runs on this cluster according to PostgreSQL's lock file
 * (postmaster.pid), or null. The file is only read: PostgreSQL replaces a stale one when it starts.
 * @throws ConfigError when the folder is a copy of another folder whose server runs, or when the
 * process in the lock file cannot be distinguished from a server of this folder
 */
export async function findPostmaster(clusterDir: string): Promise<Postmaster | null> {
  const lock = await readLockFile(clusterDir);
  if (lock === null) return null;
  switch (await identifyProcess(lock.pid, clusterDir, lock.folder)) {
    case 'server':
      return { pid: lock.pid, port: lock.port };
    case 'server of the named folder':
      throw new ConfigError([
        `the embedded database does not start: ${clusterDir} is a copy of ${lock.folder}, made while the server of that folder (pid ${lock.pid}) ran, so it may be incomplete: remove the copy, then copy the folder while its server is stopped, or restore a pg_dump`,
      ]);
    case 'unclear':
      throw new ConfigError([
        `the embedded database does not start: ${lock.path} names process ${lock.pid}, which may be a server of this folder, and this user may not inspect it: find out which process it is (ps -fp ${lock.pid}); if no PostgreSQL server uses the folder, delete the file and start again`,
      ]);
    default:
      return null;
  }
}

interface LockFile {
  readonly path: string;
  readonly pid: number;
  /** The data folder according to the server that wrote the file; differs in a copied folder. */
  readonly folder: string;
  readonly port: number | null;
}

/** Returns null if the lock file does not exist or names no process. */
async function readLockFile(clusterDir: string): Promise<LockFile | null> {
  const path = join(clusterDir, 'postmaster.pid');
  let lines: string[];
  try {
    lines = (await readFile(path, 'utf8')).split('\n');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
  const [pidLine = '', folder = '', , portLine = ''] = lines;
  const pid = Number(pidLine);
  if (!Number.isInteger(pid) || pid <= 0) return null;
  return { path, pid, folder: folder === '' ? clusterDir : folder, port: Number(portLine) || null };
}

/**
 * Returns the process in the lock file when it is not a server of this folder. PostgreSQL refuses
 * to start while any process of the same user has that number, except its parent and the process in
 * PG_GRANDPARENT_PID. That exception keeps PostgreSQL's other checks: it still replaces the lock
 * file itself, and still refuses a folder whose shared memory is in use.
 */
export async function findFalseMatch(clusterDir: string): Promise<string | null> {
  const lock = await readLockFile(clusterDir);
  if (lock === null) return null;
  const identity = await identifyProcess(lock.pid, clusterDir, lock.folder);
  return identity === 'other program' ? String(lock.pid) : null;
}

/** The relation of a process to a cluster whose lock file contains the process and `namedDir`. */
type Identity = 'server' | 'server of the named folder' | 'other program' | 'gone' | 'unclear';

/**
 * Whether the process with that number is a server of the cluster. Process numbers are reused after a crash
 * and in new containers, so the process may be any program, this one, or a server of another folder.
 */
async function identifyProcess(
  pid: number,
  clusterDir: string,
  namedDir: string,
): Promise<Identity> {
  if (!isAlive(pid)) return 'gone';
  if (process.platform !== 'linux') {
    return identifyCommand(await commandLineByPs(pid), clusterDir, namedDir);
  }
  try {
    if (!(await isPostgresOnLinux(pid))) return 'other program';
    // A server changes to its data folder before it creates the lock file, and stays in it.
    const workingDir = await stat(`/proc/${pid}/cwd`).catch(unlessRefused);
    if (workingDir === undefined) {
      const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').join(' ');
      return identifyCommand(command, clusterDir, namedDir);
    }
    if (isSameFolder(workingDir, await stat(clusterDir))) return 'server';
    const named = await stat(namedDir).catch(() => undefined);
    return named !== undefined && isSameFolder(workingDir, named)
      ? 'server of the named folder'
      : 'other program';
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return 'gone';
    throw error;
  }
}

/**
 * Uses only the command line, on systems without /proc. A server that this program starts has the
 * folder as an argument; one that a person started may have the folder from elsewhere.
 */
export function identifyCommand(command: string, clusterDir: string, namedDir: string): Identity {
  if (!/\bpost(gres|master)\b/.test(command)) return 'other program';
  const names = (folder: string) => ` ${command} `.includes(` ${folder} `);
  if (names(clusterDir)) return 'server';
  return names(namedDir) ? 'server of the named folder' : 'unclear';
}

/** Empty when the process has ended meanwhile. */
async function commandLineByPs(pid: number): Promise<string> {
  const ps = promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]);
  return ps.then(({ stdout }) => stdout.trim()).catch(() => '');
}

function isSameFolder(one: Stats, other: Stats): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

/** False for a process of another user, which cannot be a server of this folder's owner. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** False for a zombie too, which accepts signals until its parent reaps it. */
async function isPostgresOnLinux(pid: number): Promise<boolean> {
  return /^\d+ \(postgres\) [^ZX]/.test(await readFile(`/proc/${pid}/stat`, 'utf8'));
}

/** Whether the process runs and is a PostgreSQL server of any folder. */
export async function isPostgres(pid: number): Promise<boolean> {
  if (!isAlive(pid)) return false;
  if (process.platform !== 'linux') return true;
  try {
    return await isPostgresOnLinux(pid);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return false;
    throw error;
  }
}

/** Root without the capability CAP_SYS_PTRACE may not inspect the processes of another user. */
function unlessRefused(error: unknown): undefined {
  if (!hasCode(error, 'EACCES', 'EPERM')) throw error;
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException).code ?? '');
}
