import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { ConfigError } from '../runtime/errors.ts';
import { reachFaultPoint } from '../runtime/fault-points.ts';
import type { Logger } from '../runtime/logger.ts';
import { checkSession, withSessionSettings } from './database.ts';
import {
  databaseErrorCode,
  describeDatabaseError,
  isUnavailable,
  isUntrusted,
  toStagingError,
} from './database-error.ts';

/** The same relative path from src/base/database and from dist/base/database. */
const PRISMA_FOLDER = new URL('../../../prisma/', import.meta.url);

/** The roles that prisma/roles.sql creates, and their users. */
export const DATABASE_ROLES = {
  worker: 'conciliation_worker',
  finance: 'conciliation_finance',
  erp: 'conciliation_erp',
} as const;

/**
 * Creates the missing roles and gives each role exactly its rights. A superuser also takes the right to advisory
 * locks from all other logins.
 * @returns whether every login may still take advisory locks
 */
async function grantRoles(client: pg.Client): Promise<boolean> {
  await client.query(await readFile(new URL('roles.sql', PRISMA_FOLDER), 'utf8'));
  const { rows } = await client.query<{ mayRevoke: boolean; isPublic: boolean }>(
    `SELECT current_setting('is_superuser') = 'on' AS "mayRevoke",
            has_function_privilege('public', 'pg_advisory_lock(bigint)', 'EXECUTE') AS "isPublic"`,
  );
  if (rows[0]?.mayRevoke !== true) return rows[0]?.isPublic !== false;
  await client.query(await readFile(new URL('advisory-locks.sql', PRISMA_FOLDER), 'utf8'));
  return false;
}

