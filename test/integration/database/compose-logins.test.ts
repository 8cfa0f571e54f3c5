/** The logins of docker-compose.yml. test/container runs the whole file in the image of PostgreSQL. */
import { readFileSync } from 'node:fs';
import { expect, inject, test } from 'vitest';
import { withClient } from '../../support/client.ts';

/** The statements of the file, without the commands of psql, for the database `postgres`. */
const STATEMENTS = readFileSync('compose/logins.sql', 'utf8')
  .replaceAll(/^\\set.*$/gm, '')
  .replaceAll(/:'\w+_password'/g, `'test'`)
  .replace('ALTER DATABASE conciliation OWNER', 'ALTER DATABASE postgres OWNER');

/** Roles belong to the server, so the transaction is rolled back. */
async function afterLogins(query: string): Promise<Record<string, unknown>[]> {
  return withClient(inject('serverUrl'), async (client) => {
    await client.query('BEGIN');
    const [roles = '', rest = ''] = STATEMENTS.split('\\gexec');
    const made = [await client.query(roles)].flat().at(-1);
    for (const { format } of made?.rows ?? []) await client.query(format);
    await client.query(rest);
    const { rows } = await client.query(query);
    await client.query('ROLLBACK');
    return rows;
  });
}

test('analysts and the ERP leave connections to the service', async () => {
  const rows = await afterLogins(
    `SELECT rolname, rolconnlimit FROM pg_roles
     WHERE rolname IN ('migrator', 'worker', 'finance', 'erp') ORDER BY 1`,
  );
  expect(rows).toEqual([
    { rolname: 'erp', rolconnlimit: 20 },
    { rolname: 'finance', rolconnlimit: 20 },
    { rolname: 'migrator', rolconnlimit: -1 },
    { rolname: 'worker', rolconnlimit: -1 },
  ]);
});

test('the logins reach no other database of the server', async () => {
  const rows = await afterLogins(
    `SELECT rolname, datname FROM pg_roles, pg_database
     WHERE rolname IN ('worker', 'finance', 'erp') AND datname IN ('postgres', 'template1')
       AND has_database_privilege(rolname, datname, 'CONNECT, TEMPORARY')`,
  );
  expect(rows).toEqual([]);
});
