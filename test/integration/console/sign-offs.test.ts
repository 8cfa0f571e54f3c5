/** The sign-off: the list of days, the sign-off of many days, and who may not sign a day off. */
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import type { ConsoleRole } from '../../../src/base/values/role.ts';
import { changeUser } from '../../../src/console/access/console-users.sql.ts';
import {
  type ConsoleAnswer,
  type ConsoleClient,
  openConsole,
} from '../../support/console-client.ts';
import { checkAnyDay, decideOpenChanges, digestOf } from '../../support/days.ts';
import { forFile } from '../../support/for-tests.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { pagesForFile } from '../../support/pages-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { type TitleFields, titleText } from '../../support/titles.ts';

const portuguese = { 'accept-language': 'pt-BR' };

const { world, console, viewer, reviewer, operator } = pagesForFile();

const rosa = forFile(() => console.as('reviewer', 'rosa'));
// So that none below is the last administrator, who keeps the role.
beforeAll(async () => void (await console.as('admin', 'alma')));

let used = 0;
let dates: CivilDate[];
/** The first of them. */
let date: CivilDate;
/** A name that no user has yet. */
let fresh: (name: string) => string;
beforeEach(() => {
  dates = Array.from({ length: 4 }, (_, index) => daysFrom(used + index, DAY));
  date = day(0);
  used += dates.length;
  const number = used;
  fresh = (name) => `${name}-${number}`;
});

const day = (index: number) => dates[index] as CivilDate;

const pull = (date: CivilDate, ...texts: string[]) => world.serve(date, texts);

const two = (date: CivilDate, first: TitleFields = {}) => [
  titleText({ uid: `a-${date}`, date, value: '100.10', ...first }),
  titleText({ uid: `b-${date}`, date, value: '0.05' }),
];
const pullAll = async (value = '100.10') => {
  for (const date of dates) await pull(date, ...two(date, { value }));
};

let rejects = 0;
/** Two titles, and one that breaks the contract, another one each time. */
function pullReject(date: CivilDate) {
  rejects += 1;
  return pull(date, ...two(date), `{"order":{"uid":"r${rejects}"},"acceptedDate":"${date}"}`);
}
/** The same, and a person accepts the reject. */
async function decideAs(client: ConsoleClient, date: CivilDate) {
  await pullReject(date);
  const { status } = await client.post(`/days/${date}/accept-rejects`, { reason: 'a test title' });
  expect(status).toBe(303);
}

const boxesIn = ({ text }: ConsoleAnswer) =>
  [...text.matchAll(/name="day" value="([^"]+)"/g)].map((match) => match[1] ?? '');
const daysIn = (answer: ConsoleAnswer) => boxesIn(answer).map((box) => box.split(':')[0]);
/** The boxes of the days as the list shows them. */
const seenBy = async (client: ConsoleClient, chosen: readonly CivilDate[]) =>
  boxesIn(await client.get('/sign-offs')).filter((box) =>
    chosen.some((date) => box.startsWith(`${date}:`)),
  );
/** The rows of the table with that label: the cells as text. */
const rowsIn = ({ text }: ConsoleAnswer, label: string) => {
  const [, table = ''] = text.split(`aria-label="${label}" tabindex="0"`);
  return [...(table.split('</table>')[0] ?? '').matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    row
      .split(/<\/t[hd]>/)
      .map((cell) => cell.replace(/<[^>]+>/g, '').trim())
      .filter((cell) => cell !== ''),
  );
};
/** Those who signed the dates of the test off, in their order. */
const signers = async () => {
  const where = { date: { in: dates } };
  const days = await world.prisma.day.findMany({ where, orderBy: { date: 'asc' } });
  return days.map((row) => row.signedOffBy);
};

