/** Users and their keys, and the limits of sign-ins: their numbers, and that the tries of all processes count together. */
import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../../src/base/database/database.ts';
import { KEY_ROLES, PROGRAM_AUTHORS } from '../../../src/base/values/role.ts';
import { createApiKey } from '../../../src/console/access/api-keys.sql.ts';
import {
  addUser,
  changeUser,
  findLoginUser,
} from '../../../src/console/access/console-users.sql.ts';
import { countTry, forgetTries, PER_USER } from '../../../src/console/access/sign-in-check.sql.ts';
import {
  type ConsoleAnswer,
  type ConsoleClient,
  openConsole,
} from '../../support/console-client.ts';
import { openAnother } from '../../support/database.ts';
import { forFile } from '../../support/for-tests.ts';
import { lastAudit } from '../../support/pages-world.ts';
import { worldOfFile } from '../../support/pull-world.ts';
import { PASSWORD } from '../../support/second-factor.ts';

const world = worldOfFile();
const console = forFile(() => openConsole(world.database));
let admin: ConsoleClient;
beforeEach(async () => {
  await world.prisma.signInLimit.deleteMany();
  await world.prisma.consoleUser.updateMany({ data: { role: 'viewer' } });
  await addUser(world.database, { name: 'alma', role: 'admin', by: 'test' }).catch(() =>
    changeUser(world.database, { name: 'alma', role: 'admin', isDisabled: false, by: 'test' }),
  );
  admin = await console.as('admin', 'alma');
});

const keyIn = ({ text }: ConsoleAnswer) => /conciliation_[\w-]{43}/.exec(text)?.[0] ?? '';
const linkIn = ({ text }: ConsoleAnswer) => />(\/link\/[\w-]{43})</.exec(text)?.[1] ?? '';

test('a user is added, chooses a password by the link, and is signed in', async () => {
  const added = await admin.post('/users', { name: 'Bia', role: 'operator' });
  expect(added.status).toBe(201);
  const bia = console.visitor();
  const chosen = await bia.post(linkIn(added), { password: PASSWORD, again: PASSWORD });
  expect(chosen.status).toBe(303);
  expect((await bia.get('/backfills')).text).toContain('bia');
  expect((await admin.get('/users')).text).not.toContain('/link/');
  expect(await lastAudit(world, { action: 'user.add' })).toMatchObject({
    actor: 'alma',
    details: { user: 'bia', role: 'operator' },
  });
});

test('a link never has the host that the request names', async () => {
  const hostile = { host: 'evil.example', 'x-forwarded-host': 'evil.example' };
  await addUser(world.database, { name: 'lia', role: 'viewer', by: 'test' });
  const csrf = await admin.csrf();
  const answer = await admin.post('/users/lia/link', {}, { csrf, headers: hostile });
  expect(answer.status).toBe(201);
  expect(linkIn(answer)).not.toBe('');
  expect(answer.text).not.toContain('evil.example');
  expect(answer.text).toContain('CONSOLE_PUBLIC_URL is not set');

  const publicUrl = new URL('http://conciliation.example.com');
  const trustedProxies = ['127.0.0.1'];
  const configured = await openConsole(world.database, { publicUrl, trustedProxies });
  onTestFinished(() => configured.close());
  const alma = await configured.as('admin', 'alma');
  const link = await alma.post('/users/lia/link', {}, { headers: hostile });
  expect(link.text).toMatch(/>http:\/\/conciliation\.example\.com\/link\/[\w-]{43}</);
  expect(link.text).not.toContain('evil.example');
});

test('another role and being disabled end the sessions at once, and a new link replaces the old', async () => {
  const caio = await console.as('viewer', 'caio');
  expect((await caio.get('/')).status).toBe(200);
  // The field is that of another form.
  const changed = await admin.post('/users/caio/role', { role: 'reviewer', isDisabled: 'true' });
  expect(changed.location).toBe('/users?notice=user_changed');
  expect((await caio.get('/')).status).toBe(303);
  const path = linkIn(await admin.post('/users/caio/link'));
  expect((await console.visitor().get(path)).status).toBe(200);
  const again = await console.as('reviewer', 'caio');
  expect((await admin.post('/users/caio/disable')).status).toBe(303);
  expect((await again.get('/')).status).toBe(303);
  expect((await console.visitor().get(path)).status).toBe(404);
  expect((await admin.post('/users/caio/link')).text).toContain('That user is disabled');
  expect((await admin.post('/users/caio/enable')).status).toBe(303);
  expect(await findLoginUser(world.database, 'caio')).not.toBeNull();
  expect(await lastAudit(world, { action: 'user.change' })).toMatchObject({
    actor: 'alma',
    details: { user: 'caio', isDisabled: false },
  });
});

