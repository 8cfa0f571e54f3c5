import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { SchemaEngine } from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';
import { openSchemaEngine } from './schema-engine.ts';

const SCHEMA_NAME = 'conciliation';
const PRISMA_FOLDER = new URL('../../prisma/', import.meta.url);
const FILTERS = { externalTables: [], externalEnums: [] };

const readDatamodel = () => readFile(new URL('schema.prisma', PRISMA_FOLDER), 'utf8');

/**
 * The changes that would make the database equal schema.prisma, in words; empty when
 * nothing would. Sees tables, columns, keys and indexes; not checks, triggers, views and comments.
 */
export async function describeDrift(databaseUrl: string): Promise<string> {
  const files = [{ path: 'schema.prisma', content: await readDatamodel() }];
  const { exitCode, stdout } = await withSchemaEngine(databaseUrl, (engine) =>
    engine.diff({
      from: { tag: 'schemaDatasource', files, configDir: '.' },
      to: { tag: 'schemaDatamodel', files },
      script: false,
      exitCode: true,
      filters: FILTERS,
    }),
  );
  return exitCode === 0 ? '' : (stdout ?? 'the database and schema.prisma differ');
}

/** The request of `prisma migrate status` to the engine about the history of the database. */
export async function diagnoseHistory(databaseUrl: string) {
  const folder = new URL('migrations/', PRISMA_FOLDER);
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const migrationDirectories = await Promise.all(
    names.sort().map(async (name) => ({
      path: name,
      migrationFile: {
        path: 'migration.sql',
        content: {
          tag: 'ok' as const,
          value: await readFile(new URL(`${name}/migration.sql`, folder), 'utf8'),
        },
      },
    })),
  );
  return withSchemaEngine(databaseUrl, (engine) =>
    engine.diagnoseMigrationHistory({
      migrationsList: {
        baseDir: fileURLToPath(folder),
        lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
        shadowDbInitScript: '',
        migrationDirectories,
      },
      optInToShadowDatabase: false,
      filters: FILTERS,
    }),
  );
}

async function withSchemaEngine<T>(
  databaseUrl: string,
  work: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    options: `-c search_path=${SCHEMA_NAME} -c TimeZone=UTC`,
  });
  await client.connect();
  try {
    const engine = await openSchemaEngine({
      client,
      datamodel: await readDatamodel(),
      schemaName: SCHEMA_NAME,
    });
    try {
      return await work(engine);
    } finally {
      engine.free();
    }
  } finally {
    await client.end();
  }
}