describe('the list', () => {
  test('has the days that can be signed, newest first, with boxes for reviewers alone', async () => {
    await pullAll();
    const list = await reviewer.get('/sign-offs');
    const shown = [...list.text.matchAll(/<th scope="row">.*?href="\/days\/([^"]+)"/g)];
    expect(shown.map((match) => match[1])).toEqual(dates.toReversed());
    expect(daysIn(list)).toEqual(dates.toReversed());
    const viewed = await viewer.get('/sign-offs');
    expect(daysIn(viewed)).toEqual([]);
    expect(viewed.text).toContain('A reviewer signs it off.');
    await sign(reviewer, dates);
    const { text: rest } = await reviewer.get('/sign-offs');
    expect(rest).toContain('No day can be signed off now.');
  });

  test('the clean filter leaves out what a person has to look at', async () => {
    const [restated, decided, clean, changed] = dates as [
      CivilDate,
      CivilDate,
      CivilDate,
      CivilDate,
    ];
    const title = (date: CivilDate, more: TitleFields = {}) => two(date, more)[0] ?? '';
    await pull(restated, title(restated));
    await sign(reviewer, [restated]);
    await pull(restated, title(restated, { discount: '9.99' }));
    await decideAs(operator, decided);
    await pull(clean, title(clean), title(clean, { uid: 'o', value: '1.00', code: 'P-9' }));
    await pull(changed, title(changed, { code: 'P-9', account: '1112223' }));
    const shownTo = async (client: ConsoleClient, path: string) => daysIn(await client.get(path));
    const both = await console.as('reviewer', 'beto');
    // Nobody may sign a day with a payment on hold, so it has no box.
    expect(await shownTo(both, '/sign-offs')).toEqual([clean, decided, restated]);
    expect(await shownTo(both, '/sign-offs?show=clean')).toEqual([]);
    await checkAnyDay(world.database);
    // Accepted rejects are a reservation.
    expect(await shownTo(both, '/sign-offs?show=clean')).toEqual([clean]);
    await decideAs(both, decided);
    // The person who decided cannot select the day, and sees the reason.
    expect(await shownTo(both, '/sign-offs')).toEqual([clean, restated]);
    const list = await both.get('/sign-offs');
    expect(list.text).toContain('Restated after a sign-off');
    // A day that the person may not sign is neither counted nor in the sum.
    expect(list.text).toMatch(/All \(2\).*?Without reservations \(1\).*?Not now \(2\)/s);
    expect(rowsIn(list, 'Days to sign').at(-1)).toEqual(['Sum', '3', '201.20']);
    const kept = await both.get('/sign-offs?show=kept');
    for (const reservation of [
      'You made a decision about this day. Another user has to sign it off.',
      'Titles whose payment is on hold: 1',
      'Rejects: 1',
    ]) {
      expect(kept.text).toContain(reservation);
    }
    expect(daysIn(kept)).toEqual([]);
    expect(await shownTo(both, '/sign-offs?show=clean')).toEqual([clean]);
    expect(await shownTo(reviewer, '/sign-offs')).toEqual([clean, decided, restated]);
    await decideOpenChanges(world.database);
    await sign(reviewer, dates);
    expect(await shownTo(both, '/sign-offs')).toEqual([]);
  });
});

async function sign(client: ConsoleClient, chosen: readonly CivilDate[], reason = '') {
  return client.post('/sign-offs', { day: await seenBy(client, chosen), reason });
}

