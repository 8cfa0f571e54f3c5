/** Rows of a day that something other than a merge has changed are not signed off and not released. */
import { beforeEach, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { readWaitingDays, releaseWaitingDays } from '../../../src/features/bookings/release.sql.ts';
import { runMatching } from '../../../src/features/matching/run-matching.sql.ts';
import { signCleanDays, signOffDays } from '../../../src/features/review/sign-off.sql.ts';
import { acknowledgeFindings, verifyDate } from '../../../src/features/verify/verify.sql.ts';
import { hiddenIn } from '../../support/console-client.ts';
import {
  checkAnyDay,
  digestOf,
  findAlterations,
  fourEyesFault,
  pullDay,
  repairDay,
  trySigning,
} from '../../support/days.ts';
import { lastAudit, pagesForFile } from '../../support/pages-world.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const { world, viewer, reviewer } = pagesForFile();

let used = 0;
let date: CivilDate;
beforeEach(async () => {
  date = daysFrom(used);
  used += 1;
  await pull(stated());
});

const alter = (set: string) =>
  world.database.pool.query(`
    UPDATE conciliation.title SET ${set} WHERE accepted_date = '${date}'`);
const verify = () => verifyDate(world.database, date, new AbortController().signal);
const sign = () => trySigning(world.database, date);
/** Makes the repair that the verification requests. The next verification finds what is left. */
const repair = async () => {
  await repairDay(world, date);
  const alterations = await findAlterations(world.database, date);
  await checkAnyDay(world.database);
  return alterations.map(({ problem }) => problem);
};
/** The findings of the date, which are unknown afterwards. */
const forgetFindings = async () => {
  const { rowCount } = await world.database.pool.query(`
    DELETE FROM conciliation.title_finding WHERE date = '${date}'`);
  return rowCount;
};
const acknowledge = () =>
  acknowledgeFindings(world.database, 10n ** 15n, { by: 'otto', reason: 'a test' });
const alterDay = (set: string) =>
  world.database.pool.query(`UPDATE conciliation.day SET ${set} WHERE date = '${date}'`);
const pull = (...texts: string[]) => pullDay(world, date, ...texts);
const stated = (more: Parameters<typeof titleText>[0] = {}) =>
  titleText({ uid: `order of ${date}`, date, value: '5.00', ...more });
const autoSign = () => signCleanDays(world.database, { bookingsFrom: date, to: date });
const lines = async () => {
  const { rows } = await world.database.pool.query<{ value: string }>(`
    SELECT original_value::text AS value FROM conciliation.booking_line WHERE date = '${date}'`);
  return rows.map(({ value }) => value);
};

test.each([
  ["original_value = 99.99, payment_account = '666'"],
  ["status = 'withdrawn'"],
  ['original_value = 99.99, content_hash = gen_random_uuid()'],
])(
  'neither a person nor the program signs off a day with %s, before the alteration is known',
  async (set) => {
    await alter(set);
    expect(await sign()).toBe('altered');
    // The alert does not wait for the check of the day.
    expect(await forgetFindings()).toBeGreaterThan(0);
    expect(await autoSign()).toEqual([]);
    expect(await forgetFindings()).toBeGreaterThan(0);
    expect(await lines()).toEqual([]);
    expect(await repair()).toEqual([]);
    expect(await sign()).toBeNull();
    expect(await lines()).toEqual(['5.00']);
  },
);

const holdResponse = async () => {
  await pull(stated(), stated({ uid: `second of ${date}` }));
  await world.serve(date, []);
  expect(await sign()).toBe('not_reconciled');
  world.sandbox.setDayTexts(date, [stated(), stated({ uid: `second of ${date}` })]);
};

const HELD = 'that a response is held';
// test/integration/integrity/attacks.long.test.ts has the other alterations of a day.
test.each<[what: string, set: string, first?: () => Promise<unknown>]>([
  ['its sums', 'original_value_sum = 6'],
  [HELD, "state = 'reconciled'", holdResponse],
  [HELD, "state = 'reconciled', held_pull_id = NULL", holdResponse],
  [
    'its newest merge, whose fence the seal records',
    'last_pull_id = (SELECT min(id) FROM conciliation.pull WHERE pull.date = day.date)',
    () => pull(stated({ discount: '2' })),
  ],
])(
  'a day is not signed off until its repair where something outside of the program has changed %s: %s',
  async (_, set, first) => {
    await first?.();
    await alterDay(set);
    expect(await sign()).toBe('altered');
    expect(await lines()).toEqual([]);
    expect(await repair()).toEqual([]);
    expect(await sign()).toBeNull();
  },
);

test('a person who acknowledges an alteration does not let the altered values be signed off', async () => {
  // In no sum: only the row differs.
  await alter("payment_account = '666'");
  await verify();
  await acknowledge();
  expect(await sign()).toBe('altered');
  await alter("payment_account = '777', original_value = 1000000");
  expect(await sign()).toBe('altered');
  expect(await autoSign()).toEqual([]);
  expect(await lines()).toEqual([]);
});

test('an altered row of a withdrawn title keeps its day from being signed off until a person has seen that', async () => {
  await pull(stated({ uid: `kept of ${date}` }));
  await world.database.pool.query(`
    UPDATE conciliation.title SET payment_account = '666' WHERE accepted_date = '${date}' AND status = 'withdrawn'`);
  expect(await sign()).toBe('unrecorded');
  await pull(stated({ uid: `kept of ${date}` }));
  expect(await sign()).toBe('unrecorded');
  await acknowledge();
  expect(await sign()).toBeNull();
});

test('a value with which the comparison fails keeps no other day from being signed off', async () => {
  const other = daysFrom(used);
  used += 1;
  await world.serve(other, [titleText({ uid: `order of ${other}`, date: other })]);
  await pull(stated(), stated({ uid: `second of ${date}` }));
  // The sum of two such values has more digits than PostgreSQL can store.
  await alter("original_value = ('9' || repeat('0', 131071))::numeric");
  const { database } = world;
  const days = [date, other].toSorted();
  const outcomes = await signOffDays(
    database,
    await Promise.all(
      days.map(async (of) => ({ date: of, seenDigest: await digestOf(database, of) })),
    ),
    { by: 'rita', reason: null, fourEyes: false, bookingsFrom: DAY },
  );
  expect(outcomes.map(({ refusal }) => refusal)).toEqual(['altered', null]);
  await checkAnyDay(database).catch(() => {});
  expect(await autoSign()).toEqual([]);
});

test('a signed-off day that waits is not released with an altered title', async () => {
  const { database } = world;
  await importPayables(database, [{ erpKey: 'k1', openValue: '77' }], 'snapshot');
  expect(await sign()).toBeNull();
  await runMatching(database, { by: 'test' });
  await alter('original_value = 99.99');
  expect(await releaseWaitingDays(database, {})).not.toContain(date);
  expect(await forgetFindings()).toBeGreaterThan(0);
  await verify();
  expect(await readWaitingDays(database, {})).toContainEqual({
    fault: 'altered',
    days: 1,
    titles: 0,
    value: '5.00',
    dates: [date],
  });
  await repairDay(world, date);
  await verify();
  await runMatching(database, { by: 'test' });
  expect(await releaseWaitingDays(database, {})).toContain(date);
  expect(await lines()).toEqual(['5.00']);
});

test('a reviewer acknowledges the differences that the page of alerts has shown, with a reason', async () => {
  await acknowledge();
  const path = '/alterations/acknowledge';
  expect((await reviewer.get('/alerts')).text).not.toContain(path);
  await alter("payment_account = '666'");
  await verify();
  const { text: page } = await reviewer.get('/alerts');
  expect(page).toContain('Changes made outside of the program');
  const portuguese = await reviewer.get('/alerts', { 'accept-language': 'pt-BR' });
  expect(portuguese.text).toContain('Alterações feitas fora do programa');
  expect((await viewer.get('/alerts')).text).not.toContain(path);
  const newest = hiddenIn(page, 'newest');
  expect((await reviewer.post(path, { newest, reason: ' ' })).status).toBe(400);
  const open = () =>
    world.prisma.titleFinding.count({ where: { acknowledgedAt: null, closedAt: null } });
  const before = await open();
  expect(before).toBeGreaterThan(0);
  // A difference that came after the page was loaded keeps its alert.
  await alterDay('withdrawn_count = 5');
  await verify();
  const all = await open();
  expect(all).toBeGreaterThan(before);
  const done = await reviewer.post(path, { newest, reason: 'a test' });
  expect([done.status, done.location]).toEqual([303, '/alerts?notice=alterations_acknowledged']);
  expect(await open()).toBe(all - before);
  expect(await lastAudit(world)).toMatchObject({
    actor: 'rita',
    action: 'findings.acknowledge',
    reason: 'a test',
    date,
    details: { findings: before },
  });
  // An acknowledged difference may let the day be signed off and released.
  expect(await fourEyesFault(world.database, date, 'rita')).toBe('own_decision');
});
