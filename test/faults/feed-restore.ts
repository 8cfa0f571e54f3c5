import { pipeline } from 'node:stream/promises';
import type { Client } from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';

const RELATIONS = `
  SELECT quote_ident(nspname) || '.' || quote_ident(relname) AS name
  FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE nspname = 'conciliation' AND relkind = $1 ORDER BY 1`;

/**
 * Brings the schema's contents into a freshly migrated database, as pg_dump and pg_restore do: all tables
 * of one snapshot by COPY without triggers, then last_value and is_called of each sequence.
 */
export async function copySchema(source: Client, target: Client): Promise<void> {
  const namesOf = async (kind: string) =>
    (await source.query<{ name: string }>(RELATIONS, [kind])).rows.map(({ name }) => name);
  await source.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  await target.query('BEGIN');
  await target.query('SET LOCAL session_replication_role = replica');
  const tables = await namesOf('r');
  // The migration has written rows that the source has too.
  await target.query(`TRUNCATE ${tables.join(', ')}`);
  for (const table of tables) {
    await pipeline(
      source.query(copyTo(`COPY ${table} TO STDOUT`)),
      target.query(copyFrom(`COPY ${table} FROM STDIN`)),
    );
  }
  for (const sequence of await namesOf('S')) {
    const { rows } = await source.query(`SELECT last_value, is_called FROM ${sequence}`);
    await target.query('SELECT setval($1::regclass, $2, $3)', [
      sequence,
      rows[0].last_value,
      rows[0].is_called,
    ]);
  }
  await target.query('COMMIT');
  await source.query('COMMIT');
}
