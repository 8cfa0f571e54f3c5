import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { withClient } from './client.ts';

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * A new, empty database on the tests' server, for one test file. `drop` also ends the sessions that
 * are still in it.
 */
export function createTestDatabase(): Promise<TestDatabase> {
  // Not from template1: a session that copies it would refuse the copies of test files that start together.
  return copyDatabase('template0');
}

/** A new database with the schema of the product and no row, a copy of the one that global-setup migrated. */
export function createMigratedDatabase(): Promise<TestDatabase> {
  return copyDatabase(inject('migratedTemplate'));
}

async function copyDatabase(template: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await runOnServer(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = new URL(inject('serverUrl'));
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: () => runOnServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

async function runOnServer(statement: string): Promise<void> {
  await withClient(inject('serverUrl'), (client) => client.query(statement));
}
