import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readApiKeys } from '../../../src/console/access/api-keys.sql.ts';
import { changeUser, readUsers } from '../../../src/console/access/console-users.sql.ts';
import { runCommand } from '../../support/child-command.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { openPullWorld } from '../../support/pull-world.ts';

const folder = forFile(openFolder);
const world = forFile(openPullWorld);

const run = (...args: string[]) =>
  runCommand(args, {
    DATA_DIR: join(folder.path, 'data'),
    DATABASE_URL: world.databaseUrl,
    CONSOLE_PUBLIC_URL: 'https://conciliation.example.com',
  });

test('a user is added with a link, and gets another one', async () => {
  const added = await run('user', 'add', 'Ana', '--role', 'reviewer');
  expect(added.exit).toBe(0);
  expect(added.stdout).toMatch(/https:\/\/conciliation\.example\.com\/link\/[\w-]{43}\n/);
  expect((await run('user', 'add', 'ana', '--role', 'viewer')).exit).toBe(2);
  expect((await run('user', 'add', 'not a name', '--role', 'viewer')).exit).toBe(2);
  expect((await run('user', 'add', 'bia', '--role', 'king')).exit).toBe(2);
  expect((await run('user', 'add', 'ana')).exit).toBe(0);
  expect((await run('user', 'add', 'nobody')).exit).toBe(2);
  expect(await readUsers(world.database)).toMatchObject([
    { name: 'ana', role: 'reviewer', hasPassword: false, disabledAt: null },
  ]);
  await changeUser(world.database, { name: 'ana', isDisabled: true, by: 'rosa' });
  expect((await run('user', 'add', 'ana')).exit).toBe(2);
});

test('a key is printed once, and kept without its secret', async () => {
  const scopes = ['--scopes', 'read,export'];
  const added = await run('key', 'add', 'ERP import', '--role', 'viewer', ...scopes);
  const key = /conciliation_[\w-]{43}/.exec(added.stdout)?.[0] ?? '';
  expect(key).not.toBe('');
  expect((await run('key', 'add', 'x', '--role', 'admin')).exit).toBe(2);
  expect((await run('key', 'add', 'x', '--role', 'viewer', '--scopes', 'all')).exit).toBe(2);
  const rows = await world.database.prisma.apiKey.findMany();
  expect(rows).toMatchObject([{ name: 'ERP import', scopes: ['read', 'export'] }]);
  expect(rows.map((row) => Object.values(row).join())).not.toContainEqual(
    expect.stringContaining(key),
  );
  const second = JSON.parse(
    (await run('key', 'add', 'second', '--role', 'viewer', '--json')).stdout,
  );
  expect(await readApiKeys(world.database)).toContainEqual(
    expect.objectContaining({ id: second.id, name: 'second', start: second.key.slice(0, 19) }),
  );
});
