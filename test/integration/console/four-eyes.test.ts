import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createLink } from '../../../src/console/access/console-users.sql.ts';
import type { CivilDate } from '../../../src/domain/business-day.ts';
import type { ConsoleRole } from '../../../src/domain/role.ts';
import { acceptRejects } from '../../../src/pull/decisions.sql.ts';
import {
  type ConsoleAnswer,
  type ConsoleClient,
  type ConsoleWorld,
  openConsole,
} from '../../support/console-client.ts';
import { DAY, daysFrom, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { codeOf, setFactor } from '../../support/second-factor.ts';
import { titleText } from '../../support/titles.ts';

const PASSWORD = 'quatro palavras ao acaso';
const OPERATOR = 'command line: root';
const portuguese = { 'accept-language': 'pt-BR' };

let world: PullWorld;
let console: ConsoleWorld;
let alma: ConsoleClient;
beforeAll(async () => {
  world = await openPullWorld();
  console = await openConsole(world.database);
  alma = await console.as('admin', 'alma');
});
afterAll(async () => {
  await console.close();
  await world.close();
});

let date: CivilDate;
let count = 0;
/** A name that no user has yet. */
let fresh: (name: string) => string;
beforeEach(async () => {
  count += 1;
  const number = count;
  fresh = (name) => `${name}-${number}`;
  date = daysFrom(count, DAY);
  world.sandbox.setDayTexts(date, [
    titleText({ uid: 'a', date }),
    `{"order":{},"acceptedDate":"${date}"}`,
  ]);
  await world.pull(date);
});

type Send = (path: string, fields: Record<string, string>) => Promise<ConsoleAnswer>;
const bySession =
  (client: ConsoleClient): Send =>
  (path, fields) =>
    client.post(path, fields);
async function accept(send: Send) {
  const { status } = await send(`/days/${date}/accept-rejects`, { reason: 'a test title' });
  expect([200, 303]).toContain(status);
}

/** Signs the day off. @returns what the ledger says afterwards, and the answer */
async function sign(send: Send) {
  const where = { date: new Date(date) };
  const { contentDigest } = await world.database.prisma.day.findUniqueOrThrow({ where });
  const answer = await send(`/days/${date}/sign-off`, { digest: contentDigest ?? '' });
  const { signedOffBy } = await world.database.prisma.day.findUniqueOrThrow({ where });
  return { signedOffBy, text: answer.text };
}

const OWN = {
  signedOffBy: null,
  text: expect.stringContaining('another user has to sign it off'),
};
const LINKED = { signedOffBy: null, text: expect.stringContaining('the same person as you') };

const linkIn = ({ text }: ConsoleAnswer) => /\/link\/[\w-]{43}(?=<)/.exec(text)?.[0] ?? '';

/** Chooses the password with the link. @returns the browser, which is signed in */
async function openLink(link: string) {
  const browser = console.visitor();
  const { status } = await browser.post(link, { password: PASSWORD, again: PASSWORD });
  expect(status).toBe(303);
  return browser;
}

/** A new user, whose password is chosen with the link that an administrator gets. */
const addUser = async (admin: ConsoleClient, name: string, role: ConsoleRole = 'reviewer') =>
  openLink(linkIn(await admin.post('/users', { name, role })));

/** Another link, made at the command line. */
const linkByCommand = async (name: string) =>
  `/link/${await createLink(world.database, {
    name,
    purpose: 'password',
    validMinutes: 5,
    by: OPERATOR,
  })}`;

test('the person who signed a day off does not accept a reject of it afterwards', async () => {
  const text = titleText({ uid: 'a', date });
  world.sandbox.setDayTexts(date, [text]);
  await world.pull(date);
  expect(await sign(bySession(alma))).toMatchObject({ signedOffBy: 'alma' });
  world.sandbox.setDayTexts(date, [text, `{"order":{},"acceptedDate":"${date}"}`]);
  await world.pull(date);
  expect((await alma.get(`/days/${date}`)).text).toContain('Reopen the day before you accept');
  const answer = await alma.post(`/days/${date}/accept-rejects`, { reason: 'a test title' });
  expect(answer.status).toBe(400);
  expect(answer.text).toContain('reopen the day');
  const where = { date: new Date(date) };
  const { state } = await world.database.prisma.day.findUniqueOrThrow({ where });
  expect(state).toBe('attention');
  await alma.post(`/days/${date}/reopen`, { reason: 'a reject came' });
  await accept(bySession(alma));
  expect(await sign(bySession(alma))).toMatchObject(OWN);
});

describe('an administrator who made the link for the password of a user', () => {
  test('does not sign off as that user', async () => {
    await accept(bySession(alma));
    const puppet = await addUser(alma, fresh('bia'));
    expect((await puppet.get(`/days/${date}`)).text).toContain('counts as the same person as you');
    expect((await puppet.get(`/days/${date}`, portuguese)).text).toContain('Uma terceira pessoa');
    expect(await sign(bySession(puppet))).toMatchObject(LINKED);
  });

  test('does not sign off what that user decided, also once the password is another', async () => {
    const name = fresh('bia');
    await accept(bySession(await addUser(alma, name)));
    expect(await sign(bySession(alma))).toMatchObject(LINKED);
    await openLink(await linkByCommand(name));
    expect(await sign(bySession(alma))).toMatchObject(LINKED);
  });

  test('does not sign off as a user whose password was reset, until another made the link', async () => {
    const name = fresh('caio');
    await console.as('reviewer', name);
    await accept(bySession(alma));
    const stolen = await openLink(linkIn(await alma.post(`/users/${name}/link`)));
    expect(await sign(bySession(stolen))).toMatchObject(LINKED);
    const free = await openLink(await linkByCommand(name));
    expect(await sign(bySession(free))).toMatchObject({ signedOffBy: name });
  });

  test('does not sign off by way of a second administrator', async () => {
    await accept(bySession(alma));
    const name = fresh('davi');
    const second = await addUser(alma, name, 'admin');
    const third = await addUser(second, fresh('enzo'));
    expect(await sign(bySession(third))).toMatchObject(LINKED);
  });

  test('is another person for every other user', async () => {
    const bia = await addUser(alma, fresh('bia'), 'operator');
    const caio = await addUser(alma, fresh('caio'));
    await accept(bySession(bia));
    expect(await sign(bySession(caio))).toMatchObject({ signedOffBy: fresh('caio') });
  });

  test('is another person while the link is not used', async () => {
    const name = fresh('bia');
    const bia = await console.as('reviewer', name);
    await accept(bySession(alma));
    await alma.post(`/users/${name}/link`);
    expect(await sign(bySession(bia))).toMatchObject({ signedOffBy: name });
  });
});

describe('a user whose password an administrator could have chosen', () => {
  test('still counts as the administrator after changing the own password', async () => {
    await accept(bySession(alma));
    const name = fresh('bia');
    const puppet = await addUser(alma, name);
    const changed = await puppet.post('/account/password', {
      password: PASSWORD,
      newPassword: 'outra frase bem diferente',
      again: 'outra frase bem diferente',
    });
    expect(changed.location).toBe('/account?notice=password_changed');
    expect(await sign(bySession(puppet))).toMatchObject(LINKED);
    expect((await alma.get('/users')).text).toContain('password link made by alma');
  });

  test('still counts as the administrator with a second factor, and once that is reset', async () => {
    await accept(bySession(alma));
    const name = fresh('bia');
    await console.as('reviewer', name);
    const { secret } = await setFactor(world.database, name);
    // The link of an administrator replaces the password, and the code is still needed.
    const link = linkIn(await alma.post(`/users/${name}/link`));
    const browser = console.visitor();
    await browser.post(link, { password: PASSWORD, again: PASSWORD });
    expect(browser.cookies.has('conciliation')).toBe(false);
    const reset = await alma.post(`/users/${name}/reset-second-factor`);
    expect(reset.location).toBe('/users?notice=factor_reset');
    const stolen = console.visitor();
    const entered = await stolen.post('/login', { name, password: PASSWORD, code: codeOf(secret) });
    expect(entered.location).toBe('/');
    expect(await sign(bySession(stolen))).toMatchObject(LINKED);
  });
});

test('the account at the command line that made the link does not sign off as the user', async () => {
  const name = fresh('bia');
  await console.as('reviewer', name);
  const bia = await openLink(await linkByCommand(name));
  await acceptRejects(world.database, date, { by: OPERATOR, reason: 'a test title' });
  expect(await sign(bySession(bia))).toMatchObject(LINKED);
});

test('the page and the audit log name the users that count as one person', async () => {
  const name = fresh('bia');
  const added = await alma.post('/users', { name, role: 'reviewer' });
  expect(added.text).toContain('the two of you count as one person');
  await openLink(linkIn(added));
  expect((await alma.get('/users')).text).toContain('password link made by alma');
  const again = await alma.post(`/users/${name}/link`, {}, { headers: portuguese });
  expect(again.text).toContain('vocês dois contam como uma só pessoa');
  const entries = await world.database.prisma.auditEntry.findMany({
    where: {
      OR: [
        { action: 'user.link', details: { path: ['user'], equals: name } },
        { action: 'user.password', actor: name },
      ],
    },
    orderBy: { id: 'asc' },
  });
  const person = { userId: expect.any(Number), name: 'alma' };
  const link = { user: name, purpose: 'password', countsAs: [person] };
  expect(entries.map(({ actor, details }) => [actor, details])).toEqual([
    ['alma', link],
    [name, { passwordFrom: [person] }],
    ['alma', link],
  ]);
});
