import { Client } from 'pg';
import { pino } from 'pino';
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
export const worldOfEachTest = (options?: PullWorldOptions): PullWorld =>
  forTest(() => openPullWorld(options));

/** A world of the file with the roles of the database, and a login for each. */
export function worldWithUsers(
  options?: PullWorldOptions,
): PullWorld & { readonly users: RoleUsers } {
  const users = {} as RoleUsers;
  // After the database is gone, in which the logins have rights.
  afterAll(() => users.drop());
  const world = worldOfFile(options);
  beforeAll(async () => {
    const { databaseUrl } = world;
    await migrate({ databaseUrl, logger: world.parts.logger, roles: true });
    Object.assign(users, await createRoleUsers(databaseUrl));
  });
  return Object.assign(world, { users });
}

export type FileClient = Pick<Client, 'query'>;

/** A connection of the file, to a database that exists when the tests begin. */
export function clientOfFile(urlOf: () => string): FileClient {
  const file = {} as FileClient;
  let client: Client;
  beforeAll(async () => {
    client = new Client({ connectionString: urlOf() });
    await client.connect();
    file.query = client.query.bind(client) as Client['query'];
  });
  afterAll(() => client.end());
  return file;
}

/** The world of all tests of a file. Its platform is another one after each `begin`. */
export function pushWorldOfFile(options: PushWorldOptions = {}): PushWorld {
  const world = {} as PushWorld;
  beforeAll(async () => {
    const opened = await openPushWorld(options);
    Object.defineProperties(world, Object.getOwnPropertyDescriptors(opened));
  });
  afterAll(() => world.close());
  return world;
}

/** A consumer of bookings in SQL: a user with the role of the ERP, connected for all tests of a file. */
export interface ErpUser {
  users: RoleUsers;
  client: Client;
}

export function erpOfFile(world: PullWorld, name = 'erp', buyers: readonly string[] = []): ErpUser {
  const erp = {} as ErpUser;
  beforeAll(async () => {
    const { database, databaseUrl } = world;
    await migrate({ databaseUrl, logger: pino({ level: 'silent' }), roles: true });
    erp.users = await createRoleUsers(databaseUrl);
    erp.client = new Client({ connectionString: erp.users.urlOf('erp') });
    await erp.client.connect();
    const databaseRole = erp.users.nameOf('erp');
    await setConsumer(database, { name, databaseRole, apiKeyId: null, buyers }, 'test');
  });
  afterAll(async () => {
    await erp.client.end();
    await erp.users.drop();
  });
  return erp;
}
