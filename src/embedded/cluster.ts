import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmod,
  chown,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Logger } from 'pino';
import { ConfigError, StagingUnavailableError } from '../runtime/errors.ts';
import { findFreePort } from './free-port.ts';
import { findServerPrograms, findUnprivilegedUser, type SystemUser } from './server-programs.ts';

interface Credentials {
  readonly user: string;
  readonly password: string;
  /** The preferred port of each start, so that other programs can keep the address. */
  readonly port: number;
}

/** The files of one embedded database. `owner` is the user of the server; null: the user of this process. */
export interface Cluster {
  readonly dataDir: string;
  readonly clusterDir: string;
  readonly logFile: string;
  readonly credentials: Credentials;
  readonly owner: SystemUser | null;
}

/** initdb takes seconds. A staging folder of this age belongs to a process that died during initdb. */
const ABANDONED_AFTER_MS = 60 * 60 * 1000;
const STAGING_PREFIX = 'postgres.new-';

/**
 * Returns the cluster of `dataDir` and creates it if necessary. Any number of processes may do this
 * at the same time, and any may die at any point. They agree on the password first, by creating the
 * credentials file atomically; then the cluster of any of them may be renamed into place.
 * @throws ConfigError when `dataDir` cannot be used
 */
export async function ensureCluster(
  dataDir: string,
  logger: Logger,
  signal?: AbortSignal,
): Promise<Cluster> {
  try {
    const cluster = await prepareFiles(dataDir);
    await removeAbandonedStaging(cluster.dataDir);
    if (!(await exists(join(cluster.clusterDir, 'PG_VERSION')))) {
      logger.info({ dataDir: cluster.dataDir }, 'creating the embedded database');
      await createCluster(cluster, signal);
    }
    return cluster;
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (typeof code !== 'string' || path === undefined) throw error;
    throw new ConfigError([
      `DATA_DIR (${resolve(dataDir)}) cannot be used: ${code} on ${path}; it must be a folder on a local disk that belongs to the user of this process`,
    ]);
  }
}

async function prepareFiles(requestedDir: string): Promise<Cluster> {
  await mkdir(dirname(resolve(requestedDir)), { recursive: true });
  await mkdir(requestedDir, { mode: 0o700 }).catch(unlessCode('EEXIST'));
  const dataDir = await realpath(requestedDir);
  const clusterDir = join(dataDir, 'postgres');
  const credentialsFile = join(dataDir, 'postgres.json');

  const owner = await findOwner(dataDir, clusterDir);
  const isNew = (await readdir(dataDir)).length === 0;
  // An existing folder with other files keeps its permissions. The cluster and the credentials have
  // permissions of their own.
  if (isNew) {
    await chmod(dataDir, 0o700);
    await giveTo(owner, dataDir);
  }

  let credentials = await readCredentials(credentialsFile);
  if (credentials === null) {
    if (await exists(clusterDir)) {
      throw new ConfigError([
        `DATA_DIR (${dataDir}) holds a database but not the password to it (postgres.json): restore that file from a backup, or set DATA_DIR to an empty folder`,
      ]);
    }
    await createCredentials(credentialsFile, owner);
    credentials = await readCredentials(credentialsFile);
  }
  if (credentials === null) {
    throw new ConfigError([`DATA_DIR (${dataDir}) is being emptied by another program`]);
  }
  return { dataDir, clusterDir, logFile: join(dataDir, 'postgres.log'), credentials, owner };
}

/**
 * Returns the owner of existing files for a process of root, so that a command run by root does not
 * lock out the service of an ordinary user.
 */
async function findOwner(dataDir: string, clusterDir: string): Promise<SystemUser | null> {
  if (process.getuid?.() !== 0) return null;
  for (const path of [clusterDir, dataDir]) {
    const stats = await stat(path).catch(unlessCode('ENOENT'));
    if (stats && stats.uid !== 0) return { uid: stats.uid, gid: stats.gid };
  }
  return findUnprivilegedUser();
}

