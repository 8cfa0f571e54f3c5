/** The benchmark's own PostgreSQL, the embedded one as the product runs it: databases made from templates. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from '#dist/base/database/migrate.js';
import { openEmbeddedPostgres } from '#dist/base/embedded/embedded-postgres.js';
import { createLogger } from '#dist/base/runtime/logger.js';
import { killChildren } from './child.ts';

/** The template of every database, migrated. */
const MIGRATED = 'bench_migrated';

export const logger = createLogger({ logLevel: 'error' });

export type Server = Awaited<ReturnType<typeof startServer>>;

/** Runs `work` with a server and a folder that exist only meanwhile. A failure ends the process with status 1. */
export async function withServer(
  work: (server: Server, directory: string) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'conciliation-bench-'));
  // Under root the server runs as another user, who has to reach its folder.
  await chmod(directory, 0o755);
  let server: Server | undefined;
  try {
    server = await startServer(join(directory, 'data'));
    await Promise.race([work(server, directory), interruption()]);
  } catch (error) {
    process.stderr.write(`${(error instanceof Error && error.stack) || error}\n`);
    process.exitCode = 1;
  } finally {
    killChildren();
    await server?.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Rejects when the process is told to end. */
function interruption(): Promise<never> {
  return new Promise((_resolve, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM']) {
      process.once(signal, () => reject(new Error(`interrupted by ${signal}`)));
    }
  });
}

async function startServer(dataDir: string) {
  const embedded = await openEmbeddedPostgres({ dataDir, logger });
  const admin = new pg.Client({ connectionString: embedded.url });
  await admin.connect();

  const server = {
    urlOf(database: string): string {
      const url = new URL(embedded.url);
      url.pathname = `/${database}`;
      return url.href;
    },

    /** An exact copy of the template. PostgreSQL waits until the last session there has ended. Returns its URL. */
    async createDatabase(name: string, template = MIGRATED): Promise<string> {
      await server.dropDatabase(name);
      await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
      return server.urlOf(name);
    },

    async dropDatabase(name: string): Promise<void> {
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },

    /** Runs `work` on a connection to the database. */
    async inDatabase<T>(name: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
      const client = new pg.Client({ connectionString: server.urlOf(name) });
      await client.connect();
      try {
        return await work(client);
      } finally {
        await client.end();
      }
    },

    async close(): Promise<void> {
      await admin.end().catch(() => {});
      await embedded.close();
    },
  };

  try {
    await admin.query(`CREATE DATABASE ${MIGRATED}`);
    await migrate({ databaseUrl: server.urlOf(MIGRATED), logger });
  } catch (error) {
    await server.close();
    throw error;
  }
  return server;
}
