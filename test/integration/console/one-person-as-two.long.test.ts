/**
 * Every way in which one person could act as the two persons that a day needs, each tried against a real server. Either
 * the way is refused, or the audit log shows it for what it is. What a role or a form refuses by itself is in
 * access.test.ts and users.test.ts.
 */

import { userInfo } from 'node:os';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { runCommand } from '../../support/child-command.ts';
import type { ConsoleClient } from '../../support/console-client.ts';
import { digestOf } from '../../support/days.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { openCertifiedWorld } from '../../support/oidc-world.ts';
import { DAY, daysFrom, worldOfFile } from '../../support/pull-world.ts';
import { PASSWORD, setPassword } from '../../support/second-factor.ts';
import { titleText } from '../../support/titles.ts';

const OPERATOR = `command line: ${userInfo().username}`;

const CHOSEN = 'outra frase bem diferente';
const HERE = { address: '127.0.0.1', session: expect.any(String) };

const folder = forFile(openFolder);
const world = worldOfFile();
const oidc = forFile(() => openCertifiedWorld(world.database));
/** An administrator, and a reviewer who decides where another person has to. */
const alma = forFile(() => oidc.console.as('admin', 'alma'));
const rosa = forFile(() => oidc.console.as('reviewer', 'rosa'));
// So that none is the last administrator, who keeps the role anyway.
beforeAll(async () => void (await oidc.console.as('admin', 'aldo')));

/** A day of each test that needs a decision before its sign-off. */
let date: CivilDate;
/** A user of each test. */
let bia: string;
let before: bigint;
let count = 0;
beforeEach(async () => {
  count += 1;
  bia = `bia-${count}`;
  date = daysFrom(count, DAY);
  const reject = `{"order":{},"acceptedDate":"${date}"}`;
  await world.serve(date, [titleText({ uid: 'a', date }), reject]);
  // The tries of all tests come from one address.
  await world.prisma.signInLimit.deleteMany();
  before = await newestEntry();
});

const newestEntry = async () =>
  (await world.prisma.auditEntry.aggregate({ _max: { id: true } }))._max.id ?? 0n;

/** The entries of the test: who, what, and where it is about no day the details. */
async function entries(): Promise<readonly (readonly unknown[])[]> {
  const where = { id: { gt: before } };
  const found = await world.prisma.auditEntry.findMany({ where, orderBy: { id: 'asc' } });
  const shown = found.map(({ actor, action, details, date: of }) =>
    of === null ? [actor, action, details] : [actor, action],
  );
  // Without the sessions that the test begins without a sign-in.
  return shown.filter((entry) => !JSON.stringify(entry[2])?.startsWith('{"address":null'));
}

const readDay = () => world.prisma.day.findUniqueOrThrow({ where: { date } });

const accept = (client: ConsoleClient) =>
  client.post(`/days/${date}/accept-rejects`, { reason: 'a test title' });

const sign = async (client: ConsoleClient) =>
  client.post(`/days/${date}/sign-off`, { digest: await digestOf(world.database, date) });

const linkIn = (text: string) => /\/link\/[\w-]{43}/.exec(text)?.[0] ?? '';

async function open(link: string): Promise<ConsoleClient> {
  const client = oidc.console.visitor();
  const { status } = await client.post(link, { password: CHOSEN, again: CHOSEN });
  expect(status).toBe(303);
  return client;
}

async function signIn(name: string) {
  const client = oidc.console.visitor();
  const answer = await client.post('/login', { name, password: PASSWORD });
  return { client, answer };
}

const conciliation = (...args: string[]) =>
  runCommand(args, { DATA_DIR: join(folder.path, 'data'), DATABASE_URL: world.databaseUrl });

const OWN_DECISION = 'You made a decision about';

