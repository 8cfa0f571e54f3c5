import { Client } from 'pg';
import { ConfigError } from '../runtime/errors.ts';
import type { Cluster } from './cluster.ts';

/**
 * A process's stake in the shared server: one idle session that holds advisory locks. Session
 * locks end with the process however it ends, so nothing needs cleaning up after a crash.
 */
export interface HolderSession {
  readonly port: number;
  /** Settles when the session has ended, whoever ended it. */
  readonly ended: Promise<void>;
  isOpen(): boolean;
  /** @throws ConfigError when another process is the exclusive user of the data folder. */
  becomeExclusive(): Promise<void>;
  createDatabase(name: string): Promise<void>;
  /**
   * Gives the stake up. Answers the server's pid when nobody else has one: then the server is the
   * caller's to stop, and whoever comes now waits and finds it gone. Null: others go on using it.
   */
  leave(): Promise<number | null>;
  end(): Promise<void>;
}

/**
 * Advisory locks belong to a database; these live in `postgres`, apart from the product's own,
 * which are taken in `conciliation`.
 */
const LOCK_DATABASE = 'postgres';
const LOCK_CLASS = 0x636f6e63;
const PRESENCE = 1;
const EXCLUSIVE_USE = 2;

const APPLICATION_NAME = /^conciliation (\d+)$/;

/**
 * Joins the holders of the server on `port`. While another process is about to stop the server,
 * this waits, and fails with whatever the end of the server makes it fail with.
 *
 * @throws ConfigError when the server refuses the password; else the driver's error.
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
  // A session that is ended from outside emits both; `ended` alone is acted upon.
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
      // From template0, which has no sessions: they would make the copy fail.
      await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)} TEMPLATE template0`);
    } catch (error) {
      // Another process was faster; which of the two it is depends on by how much.
      if (!['42P04', '23505'].includes(String((error as { code?: unknown }).code))) throw error;
    }
  }

  async function leave(): Promise<number | null> {
    // Own share first: two that leave at once and kept theirs would each see the other's and both
    // leave the server running. Without, at least the later of them gets the lock.
    await client.query('SELECT pg_advisory_unlock_shared($1, $2)', [LOCK_CLASS, PRESENCE]);
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1, $2) AS taken', [
      LOCK_CLASS,
      PRESENCE,
    ]);
    if (!rows[0].taken) return null;
    // Asked of the server itself, so the pid is that of the server whose lock we hold.
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