describe('many days at once', () => {
  test('are listed with totals and the sum of all, and sealed one by one', async () => {
    await pullAll('1000.10');
    expect((await reviewer.post('/sign-offs', {})).status).toBe(400);
    const list = rowsIn(await reviewer.get('/sign-offs'), 'Days to sign').slice(1);
    expect(list.map((row) => row.slice(0, 3))).toEqual([
      ...dates.toReversed().map(() => [expect.any(String), '2', '1,000.15']),
      ['Sum', '8', '4,000.60'],
    ]);
    expect(await signers()).toEqual([null, null, null, null]);
    const answer = await sign(reviewer, dates, 'agrees with the ERP');
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('4 of 4 days signed off');
    expect(rowsIn(answer, 'Signed off')).toHaveLength(5);
    expect(await signers()).toEqual(['rita', 'rita', 'rita', 'rita']);
    const where = { action: 'day.sign_off', date: { in: dates } };
    const entries = await world.prisma.auditEntry.findMany({ where });
    expect(entries.map(({ reason }) => reason)).toEqual(Array(4).fill('agrees with the ERP'));
    const [row] = await world.prisma.$queryRaw<[{ transactions: number }]>`
      SELECT count(DISTINCT xmin::text)::int AS transactions FROM conciliation.sign_off
      WHERE date = ANY(${dates}::text[]::date[])`;
    expect(row.transactions).toBe(4);
  });

  test('a day that changes after the list was shown is refused by name and reason, and the others are sealed', async () => {
    await pullAll();
    const seen = await seenBy(reviewer, dates);
    await pull(day(1), ...two(day(1), { discount: '9.99' }));
    const answer = await reviewer.post('/sign-offs', { day: seen });
    expect(answer.text).toContain('3 of 4 days signed off');
    expect(rowsIn(answer, 'Refused').slice(1)).toEqual([
      [expect.stringContaining('2026-03-'), 'The day has changed since the list was shown.'],
    ]);
    expect(await signers()).toEqual(['rita', null, 'rita', 'rita']);
    const unknown = `2020-01-01:${'f'.repeat(64)}`;
    const again = await reviewer.post('/sign-offs', { day: [...seen, unknown] });
    expect(again.text).toContain('0 of 5 days signed off');
    expect(rowsIn(again, 'Refused').at(-1)?.[1]).toMatch(/not in the ledger/);
    expect(again.text).toContain('The day is signed off already.');
    await sign(reviewer, [day(1)]);
  });

  test('two persons at once: each day has one seal, and the other person gets a message', async () => {
    await pullAll();
    const seen = await seenBy(reviewer, dates);
    const answers = await Promise.all([
      reviewer.post('/sign-offs', { day: seen }),
      rosa.post('/sign-offs', { day: seen.toReversed() }),
    ]);
    const counts = answers.map(({ text }) => Number(/(\d+) of 4 days signed off/.exec(text)?.[1]));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(4);
    const where = { date: { in: dates } };
    const seals = await world.prisma.signOff.findMany({ where });
    expect(seals).toHaveLength(4);
    const by = seals.map(({ signedOffBy }) => signedOffBy);
    expect(by.filter((name) => name === 'rita')).toHaveLength(counts[0] ?? 0);
  });

  test('four eyes: a day with a decision of the signer is refused in the deed too', async () => {
    const own = await console.as('reviewer', 'alba');
    await pullAll();
    const seen = await seenBy(own, dates);
    await decideAs(own, day(2));
    const present = `${day(2)}:${await digestOf(world.database, day(2))}`;
    const forged = seen.map((text) => (text.startsWith(day(2)) ? present : text));
    const kept = await own.get('/sign-offs?show=kept', portuguese);
    expect(kept.text).toContain('Outra pessoa precisa fechá-lo.');
    expect(daysIn(await own.get('/sign-offs', portuguese))).toHaveLength(3);
    const answer = await own.post('/sign-offs', { day: forged }, { headers: portuguese });
    expect(answer.text).toContain('3 de 4 dias fechados');
    expect(answer.text).toContain('Você tomou uma decisão sobre este dia.');
    expect(await signers()).toEqual(['alba', 'alba', null, 'alba']);
    await sign(reviewer, [day(2)]);
  });
});

const dayOf = () => world.prisma.day.findUniqueOrThrow({ where: { date } });

/** Signs the day off. @returns what the ledger says afterwards, and the answer */
async function signDate(client: ConsoleClient) {
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
  await decideAs(bia, date);
  expect((await bia.get(`/days/${date}`)).text).toContain('Another user has to sign it off');
  expect((await bia.get(`/days/${date}`, portuguese)).text).toContain('Outra pessoa precisa');
  expect(await signDate(bia)).toMatchObject(OWN);
  expect(await signDate(rosa)).toMatchObject({ signedOffBy: 'rosa' });
});

test('the person who signed a day off does not accept a reject of it afterwards', async () => {
  await pull(date, ...two(date));
  expect(await signDate(rosa)).toMatchObject({ signedOffBy: 'rosa' });
  await pullReject(date);
  expect((await rosa.get(`/days/${date}`)).text).toContain('Reopen the day before you accept');
  const answer = await rosa.post(`/days/${date}/accept-rejects`, { reason: 'a test title' });
  expect(answer.status).toBe(400);
  expect(answer.text).toContain('reopen the day');
  expect(await dayOf()).toMatchObject({ state: 'attention' });
  await rosa.post(`/days/${date}/reopen`, { reason: 'a reject came' });
  const { text } = await viewer.get(`/days/${date}`);
  expect(text).toContain('Not signed off');
  expect((await viewer.get(`/audit?date=${date}`)).text).toContain('a reject came');
  await decideAs(rosa, date);
  expect(await signDate(rosa)).toMatchObject(OWN);
});

