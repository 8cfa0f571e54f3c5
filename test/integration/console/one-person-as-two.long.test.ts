/**
 * Every way in which one person could act as the two persons that a day needs, each tried against a real server. Either
 * the way is refused, or the audit log shows it for what it is. What a role or a form refuses by itself is in
 * access.test.ts and users.test.ts.
 */

import { userInfo } from 'node:os';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { KEY_SCOPES } from '../../../src/base/values/role.ts';
import { runCommand } from '../../support/child-command.ts';
import type { ConsoleClient } from '../../support/console-client.ts';
import { makeKey } from '../../support/console-client.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { expectNobody, openCertifiedWorld } from '../../support/oidc-world.ts';
import { DAY, daysFrom, openPullWorld } from '../../support/pull-world.ts';
import { codeOf, PASSWORD, setFactor, setPassword } from '../../support/second-factor.ts';
import { titleText } from '../../support/titles.ts';

const OPERATOR = `command line: ${userInfo().username}`;

const CHOSEN = 'outra frase bem diferente';
const HERE = { address: '127.0.0.1', session: expect.any(String) };

const folder = forFile(openFolder);
const world = forFile(openPullWorld);
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
  world.sandbox.setDayTexts(date, [titleText({ uid: 'a', date }), reject]);
  await world.pull(date);
  // The tries of all tests come from one address.
  await world.database.prisma.signInLimit.deleteMany();
  before = await newestEntry();
});

const newestEntry = async () =>
  (await world.database.prisma.auditEntry.aggregate({ _max: { id: true } }))._max.id ?? 0n;

/** The entries of the test: who, what, and where it is about no day the details. */
async function entries(): Promise<readonly (readonly unknown[])[]> {
  const found = await world.database.prisma.auditEntry.findMany({
    where: { id: { gt: before } },
    orderBy: { id: 'asc' },
  });
  return (
    found
      .map(({ actor, action, details, date: of }) =>
        of === null ? [actor, action, details] : [actor, action],
      )
      // The sessions that the test begins without a sign-in.
      .filter((entry) => !JSON.stringify(entry[2])?.startsWith('{"address":null'))
  );
}

const readDay = () => world.database.prisma.day.findUniqueOrThrow({ where: { date } });

const accept = (client: ConsoleClient) =>
  client.post(`/days/${date}/accept-rejects`, { reason: 'a test title' });

const sign = async (client: ConsoleClient) =>
  client.post(`/days/${date}/sign-off`, { digest: (await readDay()).contentDigest ?? '' });

const linkIn = (text: string) => /\/link\/[\w-]{43}/.exec(text)?.[0] ?? '';

/** Opens a link as a visitor and chooses a password. @returns the visitor, who is signed in */
async function open(link: string): Promise<ConsoleClient> {
  const client = oidc.console.visitor();
  const { status } = await client.post(link, { password: CHOSEN, again: CHOSEN });
  expect(status).toBe(303);
  return client;
}

/** The administrator makes a link for the user and opens it. */
async function takeOver(name: string): Promise<ConsoleClient> {
  return open(linkIn((await alma.post(`/users/${name}/link`)).text));
}

/** The administrator adds a reviewer and opens the reviewer's link. */
async function makeReviewer(name: string): Promise<ConsoleClient> {
  return open(linkIn((await alma.post('/users', { name, role: 'reviewer' })).text));
}

async function signIn(name: string, fields: Record<string, string> = {}) {
  const client = oidc.console.visitor();
  const answer = await client.post('/login', { name, password: PASSWORD, ...fields });
  return { client, answer };
}

