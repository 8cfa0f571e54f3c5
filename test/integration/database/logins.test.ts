/** What logins may not do: run code with the rights of another login, take all connections, reach other databases. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { migrate } from '../../../src/base/database/migrate.ts';
import { readPendingProviders } from '../../../src/features/providers/provider-batches.sql.ts';
import { withClient } from '../../support/client.ts';
import { createTestDatabase, openAnother, type TestDatabase } from '../../support/database.ts';
import { createRoleUsers, type RoleUsers } from '../../support/database-roles.ts';
import { logger } from '../../support/logger.ts';

let database: TestDatabase;
let users: RoleUsers;
beforeAll(async () => {
  database = await createTestDatabase();
  await migrate({ databaseUrl: database.url, logger, roles: true });
  users = await createRoleUsers(database.url);
});
beforeEach(() =>
  run(
    database.url,
    // As in a database that PostgreSQL 14 or older has made.
    'DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT CREATE, USAGE ON SCHEMA public TO PUBLIC',
    'CREATE TABLE public.victim (name text); GRANT INSERT ON public.victim TO PUBLIC',
  ),
);
afterAll(async () => {
  await database.close();
  await users.close();
});

async function run(url: string, ...statements: string[]): Promise<void> {
  await withClient(url, async (client) => {
    for (const statement of statements) await client.query(statement);
  });
}

/** Functions with a closer match for a call than those of PostgreSQL. They note whose rights they have. */
async function plant(...signatures: string[]): Promise<void> {
  await run(
    users.urlOf('erp'),
    ...signatures.map((signature) => {
      const result = signature.startsWith('format') ? 'text' : 'jsonb';
      return `CREATE FUNCTION public.${signature} RETURNS ${result} LANGUAGE plpgsql AS $$
        BEGIN
          INSERT INTO public.victim VALUES (current_user);
          RETURN CASE '${result}' WHEN 'text' THEN 'SELECT 1' ELSE '{}' END;
        END $$`;
    }),
  );
}

async function victims(): Promise<unknown[]> {
  return withClient(database.url, async (client) => {
    const { rows } = await client.query('SELECT DISTINCT name FROM public.victim');
    return rows.map(({ name }) => name);
  });
}

test.each(['prisma/advisory-locks.sql', 'prisma/roles.sql'])(
  'a superuser who runs %s runs no function of another login',
  async (file) => {
    await plant('format(text, regprocedure)', 'format(text, text)', 'format(text, name)');
    await run(database.url, readFileSync(file, 'utf8'));
    expect(await victims()).toEqual([]);
    await run(database.url, `SELECT format('%s', 'lo_creat(integer)'::regprocedure)`);
    expect(await victims()).toHaveLength(1);
  },
);

test('a statement of the service runs no function of another login', async () => {
  const pairs = ['text', 'text', 'text', 'text', 'boolean', 'jsonb', 'jsonb', 'jsonb'];
  await plant(`jsonb_build_object(${pairs.map((type) => `text, ${type}`).join(', ')})`);
  await run(
    users.urlOf('erp'),
    `INSERT INTO conciliation.provider (external_id, name) VALUES ('F1', 'one')`,
  );
  const service = openAnother(users.urlOf('worker'));
  expect(await readPendingProviders(service, null, 1)).toMatchObject([{ externalId: 'F1' }]);
  expect(await victims()).toEqual([]);
  await run(
    users.urlOf('worker'),
    `SELECT jsonb_build_object('a', name, 'b', name, 'c', name, 'd', name, 'e', can_anticipate, 'f', phones,
                               'g', phones, 'h', phones) FROM conciliation.provider`,
  );
  expect(await victims()).toEqual([users.nameOf('worker')]);
});

const MAY_CREATE = /REVOKE CREATE ON SCHEMA public FROM PUBLIC/;

test('the roles take the right to create objects in public from every login', async () => {
  const start = () => migrate({ databaseUrl: database.url, logger });
  await expect(start()).rejects.toThrow(MAY_CREATE);
  await migrate({ databaseUrl: database.url, logger, roles: true });
  expect(await start()).toMatchObject({ applied: [] });
  await expect(plant('format(text, text)')).rejects.toMatchObject({ code: '42501' });
});

test('an owner who cannot take the right is told the statement for a superuser', async () => {
  const owner = users.nameOf('finance');
  await run(
    database.url,
    'ALTER SCHEMA public OWNER TO CURRENT_USER',
    `ALTER DATABASE ${new URL(database.url).pathname.slice(1)} OWNER TO ${owner}`,
    `ALTER SCHEMA conciliation OWNER TO ${owner}`,
    `GRANT ALL ON ALL TABLES IN SCHEMA conciliation TO ${owner}`,
  );
  await run(
    database.url,
    `DO $$ DECLARE one record; BEGIN
    FOR one IN SELECT relname, relkind FROM pg_class WHERE relnamespace = 'conciliation'::regnamespace
        AND relkind IN ('r', 'v') LOOP
      EXECUTE format('ALTER %s conciliation.%I OWNER TO ${owner}',
                     CASE one.relkind WHEN 'r' THEN 'TABLE' ELSE 'VIEW' END, one.relname);
    END LOOP;
    FOR one IN SELECT oid::regprocedure AS name FROM pg_proc
        WHERE pronamespace = 'conciliation'::regnamespace LOOP
      EXECUTE format('ALTER FUNCTION %s OWNER TO ${owner}', one.name);
    END LOOP; END $$`,
  );
  const asOwner = { databaseUrl: users.urlOf('finance'), logger, roles: true };
  await expect(migrate(asOwner)).rejects.toThrow(MAY_CREATE);
  await run(database.url, 'REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  expect(await migrate(asOwner)).toMatchObject({ applied: [] });
});

// test/container runs the whole file in the image of PostgreSQL.
const COMPOSE_LOGINS = readFileSync('compose/logins.sql', 'utf8');

test('the file of the compose logins pins the path before its first call', () => {
  const statements = COMPOSE_LOGINS.replaceAll(/^(--.*|\\set.*)\n/gm, '').trim();
  expect(statements).toMatch(/^SET search_path = pg_catalog, pg_temp;/);
});

/** The statements of the file, without the commands of psql, for the database `postgres`. */
const STATEMENTS = COMPOSE_LOGINS.replaceAll(/^\\set.*$/gm, '')
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
