/**
 * The supervised PostgreSQL that is used without a DATABASE_URL. All commands on one DATA_DIR share
 * one server: the first command starts it, and the last one stops it. No command owns the server, so
 * any of them may be killed.
 *
 *     embedded-postgres   joining, watching and leaving the server
 *     cluster             the files: data folder, credentials, initdb
 *     lock-file           which process is the server
 *     postmaster          the server process: start, stop
 *     holder-session      the processes that use the server, as advisory locks in it
 *     server-programs     running the binaries as a user that PostgreSQL accepts
 *     postgres-binaries   the npm packages
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ConfigError, ShutdownError, StagingUnavailableError } from '../runtime/errors.ts';
import { type Cluster, ensureCluster } from './cluster.ts';
import { type HolderSession, joinHolders } from './holder-session.ts';
import { findPostmaster } from './lock-file.ts';
import { type StartedPostmaster, startPostmaster, stopPostmaster, trimLog } from './postmaster.ts';

export interface EmbeddedPostgres {
  /** `postgres://user:password@127.0.0.1:port/conciliation`. Never logged, because it holds a password. */
  readonly url: string;
  /**
   * Stops the server if no other process uses it. All other connections must be closed before. Idempotent.
   */
  close(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  readonly dataDir: string;
  readonly logger: Logger;
  /** A data folder has at most one exclusive user. Other users are still allowed. */
  readonly exclusive?: boolean;
  /** Aborts opening. No effect on an open database. */
  readonly signal?: AbortSignal;
}

const DATABASE = 'conciliation';
const POLL_MS = 50;
/** Recovery after a crash replays at most the WAL since a checkpoint, which takes much less than this. */
const READY_LIMIT_MS = 120_000;
const START_ATTEMPTS = 5;
/**
 * Doubles after each try. The workers of a killed server need a moment to end, and block a new
 * server until then.
 */
const START_RETRY_MS = 100;
const REJOIN_MAX_DELAY_MS = 30_000;
const LOG_TRIM_INTERVAL_MS = 10 * 60 * 1000;

/**
 * Opens the database of `dataDir`: creates it, starts its server, or joins the running one.
 * @throws ConfigError when the folder, the platform or the user is not suitable, or when
 * `exclusive` is set and another process is the exclusive user
 * @throws StagingUnavailableError when the server does not start
 * @throws ShutdownError when `signal` is aborted
 */
export async function openEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { dataDir, logger, exclusive = false, signal } = options;
  try {
    const cluster = await ensureCluster(dataDir, logger, signal);
    const session = await join(cluster, { logger, fixedPort: null, signal });
    try {
      if (exclusive) await session.becomeExclusive();
      await session.createDatabase(DATABASE);
    } catch (error) {
      await leave(session, logger);
      throw error;
    }
    return hold(cluster, session, exclusive, logger);
  } catch (error) {
    if (!signal?.aborted) throw error;
    throw new ShutdownError('opening the embedded database was cancelled', { cause: error });
  }
}

interface JoinOptions {
  readonly logger: Logger;
  /** The port on which the server must start; null: any free port. */
  readonly fixedPort: number | null;
  readonly signal: AbortSignal | undefined;
}

/**
 * One loop handles every state of the server, because the state may change at any moment: stopped
 * (start it), starting, recovering or about to stop (wait), ready (join), started by two processes
 * (PostgreSQL's lock file allows only one, and both join it).
 */
async function join(cluster: Cluster, options: JoinOptions): Promise<HolderSession> {
  const { logger, fixedPort, signal } = options;
  const deadline = Date.now() + READY_LIMIT_MS;
  let started: StartedPostmaster | null = null;
  let starts = 0;
  let lastError: unknown;
  try {
    while (Date.now() < deadline) {
      signal?.throwIfAborted();
      const postmaster = await findPostmaster(cluster.clusterDir);
      if (postmaster === null && (started === null || started.hasExited())) {
        if (starts === START_ATTEMPTS) throw await startFailure(cluster, started);
        if (starts > 0) await sleep(START_RETRY_MS * 2 ** starts);
        started = await startPostmaster(cluster, fixedPort);
        starts += 1;
        logger.debug({ serverPid: started.pid }, 'starting the embedded database');
      } else if (postmaster !== null && postmaster.port !== null) {
        try {
          return await joinHolders(cluster, postmaster.port);
        } catch (error) {
          if (error instanceof ConfigError) throw error;
          lastError = error;
        }
      }
      await sleep(POLL_MS);
    }
  } catch (error) {
    if (started !== null && !started.hasExited()) await started.stop(logger);
    throw error;
  }
  // The server keeps running: a long recovery that is stopped would start again from its beginning.
  throw new StagingUnavailableError(
    `the embedded database is not ready after ${READY_LIMIT_MS / 1000} seconds; it may be recovering from a crash: try again later, and see ${cluster.logFile}`,
    { cause: lastError },
  );
}

