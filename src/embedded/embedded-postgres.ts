/**
 * The supervised PostgreSQL that is used where no DATABASE_URL is set. Every command that works on
 * one DATA_DIR shares one server: the first to come starts it, the last to leave stops it, and in
 * between it belongs to nobody, so any of them may be killed.
 *
 *     embedded-postgres   joining, watching over the server, leaving
 *     cluster             the files: data folder, credentials, initdb
 *     lock-file           which process is the server
 *     postmaster          the server process: start, stop
 *     holder-session      who uses the server, as advisory locks in it
 *     server-programs     running the binaries as a user PostgreSQL accepts
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
  /** `postgres://user:password@127.0.0.1:port/conciliation`; holds a password: never log it. */
  readonly url: string;
  /** Stops the server if nobody else uses it. Close every other connection first. Idempotent. */
  close(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  readonly dataDir: string;
  readonly logger: Logger;
  /** At most one exclusive user of a data folder at a time; the others are not in its way. */
  readonly exclusive?: boolean;
  /** Gives up opening. It has no effect on an opened database. */
  readonly signal?: AbortSignal;
}

const DATABASE = 'conciliation';
const POLL_MS = 50;
/** Recovery after a crash replays at most a checkpoint's worth of WAL; this is ample for that. */
const READY_LIMIT_MS = 120_000;
const START_ATTEMPTS = 5;
/** Doubles. The workers of a killed server take a moment to notice, and keep a new one out. */
const START_RETRY_MS = 100;
const REJOIN_MAX_DELAY_MS = 30_000;
const LOG_TRIM_INTERVAL_MS = 10 * 60 * 1000;

/**
 * Opens the database of `dataDir`: creates it, starts its server, or joins the one that runs.
 *
 * @throws ConfigError when the folder, the platform or the user cannot carry it, or when `exclusive`
 *   and another process is the exclusive user; StagingUnavailableError when the server does not
 *   come up; ShutdownError when `signal` ended it.
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
  /** The port the server must be started on; null: whichever is free. */
  readonly fixedPort: number | null;
  readonly signal: AbortSignal | undefined;
}

/**
 * One loop covers every state the server may be found in, since it may change under us at any
 * moment: stopped (start it), starting, recovering or about to stop (wait), ready (join), started by
 * two at once (PostgreSQL's lock file lets one of them live, and both join that one).
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
  // The server is left to itself: stopped in the middle of a long recovery, it would begin the
  // recovery again at the next start, and might never finish.
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
      // The server went away by itself, which leaves nothing to stop.
      logger.debug({ err: error }, 'the embedded database was gone before it was closed');
      return null;
    });
    // Stopped while the lock is still held, so whoever comes now waits rather than joins.
    if (pid !== null) await stopPostmaster(pid, logger);
  } finally {
    await session.end().catch(() => {});
  }
}

/** For one last look at a server that ended our session but may still be running. */
async function joinRunning(cluster: Cluster): Promise<HolderSession | null> {
  const postmaster = await findPostmaster(cluster.clusterDir);
  if (postmaster === null || postmaster.port === null) return null;
  return joinHolders(cluster, postmaster.port).catch(() => null);
}

/**
 * Keeps the stake for as long as the caller keeps the database open. A session that is lost means
 * that the server died, was stopped, or was made to drop us: without it, the next command to leave
 * would stop the server under us, and a server that died stays dead. So it is taken again, on the
 * same port, where the caller's pools find the server again.
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
      logger.warn('the embedded database ended our session: joining it again');
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