async function readCredentials(path: string): Promise<Credentials | null> {
  const json = await readFile(path, 'utf8').catch(unlessCode('ENOENT'));
  if (json === undefined) return null;
  try {
    const { user, password, port } = JSON.parse(json);
    if (typeof user === 'string' && typeof password === 'string' && Number.isInteger(port)) {
      return { user, password, port };
    }
  } catch {
    // Invalid JSON is reported below, because the parser's message would quote the password.
  }
  throw new ConfigError([`DATA_DIR: ${path} is damaged: restore it from a backup`]);
}

async function createCredentials(path: string, owner: SystemUser | null): Promise<void> {
  const credentials: Credentials = {
    user: 'conciliation',
    password: randomBytes(24).toString('base64url'),
    port: await findFreePort(),
  };
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(draft, `${JSON.stringify(credentials)}\n`, { mode: 0o600, flush: true });
    await giveTo(owner, draft);
    // Unlike a rename, a link fails when the name exists. The first process wins.
    await link(draft, path).catch(unlessCode('EEXIST'));
  } finally {
    await rm(draft, { force: true });
  }
}

async function createCluster(cluster: Cluster, signal: AbortSignal | undefined): Promise<void> {
  const programs = await findServerPrograms(cluster.dataDir, cluster.owner);
  const staging = join(cluster.dataDir, `${STAGING_PREFIX}${randomBytes(6).toString('hex')}`);
  const passwordFile = join(staging, 'password');
  const stagedCluster = join(staging, 'cluster');
  try {
    await mkdir(staging, { mode: 0o700 });
    await writeFile(passwordFile, `${cluster.credentials.password}\n`, { mode: 0o600 });
    await giveTo(cluster.owner, passwordFile);
    await giveTo(cluster.owner, staging);
    const { file, args, options } = programs.initdb([
      `--pgdata=${stagedCluster}`,
      `--username=${cluster.credentials.user}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // PostgreSQL's own C.UTF-8. The locale of the C library is missing on some systems and differs between
      // versions, and an update of the image must not change the order of existing indexes.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
    ]);
    signal?.throwIfAborted();
    const initdb = spawn(file, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
    const cancel = () => initdb.kill();
    signal?.addEventListener('abort', cancel);
    await finished(initdb).finally(() => signal?.removeEventListener('abort', cancel));
    await rename(stagedCluster, cluster.clusterDir).catch(unlessCode('ENOTEMPTY', 'EEXIST'));
    await syncFolder(cluster.dataDir);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function finished(initdb: ReturnType<typeof spawn>): Promise<void> {
  const exited = new Promise<number | null>((settle, fail) => {
    initdb.once('error', fail);
    initdb.once('exit', settle);
  });
  const [status, complaint] = await Promise.all([
    exited,
    initdb.stderr === null ? '' : text(initdb.stderr),
  ]);
  if (status !== 0) {
    const reason = complaint.split('\n').find((line) => /error|fatal/i.test(line)) ?? complaint;
    throw new StagingUnavailableError(
      `the embedded database could not be created: ${reason.trim() || `initdb ended with ${status}`}`,
    );
  }
}

async function removeAbandonedStaging(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith(STAGING_PREFIX)) continue;
    const path = join(dataDir, name);
    const stats = await stat(path).catch(unlessCode('ENOENT'));
    if (stats && Date.now() - stats.mtimeMs > ABANDONED_AFTER_MS) {
      await rm(path, { recursive: true, force: true });
    }
  }
}

/** Makes the renames in a folder durable. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function giveTo(owner: SystemUser | null, path: string): Promise<void> {
  if (owner !== null) await chown(path, owner.uid, owner.gid);
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(unlessCode('ENOENT'))) !== undefined;
}

function unlessCode(...codes: readonly string[]): (error: NodeJS.ErrnoException) => undefined {
  return (error) => {
    if (!codes.includes(error.code ?? '')) throw error;
  };
}
