/**
 * The PostgreSQL that is used without a DATABASE_URL. All processes on one DATA_DIR share one server: the first one
 * starts it, and the one that ends when no other client is connected stops it. A server that a killed process left
 * is used by the next one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Logger } from 'pino';
import { ConfigError, StagingUnavailableError } from '../runtime/errors.ts';
import { type Cluster, ensureCluster, readLockFile, startServer, stopServer } from './cluster.ts';
import { findFreePort } from './free-port.ts';

export interface EmbeddedPostgres {
  /** `postgres://user:password@127.0.0.1:port/conciliation`. Never logged, because it holds a password. */
  readonly url: string;
  /** Stops the server if no other client is connected. The caller closes its connections before. Idempotent. */
  close(): Promise<void>;
}

const DATABASE = 'conciliation';

/**
 * Opens the database of `dataDir`: creates it, starts its server, or joins the running one.
 * @param options.exclusive a data folder has at most one exclusive user; other users are still allowed
 * @throws ConfigError when the folder or the system is not suitable, or another process is the exclusive user
 * @throws StagingUnavailableError when the server does not start
 */
export async function openEmbeddedPostgres(options: {
  readonly dataDir: string;
  readonly logger: Logger;
  readonly exclusive?: boolean;
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
    if (options.exclusive === true) await becomeExclusive(cluster, session);
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
      if (lock !== null) return await join(cluster, lock.port);
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
async function join(cluster: Cluster, port: number): Promise<Client> {
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

async function becomeExclusive({ dataDir }: Cluster, session: Client): Promise<void> {
  const { rows } = await session.query(`
    SELECT pg_try_advisory_lock(2) AS taken,
           (SELECT split_part(application_name, ' ', 2)
            FROM pg_locks JOIN pg_stat_activity USING (pid)
            WHERE locktype = 'advisory' AND objid = 2 AND granted AND datname = 'postgres') AS holder`);
  if (rows[0].taken) return;
  throw new ConfigError([
    `DATA_DIR (${dataDir}) is in use by another running service (pid ${rows[0].holder}): stop that one, or give this one a DATA_DIR of its own`,
  ]);
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