test('an e-mail address is one person’s, and must be one', async () => {
  await addUser(world.database, { name: 'duda', role: 'viewer', by: 'test' });
  const email = 'Duda@Example.com';
  expect((await admin.post('/users/duda/email', { email })).status).toBe(303);
  expect((await admin.get('/users')).text).toContain('duda@example.com');
  const taken = await admin.post('/users', { name: 'dora', role: 'viewer', email });
  expect(taken.status).toBe(400);
  expect(taken.text).toContain('Another user has that e-mail address already.');
  expect(await findLoginUser(world.database, 'dora')).toBeNull();
  const wrong = ['duda', 'duda@', '@example.com', 'du da@example.com', 'dud\u212a@example.com'];
  for (const email of wrong) {
    expect((await admin.post('/users/duda/email', { email })).status).toBe(400);
  }
  expect((await admin.post('/users/duda/email', { email: '' })).status).toBe(303);
  expect((await admin.get('/users')).text).not.toContain('duda@example.com');
});

test('a form without its field is refused by the name of the field, and nothing changes', async () => {
  const elisa = await console.as('viewer', 'elisa');
  await admin.post('/users/elisa/email', { email: 'elisa@example.com' });
  const other = await console.as('viewer', 'elisa');
  const ofOtherForms = { role: { email: 'x@example.com' }, email: { role: 'operator' } };
  for (const [deed, fields] of Object.entries(ofOtherForms)) {
    for (const form of [{}, fields]) {
      const answer = await admin.post(`/users/elisa/${deed}`, form);
      expect([deed, answer.status]).toEqual([deed, 400]);
      expect(/role="alert">([^<]*)/.exec(answer.text)?.[1]).toContain(`“${deed}”`);
    }
  }
  expect((await elisa.get('/')).status).toBe(303);
  expect((await other.get('/')).status).toBe(200);
  const kept = await world.prisma.consoleUser.findUnique({ where: { name: 'elisa' } });
  expect(kept).toMatchObject({ role: 'viewer', email: 'elisa@example.com' });
});

const KEY = { name: 'x', role: 'viewer', scopes: 'read', days: '30' };

test('an action that is not possible is refused in the language of the reader', async () => {
  const portuguese = { headers: { 'accept-language': 'pt-BR' } };
  const cases = [
    ['/users', { name: 'ALMA', role: 'viewer' }, 'Já existe um usuário com esse nome.'],
    ['/users', { name: 'não serve', role: 'viewer' }, 'Um nome de usuário tem de 1 a 64'],
    ['/users', { name: 'eva', role: 'king' }, 'Não foi possível ler o campo “role”'],
    ['/users/nobody/role', {}, 'Não foi possível ler o campo “role”'],
    ['/users/nobody/role', { role: 'viewer' }, 'Não existe usuário com esse nome.'],
    ['/users/alma/disable', {}, 'Somente outro administrador pode mudar o seu perfil'],
    ['/users/alma/role', { role: 'viewer' }, 'Somente outro administrador pode mudar o seu perfil'],
    // A stolen session must not give itself another way to sign in.
    ['/users/alma/link', {}, 'Somente outro administrador, ou “conciliation user”'],
    ['/users/alma/email', { email: 'x@example.com' }, 'Somente outro administrador, ou “concil'],
    ['/keys', { name: 'x', role: 'viewer', days: '30' }, 'Uma chave precisa de um nome'],
    ['/keys', { ...KEY, role: 'admin' }, 'Não foi possível ler o campo “role”'],
    ['/keys', { ...KEY, days: '367' }, 'Não foi possível ler o campo “days”'],
    ['/keys/999999/revoke', {}, 'Essa chave não existe'],
  ] as const;
  for (const [path, fields, sentence] of cases) {
    const answer = await admin.post(path, { ...fields }, portuguese);
    expect([path, answer.status]).toEqual([path, 400]);
    expect(/role="alert">([^<]*)/.exec(answer.text)?.[1], path).toContain(sentence);
  }
});

test.each(PROGRAM_AUTHORS)('a user has no name under which the program acts: %s', async (name) => {
  await expect(
    addUser(world.database, { name: name.toUpperCase(), role: 'reviewer', by: 'test' }),
  ).rejects.toMatchObject({ context: { fault: 'name_taken' } });
});

