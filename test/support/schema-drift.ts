import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { openSchemaEngine } from '../../src/database/schema-engine.ts';

const SCHEMA_NAME = 'conciliation';

/**
 * What would have to change for the database to be as schema.prisma says, in words; empty when
 * nothing would. Sees tables, columns, keys and indexes; not checks, triggers, views and comments.
 */
export async function describeDrift(databaseUrl: string): Promise<string> {
  const schemaFile = new URL('../../prisma/schema.prisma', import.meta.url);
  const datamodel = await readFile(schemaFile, 'utf8');
  const files = [{ path: 'schema.prisma', content: datamodel }];
  const client = new pg.Client({
    connectionString: databaseUrl,
    options: `-c search_path=${SCHEMA_NAME} -c TimeZone=UTC`,
  });
  await client.connect();
  try {
    const engine = await openSchemaEngine({
      client,
      datamodel,
      schemaName: SCHEMA_NAME,
      onFailure: () => {},
    });
    try {
      const { exitCode, stdout } = await engine.diff({
        from: { tag: 'schemaDatasource', files, configDir: '.' },
        to: { tag: 'schemaDatamodel', files },
        script: false,
        exitCode: true,
        filters: { externalTables: [], externalEnums: [] },
      });
      return exitCode === 0 ? '' : (stdout ?? 'the database and schema.prisma differ');
    } finally {
      engine.free();
    }
  } finally {
    await client.end();
  }
}
