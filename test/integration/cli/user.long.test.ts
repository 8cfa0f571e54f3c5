import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../../support/child-command.ts';
import { openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { setFactor } from '../../support/second-factor.ts';

let folder: string;
let world: PullWorld;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'conciliation-user-'));
  world = await openPullWorld();
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

const run = (...args: string[]) =>
  runCommand(args, {
    DATA_DIR: join(folder, 'data'),
    DATABASE_URL: world.databaseUrl,
    CONSOLE_PUBLIC_URL: 'https://conciliation.example.com',
  });

test('a user is added with a link, listed, given a role, disabled and enabled', async () => {
  expect((await run('user', 'list')).stdout).toContain('no users yet');
  const added = await run('user', 'add', 'Ana', '--role', 'reviewer');
  expect(added.exit).toBe(0);
  expect(added.stdout).toMatch(/https:\/\/conciliation\.example\.com\/link\/[\w-]{43}\n/);
  expect((await run('user', 'add', 'ana', '--role', 'viewer')).exit).toBe(2);
  expect((await run('user', 'add', 'not a name', '--role', 'viewer')).exit).toBe(2);
  expect((await run('user', 'add', 'bia', '--role', 'king')).exit).toBe(2);
  expect((await run('user', 'role', 'ana', 'king')).exit).toBe(2);
  expect((await run('user', 'role', 'ana', 'operator')).exit).toBe(0);
  expect((await run('user', 'disable', 'ana')).exit).toBe(0);
  expect((await run('user', 'link', 'ana')).exit).toBe(2);
  expect((await run('user', 'enable', 'ana')).exit).toBe(0);
  expect((await run('user', 'link', 'ana')).exit).toBe(0);
  expect((await run('user', 'link', 'nobody')).exit).toBe(2);
  const listed = await run('user', 'list', '--json');
  expect(JSON.parse(listed.stdout).users).toMatchObject([
    { name: 'ana', role: 'operator', hasPassword: false, disabledAt: null },
  ]);
});

test('a second factor is shown, and reset', async () => {
  expect((await run('user', 'add', 'nara', '--role', 'viewer')).exit).toBe(0);
  await setFactor(world.database, 'nara');
  const listed = JSON.parse((await run('user', 'list', '--json')).stdout);
  expect(listed.users).toContainEqual(
    expect.objectContaining({ name: 'nara', hasSecondFactor: true }),
  );
  expect(JSON.stringify(listed)).not.toContain('secret');
  expect((await run('user', 'list')).stdout).toMatch(/^nara .* set /m);
  expect((await run('user', 'reset-second-factor', 'nara')).exit).toBe(0);
  expect((await run('user', 'list')).stdout).toMatch(/^nara .* – /m);
  const again = await run('user', 'reset-second-factor', 'nara');
  expect([again.exit, again.stderr.includes('that user has no second factor')]).toEqual([2, true]);
  const [entry] = await world.database.prisma.auditEntry.findMany({
    where: { action: 'user.second_factor' },
  });
  expect(entry).toMatchObject({
    actor: expect.stringMatching(/^command line: /),
    details: { user: 'nara', secondFactor: 'reset' },
  });
});

test('an e-mail address is set, changed and removed', async () => {
  const added = await run('user', 'add', 'davi', '--role', 'viewer', '--email', 'Davi@Example.com');
  expect(added.exit).toBe(0);
  expect((await run('user', 'list')).stdout).toContain('davi@example.com');
  expect((await run('user', 'email', 'davi', 'no address')).exit).toBe(2);
  expect((await run('user', 'email', 'ana', 'davi@example.com')).exit).toBe(2);
  expect((await run('user', 'email', 'davi')).exit).toBe(0);
  expect((await run('user', 'list')).stdout).not.toContain('davi@example.com');
});

test('the last administrator is neither disabled nor given another role', async () => {
  expect((await run('user', 'add', 'root', '--role', 'admin')).exit).toBe(0);
  for (const command of [
    ['disable', 'root'],
    ['role', 'root', 'operator'],
  ]) {
    const refused = await run('user', ...command);
    expect(refused.exit).toBe(2);
    expect(refused.stderr).toContain('the last administrator');
  }
  expect((await run('user', 'add', 'rosa', '--role', 'admin')).exit).toBe(0);
  expect((await run('user', 'disable', 'root')).exit).toBe(0);
});

test('a key is printed once, listed without it, and revoked', async () => {
  const added = await run(
    'key',
    'add',
    'ERP import',
    '--role',
    'viewer',
    '--scopes',
    'read,export',
  );
  const key = /conciliation_[\w-]{43}/.exec(added.stdout)?.[0] ?? '';
  expect(key).not.toBe('');
  expect((await run('key', 'add', 'x', '--role', 'admin')).exit).toBe(2);
  expect((await run('key', 'add', 'x', '--role', 'viewer', '--scopes', 'all')).exit).toBe(2);
  const listed = await run('key', 'list');
  expect(listed.stdout).toContain('ERP import');
  expect(listed.stdout).not.toContain(key);
  expect((await run('key', 'revoke', '1')).exit).toBe(0);
  expect((await run('key', 'revoke', '1')).exit).toBe(2);
  expect((await run('key', 'list')).stdout).toContain('revoked');
});

test('a key with an owner ends with the owner, and one without an owner does not', async () => {
  expect((await run('user', 'add', 'leo', '--role', 'viewer')).exit).toBe(0);
  const add = (name: string, role: string, ...more: string[]) =>
    run('key', 'add', name, '--role', role, ...more);
  const unknown = await add('x', 'viewer', '--user', 'nobody');
  expect([unknown.exit, unknown.stderr]).toEqual([2, expect.stringContaining('no user nobody')]);
  const above = await add('x', 'operator', '--user', 'leo');
  expect([above.exit, above.stderr]).toEqual([2, expect.stringContaining('a viewer cannot have')]);
  expect((await add('his', 'viewer', '--user', 'Leo')).exit).toBe(0);
  expect((await add('unowned', 'viewer')).exit).toBe(0);
  expect((await run('user', 'disable', 'leo')).exit).toBe(0);
  expect((await add('late', 'viewer', '--user', 'leo')).exit).toBe(2);
  const { keys } = JSON.parse((await run('key', 'list', '--json')).stdout);
  const found = keys.filter(({ name }: { name: string }) => ['his', 'unowned'].includes(name));
  expect(found).toMatchObject([
    { name: 'his', user: 'leo', revokedAt: expect.any(String) },
    { name: 'unowned', user: null, revokedAt: null },
  ]);
});
