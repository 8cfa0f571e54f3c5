import { afterEach, beforeEach, expect, test } from 'vitest';
import { releaseWaitingDays } from '../../src/bookings/release.sql.ts';
import { readReleaseFaults } from '../../src/bookings/release-conditions.sql.ts';
import { checkDays } from '../../src/checks/check-day.sql.ts';
import { readFindings, readOpenFindingGroups, resolveFindings } from '../../src/checks/findings.sql.ts';
import type { CivilDate } from '../../src/domain/business-day.ts';
import { signOffDay } from '../../src/ledger/sign-off.sql.ts';
import { isMatchingDue, runMatching } from '../../src/matching/run-matching.sql.ts';
import { checkPayables } from '../../src/payables/payable-file.ts';
import { addPayables, beginImport, endImport } from '../../src/payables/payable-import.sql.ts';
import { ANY_DAY_RULES, DEFAULT_RULES } from '../support/check-rules.ts';
import { importPayables } from '../support/payables.ts';
import { DAY, daysFrom, openPullWorld, type PullWorld } from '../support/pull-world.ts';
import { titleText } from '../support/titles.ts';

let world: PullWorld;
beforeEach(async () => {
  world = await openPullWorld();
});
afterEach(() => world.close());

const run = () => runMatching(world.database, { by: 'matching' });
async function pull(date: CivilDate, ...texts: string[]) {
  world.sandbox.setDayTexts(date, texts);
  await world.pull(date, { withdrawalLimitPercent: 100 });
}
async function sign(date: CivilDate) {
  const day = await world.database.prisma.day.findUniqueOrThrow({ where: { date } });
  await signOffDay(world.database, date, {
    by: 'rita',
    reason: null,
    seenDigest: day.contentDigest ?? '',
    fourEyes: false,
    bookingsFrom: DAY,
    requiresChecks: true,
  });
}
const settle = async (rules = ANY_DAY_RULES) => {
  for (let i = 0; i < 4; i++) await checkDays(world.database, rules);
  if (await isMatchingDue(world.database, 1e6)) await run();
  return releaseWaitingDays(world.database);
};

test('a: signed waiting day, then an equal title on another date', async () => {
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '77' }], 'snapshot');
  await pull(DAY, titleText({ uid: 'a' }));
  await checkDays(world.database, ANY_DAY_RULES);
  await sign(DAY);
  expect(await readReleaseFaults(world.database.prisma, DAY)).toEqual(['not_matched']);
  await pull(daysFrom(1), titleText({ uid: 'a', date: daysFrom(1) }));
  await settle();
  await settle();
  expect(await readReleaseFaults(world.database.prisma, DAY)).toEqual([]);
  expect(await world.database.prisma.bookingLine.count({ where: { date: DAY } })).toBe(1);
});

test('b: restated and back', async () => {
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '77' }], 'snapshot');
  await pull(DAY, titleText({ uid: 'a', discount: '1' }));
  await checkDays(world.database, DEFAULT_RULES);
  await sign(DAY);
  await pull(DAY, titleText({ uid: 'a', discount: '100' }));
  await checkDays(world.database, DEFAULT_RULES);
  console.log(
    await world.database.prisma.day.findMany({
      select: { state: true, restatedAfterSignOff: true },
    }),
  );
  await pull(DAY, titleText({ uid: 'a', discount: '1' }));
  await settle(DEFAULT_RULES);
  await settle(DEFAULT_RULES);
  console.log(
    await world.database.prisma.day.findMany({
      select: {
        state: true,
        restatedAfterSignOff: true,
        contentDigest: true,
        signedOffDigest: true,
      },
    }),
    await world.database.prisma.dayCheck.findMany(),
    await readFindings(
      world.database,
      { state: null, code: null, severity: null, date: null },
      { offset: 0, limit: 9 },
    ),
  );
  // A person signs the restated day.
  await sign(DAY);
  await settle(DEFAULT_RULES);
  expect(await readReleaseFaults(world.database.prisma, DAY)).toEqual([]);
});

test('c: an import that commits after a run began is matched', async () => {
  await pull(DAY, titleText({ uid: 'a', value: '10' }));
  await importPayables(world.database, [{ erpKey: 'k0', openValue: '99' }], 'snapshot');
  await checkDays(world.database, ANY_DAY_RULES);
  await world.database.prisma.$transaction(async (tx) => {
    const id = await beginImport(tx, { kind: 'delta', by: 'erp' });
    await addPayables(tx, id, [
      ...checkPayables([
        {
          erpKey: 'k1',
          openValue: '10',
          supplierExternalId: 'P-1',
          dueDate: '2026-06-30',
          status: 'paid',
        },
      ]),
    ]);
    await endImport(tx, id, { by: 'erp', announced: null });
    await run();
  });
  expect(await isMatchingDue(world.database, 1e6)).toBe(true);
});

test('d: paid at the ERP after the run', async () => {
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '10' }], 'snapshot');
  await pull(DAY, titleText({ uid: 'a', value: '10' }));
  await settle();
  await importPayables(world.database, [
    { erpKey: 'k2', openValue: '10', status: 'paid', orderUid: 'a' },
  ]);
  await sign(DAY);
  expect(await world.database.prisma.bookingLine.count()).toBe(0);
});

test('e: two checks at once: both dates have the finding', async () => {
  await pull(DAY, titleText({ uid: 'a' }));
  const rules = DEFAULT_RULES;
  let first: Promise<unknown> = Promise.resolve();
  let second: Promise<unknown> = Promise.resolve();
  await world.database.prisma.$transaction(
    async (tx) => {
      await tx.$executeRaw`LOCK TABLE conciliation.day_buyer IN EXCLUSIVE MODE`;
      first = checkDays(world.database, rules);
      await new Promise((r) => setTimeout(r, 700));
      await pull(daysFrom(1), titleText({ uid: 'a', date: daysFrom(1) }));
      second = checkDays(world.database, rules);
      await new Promise((r) => setTimeout(r, 700));
    },
    { timeout: 60_000 },
  );
  await Promise.all([first, second]);
  for (let i = 0; i < 4; i++) await checkDays(world.database, rules);
  const found = await readFindings(
    world.database,
    { state: 'open', code: 'equal_on_two_dates', severity: null, date: null },
    { offset: 0, limit: 9 },
  );
  expect(found.map(({ date }) => date)).toEqual([daysFrom(1), DAY]);
});

test('f: a finding that is there again is not resolved by a person who did not see it', async () => {
  const { database } = world;
  await pull(DAY, titleText({ uid: 'again', value: '0' }), titleText({ uid: 'x' }));
  await checkDays(database, DEFAULT_RULES);
  await pull(DAY, titleText({ uid: 'seen', value: '0' }), titleText({ uid: 'x' }));
  await checkDays(database, DEFAULT_RULES);
  const [group] = await readOpenFindingGroups(database, { date: DAY });
  expect(group).toMatchObject({ findings: 1 });
  await pull(DAY, titleText({ uid: 'again', value: '0' }), titleText({ uid: 'seen', value: '0' }), titleText({ uid: 'x' }));
  await checkDays(database, DEFAULT_RULES);
  expect(await resolveFindings(database, { date: DAY, code: 'value_not_positive', newestId: BigInt(group?.newestId ?? 0), titleId: null }, { by: 'ana', reason: 'x' })).toBe(1);
});