/** Whether the roles have rights on this database's schema. Roles belong to the whole server. */
async function hasRolesInUse(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT FROM pg_roles
     WHERE rolname = $1 AND has_schema_privilege(pg_roles.oid, to_regnamespace($2), 'USAGE')
       AND NOT rolsuper`,
    [DATABASE_ROLES.worker, SCHEMA_NAME],
  );
  return rows.length > 0;
}

/** The schema of all tables of the product, and of `_prisma_migrations` with their history. */
const SCHEMA_NAME = 'conciliation';

/** The lock key of Prisma's own command line, so that the two wait for each other. */
const MIGRATION_LOCK = 72_707_369;

const OLDEST_SERVER_VERSION = 150_000;

const CONNECTION_TIMEOUT_MS = 10_000;

/** The longest wait for a lock, so that another session cannot keep a process from starting without a word. */
const LOCK_TIMEOUT_MS = 60_000;

interface Migration {
  readonly name: string;
  readonly script: string;
}

interface Migrated {
  readonly applied: string[];
  /** The migrations of the database that only a newer version of the program has. */
  readonly newer: string[];
  /** The rights were set, and a superuser has to run prisma/advisory-locks.sql. */
  readonly advisoryLocksArePublic: boolean;
}

/**
 * Applies the missing migrations in one transaction together with their records, so a crash leaves all of them or none.
 * A migration must not contain a statement that PostgreSQL refuses in a transaction, such as CREATE INDEX CONCURRENTLY.
 * Of several processes the first one migrates, and the others wait. Where nothing is missing, the call takes no lock
 * that a reader of the database can hold.
 * @throws ConfigError when a migration fails, is missing with `onlyCheck`, or was edited after it was applied; when the
 * server is too old or refuses the user or the database; when every login may create objects in `public`
 * @throws StagingUnavailableError when the database is not available, or another session keeps a lock; nothing was
 * changed
 */
export async function migrate(options: {
  readonly databaseUrl: string;
  readonly logger: Logger;
  /** Whether to refuse a database that lacks a migration, in place of applying it. */
  readonly onlyCheck?: boolean;
  /** Whether to create the roles of prisma/roles.sql. If false, only the rights of roles in use are updated. */
  readonly roles?: boolean;
  /** The longest wait for one lock; default: a minute. */
  readonly lockTimeoutMs?: number;
}): Promise<Migrated> {
  const migrations = await readMigrations();
  const { logger, lockTimeoutMs = LOCK_TIMEOUT_MS } = options;
  return withConnection(options.databaseUrl, async (client) => {
    await client.query('BEGIN');
    await client.query(`SELECT set_config('lock_timeout', $1, true)`, [String(lockTimeoutMs)]);
    await refuseServer(client);
    let { pending, newer } = await compareHistory(client, migrations);
    // Every login can take this lock. So a process takes it for a migration only, not at each start.
    if (pending.length > 0) {
      if (options.onlyCheck === true) {
        throw new ConfigError([
          `DATABASE_URL: the database lacks ${pending.length} migration(s); run "conciliation migrate" first`,
        ]);
      }
      await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
      ({ pending, newer } = await compareHistory(client, migrations));
    }
    if (pending.length > 0) await applyPending(client, pending);
    const applied = pending.map(({ name }) => name);
    const roles = options.roles === true || (applied.length > 0 && (await hasRolesInUse(client)));
    let advisoryLocksArePublic = false;
    if (roles) {
      // Of two processes that set the same rights at once, one fails. Readers cannot take this lock.
      await client.query(
        `LOCK TABLE ${SCHEMA_NAME}._prisma_migrations IN SHARE ROW EXCLUSIVE MODE`,
      );
      advisoryLocksArePublic = await grantRoles(client);
    }
    await refuseSharedSchema(client);
    await client.query('COMMIT');
    if (applied.length > 0) logger.info({ applied }, 'database migrated');
    return { applied, newer, advisoryLocksArePublic };
  });
}

/** Runs the scripts and records them as Prisma's command line does, so that `prisma migrate status` agrees. */
async function applyPending(client: pg.Client, pending: readonly Migration[]): Promise<void> {
  // CREATE SCHEMA IF NOT EXISTS needs the right to create a schema even when the schema exists.
  const { rowCount } = await client.query('SELECT FROM pg_namespace WHERE nspname = $1', [
    SCHEMA_NAME,
  ]);
  if (rowCount === 0) await client.query(`CREATE SCHEMA ${SCHEMA_NAME}`);
  await client.query(CREATE_HISTORY);
  for (const { name, script } of pending) {
    // Without parameters PostgreSQL accepts a script of many statements.
    await client.query(script).catch((error: unknown) => {
      throw migrationFailure(name, error);
    });
    reachFaultPoint('migration');
    await client.query(
      `INSERT INTO ${SCHEMA_NAME}._prisma_migrations
         (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, clock_timestamp(), clock_timestamp(), 1)`,
      [randomUUID(), checksumOf(script), name],
    );
  }
}

/** The table in which Prisma's command line, version 7, keeps the history of migrations. */
const CREATE_HISTORY = `
  CREATE TABLE IF NOT EXISTS ${SCHEMA_NAME}._prisma_migrations (
    id                  varchar(36)  PRIMARY KEY NOT NULL,
    checksum            varchar(64)  NOT NULL,
    finished_at         timestamptz,
    migration_name      varchar(255) NOT NULL,
    logs                text,
    rolled_back_at      timestamptz,
    started_at          timestamptz  NOT NULL DEFAULT now(),
    applied_steps_count integer      NOT NULL DEFAULT 0
  )`;

function migrationFailure(name: string, error: unknown): unknown {
  if (isUnavailable(error) || refusalOf(error) !== null) return error;
  return new ConfigError([
    `migration ${name} failed (${describeDatabaseError(error)}); the database is as it was before. ` +
      'Remove the cause from the database, or return to the previous version',
  ]);
}

async function refuseServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: number; name: string; encoding: string }>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS name,
            current_setting('server_encoding') AS encoding`,
  );
  const problems = rows.flatMap(({ version, name, encoding }) => {
    if (version < OLDEST_SERVER_VERSION) {
      return `DATABASE_URL leads to PostgreSQL ${name}; it takes 15 or newer`;
    }
    return encoding === 'UTF8'
      ? []
      : `DATABASE_URL: the database has the encoding ${encoding}; expected UTF8, so make the database with ENCODING 'UTF8' TEMPLATE template0`;
  });
  if (problems.length > 0) throw new ConfigError(problems);
}

