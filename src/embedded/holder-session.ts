import { Client } from 'pg';
import { ConfigError } from '../runtime/errors.ts';
import type { Cluster } from './cluster.ts';

/**
 * The mark of a process that uses the shared server: one idle session with advisory locks. PostgreSQL
 * releases the locks when the process ends in any way, so there is nothing to clean up after a crash.
 */
export interface HolderSession {
  readonly port: number;
  /** Settles when the session has ended for any reason. */
  readonly ended: Promise<void>;
  isOpen(): boolean;
  /** @throws ConfigError when another process is the exclusive user of the data folder */
  becomeExclusive(): Promise<void>;
  createDatabase(name: string): Promise<void>;
  /**
   * Ends the session. Returns the server's pid when no other process uses the server: the caller
   * must then stop it, and new processes wait until it has stopped. Null: other processes use it.
   */
  leave(): Promise<number | null>;
  end(): Promise<void>;
}

/**
 * Advisory locks belong to a database. These are in `postgres`, apart from the locks of the product
 * in `conciliation`.
 */
const LOCK_DATABASE = 'postgres';
const LOCK_CLASS = 0x636f6e63;
const PRESENCE = 1;
const EXCLUSIVE_USE = 2;

const APPLICATION_NAME = /^conciliation (\d+)$/;

/**
 * Registers this process with the server on `port`. While another process is about to stop the
 * server, this call waits and then fails with the error of the lost connection.
 * @throws ConfigError when the server refuses the password
 * @throws the driver's error otherwise
 */
export async function joinHolders(cluster: Cluster, port: number): Promise<HolderSession> {
  const { user, password } = cluster.credentials;
  const client = new Client({
    host: '127.0.0.1',
    port,
    user,
    password,
    database: LOCK_DATABASE,
    ssl: false,
    application_name: `conciliation ${process.pid}`,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  // A session that is ended from outside emits both events. Only `ended` is used.
  client.on('error', () => {});
  let open = true;
  const ended = new Promise<void>((settle) => {
    client.once('end', () => {
      open = false;
      settle();
    });
  });
  try {
    await client.connect();
    await client.query('SELECT pg_advisory_lock_shared($1, $2)', [LOCK_CLASS, PRESENCE]);
  } catch (error) {
    client.end().catch(() => {});
    if ((error as { code?: unknown }).code === '28P01') {
      throw new ConfigError([
        `DATA_DIR (${cluster.dataDir}): the embedded database refuses the password in postgres.json: restore that file from a backup`,
      ]);
    }
    throw error;
  }

  async function becomeExclusive(): Promise<void> {
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1, $2) AS taken', [
      LOCK_CLASS,
      EXCLUSIVE_USE,
    ]);
    if (rows[0].taken) return;
    const holder = await findExclusivePid();
    throw new ConfigError([
      `DATA_DIR (${cluster.dataDir}) is in use by another running service${holder === null ? '' : ` (pid ${holder})`}: stop that one, or give this one a DATA_DIR of its own`,
    ]);
  }

  async function findExclusivePid(): Promise<number | null> {
    const { rows } = await client.query(
      `SELECT activity.application_name AS name
         FROM pg_locks AS lock JOIN pg_stat_activity AS activity USING (pid)
        WHERE lock.locktype = 'advisory' AND lock.granted
          AND lock.database = (SELECT oid FROM pg_database WHERE datname = current_database())
          AND lock.classid = $1::bigint::oid AND lock.objid = $2::bigint::oid AND lock.objsubid = 2`,
      [LOCK_CLASS, EXCLUSIVE_USE],
    );
    const match = APPLICATION_NAME.exec(rows[0]?.name ?? '');
    return match === null ? null : Number(match[1]);
  }

  async function createDatabase(name: string): Promise<void> {
    const found = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    if (found.rowCount !== 0) return;
    try {
      // From template0, which has no sessions: sessions would make the copy fail.
      await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)} TEMPLATE template0`);
    } catch (error) {
      // Another process was faster. Depending on the timing, the error is either of the two.
      if (!['42P04', '23505'].includes(String((error as { code?: unknown }).code))) throw error;
    }
  }

  async function leave(): Promise<number | null> {
    // This process's share is released first. If two processes leave at the same time and kept their
    // shares, each would see the other one, and both would leave the server running. Without its
    // share, at least the later one gets the lock.
    await client.query('SELECT pg_advisory_unlock_shared($1, $2)', [LOCK_CLASS, PRESENCE]);
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1, $2) AS taken', [
      LOCK_CLASS,
      PRESENCE,
    ]);
    if (!rows[0].taken) return null;
    // Read from the server itself, so that the pid belongs to the server that holds the lock.
    const pid = await client.query(
      "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::integer AS pid",
    );
    return pid.rows[0].pid;
  }

  return {
    port,
    ended,
    isOpen: () => open,
    becomeExclusive,
    createDatabase,
    leave,
    end: () => client.end(),
  };
}