async function startFailure(
  cluster: Cluster,
  started: StartedPostmaster | null,
): Promise<StagingUnavailableError> {
  const reason = (await started?.lastWords()) ?? 'it ended without a word';
  return new StagingUnavailableError(
    `the embedded database does not start: ${reason}; ${remedyFor(reason, cluster)}see ${cluster.logFile}`,
  );
}

function remedyFor(reason: string, { clusterDir }: Cluster): string {
  if (reason.includes('shared memory block')) {
    return `processes of a server that was killed still use ${clusterDir}: end them and start again; `;
  }
  return reason.includes('lock file')
    ? `if no PostgreSQL server uses ${clusterDir}, delete postmaster.pid there and start again; `
    : '';
}

async function leave(session: HolderSession, logger: Logger): Promise<void> {
  try {
    const pid = await session.leave().catch((error) => {
      // The server has stopped already.
      logger.debug({ err: error }, 'the embedded database had stopped before it was closed');
      return null;
    });
    // The lock is held during the stop, so that a new process waits and does not join.
    if (pid !== null) await stopPostmaster(pid, logger);
  } finally {
    await session.end().catch(() => {});
  }
}

/** Tries to join a server that ended this session but may still be running. */
async function joinRunning(cluster: Cluster): Promise<HolderSession | null> {
  const postmaster = await findPostmaster(cluster.clusterDir);
  if (postmaster === null || postmaster.port === null) return null;
  return joinHolders(cluster, postmaster.port).catch(() => null);
}

/**
 * Renews a lost holder session while the caller keeps the database open. A lost session means that
 * the server crashed, was stopped, or ended the session. Without a session, the next command to
 * leave would stop the server, or a crashed server would stay stopped. The server is started on the
 * same port, where the connection pools of the caller find it.
 */
function hold(
  cluster: Cluster,
  opened: HolderSession,
  exclusive: boolean,
  logger: Logger,
): EmbeddedPostgres {
  const closing = new AbortController();
  const closed = new Promise<void>((settle) => {
    closing.signal.addEventListener('abort', () => settle(), { once: true });
  });
  const { port } = opened;

  async function rejoin(): Promise<HolderSession | null> {
    for (let delayMs = 1000; ; delayMs = Math.min(delayMs * 2, REJOIN_MAX_DELAY_MS)) {
      try {
        return await join(cluster, { logger, fixedPort: port, signal: closing.signal });
      } catch (error) {
        if (closing.signal.aborted) return null;
        logger.error({ err: error }, 'the embedded database is down: trying again');
      }
      await Promise.race([closed, sleep(delayMs, undefined, { ref: false })]);
      if (closing.signal.aborted) return null;
    }
  }

  async function watchOver(first: HolderSession): Promise<HolderSession | null> {
    let session: HolderSession | null = first;
    while (session !== null) {
      await Promise.race([session.ended, closed]);
      if (closing.signal.aborted) return session.isOpen() ? session : null;
      logger.warn('the embedded database ended this session: joining it again');
      session = await rejoin();
      if (session === null) return null;
      if (session.port !== port) {
        logger.error(
          { was: port, is: session.port },
          'another process started the embedded database on another port: restart this process',
        );
      }
      if (exclusive) {
        await session.becomeExclusive().catch((error) => logger.error({ err: error }));
      }
    }
    return null;
  }

  const watch = watchOver(opened);
  const trim = () => {
    trimLog(cluster.logFile).catch((error) => logger.debug({ err: error }, 'log not trimmed'));
  };
  trim();
  const trimming = setInterval(trim, LOG_TRIM_INTERVAL_MS).unref();

  async function close(): Promise<void> {
    clearInterval(trimming);
    closing.abort();
    const session = (await watch) ?? (await joinRunning(cluster));
    if (session !== null) await leave(session, logger);
  }

  let closeOnce: Promise<void> | undefined;
  const { user, password } = cluster.credentials;
  return {
    url: `postgres://${user}:${password}@127.0.0.1:${port}/${DATABASE}`,
    close() {
      closeOnce ??= close();
      return closeOnce;
    },
  };
}
