/** A database that a version before the first release made is refused, and stays as it is. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrate, pendingMigrations } from '../../../src/database/migrate.ts';
import { openEmbeddedPostgres } from '../../../src/embedded/embedded-postgres.ts';
import { ConfigError } from '../../../src/runtime/errors.ts';
import { runCommand } from '../../support/child-command.ts';
import { withClient } from '../../support/client.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

const REFUSAL =
  /made by a version before the first release and cannot be upgraded: name an empty database in DATABASE_URL \(embedded database: move the folder DATA_DIR away\), set START_DATE/;

const logger = pino({ level: 'silent' });

/** The record of migrations as Prisma makes it, with the first migration of that time, and a table of it. */
const UNRELEASED_HISTORY = `
  CREATE SCHEMA conciliation;
  CREATE TABLE conciliation.title (id bigserial);
  CREATE TABLE conciliation._prisma_migrations (
    id                  varchar(36)  PRIMARY KEY,
    checksum            varchar(64)  NOT NULL,
    finished_at         timestamptz,
    migration_name      varchar(255) NOT NULL,
    logs                text,
    rolled_back_at      timestamptz,
    started_at          timestamptz  NOT NULL DEFAULT now(),
    applied_steps_count integer      NOT NULL DEFAULT 0
  );
  INSERT INTO conciliation._prisma_migrations
    (id, checksum, migration_name, finished_at, applied_steps_count)
  VALUES ('0f5fd4c4-1a6b-4f5e-9b1f-6d1c3c3f7a10', '8abf5fdc1091f29ac1d9524cdc39b902882d9a8ea7ec1658c2eeafea078fe6ad', '20261121000000_init', now(), 1)`;

const makeUnreleased = (url: string) =>
  withClient(url, (client) => client.query(UNRELEASED_HISTORY));

/** Every relation that PostgreSQL did not bring along. */
async function relationsOf(url: string): Promise<string[]> {
  const { rows } = await withClient(url, (client) =>
    client.query<{ name: string }>(
      `SELECT relnamespace::regnamespace || '.' || relname AS name FROM pg_class
       WHERE relnamespace::regnamespace::text !~ '^(pg_|information_schema)' ORDER BY 1`,
    ),
  );
  return rows.map(({ name }) => name);
}

const UNRELEASED_RELATIONS = [
  'conciliation._prisma_migrations',
  'conciliation._prisma_migrations_pkey',
  'conciliation.title',
  'conciliation.title_id_seq',
];

let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'conciliation-unreleased-'));
  database = await createTestDatabase();
  await makeUnreleased(database.url);
});

afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

test('a migration changes nothing in it', async () => {
  const failure = await migrate({ databaseUrl: database.url, logger, roles: true }).catch(
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(ConfigError);
  expect(failure).toHaveProperty('message', expect.stringMatching(REFUSAL));
  expect(await relationsOf(database.url)).toEqual(UNRELEASED_RELATIONS);
});

test('it does not count as a database that lacks migrations', async () => {
  const failure = await pendingMigrations(database.url).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ConfigError);
  expect(failure).toHaveProperty('message', expect.stringMatching(REFUSAL));
});

describe('is refused by', () => {
  const environment = () => ({
    DATABASE_URL: database.url,
    DATA_DIR: join(folder, 'unused'),
    PLATFORM_BASE_URL: 'http://127.0.0.1:1',
    PLATFORM_TOKEN: 'token',
  });

  test.each([
    'migrate',
    'migrate --roles',
    'start',
    'pull 2026-01-05',
    'backfill --from 2026-01-05 --to 2026-01-06',
    'status',
    'export --from 2026-01-05 --to 2026-01-06 --format csv --out -',
    'providers push',
    'audit verify',
  ])('%s', async (command) => {
    const ran = await runCommand(command.split(' '), environment());
    expect(ran.stderr).toMatch(REFUSAL);
    expect(ran.exit).toBe(2);
    expect(await relationsOf(database.url)).toEqual(UNRELEASED_RELATIONS);
  });
});

test('an embedded database is refused until its folder has been moved', async () => {
  const dataDir = join(folder, 'data');
  const embedded = await openEmbeddedPostgres({ dataDir, logger });
  try {
    await makeUnreleased(embedded.url);
  } finally {
    await embedded.close();
  }
  const refused = await runCommand(['status'], { DATA_DIR: dataDir });
  expect(refused.stderr).toMatch(REFUSAL);
  expect(refused.exit).toBe(2);

  await rm(dataDir, { recursive: true });
  expect(await runCommand(['status'], { DATA_DIR: dataDir })).toMatchObject({
    exit: 0,
    stderr: '',
  });
});
