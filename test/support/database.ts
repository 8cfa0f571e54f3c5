import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { inject } from 'vitest';

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * A new, empty database on the tests' server, for one test file. `drop` also ends the sessions that
 * are still in it.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  // From template0, because files that start together would find each other in template1.
  await runOnServer(`CREATE DATABASE ${name} TEMPLATE template0`);
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

/** Runs `work` on a connection of its own. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
