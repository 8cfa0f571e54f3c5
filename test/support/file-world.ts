import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { migrate } from '../../src/base/database/migrate.ts';
import { createRoleUsers, type RoleUsers } from './database-roles.ts';
import { type GatedPlatform, openGatedPlatform } from './gated-platform.ts';
import { openPullWorld, type PullWorld } from './pull-world.ts';

type Options = Parameters<typeof openPullWorld>[0];

/** The world of the tests of a file. It is opened before the first and closed after the last. */
export function worldOfFile(options?: Options): PullWorld {
  const world = {} as PullWorld;
  beforeAll(async () => void Object.assign(world, await openPullWorld(options)));
  afterAll(() => world.close());
  return world;
}

/** The same, with a new world for each test. */
export function worldOfEachTest(options?: Options): PullWorld {
  const world = {} as PullWorld;
  beforeEach(async () => void Object.assign(world, await openPullWorld(options)));
  afterEach(() => world.close());
  return world;
}

/** A world of the file with the roles of the database, and a login for each. */
export function worldWithUsers(options?: Options): PullWorld & { readonly users: RoleUsers } {
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

export function gateOfFile(): GatedPlatform {
  const gate = {} as GatedPlatform;
  beforeAll(async () => void Object.assign(gate, await openGatedPlatform()));
  afterAll(() => gate.close());
  return gate;
}