const changeRole = (name: string, role: string) => alma.post(`/users/${name}/role`, { role });

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
  'own role changed by another administrator: an operator who decided signs off as a reviewer':
    async () => {
      await accept(await oidc.console.as('operator', bia));
      await changeRole(bia, 'reviewer');
      expect((await sign(await oidc.console.as('reviewer', bia))).text).toContain(OWN_DECISION);
    },
  'session kept over a role change': async () => {
    await accept(rosa);
    const admin = await oidc.console.as('admin', bia);
    const csrf = await admin.csrf();
    await changeRole(bia, 'reviewer');
    const { contentDigest } = await readDay();
    const form = { digest: contentDigest ?? '' };
    const answer = await admin.post(`/days/${date}/sign-off`, form, { csrf });
    expect(answer.location).toContain('/login');
    await expectNobodyAnyMore(admin);
  },
  'invitation link: the maker opens it after its user': async () => {
    const link = linkIn((await alma.post('/users', { name: bia, role: 'reviewer' })).text);
    await open(link);
    const again = oidc.console.visitor();
    const fields = { password: PASSWORD, again: PASSWORD };
    expect((await again.post(link, fields)).status).toBe(404);
    await expectNobody(again);
  },
  'API key: the key of a reviewer decides or signs off': async () => {
    await oidc.console.as('reviewer', bia);
    const key = await makeKey(world.database, 'reviewer', KEY_SCOPES, bia);
    for (const deed of ['accept-rejects', 'sign-off', 'reopen']) {
      const body = { reason: 'by a script', digest: (await readDay()).contentDigest };
      // To the page for a sign-in.
      expect((await oidc.console.call(key, `/days/${date}/${deed}`, body)).status).toBe(303);
      expect((await oidc.console.call(key, `/api/days/${date}/${deed}`, body)).status).toBe(404);
    }
    expect((await readDay()).state).toBe('attention');
  },
  'second factor reset by the administrator, without the password': async () => {
    await oidc.console.as('reviewer', bia);
    await setPassword(world.database, bia);
    await setFactor(world.database, bia);
    expect((await alma.post(`/users/${bia}/reset-second-factor`)).status).toBe(303);
    const { client, answer } = await signIn(bia, { password: CHOSEN });
    expect(answer.status).toBe(401);
    await expectNobody(client);
  },
  'password reset by the administrator, without the second factor': async () => {
    await oidc.console.as('reviewer', bia);
    await setFactor(world.database, bia);
    await expectNobodyAnyMore(await takeOver(bia));
  },
  'OIDC identity: the account of one user gets the address of another': async () => {
    const [one, two] = [await oidc.newPerson(), await oidc.newPerson()];
    await accept((await oidc.signIn(one.account)).client);
    const { client } = await oidc.signIn({ ...one.account, email: two.account.email ?? '' });
    expect((await client.get('/account')).text).toContain(one.name);
    expect((await sign(client)).text).toContain(OWN_DECISION);
  },
  'OIDC identity: one address for two users': async () => {
    const [one, two] = [await oidc.newPerson(), await oidc.newPerson()];
    const fields = { email: one.account.email ?? '' };
    expect((await alma.post(`/users/${two.name}/email`, fields)).status).toBe(400);
  },
  'command line: an account decides or signs off': async () => {
    for (const words of 'sign-off,reopen,accept-rejects,release,match,month seal'.split(',')) {
      expect((await conciliation(...words.split(' '), date)).exit, words).toBe(2);
    }
    expect((await readDay()).state).toBe('attention');
  },
};

async function expectNobodyAnyMore(client: ConsoleClient): Promise<void> {
  expect((await client.get('/')).location).toContain('/login');
}

describe('is refused', () => {
  test.each(Object.keys(REFUSED))('%s', async (way) => {
    await REFUSED[way]?.();
    expect((await readDay()).signedOffBy).toBeNull();
  });
});

