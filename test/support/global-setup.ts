/**
 * One PostgreSQL for the whole integration project: the server of TEST_DATABASE_URL, or an embedded
 * one in a temporary folder. Test files take databases of their own from it, see database.ts.
 */
import { readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { TestProject } from 'vitest/node';
import {
  type EmbeddedPostgres,
  openEmbeddedPostgres,
} from '../../src/embedded/embedded-postgres.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A database on the tests' server whose user may create databases. */
    serverUrl: string;
  }
}

interface TestServer {
  readonly dataDir: string;
  readonly database: EmbeddedPostgres;
}

let server: TestServer | undefined;

export async function setup(project: TestProject): Promise<void> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given !== undefined && given !== '') {
    project.provide('serverUrl', given);
    return;
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'conciliation-test-'));
  const database = await openEmbeddedPostgres({ dataDir, logger: pino({ level: 'silent' }) });
  server = { dataDir, database };
  process.once('exit', removeAtOnce);
  project.provide('serverUrl', database.url);
}

export async function teardown(): Promise<void> {
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
