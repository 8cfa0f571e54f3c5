import { Client } from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { migrate } from '../../src/base/database/migrate.ts';
import { setConsumer } from '../../src/features/bookings/consumers.ts';
import { createRoleUsers, type RoleUsers } from './database-roles.ts';
import { forFile, forTest } from './for-tests.ts';
import { openPullWorld, type PullWorld, type PullWorldOptions } from './pull-world.ts';
import { openPushWorld, type PushWorld, type PushWorldOptions } from './push-world.ts';

/** The world of the tests of a file. */
export const worldOfFile = (options?: PullWorldOptions): PullWorld =>
  forFile(() => openPullWorld(options));

/** The same, with a new world for each test. */
export const worldOfEachTest = (): PullWorld => forTest(() => openPullWorld());

/** A world of the file with the roles of the database, and a login for each. */
export function worldWithUsers(): PullWorld & { readonly users: RoleUsers } {
  const users = {} as RoleUsers;
  // After the database is gone, in which the logins have rights.
  afterAll(() => users.drop());
  const world = worldOfFile();
  beforeAll(async () => {
    const { databaseUrl } = world;
    await migrate({ databaseUrl, logger: world.parts.logger, roles: true });
    Object.assign(users, await createRoleUsers(databaseUrl));
  });
  return Object.assign(world, { users });
}

export type FileClient = Pick<Client, 'query'>;

/** A connection of the file, to a database that exists when the tests begin. */
export const clientOfFile = (urlOf: () => string): FileClient =>
  forFile(async () => {
    const client = new Client({ connectionString: urlOf() });
    await client.connect();
    return { query: client.query.bind(client) as Client['query'], close: () => client.end() };
  });

/** The world of all tests of a file. */
export const pushWorldOfFile = (options?: PushWorldOptions): PushWorld =>
  forFile(() => openPushWorld(options));

/** A consumer of bookings in SQL: a user with the role of the ERP, connected for all tests of a file. */
export const erpOfFile = (world: PullWorld, name = 'erp', buyers: readonly string[] = []) =>
  forFile(async () => {
    const { database, databaseUrl } = world;
    await migrate({ databaseUrl, logger: world.parts.logger, roles: true });
    const users = await createRoleUsers(databaseUrl);
    const client = new Client({ connectionString: users.urlOf('erp') });
    await client.connect();
    const databaseRole = users.nameOf('erp');
    await setConsumer(database, { name, databaseRole, apiKeyId: null, buyers }, 'test');
    return {
      users,
      client,
      async close() {
        await client.end();
        await users.drop();
      },
    };
  });

export type ErpUser = ReturnType<typeof erpOfFile>;