/** Each has one person decide about the day and sign it off as two users. Returns what the audit log shows of it. */
const VISIBLE: Record<string, () => Promise<readonly (readonly unknown[])[]>> = {
  'invitation link, opened by the administrator who made it': async () => {
    await accept(rosa);
    await sign(await makeReviewer(bia));
    return [['rosa', 'rejects.accept'], ...madeByAlma(bia), [bia, 'day.sign_off']];
  },
  'a second user made by the same administrator': async () => {
    const two = `${bia}-2`;
    const [first, second] = [await makeReviewer(bia), await makeReviewer(two)];
    await accept(first);
    await sign(second);
    return [...madeByAlma(bia), ...madeByAlma(two), [bia, 'rejects.accept'], [two, 'day.sign_off']];
  },
  'password reset by the administrator': async () => {
    await oidc.console.as('reviewer', bia);
    await setPassword(world.database, bia);
    await accept(rosa);
    await sign(await takeOver(bia));
    // The user finds it out.
    expect((await signIn(bia)).answer.status).toBe(401);
    return [
      ['test', 'user.add', { user: bia, role: 'reviewer' }],
      ['rosa', 'rejects.accept'],
      ...takenOverByAlma(bia),
      [bia, 'day.sign_off'],
      [bia, 'session.refused', expect.objectContaining({ address: HERE.address })],
    ];
  },
  'second factor reset and password reset by the administrator': async () => {
    await oidc.console.as('reviewer', bia);
    const { secret } = await setFactor(world.database, bia);
    await accept(rosa);
    await alma.post(`/users/${bia}/reset-second-factor`);
    await sign(await takeOver(bia));
    expect((await signIn(bia, { code: codeOf(secret) })).answer.status).toBe(401);
    return [
      ['test', 'user.add', { user: bia, role: 'reviewer' }],
      ['rosa', 'rejects.accept'],
      ['alma', 'user.second_factor', { user: bia, secondFactor: 'reset' }],
      ...takenOverByAlma(bia),
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
    const { issuer } = oidc.provider;
    const added = (user: string) => [
      'test',
      'user.add',
      { user, role: 'reviewer', hasEmail: true },
    ];
    return [
      added(one.name),
      added(two.name),
      [one.name, 'user.bind', { issuer }],
      [one.name, 'session.start', HERE],
      [one.name, 'rejects.accept'],
      ['alma', 'user.change', { user: one.name, hasEmail: true }],
      ['alma', 'user.change', { user: two.name, hasEmail: true }],
      [two.name, 'user.bind', { issuer }],
      [two.name, 'session.start', HERE],
      [two.name, 'day.sign_off'],
    ];
  },
  'role changed by another administrator, who then adds a user for the person': async () => {
    await accept(await oidc.console.as('operator', bia));
    await changeRole(bia, 'viewer');
    await sign(await makeReviewer(`${bia}-2`));
    return [
      ['test', 'user.add', { user: bia, role: 'operator' }],
      [bia, 'rejects.accept'],
      ['alma', 'user.change', { user: bia, role: 'viewer' }],
      ...madeByAlma(`${bia}-2`),
      [`${bia}-2`, 'day.sign_off'],
    ];
  },
  'command line: an account adds two users and opens their links': async () => {
    const two = `${bia}-2`;
    for (const name of [bia, two]) {
      const added = await conciliation('user', 'add', name, '--role', 'reviewer');
      const client = await open(linkIn(added.stdout));
      await (name === bia ? accept(client) : sign(client));
    }
    const made = (user: string) => [
      [OPERATOR, 'user.add', { user, role: 'reviewer' }],
      ...takenOver(OPERATOR, user),
    ];
    return [...made(bia), [bia, 'rejects.accept'], ...made(two), [two, 'day.sign_off']];
  },
  'API key: the owner decides and signs off what the key has pulled': async () => {
    await oidc.console.as('operator', bia);
    const key = await makeKey(world.database, 'operator', ['pull'], bia);
    expect((await oidc.console.call(key, `/api/days/${date}/pull`, {})).status).toBe(202);
    await world.database.prisma.$executeRaw`DELETE FROM conciliation.pull WHERE state = 'pending'`;
    await accept(await oidc.console.as('operator', bia));
    await sign(rosa);
    const used = { user: bia, role: 'operator' };
    return [
      ['test', 'user.add', used],
      ['test', 'key.add', expect.objectContaining({ user: bia })],
      [expect.stringMatching(`^key \\d+ of ${bia}: script$`), 'pull.request'],
      [bia, 'rejects.accept'],
      ['rosa', 'day.sign_off'],
    ];
  },
};

/** A link that one person made and opened: its maker, the user, and the address of both. */
const takenOver = (by: string, user: string) => [
  [by, 'user.link', { user, purpose: 'password' }],
  [user, 'user.password', null],
  [user, 'session.start', HERE],
];
const takenOverByAlma = (user: string) => takenOver('alma', user);
const madeByAlma = (user: string) => [
  ['alma', 'user.add', { user, role: 'reviewer' }],
  ...takenOverByAlma(user),
];

describe('is in the audit log for what it is', () => {
  test.each(Object.keys(VISIBLE))('%s', async (way) => {
    const shown = await VISIBLE[way]?.();
    expect((await readDay()).signedOffBy).not.toBeNull();
    expect(await entries()).toEqual(shown);
  });
});
