import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError, StagingUnavailableError } from '../runtime/errors.ts';
import { findFreePort } from './free-port.ts';
import { findServerPrograms, type SystemUser } from './server-programs.ts';

/** The files of one embedded database. */
export interface Cluster {
  readonly dataDir: string;
  readonly clusterDir: string;
  readonly logFile: string;
  /** The port is the preferred one of each start, so that other programs can keep the address. */
  readonly credentials: { readonly user: string; readonly password: string; readonly port: number };
  /** The user of the server; null: the user of this process. */
  readonly owner: SystemUser | null;
}

const CREDENTIALS = 'postgres.json';
const NOBODY = 65_534;
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  // Containers give /dev/shm 64 MB, too little for a parallel query over a large table.
  dynamic_shared_memory_type: 'mmap',
  // The log must hold no personal data. The texts of errors quote values, so only the server's
  // own events (LOG) and its failures are written, without DETAIL, statements or parameters.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};

/**
 * Returns the cluster of `dataDir` and creates it if necessary. Any number of processes may do this at the same time,
 * and any may die at any point: a complete cluster of one of them is renamed into place.
 * @throws ConfigError when `dataDir` cannot be used
 */
export async function ensureCluster(requestedDir: string): Promise<Cluster> {
  try {
    await fs.mkdir(dirname(resolve(requestedDir)), { recursive: true });
    await fs.mkdir(requestedDir, { mode: 0o700 }).catch(() => {});
    const dataDir = await fs.realpath(requestedDir);
    const { uid, gid } = await fs.stat(dataDir);
    // PostgreSQL refuses to run as root, and root must not lock out an ordinary user of the folder.
    const owner = process.getuid?.() === 0 ? { uid: uid || NOBODY, gid: gid || NOBODY } : null;
    if ((await fs.readdir(dataDir)).length === 0) await giveTo(owner, dataDir);
    const clusterDir = join(dataDir, 'postgres');
    if (!existsSync(clusterDir)) await createCluster({ dataDir, clusterDir, owner });
    const json = await fs.readFile(join(clusterDir, CREDENTIALS), 'utf8');
    const logFile = join(dataDir, 'postgres.log');
    return { dataDir, clusterDir, logFile, credentials: JSON.parse(json), owner };
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    // The message of the parser would quote the password.
    const fault = error instanceof SyntaxError ? `${CREDENTIALS} is damaged` : `${code} on ${path}`;
    if (path === undefined && !(error instanceof SyntaxError)) throw error;
    throw new ConfigError([
      `DATA_DIR (${resolve(requestedDir)}) cannot be used: ${fault}; it must be a folder on a local disk that belongs to the user of this process; if only ${CREDENTIALS}, which holds the password, is lost or damaged, restore it from a backup`,
    ]);
  }
}

