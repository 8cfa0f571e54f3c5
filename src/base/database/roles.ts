import { readFile } from 'node:fs/promises';
import type pg from 'pg';

/** The same relative path from src/database and from dist/database. */
const ROLES_FILE = new URL('../../../prisma/roles.sql', import.meta.url);
const ADVISORY_LOCKS_FILE = new URL('../../../prisma/advisory-locks.sql', import.meta.url);

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
export async function grantRoles(client: pg.Client): Promise<{ advisoryLocksArePublic: boolean }> {
  await client.query(await readFile(ROLES_FILE, 'utf8'));
  const { rows } = await client.query<{ mayRevoke: boolean; isPublic: boolean }>(
    `SELECT current_setting('is_superuser') = 'on' AS "mayRevoke",
            has_function_privilege('public', 'pg_advisory_lock(bigint)', 'EXECUTE') AS "isPublic"`,
  );
  if (rows[0]?.mayRevoke !== true) return { advisoryLocksArePublic: rows[0]?.isPublic !== false };
  await client.query(await readFile(ADVISORY_LOCKS_FILE, 'utf8'));
  return { advisoryLocksArePublic: false };
}

/** Whether the roles have rights on this database's schema. Roles belong to the whole server. */
export async function hasRolesInUse(client: pg.Client, schemaName: string): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT FROM pg_roles
     WHERE rolname = $1 AND has_schema_privilege(pg_roles.oid, to_regnamespace($2), 'USAGE')
       AND NOT rolsuper`,
    [DATABASE_ROLES.worker, schemaName],
  );
  return rows.length > 0;
}
