import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { migrate } from '../../../src/base/database/migrate.ts';
import { ConfigError, StagingUnavailableError } from '../../../src/base/runtime/errors.ts';
import { withClient } from '../../support/client.ts';
import {
  createMigratedDatabase,
  createTestDatabase,
  type TestDatabase,
} from '../../support/database.ts';
import { logger } from '../../support/logger.ts';

const TYPES: Readonly<Record<string, string>> = {
  String: 'text',
  Int: 'integer',
  BigInt: 'bigint',
  Boolean: 'boolean',
  Decimal: 'numeric',
  Json: 'jsonb',
  Bytes: 'bytea',
  '@db.Date': 'date',
  '@db.SmallInt': 'smallint',
  '@db.Timestamptz': 'timestamp with time zone',
  '@db.Uuid': 'uuid',
};

/** The columns of schema.prisma as `table.column type`, with a question mark where it may be null, which lists do not state. */
function declaredColumns(): string[] {
  const models = readFileSync('prisma/schema.prisma', 'utf8').matchAll(
    /^model \w+ \{\n([\s\S]*?)^\}/gm,
  );
  return [...models].flatMap(([, body = '']) => {
    const table = /@@map\("(\w+)"\)/.exec(body)?.[1] ?? '';
    return [...body.matchAll(/^ +(\w+) +(\w+)(\??)((?:\[\])?)(.*)$/gm)].flatMap(
      ([, field, scalar = '', optional, list, attributes = '']) => {
        const native = /@db\.\w+/.exec(attributes)?.[0] ?? '';
        const type = TYPES[native] ?? TYPES[scalar];
        const column = /@map\("(\w+)"\)/.exec(attributes)?.[1] ?? field;
        // A field of another model's type is a relation and no column.
        return type === undefined ? [] : [`${table}.${column} ${type}${list}${optional}`];
      },
    );
  });
}

const COLUMNS = `
  SELECT format('%s.%s %s%s', relname, attname,
                regexp_replace(format_type(atttypid, atttypmod), '\\(.*\\)', ''),
                CASE WHEN NOT attnotnull AND attndims = 0 THEN '?' END) AS column
  FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
  WHERE relnamespace = 'conciliation'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
    AND relname <> '_prisma_migrations'`;

/** The columns that only the database or only schema.prisma has. */
async function describeDrift(databaseUrl: string): Promise<string[]> {
  const { rows } = await withClient(databaseUrl, (client) =>
    client.query<{ column: string }>(COLUMNS),
  );
  const [stored, declared] = [rows.map(({ column }) => column), declaredColumns()];
  return [
    ...stored.filter((column) => !declared.includes(column)),
    ...declared.filter((column) => !stored.includes(column)),
  ].sort();
}

const INIT = '20261127000000_init';
/** Every migration of this version, in the order in which they are applied. */
const ALL = readdirSync('prisma/migrations', { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)
  .sort();

let database: TestDatabase;
let client: Client;

function databaseOfEachTest(create: () => Promise<TestDatabase>): void {
  beforeEach(async () => {
    database = await create();
    client = new Client({ connectionString: database.url });
    await client.connect();
  });
  afterEach(async () => {
    await client.end();
    await database.close();
  });
}

const run = () => migrate({ databaseUrl: database.url, logger });

async function tableNames(): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(`
    SELECT relname AS name FROM pg_class
    WHERE relnamespace = to_regnamespace('conciliation') AND relkind = 'r' ORDER BY relname`);
  return rows.map((row) => row.name);
}

