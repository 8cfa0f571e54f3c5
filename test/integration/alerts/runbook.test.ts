import { readFile } from 'node:fs/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMigratedDatabase, type TestDatabase } from '../../support/database.ts';

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createMigratedDatabase();
});
afterAll(() => testDatabase.drop());

test('PostgreSQL runs every statement of the runbook', async () => {
  const document = await readFile('docs/operating.md', 'utf8');
  const statements = [...document.matchAll(/```sql\n(.*?)```/gs)].map(([, sql = '']) => sql);
  expect(statements.length).toBeGreaterThan(0);
  const client = new Client({ connectionString: testDatabase.url });
  await client.connect();
  try {
    for (const statement of statements) {
      expect((await client.query(statement)).command, statement).toBe('SELECT');
    }
  } finally {
    await client.end();
  }
});
