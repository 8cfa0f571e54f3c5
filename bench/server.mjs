// The benchmark's own PostgreSQL, the embedded one as the product runs it: databases made from
// templates, and what a stretch of work costs the server.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { migrate } from '#dist/database/migrate.js';
import { openEmbeddedPostgres } from '#dist/embedded/embedded-postgres.js';
import { createLogger } from '#dist/runtime/logger.js';
import { CREATE_LIMIT_TABLE } from './limit.mjs';
import { treeCpuSeconds } from './process-cpu.mjs';

/** Sessions end within milliseconds; one that does not is a mistake of the benchmark. */
const LEAVE_LIMIT_MS = 30_000;

/** The template of every database: migrated, and the limit's table beside the product's. */
export const MIGRATED = 'bench_migrated';

const logger = createLogger({ logLevel: 'error' });

/** @typedef {Awaited<ReturnType<typeof startServer>>} Server */

/** @param {string} dataDir */
export async function startServer(dataDir) {
  const embedded = await openEmbeddedPostgres({ dataDir, logger });
  const admin = new pg.Client({ connectionString: embedded.url });
  await admin.connect();
  const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);

  const server = {
    /** @param {string} database */
    urlOf(database) {
      const url = new URL(embedded.url);
      url.pathname = `/${database}`;
      return url.href;
    },

    /** CPU time of all of the server's processes so far. */
    cpuSeconds: () => treeCpuSeconds(pid),

    async version() {
      return (await admin.query('SHOW server_version')).rows[0].server_version;
    },

    /**
     * An exact copy of the template.
     *
     * @param {string} name
     * @param {string} [template] without connections
     */
    async createDatabase(name, template = MIGRATED) {
      await server.dropDatabase(name);
      await waitUntilLeft(template);
      await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
      return server.urlOf(name);
    },

    /** @param {string} name */
    async dropDatabase(name) {
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },

    /**
     * Runs `work` on a connection to the database, once all other sessions have ended.
     *
     * @template T
     * @param {string} name
     * @param {(client: pg.Client) => Promise<T>} work
     */
    async inDatabase(name, work) {
      await waitUntilLeft(name);
      const client = new pg.Client({ connectionString: server.urlOf(name) });
      await client.connect();
      try {
        return await work(client);
      } finally {
        await client.end();
      }
    },

    /** Everything that earlier work left to be written is written, lest the next one pay for it. */
    async settle() {
      await admin.query('CHECKPOINT');
    },

    /** @returns what the server has used so far; differences of two of these mean something */
    async readUsage() {
      const { rows } = await admin.query(
        `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS bytes`,
      );
      return { walBytes: rows[0].bytes, cpuSeconds: treeCpuSeconds(pid) };
    },

    async close() {
      await admin.end().catch(() => {});
      await embedded.close();
    },
  };

  /**
   * A session that has ended for its client may still be reporting its statistics.
   *
   * @param {string} database
   */
  async function waitUntilLeft(database) {
    for (const deadline = Date.now() + LEAVE_LIMIT_MS; Date.now() < deadline; await sleep(5)) {
      const { rows } = await admin.query(
        `SELECT FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'`,
        [database],
      );
      if (rows.length === 0) return;
    }
    throw new Error(`somebody stays connected to ${database}`);
  }

  try {
    await admin.query(`CREATE DATABASE ${MIGRATED}`);
    await migrate({ databaseUrl: server.urlOf(MIGRATED), logger });
    await server.inDatabase(MIGRATED, (client) => client.query(CREATE_LIMIT_TABLE));
  } catch (error) {
    await server.close();
    throw error;
  }
  return server;
}