/** Each tries to have one person decide about the day and sign it off. */
const REFUSED: Record<string, () => Promise<void>> = {
  'one user decides and signs off, under the name in capitals': async () => {
    await accept(await oidc.console.as('reviewer', bia));
    await setPassword(world.database, bia);
    const { client } = await signIn(` ${bia.toUpperCase()} `);
    expect((await sign(client)).text).toContain(OWN_DECISION);
  },
  'a user who decided changes the own password': async () => {
    const client = await oidc.console.as('reviewer', bia);
    await setPassword(world.database, bia);
    await accept(client);
    const form = { password: PASSWORD, newPassword: CHOSEN, again: CHOSEN };
    expect((await client.post('/account/password', form)).status).toBe(303);
    expect((await sign(client)).text).toContain(OWN_DECISION);
  },
  'a user who decided is disabled and enabled': async () => {
    await accept(await oidc.console.as('reviewer', bia));
    await alma.post(`/users/${bia}/disable`);
    await alma.post(`/users/${bia}/enable`);
    expect((await sign(await oidc.console.as('reviewer', bia))).text).toContain(OWN_DECISION);
  },
  'an operator who decided becomes a reviewer by another administrator': async () => {
    await accept(await oidc.console.as('operator', bia));
    await alma.post(`/users/${bia}/role`, { role: 'reviewer' });
    expect((await sign(await oidc.console.as('reviewer', bia))).text).toContain(OWN_DECISION);
  },
  'OIDC identity: the account of one user gets the address of another': async () => {
    const [one, two] = [await oidc.newPerson(), await oidc.newPerson()];
    await accept((await oidc.signIn(one.account)).client);
    const { client } = await oidc.signIn({ ...one.account, email: two.account.email ?? '' });
    expect((await client.get('/account')).text).toContain(one.name);
    expect((await sign(client)).text).toContain(OWN_DECISION);
  },
  'command line: an account decides or signs off': async () => {
    for (const words of 'sign-off,reopen,accept-rejects,release,match,month seal'.split(',')) {
      expect((await conciliation(...words.split(' '), date)).exit, words).toBe(2);
    }
    expect((await readDay()).state).toBe('attention');
  },
};

test.each(Object.keys(REFUSED))('is refused %s', async (way) => {
  await REFUSED[way]?.();
  expect((await readDay()).signedOffBy).toBeNull();
});

/** Each has one person decide about the day and sign it off as two users. Returns what the audit log shows of it. */
const VISIBLE: Record<string, () => Promise<readonly (readonly unknown[])[]>> = {
  'invitation link, opened by the administrator who made it': async () => {
    await accept(rosa);
    const made = await alma.post('/users', { name: bia, role: 'reviewer' });
    await sign(await open(linkIn(made.text)));
    return [['rosa', 'rejects.accept'], ...madeBy('alma', bia), [bia, 'day.sign_off']];
  },
  'password reset by the administrator': async () => {
    await oidc.console.as('reviewer', bia);
    await setPassword(world.database, bia);
    await accept(rosa);
    await sign(await open(linkIn((await alma.post(`/users/${bia}/link`)).text)));
    // The user finds it out.
    expect((await signIn(bia)).answer.status).toBe(401);
    return [
      ['test', 'user.add', { user: bia, role: 'reviewer' }],
      ['rosa', 'rejects.accept'],
      ...takenOver('alma', bia),
      [bia, 'day.sign_off'],
      [bia, 'session.refused', expect.objectContaining({ address: HERE.address })],
    ];
  },
  'OIDC identity, linked to a second user by the administrator': async () => {
    const [one, two] = [await oidc.newPerson(), await oidc.newPerson()];
    await accept((await oidc.signIn(one.account)).client);
    await alma.post(`/users/${one.name}/email`, { email: `${one.name}-left@example.com` });
    const email = one.account.email ?? '';
    await alma.post(`/users/${two.name}/email`, { email });
    await sign((await oidc.signIn(one.account)).client);
    const people = [one.name, two.name];
    const entered = (user: string) => [
      [user, 'user.bind', { issuer: oidc.provider.issuer }],
      [user, 'session.start', HERE],
    ];
    return [
      ...people.map((user) => ['test', 'user.add', { user, role: 'reviewer', hasEmail: true }]),
      ...[...entered(one.name), [one.name, 'rejects.accept']],
      ...people.map((user) => [
        ...['alma', 'user.change'],
        expect.objectContaining({ user, hasEmail: true }),
      ]),
      ...[...entered(two.name), [two.name, 'day.sign_off']],
    ];
  },
  'command line: an account adds two users and opens their links': async () => {
    const two = `${bia}-2`;
    for (const name of [bia, two]) {
      const added = await conciliation('user', 'add', name, '--role', 'reviewer');
      const client = await open(linkIn(added.stdout));
      await (name === bia ? accept(client) : sign(client));
    }
    return [
      ...[...madeBy(OPERATOR, bia), [bia, 'rejects.accept']],
      ...[...madeBy(OPERATOR, two), [two, 'day.sign_off']],
    ];
  },
};

/** A link that one person made and opened: its maker, the user, and the address of both. */
const takenOver = (by: string, user: string) => [
  [by, 'user.link', { user }],
  [user, 'user.password', null],
  [user, 'session.start', HERE],
];
const madeBy = (by: string, user: string) => [
  [by, 'user.add', { user, role: 'reviewer' }],
  ...takenOver(by, user),
];

test.each(Object.keys(VISIBLE))('is in the audit log for what it is %s', async (way) => {
  const shown = await VISIBLE[way]?.();
  expect((await readDay()).signedOffBy).not.toBeNull();
  expect(await entries()).toEqual(shown);
});