describe('an administrator who becomes a reviewer', () => {
  /** A user of the roles, one after the other, in a session that began after the last change. */
  async function becomes(name: string, ...roles: [ConsoleRole, ...ConsoleRole[]]) {
    const [first, ...others] = roles;
    const before = await console.as(first, name);
    for (const role of others) {
      await changeUser(world.database, { name, role, by: 'command line: root' });
      expect((await before.get('/account')).location).toContain('/login');
    }
    return console.as(roles.at(-1) ?? first, name);
  }

  test('signs no date off that was open then, and another reviewer does', async () => {
    await decideAs(rosa, date);
    const alex = await becomes(fresh('alex'), 'admin', 'reviewer');
    const page = await alex.get(`/days/${date}`);
    expect(page.text).toContain('The day was open when you, an administrator before');
    expect(page.text).not.toContain(`action="/days/${date}/sign-off"`);
    expect((await alex.get(`/days/${date}`, portuguese)).text).toContain('já estava aberto');
    const list = await alex.get('/sign-offs?show=kept');
    expect(list.text).toContain('The day was open when you, an administrator before');
    expect(list.text).not.toContain(`name="day" value="${date}:`);
    expect(await signDate(alex)).toMatchObject(WAS_OPEN);
    const bia = await console.as('reviewer', fresh('bia'));
    expect(await signDate(bia)).toMatchObject({ signedOffBy: fresh('bia') });
  });

  test.each<[before: string, roles: string, after: string, signs: boolean]>([
    ['open', 'admin viewer reviewer', '', false],
    ['open', 'admin reviewer admin reviewer', '', false],
    ['open sign reopen', 'admin reviewer', '', false],
    ['', 'admin reviewer', 'earlier open', true],
    ['open sign', 'admin reviewer', 'restate', true],
    ['open', 'viewer reviewer', '', true],
  ])('"%s", the roles "%s", "%s": signs the date off: %s', async (before, roles, after, signs) => {
    const bia = await console.as('reviewer', fresh('bia'));
    const deeds: Record<string, () => Promise<unknown>> = {
      open: () => decideAs(rosa, date),
      sign: () => signDate(bia),
      reopen: () => bia.post(`/days/${date}/reopen`, { reason: 'too early' }),
      restate: () => pull(date, ...two(date, { discount: '9.99' })),
      earlier: async () => {
        date = daysFrom(-used, DAY);
      },
    };
    for (const word of before.split(' ')) await deeds[word]?.();
    const alex = await becomes(
      fresh('alex'),
      ...(roles.split(' ') as [ConsoleRole, ...ConsoleRole[]]),
    );
    for (const word of after.split(' ')) await deeds[word]?.();
    const expected = signs ? { signedOffBy: fresh('alex') } : WAS_OPEN;
    expect(await signDate(alex)).toMatchObject(expected);
  });

  test('signs every date off where one person may do both', async () => {
    const alone = await openConsole(world.database, { fourEyes: false });
    onTestFinished(() => alone.close());
    await decideAs(rosa, date);
    await becomes(fresh('alex'), 'admin', 'reviewer');
    const alex = await alone.as('reviewer', fresh('alex'));
    expect(await signDate(alex)).toMatchObject({ signedOffBy: fresh('alex') });
  });
});

test.each([
  ['is disabled', { isDisabled: true }],
  ['gets another role', { role: 'viewer' }],
] as const)('a reviewer who %s while the sign-off waits signs nothing', async (_, change) => {
  await pull(date, ...two(date));
  const name = fresh('leaver');
  const leaver = await console.as('reviewer', name);
  const csrf = await leaver.csrf();
  const seen = await seenBy(leaver, [date]);
  const answer = await world.prisma.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT FROM conciliation.day WHERE date = ${date}::date FOR UPDATE`;
    const answer = leaver.post('/sign-offs', { day: seen }, { csrf });
    await lockWaits(world.database);
    await changeUser(world.database, { name, by: 'test', ...change });
    return { of: answer };
  });
  expect((await answer.of).status).toBe(403);
  const where = { date, signedOffAt: { not: null } };
  expect(await world.prisma.day.count({ where })).toBe(0);
});