/** A database that PostgreSQL 14 or older has made lets every login place functions where other logins look for PostgreSQL's own. */
async function refuseSharedSchema(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query(
    `SELECT FROM pg_namespace, aclexplode(nspacl)
     WHERE nspname = 'public' AND grantee = 0 AND privilege_type = 'CREATE'`,
  );
  if (rowCount === 0) return;
  throw new ConfigError([
    'DATABASE_URL: every login may create objects in the schema "public" of the database; as a superuser, run this there: REVOKE CREATE ON SCHEMA public FROM PUBLIC',
  ]);
}

/** An older version of the program may work with the tables of a newer one. */
async function compareHistory(
  client: pg.Client,
  migrations: readonly Migration[],
): Promise<{ pending: Migration[]; newer: string[] }> {
  const applied = new Map(
    (await readHistory(client)).map(({ name, checksum }) => [name, checksum]),
  );
  const pending = migrations.filter(({ name }) => !applied.has(name));
  const problems = migrations.flatMap(({ name, script }) =>
    (applied.get(name) ?? checksumOf(script)) === checksumOf(script)
      ? []
      : `migration ${name} was edited after it was applied to this database: restore its file and put the change into a new migration`,
  );
  if (problems.length > 0) throw new ConfigError(problems);
  for (const { name } of migrations) applied.delete(name);
  return { pending, newer: [...applied.keys()] };
}

/** Returns the applied migrations, by `_prisma_migrations`. */
async function readHistory(client: pg.Client): Promise<{ name: string; checksum: string }[]> {
  // Not to_regclass: its cache may lack a table that another session has committed while this one waited for a lock.
  const { rowCount } = await client.query(
    `SELECT FROM pg_class JOIN pg_namespace AS schema ON schema.oid = relnamespace
     WHERE nspname = $1 AND relname = '_prisma_migrations'`,
    [SCHEMA_NAME],
  );
  if (rowCount === 0) return [];
  const history = await client
    .query(
      `SELECT migration_name AS name, checksum FROM ${SCHEMA_NAME}._prisma_migrations
       WHERE rolled_back_at IS NULL AND finished_at IS NOT NULL ORDER BY started_at`,
    )
    .catch((error: unknown) => {
      if (databaseErrorCode(error) !== '42501') throw error;
      throw new ConfigError([
        `DATABASE_URL: its user may not read ${SCHEMA_NAME}._prisma_migrations, as members of ${DATABASE_ROLES.worker} may: GRANT ${DATABASE_ROLES.worker} TO that user`,
      ]);
    });
  return history.rows;
}

const checksumOf = (script: string) => createHash('sha256').update(script, 'utf8').digest('hex');

async function readMigrations(): Promise<Migration[]> {
  const folder = new URL('migrations/', PRISMA_FOLDER);
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const read = async (name: string) => readFile(new URL(`${name}/migration.sql`, folder), 'utf8');
  return Promise.all(names.sort().map(async (name) => ({ name, script: await read(name) })));
}

async function withConnection<T>(
  databaseUrl: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: withSessionSettings(databaseUrl, {
      applicationName: 'conciliation migrate',
      statementTimeoutMs: 0,
    }),
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
  });
  // The running statement reports the same cause. An `error` event without a listener would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    await checkSession(client);
    return await work(client);
  } catch (error) {
    const refusal = refusalOf(error);
    throw refusal === null ? toStagingError(error) : new ConfigError([refusal]);
  } finally {
    // The end of the session rolls back an open transaction.
    await client.end().catch(() => {});
  }
}

/** Describes the refusal of a server that is reachable; null: no refusal. Only a person can resolve one. */
function refusalOf(error: unknown): string | null {
  if (isUntrusted(error)) {
    return `DATABASE_URL: its server cannot be trusted (${describeDatabaseError(error)}); sslrootcert names the authority that vouches for it, and the host has to be the one in its certificate`;
  }
  switch (databaseErrorCode(error)) {
    case '28000':
    case '28P01':
      return 'DATABASE_URL: the server refuses its user or password';
    case '3D000':
      return 'DATABASE_URL: the server has no such database';
    case '42501':
      return `DATABASE_URL: its user may not create the schema ${SCHEMA_NAME}, tables in it, or, without CREATEROLE, roles; run "conciliation migrate" as a user that may`;
    case '08P01':
      return 'DATABASE_URL: a connection pooler in between refuses the settings of the session; connect to PostgreSQL itself';
    default:
      return null;
  }
}
