import { type ChildProcess, spawn } from 'node:child_process';
import { copyFile, open, readFile, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ConfigError, StagingUnavailableError } from '../runtime/errors.ts';
import type { Cluster } from './cluster.ts';
import { findFreePort } from './free-port.ts';
import { findFalseMatch, isPostgres } from './lock-file.ts';
import { findServerPrograms } from './server-programs.ts';

const POLL_MS = 20;
const FAST_SHUTDOWN_LIMIT_MS = 60_000;
const IMMEDIATE_SHUTDOWN_LIMIT_MS = 15_000;
const LOG_LIMIT_BYTES = 8 * 1024 * 1024;

/** A server that this process started and that is not ready yet. */
export interface StartedPostmaster {
  readonly pid: number;
  hasExited(): boolean;
  stop(logger: Logger): Promise<void>;
  /** Returns the last messages of a server that failed to start; null: it wrote none. */
  lastWords(): Promise<string | null>;
}

/**
 * Starts a server in a separate session, so that a Ctrl-C does not reach it: this process stops
 * it later. The log is a file, because a pipe would end with this process.
 * @param fixedPort the required port; null: the cluster's port, or any free one
 * @throws ConfigError when another major version of PostgreSQL created the folder
 */
export async function startPostmaster(
  cluster: Cluster,
  fixedPort: number | null,
): Promise<StartedPostmaster> {
  const programs = await findServerPrograms(cluster.dataDir, cluster.owner);
  await refuseOtherMajorVersion(cluster, programs.majorVersion);
  const port = fixedPort ?? (await findFreePort(cluster.credentials.port));
  const { file, args, options } = programs.postgres([
    '-D',
    cluster.clusterDir,
    ...settings(port).flatMap((setting) => ['-c', setting]),
  ]);
  const falseMatch = await findFalseMatch(cluster.clusterDir);
  const env = { ...options.env, ...(falseMatch !== null && { PG_GRANDPARENT_PID: falseMatch }) };
  const log = await open(cluster.logFile, 'a', 0o600);
  const logStart = (await log.stat()).size;
  let child: ChildProcess;
  try {
    if (cluster.owner !== null) await log.chown(cluster.owner.uid, cluster.owner.gid);
    child = spawn(file, args, {
      ...options,
      env,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
    await new Promise((settle, fail) => child.once('spawn', settle).once('error', fail));
  } finally {
    await log.close();
  }
  child.unref();
  const { pid } = child;
  if (pid === undefined) throw new StagingUnavailableError('the embedded database has no pid');
  const hasExited = () => child.exitCode !== null || child.signalCode !== null;
  return {
    pid,
    hasExited,
    stop: (logger) => stopProcess(pid, async () => !hasExited(), logger),
    lastWords: () => lastFatalLine(cluster.logFile, logStart),
  };
}

async function refuseOtherMajorVersion(cluster: Cluster, majorVersion: string): Promise<void> {
  const version = (await readFile(join(cluster.clusterDir, 'PG_VERSION'), 'utf8')).trim();
  if (version === majorVersion) return;
  throw new ConfigError([
    [
      `DATA_DIR (${cluster.dataDir}) holds a database of PostgreSQL ${version}, which the embedded PostgreSQL ${majorVersion} cannot read. To bring the database over:`,
      `1. Run the version of this program that was used before and, while it runs, save the database: pg_dump --format=custom --schema=conciliation --no-owner --file=conciliation.dump, with user, password and port of ${cluster.dataDir}/postgres.json, host 127.0.0.1, database conciliation.`,
      `2. Stop that version and move the folder ${cluster.clusterDir} away.`,
      '3. Start this version, which creates an empty database.',
      '4. Restore into it: pg_restore --clean --if-exists --no-owner; then start this version again.',
      'docs/operating.md has the commands.',
    ].join('\n    '),
  ]);
}

function settings(port: number): readonly string[] {
  return [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'max_connections=200',
    'timezone=UTC',
    'log_timezone=UTC',
    'fsync=on',
    // Containers give /dev/shm 64 MB, too little for a parallel query over a large table.
    'dynamic_shared_memory_type=mmap',
    // The log must hold no personal data. The texts of errors quote values, so only the server's
    // own events (LOG) and its failures are written, without DETAIL, statements or parameters.
    'log_min_messages=log',
    'log_min_error_statement=panic',
    'log_error_verbosity=terse',
    'log_parameter_max_length=0',
    'log_parameter_max_length_on_error=0',
    'log_statement=none',
    'log_checkpoints=off',
    'log_autovacuum_min_duration=-1',
    'log_line_prefix=%m [%p] ',
    'logging_collector=off',
  ];
}

async function lastFatalLine(logFile: string, start: number): Promise<string | null> {
  const log = await open(logFile, 'r');
  try {
    const stream = log.createReadStream({ start, encoding: 'utf8', autoClose: false });
    const lines: string[] = (await stream.toArray()).join('').split('\n');
    const fatal = lines.findLast((line) => /\b(FATAL|PANIC):|error while loading/.test(line));
    return fatal === undefined ? null : fatal.replace(/^.*?\b(?:FATAL|PANIC): +/, '');
  } finally {
    await log.close();
  }
}

/**
 * Limits the log: keeps the newest part, and one older file. The server appends to the file, so it
 * may be truncated while it is open.
 */
export async function trimLog(logFile: string): Promise<void> {
  const { size } = await stat(logFile);
  if (size < LOG_LIMIT_BYTES) return;
  await copyFile(logFile, `${logFile}.1`);
  await truncate(logFile, 0);
}

/**
 * Stops a server and waits for its end: first by a fast shutdown, which needs no recovery; if that
 * hangs, by an immediate shutdown, after which the next start recovers. Neither loses data.
 */
export async function stopPostmaster(pid: number, logger: Logger): Promise<void> {
  await stopProcess(pid, () => isPostgres(pid), logger);
}

async function stopProcess(
  pid: number,
  isAlive: () => Promise<boolean>,
  logger: Logger,
): Promise<void> {
  if (await signalAndWait(pid, 'SIGINT', isAlive, FAST_SHUTDOWN_LIMIT_MS)) return;
  logger.warn(
    { serverPid: pid },
    'the embedded database does not stop: stopping it without a checkpoint',
  );
  if (await signalAndWait(pid, 'SIGQUIT', isAlive, IMMEDIATE_SHUTDOWN_LIMIT_MS)) return;
  throw new StagingUnavailableError(`the embedded database (pid ${pid}) does not stop`);
}

async function signalAndWait(
  pid: number,
  signal: NodeJS.Signals,
  isAlive: () => Promise<boolean>,
  limitMs: number,
): Promise<boolean> {
  const deadline = Date.now() + limitMs;
  if (!(await isAlive())) return true;
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
  while (await isAlive()) {
    if (Date.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}
