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
import {
  type EmbeddedPostgres,
  openEmbeddedPostgres,
} from '../../src/base/embedded/embedded-postgres.ts';
import { withClient } from './client.ts';
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

interface TestServer {
  readonly dataDir: string;
  readonly database: EmbeddedPostgres;
}

let server: TestServer | undefined;
let template: { readonly name: string; readonly serverUrl: string } | undefined;

export async function setup(project: TestProject): Promise<void> {
  const given = process.env['TEST_DATABASE_URL'];
  const isGiven = given !== undefined && given !== '';
  const serverUrl = isGiven ? given : await openServer();
  project.provide('serverUrl', serverUrl);
  project.provide('migratedTemplate', await createTemplate(serverUrl));
}

async function openServer(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'conciliation-test-'));
  const database = await openEmbeddedPostgres({ dataDir, logger });
  server = { dataDir, database };
  process.once('exit', removeAtOnce);
  // No test of this server needs its data after a crash of the machine.
  await withClient(database.url, async (client) => {
    for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit']) {
      await client.query(`ALTER SYSTEM SET ${setting} = off`);
    }
    await client.query('SELECT pg_reload_conf()');
  });
  return database.url;
}

async function createTemplate(serverUrl: string): Promise<TemplateState> {
  const name = `test_template_${randomBytes(8).toString('hex')}`;
  await withClient(serverUrl, (client) =>
    client.query(`CREATE DATABASE ${name} TEMPLATE template0`),
  );
  template = { name, serverUrl };
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await migrate({ databaseUrl: url.href, logger });
  return readTemplateState(url.href);
}

export async function teardown(): Promise<void> {
  const made = template;
  template = undefined;
  if (made !== undefined) {
    await withClient(made.serverUrl, async (client) => {
      const { rows } = await client.query(
        'SELECT datname FROM pg_database WHERE starts_with(datname, $1)',
        [made.name],
      );
      for (const { datname } of rows) await client.query(`DROP DATABASE ${datname} WITH (FORCE)`);
    });
  }
  if (server === undefined) return;
  process.off('exit', removeAtOnce);
  const { dataDir, database } = server;
  server = undefined;
  await database.close();
  await rm(dataDir, { recursive: true, force: true });
}

/** For a run that is interrupted before its teardown: an exit handler cannot wait for anything. */
function removeAtOnce(): void {
  if (server === undefined) return;
  try {
    const lockFile = join(server.dataDir, 'postgres', 'postmaster.pid');
    process.kill(Number(readFileSync(lockFile, 'utf8').split('\n')[0]), 'SIGQUIT');
  } catch {
    // It has stopped already.
  }
  rmSync(server.dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
