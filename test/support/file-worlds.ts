import { Client } from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll } from 'vitest';
import { migrate } from '../../src/base/database/migrate.ts';
import { setConsumer } from '../../src/features/bookings/consumers.ts';
import { createRoleUsers, type RoleUsers } from './database-roles.ts';
import { openPullWorld, type PullWorld, type PullWorldOptions } from './pull-world.ts';
import { openPushWorld, type PushWorld, type PushWorldOptions } from './push-world.ts';

/** The world of all tests of a file. */
export function pullWorldOfFile(options: PullWorldOptions = {}): PullWorld {
  const world = {} as PullWorld;
  beforeAll(async () => void Object.assign(world, await openPullWorld(options)));
  afterAll(() => world.close());
  return world;
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