test('the last administrator keeps the role, also when two remove each other at the same time', async () => {
  for (const change of [{ role: 'viewer' }, { isDisabled: true }] as const) {
    const refused = changeUser(world.database, {
      name: 'alma',
      by: 'command line: root',
      ...change,
    });
    await expect(refused).rejects.toThrow('last administrator');
  }
  const other = await console.as('admin', 'aldo');
  await changeUser(world.database, { name: 'aldo', role: 'admin', by: 'test' });
  let aldo = await console.as('admin', 'aldo');
  expect((await other.get('/users')).status).toBe(303);
  for (let round = 0; round < 5; round += 1) {
    const answers = await Promise.all([
      admin.post('/users/aldo/disable'),
      aldo.post('/users/alma/disable'),
    ]);
    expect(answers.filter(({ location }) => location?.startsWith('/users'))).toHaveLength(1);
    const left = { role: 'admin', disabledAt: null };
    expect(await world.prisma.consoleUser.count({ where: left })).toBe(1);
    await world.prisma.consoleUser.updateMany({ data: { disabledAt: null } });
    admin = await console.as('admin', 'alma');
    aldo = await console.as('admin', 'aldo');
  }
});

test('a key is shown once, and stops when it is revoked', async () => {
  const made = await admin.post('/keys', { ...KEY, name: 'ERP <b>import</b>' });
  expect(made.status).toBe(201);
  const key = keyIn(made);
  const ask = async () => (await console.call(key, '/api/status')).status;
  expect(await ask()).toBe(200);
  const page = await admin.get('/users');
  expect(page.text).toContain('ERP &lt;b>import&lt;/b>');
  expect(page.text).not.toContain(key);
  const id = /\/keys\/(\d+)\/revoke/.exec(page.text)?.[1] ?? '';
  expect((await admin.post(`/keys/${id}/revoke`)).location).toBe('/users?notice=key_revoked');
  expect(await ask()).toBe(401);
  expect(await lastAudit(world, { action: 'key.add' })).toMatchObject({ actor: 'alma' });
  expect(await lastAudit(world, { action: 'key.revoke' })).toMatchObject({ actor: 'alma' });
});

describe('a key of an administrator', () => {
  let names = 0;
  /** Another administrator, and the answers to requests with that one's keys of each role. */
  async function keyOwner() {
    names += 1;
    const name = `keeper-${names}`;
    const owner = await console.as('admin', name);
    const ask = new Map<string, () => Promise<number>>();
    for (const role of KEY_ROLES) {
      const key = keyIn(await owner.post('/keys', { ...KEY, role }));
      ask.set(role, async () => (await console.call(key, '/api/status')).status);
    }
    const statuses = async () => {
      const asked = [...ask].map(async ([role, status]) => [role, await status()]);
      return Object.fromEntries(await Promise.all(asked));
    };
    expect(await statuses()).toEqual({ viewer: 200, reviewer: 200, operator: 200 });
    return { name, statuses };
  }
  const revocations = async (user: string) =>
    world.prisma.auditEntry.findMany({
      where: { action: 'key.revoke', details: { path: ['user'], equals: user } },
    });

  test('is revoked when the administrator is disabled, and stays so', async () => {
    const { name, statuses } = await keyOwner();
    expect((await admin.get('/users')).text).toContain(`data-label="Belongs to">${name}<`);
    await admin.post(`/users/${name}/disable`);
    const none = { viewer: 401, reviewer: 401, operator: 401 };
    expect(await statuses()).toEqual(none);
    const entries = await revocations(name);
    expect(entries.map(({ actor }) => actor)).toEqual(['alma', 'alma', 'alma']);
    await admin.post(`/users/${name}/enable`);
    expect(await statuses()).toEqual(none);
  });

  test.each([
    ['operator', { viewer: 200, reviewer: 401, operator: 200 }],
    ['reviewer', { viewer: 200, reviewer: 200, operator: 401 }],
    ['viewer', { viewer: 200, reviewer: 401, operator: 401 }],
  ] as const)('may do no more than its owner, who is a mere %s now', async (role, expected) => {
    const { name, statuses } = await keyOwner();
    await admin.post(`/users/${name}/role`, { role });
    expect(await statuses()).toEqual(expected);
    const lost = Object.values(expected).filter((status) => status === 401);
    expect(await revocations(name)).toHaveLength(lost.length);
  });

  test('is refused at use where the user was changed by other means than the program', async () => {
    const { name, statuses } = await keyOwner();
    const { consoleUser } = world.prisma;
    await consoleUser.update({ where: { name }, data: { role: 'viewer' } });
    expect(await statuses()).toEqual({ viewer: 200, reviewer: 401, operator: 401 });
    await consoleUser.update({ where: { name }, data: { disabledAt: new Date() } });
    expect(await statuses()).toEqual({ viewer: 401, reviewer: 401, operator: 401 });
  });

  test('is not made while another administrator disables the owner', async () => {
    const { name } = await keyOwner();
    const key = { user: name, role: 'viewer', scopes: ['read'], validDays: 1, by: name } as const;
    const outcomes = await Promise.allSettled([
      changeUser(world.database, { name, isDisabled: true, by: 'alma' }),
      ...['a', 'b', 'c'].map((text) => createApiKey(world.database, { ...key, name: text })),
    ]);
    expect(outcomes[0]?.status).toBe('fulfilled');
    const active = { user: { name }, revokedAt: null };
    expect(await world.prisma.apiKey.count({ where: active })).toBe(0);
  });
});