describe('applying migrations', () => {
  databaseOfEachTest(createTestDatabase);

  test('an empty database gets all of them, a migrated one none', async () => {
    const check = () => migrate({ databaseUrl: database.url, logger, onlyCheck: true });
    await expect(check()).rejects.toThrow(`lacks ${ALL.length} migration(s)`);
    expect(await tableNames()).toEqual([]);
    expect(await run()).toMatchObject({ applied: ALL });
    expect(await check()).toMatchObject({ applied: [], newer: [] });
    expect(await run()).toMatchObject({ applied: [] });
  });

  test('of two at once one applies them and the other finds nothing to do', async () => {
    const both = await Promise.all([run(), run()]);
    expect(both.map(({ applied }) => applied).sort()).toEqual([[], ALL]);
    expect(await describeDrift(database.url)).toEqual([]);
  });

  test('a lock that another session keeps ends the wait', async () => {
    const short = () => migrate({ databaseUrl: database.url, logger, lockTimeoutMs: 200 });
    await client.query('SELECT pg_advisory_lock(72707369)');
    const failure = await short().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StagingUnavailableError);
    expect(String(failure)).toContain(
      'another session has kept a lock for too long; end that session',
    );
    expect(await tableNames()).toEqual([]);
    await client.query('SELECT pg_advisory_unlock(72707369)');
    expect(await short()).toMatchObject({ applied: ALL });

    // The lock of a table, for the roles.
    await client.query('BEGIN; LOCK TABLE conciliation._prisma_migrations');
    await expect(
      migrate({ databaseUrl: database.url, logger, roles: true, lockTimeoutMs: 200 }),
    ).rejects.toThrow('another session has kept a lock for too long');
    await client.query('ROLLBACK');
  });

  test('does not mind another program’s tables and migrations beside it', async () => {
    await client.query('CREATE TABLE public.invoice (id int)');
    await client.query('CREATE TABLE public._prisma_migrations (id int)');
    expect(await run()).toMatchObject({ applied: ALL });
    expect(await describeDrift(database.url)).toEqual([]);
    // The comparison finds a difference.
    await client.query('ALTER TABLE conciliation.day ALTER COLUMN title_count TYPE bigint');
    expect(await describeDrift(database.url)).toEqual([
      'day.title_count bigint',
      'day.title_count integer',
    ]);
  });

  test('a user who owns the schema needs no right to create schemas', async () => {
    const role = `limited_${randomBytes(6).toString('hex')}`;
    await client.query(`CREATE ROLE ${role}`);
    try {
      // The roles belong to the server, and only a superuser can create them.
      const other = await createMigratedDatabase();
      await migrate({ databaseUrl: other.url, logger, roles: true });
      await other.close();
      const limited = `${database.url}?options=${encodeURIComponent(`-c role=${role}`)}`;
      const migrating = () => migrate({ databaseUrl: limited, logger });
      await expect(migrating()).rejects.toThrow(/may not create the schema conciliation/);
      await client.query(`CREATE SCHEMA conciliation AUTHORIZATION ${role}`);
      expect(await migrating()).toMatchObject({ applied: ALL });
      // Only a superuser can revoke the right to advisory locks. The owner keeps the right.
      const withRoles = (databaseUrl: string) => migrate({ databaseUrl, logger, roles: true });
      expect(await withRoles(limited)).toMatchObject({ advisoryLocksArePublic: true });
      expect(await withRoles(database.url)).toMatchObject({ advisoryLocksArePublic: false });
      expect(await withRoles(limited)).toMatchObject({ advisoryLocksArePublic: false });
      await client.query(`SET ROLE ${role}; SELECT pg_advisory_xact_lock(1); RESET ROLE`);
    } finally {
      await client.query(`DROP OWNED BY ${role} CASCADE`);
      await client.query(`DROP ROLE ${role}`);
    }
  });
});

describe('obstacles to a migration', () => {
  databaseOfEachTest(createTestDatabase);

  test('a migration that fails leaves nothing behind and can be run again', async () => {
    await client.query('CREATE SCHEMA conciliation');
    await client.query(`
      CREATE FUNCTION conciliation.refuse_rewriting() RETURNS int LANGUAGE sql AS 'SELECT 1'`);
    const failure = await run().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConfigError);
    expect(failure).toHaveProperty(
      'message',
      expect.stringContaining(`migration ${INIT} failed (SQLSTATE 42723)`),
    );
    expect(await tableNames()).toEqual([]);

    await client.query('DROP FUNCTION conciliation.refuse_rewriting()');
    expect(await run()).toMatchObject({ applied: ALL });
  });

  test('an unreachable server is a temporary error, a missing database is a configuration error', async () => {
    const away = migrate({ databaseUrl: 'postgresql://a:b@127.0.0.1:1/c', logger });
    await expect(away).rejects.toBeInstanceOf(StagingUnavailableError);
    const missing = new URL(database.url);
    missing.pathname = '/no_such_database';
    await expect(migrate({ databaseUrl: missing.href, logger })).rejects.toThrow(
      /no such database/,
    );
  });
});

describe('a migrated database', () => {
  databaseOfEachTest(createMigratedDatabase);

  test('needs no lock that a reader can hold, not even for the roles', async () => {
    await client.query('SELECT pg_advisory_lock(72707369)');
    expect(await migrate({ databaseUrl: database.url, logger, lockTimeoutMs: 1 })).toMatchObject({
      applied: [],
    });
    const roles = () => migrate({ databaseUrl: database.url, logger, roles: true });
    expect(await Promise.all([roles(), roles(), roles()])).toEqual(
      Array(3).fill({ applied: [], newer: [], advisoryLocksArePublic: false }),
    );
  });

  test('a migration edited after it was applied is refused', async () => {
    await client.query(`UPDATE conciliation._prisma_migrations SET checksum = repeat('0', 64)`);
    await expect(run()).rejects.toThrow(`migration ${INIT} was edited after it was applied`);
    await expect(run()).rejects.toBeInstanceOf(ConfigError);
  });

  test('a migration of a newer version is no reason to stop', async () => {
    await client.query(`
      INSERT INTO conciliation._prisma_migrations (id, checksum, migration_name, finished_at)
      VALUES ('newer', 'x', '29990101000000_newer', now())`);
    expect(await run()).toMatchObject({ applied: [], newer: ['29990101000000_newer'] });
  });

  test('a login without a role is told which one it lacks', async () => {
    const role = `stranger_${randomBytes(6).toString('hex')}`;
    await client.query(`CREATE ROLE ${role}`);
    const url = `${database.url}?options=${encodeURIComponent(`-c role=${role}`)}`;
    for (const onlyCheck of [true, false]) {
      await expect(migrate({ databaseUrl: url, logger, onlyCheck })).rejects.toThrow(
        /: GRANT conciliation_worker TO that user/,
      );
    }
    await client.query(`DROP ROLE ${role}`);
  });
});
