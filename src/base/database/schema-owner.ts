import { InputError } from '../runtime/errors.ts';
import type { Database } from './database.ts';

/**
 * For commands that delete or rewrite rows that the service may only insert.
 * @param command its name, for the message
 * @throws InputError when the database's user does not own the tables
 */
export async function requireSchemaOwner(database: Database, command: string): Promise<void> {
  const [row] = await database.prisma.$queryRaw<[{ isOwner: boolean }]>`
    SELECT pg_has_role(relowner, 'USAGE') AS "isOwner"
    FROM pg_class WHERE oid = 'conciliation.title_revision'::regclass`;
  if (row.isOwner) return;
  throw new InputError(
    `only the owner of the schema may run "${command}": set DATABASE_URL as for "conciliation migrate --roles"`,
  );
}
