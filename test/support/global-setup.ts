/**
 * One PostgreSQL for the whole integration project: the server of TEST_DATABASE_URL, or an embedded
 * one in a temporary folder. Each test file takes separate databases from this server, see database.ts.
 * What needs a Redis starts one, see redis.ts, and is skipped and says so where no `redis-server` is on the PATH.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../src/base/database/migrate.ts';
import { openEmbeddedPostgres } from '../../src/base/embedded/embedded-postgres.ts';
import { queryOnce, withClient } from './client.ts';
import { readTemplateState, type TemplateState } from './database.ts';
import { logger } from './logger.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A database on the tests' server whose user may create databases. */
    serverUrl: string;
    /** The database that migrated databases are copied from. */
    migratedTemplate: TemplateState;
  }
}

/** Returns what ends it. */
export async function setup(project: TestProject) {
  const server = process.env['TEST_DATABASE_URL'] ? null : await openServer();
  const serverUrl = server?.url ?? process.env['TEST_DATABASE_URL'] ?? '';
  const template = await createTemplate(serverUrl);
  project.provide('serverUrl', serverUrl);
  project.provide('migratedTemplate', template);
  return async () => {
    await withClient(serverUrl, async (client) => {
      const { rows } = await client.query(
        'SELECT datname FROM pg_database WHERE starts_with(datname, $1)',
        [template.name],
      );
      for (const { datname } of rows) await client.query(`DROP DATABASE ${datname} WITH (FORCE)`);
    });
    await server?.close();
  };
}

async function openServer() {
  const dataDir = await mkdtemp(join(tmpdir(), 'conciliation-test-'));
  const database = await openEmbeddedPostgres({ dataDir, logger });
  const remove = () => removeAtOnce(dataDir);
  process.once('exit', remove);
  // No test of this server needs its data after a crash of the machine.
  await withClient(database.url, async (client) => {
    for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit']) {
      await client.query(`ALTER SYSTEM SET ${setting} = off`);
    }
    await client.query('SELECT pg_reload_conf()');
  });
  return {
    url: database.url,
    async close() {
      process.off('exit', remove);
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function createTemplate(serverUrl: string): Promise<TemplateState> {
  const name = `test_template_${randomBytes(8).toString('hex')}`;
  await queryOnce(serverUrl, `CREATE DATABASE ${name} TEMPLATE template0`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await migrate({ databaseUrl: url.href, logger });
  return readTemplateState(url.href);
}

/** For a run that is interrupted before its teardown: an exit handler cannot wait for anything. */
function removeAtOnce(dataDir: string): void {
  try {
    const lockFile = join(dataDir, 'postgres', 'postmaster.pid');
    process.kill(Number(readFileSync(lockFile, 'utf8').split('\n')[0]), 'SIGQUIT');
  } catch {
    // It has stopped already.
  }
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