async function createCluster(files: Pick<Cluster, 'dataDir' | 'clusterDir' | 'owner'>) {
  const { dataDir, clusterDir, owner } = files;
  const { run } = await findServerPrograms(dataDir, owner);
  const staging = await fs.mkdtemp(join(dataDir, 'postgres.new-'));
  const [made, passwordFile] = [join(staging, 'cluster'), join(staging, 'password')];
  const [user, password] = ['conciliation', randomBytes(24).toString('base64url')];
  try {
    await fs.writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
    for (const path of [passwordFile, staging]) await giveTo(owner, path);
    await run('initdb', [
      ...[`--pgdata=${made}`, `--username=${user}`, `--pwfile=${passwordFile}`],
      ...['--auth=scram-sha-256', '--encoding=UTF8'],
      // PostgreSQL's own C.UTF-8. The locale of the C library is missing on some systems and differs between
      // versions, and an update of the image must not change the order of existing indexes.
      ...['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    ]);
    const credentials = JSON.stringify({ user, password, port: await findFreePort() });
    await fs.writeFile(join(made, CREDENTIALS), credentials, { mode: 0o600, flush: true });
    await giveTo(owner, join(made, CREDENTIALS));
    await fs.rename(made, clusterDir).catch((error) => {
      // Another process may have been faster.
      if (!existsSync(join(clusterDir, CREDENTIALS))) throw error;
    });
    // Makes the rename durable.
    const folder = await fs.open(dataDir, 'r');
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    const reason = /^.*(error|fatal).*$/im.exec(stderr ?? '')?.[0] ?? message;
    throw new StagingUnavailableError(`the embedded database could not be created: ${reason}`);
  } finally {
    await fs.rm(staging, { recursive: true, force: true });
  }
}

async function giveTo(owner: SystemUser | null, path: string): Promise<void> {
  if (owner !== null) await fs.chown(path, owner.uid, owner.gid);
}

/**
 * Starts the server and waits until it takes connections. It has a session of its own, so that a Ctrl-C does not
 * reach it. Returns null, or why it does not start; another process may have started it.
 * @throws ConfigError when another major version of PostgreSQL created the folder
 */
export async function startServer(cluster: Cluster, port: number): Promise<string | null> {
  const { dataDir, clusterDir, logFile, owner } = cluster;
  const { majorVersion, run } = await findServerPrograms(dataDir, owner);
  const version = (await fs.readFile(join(clusterDir, 'PG_VERSION'), 'utf8')).trim();
  if (version !== majorVersion) {
    throw new ConfigError([
      [
        `DATA_DIR (${dataDir}) holds a database of PostgreSQL ${version}, which the embedded PostgreSQL ${majorVersion} cannot read. To bring the database over:`,
        `1. Run the version of this program that was used before and, while it runs, save the database: pg_dump --format=custom --schema=conciliation --no-owner --file=conciliation.dump, with user, password and port of ${clusterDir}/${CREDENTIALS}, host 127.0.0.1, database conciliation.`,
        `2. Stop that version and move the folder ${clusterDir} away.`,
        '3. Start this version, which creates an empty database.',
        '4. Restore into it: pg_restore --clean --if-exists --no-owner; then start this version again. docs/operating.md has the commands.',
      ].join('\n    '),
    ]);
  }
  await fs.appendFile(logFile, '', { mode: 0o600 });
  await giveTo(owner, logFile);
  const { size } = await fs.stat(logFile);
  const settings = Object.entries({ ...SETTINGS, port }).map(
    ([name, value]) => `-c ${name}=${value}`,
  );
  try {
    await run('pg_ctl', [
      ...['start', '--pgdata', clusterDir, '--log', logFile, '--wait', '--timeout=120'],
      ...['--options', settings.join(' ')],
    ]);
    return null;
  } catch (error) {
    const log = (await fs.readFile(logFile)).subarray(size).toString();
    const { stderr } = error as { stderr: string };
    return /(?<=(?:FATAL|PANIC): +).+|.*error while loading.*/.exec(log)?.[0] ?? stderr.trim();
  }
}

/** Stops the server and waits for its end. pg_ctl would also wait for a server that another process starts at once. */
export async function stopServer({ dataDir, clusterDir, owner }: Cluster): Promise<void> {
  const pid = (await readLockFile(clusterDir))?.pid;
  const { run } = await findServerPrograms(dataDir, owner);
  await run('pg_ctl', ['stop', '--pgdata', clusterDir, '--mode=fast', '--no-wait']);
  for (let tries = 0; tries < 6_000; tries += 1) {
    if ((await readLockFile(clusterDir))?.pid !== pid) return;
    await sleep(20);
  }
}

/** What the server has written into its lock file; null: there is no server, or none that could be used yet. */
export async function readLockFile(clusterDir: string) {
  const text = await fs.readFile(join(clusterDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const [pid, , , port, , , , state = ''] = text.split('\n');
  return Number(port) > 0 ? { pid, port: Number(port), state: state.trim() } : null;
}
