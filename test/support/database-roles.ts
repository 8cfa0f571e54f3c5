import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { DATABASE_ROLES } from '../../src/base/database/migrate.ts';
import { withClient } from './client.ts';

export type RoleName = keyof typeof DATABASE_ROLES;

/** A user for each role, with names that are unique on the server. */
export interface RoleUsers {
  /** The database's address for the user who has that role. */
  urlOf(role: RoleName): string;
  nameOf(role: RoleName): string;
  /** Once nothing of theirs is in use any more. */
  close(): Promise<void>;
}

/** Roles are the server's, so that they have to be there: see grantRoles. */
export async function createRoleUsers(databaseUrl: string): Promise<RoleUsers> {
  const suffix = randomBytes(6).toString('hex');
  const nameOf = (role: RoleName) => `test_${role}_${suffix}`;
  const roles = Object.keys(DATABASE_ROLES) as RoleName[];
  await onServer(
    roles.map(
      (role) => `CREATE ROLE ${nameOf(role)} LOGIN PASSWORD 'test' IN ROLE ${DATABASE_ROLES[role]}`,
    ),
  );
  return {
    nameOf,
    urlOf(role) {
      const url = new URL(databaseUrl);
      url.username = nameOf(role);
      url.password = 'test';
      return url.href;
    },
    close: () => onServer(roles.map((role) => `DROP ROLE ${nameOf(role)}`)),
  };
}

const onServer = (statements: readonly string[]) =>
  withClient(inject('serverUrl'), async (client) => {
    for (const statement of statements) await client.query(statement);
  });
