/** Rows of a day that something other than a merge has changed are not signed off and not released. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readWaitingDays, releaseWaitingDays } from '../../../src/bookings/release.sql.ts';
import { checkDays } from '../../../src/checks/check-day.sql.ts';
import type { CivilDate } from '../../../src/domain/business-day.ts';
import { verifyDate } from '../../../src/integrity/verify-dates.ts';
import { signCleanDays } from '../../../src/ledger/auto-sign-off.sql.ts';
import { signOffDays } from '../../../src/ledger/sign-off.sql.ts';
import { runMatching } from '../../../src/matching/run-matching.sql.ts';
import { runPull } from '../../../src/pull/run-pull.ts';
import { ANY_DAY_RULES } from '../../support/check-rules.ts';
import { openPagesWorld, type PagesWorld } from '../../support/pages-world.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

let pages: PagesWorld;
beforeAll(async () => {
  pages = await openPagesWorld();
});
afterAll(async () => {
  await pages.console.close();
  await pages.world.close();
});

let used = 0;
let date: CivilDate;
beforeEach(async () => {
  date = daysFrom(used);
  used += 1;
  const { world } = pages;
  world.sandbox.setDayTexts(date, [titleText({ uid: `order of ${date}`, date, value: '5.00' })]);
  await world.pull(date);
  await checkDays(world.database, ANY_DAY_RULES);
});

const alter = (set: string) =>
  pages.world.database.pool.query(`UPDATE conciliation.title SET ${set} WHERE accepted_date = $1`, [
    date,
  ]);
const verify = () => verifyDate(pages.world.database, date, new AbortController().signal);
const sign = async () => {
  const { database } = pages.world;
  const { contentDigest } = await database.prisma.day.findUniqueOrThrow({ where: { date } });
  const [outcome] = await signOffDays(database, [{ date, seenDigest: contentDigest ?? '' }], {
    ...{ by: 'rita', reason: null, fourEyes: false, bookingsFrom: DAY },
  });
  return outcome?.refusal;
};
const autoSign = () => signCleanDays(pages.world.database, { bookingsFrom: date, to: date });
const lines = async () => {
  const { rows } = await pages.world.database.pool.query<{ value: string }>(
    'SELECT original_value::text AS value FROM conciliation.booking_line WHERE date = $1',
    [date],
  );
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
    expect(await autoSign()).toEqual([]);
    expect(await lines()).toEqual([]);
    const { repairPullId } = await verify();
    await runPull(pages.world.parts, repairPullId ?? 0n, new AbortController().signal);
    await verify();
    await checkDays(pages.world.database, ANY_DAY_RULES);
    expect(await sign()).toBeNull();
    expect(await lines()).toEqual(['5.00']);
  },
);

test('a day whose sums were altered is not signed off', async () => {
  await pages.world.database.pool.query(
    'UPDATE conciliation.day SET original_value_sum = 6 WHERE date = $1',
    [date],
  );
  expect(await sign()).toBe('altered');
});

test('a known alteration is told on the list, the preview and the page of the day, until a person acknowledges it', async () => {
  await alter('original_value = 99.99');
  await verify();
  const text = async (path: string) => (await pages.reviewer.get(path)).text;
  expect(await text('/sign-offs?clean=true')).not.toContain(`value="${date}"`);
  for (const path of ['/sign-offs', `/sign-offs/preview?day=${date}`, `/days/${date}`]) {
    expect(await text(path)).toContain('Changes made outside of the program: 2');
  }
  const refused = await pages.reviewer.post(`/days/${date}/sign-off`, {
    digest: (await text(`/days/${date}`)).match(/name="digest" value="([^"]+)"/)?.[1] ?? '',
  });
  expect(refused.status).toBe(409);
  await pages.world.database.prisma.titleFinding.updateMany({
    where: { date },
    data: { acknowledgedAt: new Date(), acknowledgedBy: 'otto', reason: 'a test' },
  });
  expect(await text(`/days/${date}`)).not.toContain('Changes made outside of the program');
  expect(await sign()).toBeNull();
});

test('a signed-off day that waits is not released with an altered title', async () => {
  const { database, parts } = pages.world;
  await importPayables(database, [{ erpKey: 'k1', openValue: '77' }], 'snapshot');
  expect(await sign()).toBeNull();
  await runMatching(database, { by: 'test' });
  await alter('original_value = 99.99');
  expect(await releaseWaitingDays(database, DAY)).not.toContain(date);
  const { repairPullId } = await verify();
  expect(await readWaitingDays(database, DAY)).toContainEqual({
    fault: 'altered',
    days: 1,
    dates: [date],
  });
  await runPull(parts, repairPullId ?? 0n, new AbortController().signal);
  await verify();
  await runMatching(database, { by: 'test' });
  expect(await releaseWaitingDays(database, DAY)).toContain(date);
  expect(await lines()).toEqual(['5.00']);
});