/** As if so many seconds had passed. */
const pass = (seconds: number) => world.prisma.$executeRaw`
  UPDATE conciliation.sign_in_limit SET forgotten_at = forgotten_at - make_interval(secs => ${seconds}::int)`;

const rowOf = (key: string) => {
  const keyHash = createHash('sha256').update(key).digest();
  return world.prisma.signInLimit.findUniqueOrThrow({ where: { keyHash } });
};

/** Tries so many times, and returns how many of the tries were allowed. */
async function allowed(key: string, tries: number): Promise<number> {
  let count = 0;
  for (let number = 0; number < tries; number += 1) {
    if ((await countTry(world.database, key, PER_USER)) === 0) count += 1;
  }
  return count;
}

test('one user at one address has ten tries in ten minutes, and a refused try does not count', async () => {
  expect(await allowed('ana 192.0.2.1', 10)).toBe(10);
  const before = await rowOf('ana 192.0.2.1');
  for (let tries = 0; tries < 5; tries += 1) {
    const wait = await countTry(world.database, 'ana 192.0.2.1', PER_USER);
    expect(wait).toBeGreaterThan(300);
    expect(wait).toBeLessThanOrEqual(600);
  }
  expect(await rowOf('ana 192.0.2.1')).toEqual(before);
  expect(await allowed('ana 198.51.100.7', 1)).toBe(1);
  expect(await allowed('bia 192.0.2.1', 1)).toBe(1);
  await forgetTries(world.database, 'ana 192.0.2.1');
  expect(await allowed('ana 192.0.2.1', 12)).toBe(10);
});

test('a limit within a time counts from the first try and starts again after that time', async () => {
  const limit = { max: 3, seconds: 600 };
  const tries = () =>
    Promise.all(Array.from({ length: 5 }, () => countTry(world.database, 'address', limit)));
  expect((await tries()).filter((seconds) => seconds === 0)).toHaveLength(3);
  await pass(300);
  const refused = await tries();
  expect(Math.min(...refused)).toBeGreaterThan(200);
  expect(Math.max(...refused)).toBeLessThanOrEqual(300);
  await pass(300);
  expect((await tries()).filter((seconds) => seconds === 0)).toHaveLength(3);
});

test('tries of several processes at once are not more than tries of one', async () => {
  const processes = [world.database, openAnother(world.databaseUrl)];
  const counted = await Promise.all(
    Array(20)
      .fill(processes)
      .flat()
      .map((database: Database) => countTry(database, 'ana', PER_USER)),
  );
  expect(counted.filter((seconds) => seconds === 0)).toHaveLength(PER_USER.max);
  expect((await rowOf('ana')).tries).toBe(PER_USER.max);
});

test('the database keeps no name and no address, and few rows whose time has passed', async () => {
  for (let name = 0; name < 30; name += 1) await allowed(`name-${name}`, 1);
  await pass(601);
  for (let name = 30; name < 34; name += 1) await allowed(`name-${name}`, 1);
  const { rows } = await world.database.pool.query<{ row: string }>(
    'SELECT sign_in_limit::text AS row FROM conciliation.sign_in_limit',
  );
  expect(rows).toHaveLength(4);
  expect(rows.map(({ row }) => row).join()).not.toContain(Buffer.from('name-').toString('hex'));
});
