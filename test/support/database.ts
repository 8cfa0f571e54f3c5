import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { inject, onTestFinished } from 'vitest';
import { type Database, openDatabase } from '../../src/base/database/database.ts';
import { queryOnce, withClient } from './client.ts';
import { logger } from './logger.ts';

export interface TestDatabase {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * A new, empty database on the tests' server, for one test file. `close` removes it
 * and ends the sessions that are still in it.
 */
export function createTestDatabase(): Promise<TestDatabase> {
  // Not from template1: a session that copies it would refuse the copies of test files that start together.
  return copyDatabase('template0');
}

/** What an emptied database has to have in common with the template. */
export interface TemplateState {
  readonly name: string;
  readonly bytes: number;
  readonly schema: string;
  readonly rows: Readonly<Record<string, readonly unknown[]>>;
  /** Statements that set them. */
  readonly sequences: readonly string[];
}

/** A database with the schema of the product and the rows of a new one, as global-setup migrated it. */
export interface MigratedDatabase extends TestDatabase {
  /** A pool that is closed with it. */
  readonly database: Database;
}

/**
 * Emptied databases of this process. To empty a database takes a tenth of the time of a copy, and sessions that have
 * read its catalog plan a statement in a fraction of the time of new ones.
 */
const emptied: MigratedDatabase[] = [];

export async function createMigratedDatabase(): Promise<MigratedDatabase> {
  const free = emptied.pop();
  if (free !== undefined) return free;
  const template = inject('migratedTemplate');
  const { url, close } = await copyDatabase(template.name);
  const database = openDatabase({
    databaseUrl: url,
    applicationName: 'test',
    // As patient as the service's: a busy machine may take its time over 100,000 revisions.
    statementTimeoutMs: 900_000,
    logger,
  });
  const migrated: MigratedDatabase = {
    url,
    database,
    async close() {
      if (await empty(database, template)) emptied.push(migrated);
      else await database.close().then(close);
    },
  };
  return migrated;
}

/** Another pool on a database, as another process has it, until the end of the test. */
export function openAnother(
  databaseUrl: string,
  options: Partial<Parameters<typeof openDatabase>[0]> = {},
): Database {
  const database = openDatabase({ databaseUrl, applicationName: 'test', logger, ...options });
  onTestFinished(() => database.close());
  return database;
}

async function copyDatabase(template: string): Promise<TestDatabase> {
  // Global-setup drops what has this beginning.
  const name = `${inject('migratedTemplate').name}_${randomBytes(8).toString('hex')}`;
  const serverUrl = inject('serverUrl');
  await queryOnce(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    close: async () =>
      void (await queryOnce(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
  };
}

const MAX_GROWTH_BYTES = 16 * 2 ** 20;

/** Definitions, rights and settings. Their statistics, sizes and files are no part of a schema. */
const SCHEMA = `
  SELECT md5(string_agg(entry, ',' ORDER BY entry)) AS schema FROM (
    SELECT row('n', nspname, nspowner, nspacl)::text AS entry FROM pg_namespace WHERE nspname !~ 'temp_'
    UNION ALL SELECT row('c', oid, relname, relnamespace, relkind, relowner, relacl, reloptions,
        relpersistence, relrowsecurity)::text
      FROM pg_class WHERE oid >= 16384
    UNION ALL SELECT row('a', attrelid, attname, xmin)::text FROM pg_attribute WHERE attrelid >= 16384
    UNION ALL SELECT row('d', oid, xmin)::text FROM pg_attrdef WHERE oid >= 16384
    UNION ALL SELECT row('k', oid, xmin)::text FROM pg_constraint WHERE oid >= 16384
    UNION ALL SELECT row('t', oid, xmin)::text FROM pg_trigger WHERE oid >= 16384
    UNION ALL SELECT row('p', oid, xmin)::text FROM pg_proc WHERE oid >= 16384
    UNION ALL SELECT row('y', oid, xmin)::text FROM pg_type WHERE oid >= 16384
    UNION ALL SELECT row('w', oid, xmin)::text FROM pg_rewrite WHERE oid >= 16384
    UNION ALL SELECT row('l', oid, xmin)::text FROM pg_policy WHERE oid >= 16384
    UNION ALL SELECT row('f', oid, xmin)::text FROM pg_default_acl WHERE oid >= 16384
    UNION ALL SELECT row('x', oid, xmin)::text FROM pg_extension WHERE oid >= 16384
    UNION ALL SELECT row('e', oid, xmin)::text FROM pg_event_trigger WHERE oid >= 16384
    UNION ALL SELECT row('s', s.*)::text FROM pg_db_role_setting s JOIN pg_database d ON d.oid = setdatabase
      WHERE datname = current_database()
    UNION ALL SELECT row('b', datdba, datallowconn, datconnlimit, datacl)::text
      FROM pg_database WHERE datname = current_database()) AS entries`;

const TABLES = `
  SELECT oid::regclass::text AS name FROM pg_class
  WHERE relkind = 'r' AND relnamespace::regnamespace::text ~ '^conciliation' AND pg_relation_size(oid) > 0`;

export async function readTemplateState(url: string): Promise<TemplateState> {
  return withClient(url, async (client) => {
    // The names of tables are read with their schemas, as in the program's sessions.
    await client.query("SET search_path = ''");
    const { rows } = await client.query(`
      SELECT current_database() AS name, pg_database_size(current_database())::float AS bytes, (${SCHEMA})`);
    const tables = await client.query(TABLES);
    const full: Record<string, unknown[]> = {};
    for (const { name } of tables.rows) {
      const content = await client.query(`SELECT to_jsonb(t) AS row FROM ${name} t`);
      if (content.rows.length > 0) full[name] = content.rows.map(({ row }) => row);
    }
    const sequences = await client.query(`
      SELECT format('SELECT setval(%L, %s, %L)', format('%I.%I', schemaname, sequencename),
                    coalesce(last_value, start_value), last_value IS NOT NULL) AS statement
      FROM pg_sequences`);
    const statements = sequences.rows.map(({ statement }) => statement);
    return { ...rows[0], rows: full, sequences: statements };
  });
}

/** Makes a database as new. Returns false if it cannot be: the schema was changed, or the files are large. */
async function empty({ pool }: Database, template: TemplateState): Promise<boolean> {
  if (pool.ended) return false;
  while (pool.idleCount < pool.totalCount) await sleep(1);
  const clients = await Promise.all(
    Array.from({ length: Math.max(1, pool.totalCount) }, () => pool.connect()),
  );
  try {
    return await emptyBy(clients, template);
  } finally {
    for (const client of clients) client.release();
  }
}

/** All other sessions are ended. */
async function emptyBy(clients: readonly PoolClient[], template: TemplateState): Promise<boolean> {
  const pids = await Promise.all(
    clients.map(async (client) => {
      await client.query('DISCARD ALL');
      return (await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;
    }),
  );
  const [client] = clients;
  if (client === undefined) return false;
  // A session that is ended may still commit.
  await client.query(
    `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
     WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> ALL($1)`,
    [pids],
  );
  const { rows } = await client.query(`
    SELECT pg_database_size(current_database())::float AS bytes, (${SCHEMA})`);
  const [{ bytes, schema }] = rows;
  if (schema !== template.schema || bytes > template.bytes + MAX_GROWTH_BYTES) return false;
  const tables = await client.query(TABLES);
  const statements = [
    // Without triggers and foreign keys, which keep rows from being deleted.
    'SET LOCAL session_replication_role = replica',
    ...tables.rows.map(({ name }) => `DELETE FROM ${name}`),
    ...Object.entries(template.rows).map(
      ([name, content]) =>
        `INSERT INTO ${name} OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_recordset(
           NULL::${name}, ${client.escapeLiteral(JSON.stringify(content))})`,
    ),
    ...template.sequences,
  ];
  await client.query(statements.join(';\n'));
  return true;
}
