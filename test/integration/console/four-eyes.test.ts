import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import type { ConsoleRole } from '../../../src/base/values/role.ts';
import { changeUser } from '../../../src/console/access/console-users.sql.ts';
import { type ConsoleClient, openConsole } from '../../support/console-client.ts';
import { digestOf } from '../../support/days.ts';
import { forFile } from '../../support/for-tests.ts';
import { DAY, daysFrom, openPullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const OPERATOR = 'command line: root';
const portuguese = { 'accept-language': 'pt-BR' };

const world = forFile(openPullWorld);
const console = forFile(() => openConsole(world.database));
const rosa = forFile(() => console.as('reviewer', 'rosa'));
beforeAll(async () => {
  await console.as('admin', 'alma');
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
  await pullWithReject();
});

const pullWithReject = () =>
  world.serve(date, [titleText({ uid: 'a', date }), `{"order":{},"acceptedDate":"${date}"}`]);

const dayOf = () => world.database.prisma.day.findUniqueOrThrow({ where: { date } });

async function accept(client: ConsoleClient) {
  const { status } = await client.post(`/days/${date}/accept-rejects`, { reason: 'a test title' });
  expect(status).toBe(303);
}

/** Signs the day off. @returns what the ledger says afterwards, and the answer */
async function sign(client: ConsoleClient) {
  const digest = await digestOf(world.database, date);
  const answer = await client.post(`/days/${date}/sign-off`, { digest });
  const { signedOffBy } = await dayOf();
  return { signedOffBy, text: answer.text };
}

const refusedAs = (text: string) => ({ signedOffBy: null, text: expect.stringContaining(text) });
const OWN = refusedAs('You made a decision about');
const WAS_OPEN = refusedAs('was open when you, an administrator before');

test('the person who accepted the rejects of a day does not sign it off, and another person does', async () => {
  const bia = await console.as('reviewer', fresh('bia'));
  await accept(bia);
  expect((await bia.get(`/days/${date}`)).text).toContain('Another user has to sign it off');
  expect((await bia.get(`/days/${date}`, portuguese)).text).toContain('Outra pessoa precisa');
  expect(await sign(bia)).toMatchObject(OWN);
  expect(await sign(rosa)).toMatchObject({ signedOffBy: 'rosa' });
});

test('the person who signed a day off does not accept a reject of it afterwards', async () => {
  await world.serve(date, [titleText({ uid: 'a', date })]);
  expect(await sign(rosa)).toMatchObject({ signedOffBy: 'rosa' });
  await pullWithReject();
  expect((await rosa.get(`/days/${date}`)).text).toContain('Reopen the day before you accept');
  const answer = await rosa.post(`/days/${date}/accept-rejects`, { reason: 'a test title' });
  expect(answer.status).toBe(400);
  expect(answer.text).toContain('reopen the day');
  expect(await dayOf()).toMatchObject({ state: 'attention' });
  await rosa.post(`/days/${date}/reopen`, { reason: 'a reject came' });
  await accept(rosa);
  expect(await sign(rosa)).toMatchObject(OWN);
});

describe('an administrator who becomes a reviewer', () => {
  /** A user of the roles, one after the other, in a session that began after the last change. */
  async function becomes(name: string, ...roles: [ConsoleRole, ...ConsoleRole[]]) {
    const [first, ...others] = roles;
    const before = await console.as(first, name);
    for (const role of others) {
      await changeUser(world.database, { name, role, by: OPERATOR });
      expect((await before.get('/account')).location).toContain('/login');
    }
    return console.as(roles.at(-1) ?? first, name);
  }

  test('signs no date off that was open then, and another reviewer does', async () => {
    await accept(rosa);
    const alex = await becomes(fresh('alex'), 'admin', 'reviewer');
    const page = await alex.get(`/days/${date}`);
    expect(page.text).toContain('The day was open when you, an administrator before');
    expect(page.text).not.toContain(`action="/days/${date}/sign-off"`);
    expect((await alex.get(`/days/${date}`, portuguese)).text).toContain('já estava aberto');
    const list = await alex.get('/sign-offs?show=kept');
    expect(list.text).toContain('The day was open when you, an administrator before');
    expect(list.text).not.toContain(`name="day" value="${date}:`);
    expect(await sign(alex)).toMatchObject(WAS_OPEN);
    const bia = await console.as('reviewer', fresh('bia'));
    expect(await sign(bia)).toMatchObject({ signedOffBy: fresh('bia') });
  });

  test.each<[string, ...ConsoleRole[]]>([
    ['by way of another role', 'admin', 'viewer', 'reviewer'],
    ['as an administrator twice', 'admin', 'reviewer', 'admin', 'reviewer'],
  ])('%s, too', async (_, first, ...others) => {
    await accept(rosa);
    const alex = await becomes(fresh('alex'), first, ...others);
    expect(await sign(alex)).toMatchObject(WAS_OPEN);
  });

  test('signs a date off that came into the ledger later', async () => {
    const alex = await becomes(fresh('alex'), 'admin', 'reviewer');
    date = daysFrom(-count, DAY);
    await pullWithReject();
    await accept(rosa);
    expect(await sign(alex)).toMatchObject({ signedOffBy: fresh('alex') });
  });

  test('signs a date off again that was signed off then and is restated later', async () => {
    await accept(rosa);
    await sign(await console.as('reviewer', fresh('bia')));
    const alex = await becomes(fresh('alex'), 'admin', 'reviewer');
    await world.serve(date, [titleText({ uid: 'a', date }), titleText({ uid: 'b', date })]);
    expect(await sign(alex)).toMatchObject({ signedOffBy: fresh('alex') });
  });

  test('does not sign a date off whose seal had ended then', async () => {
    await accept(rosa);
    const bia = await console.as('reviewer', fresh('bia'));
    await sign(bia);
    await bia.post(`/days/${date}/reopen`, { reason: 'too early' });
    const alex = await becomes(fresh('alex'), 'admin', 'reviewer');
    expect(await sign(alex)).toMatchObject(WAS_OPEN);
  });

  test('signs every date off where one person may do both', async () => {
    const alone = await openConsole(world.database, { fourEyes: false });
    onTestFinished(() => alone.close());
    await accept(rosa);
    await becomes(fresh('alex'), 'admin', 'reviewer');
    const alex = await alone.as('reviewer', fresh('alex'));
    expect(await sign(alex)).toMatchObject({ signedOffBy: fresh('alex') });
  });
});

test('a viewer who becomes a reviewer signs a date off that was open then', async () => {
  await accept(rosa);
  const name = fresh('vito');
  await console.as('viewer', name);
  await changeUser(world.database, { name, role: 'reviewer', by: OPERATOR });
  expect(await sign(await console.as('reviewer', name))).toMatchObject({ signedOffBy: name });
});
